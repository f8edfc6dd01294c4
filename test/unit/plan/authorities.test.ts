/** Which lines keep a CA file's new content from taking effect at run time; e2e tests show that HAProxy is so. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { deafTo } from "../../../src/plan/authorities.ts";
import { assemblePlan, ChunkedTree, cutBlocks, diffPlans, emptyTrees, planFile } from "../../../src/plan/index.ts";
import { fileDigest } from "../../../src/plan/plan.ts";
import { ALL_OPS, kinds } from "./worlds.ts";

const planOf = (config: string, ca: string) =>
  assemblePlan({
    ...emptyTrees(),
    files: ChunkedTree.from(
      [
        ["haproxy.cfg", planFile("haproxy.cfg", "config", cutBlocks(config))],
        ["ssl/ca.pem", planFile("ssl/ca.pem", "ca", cutBlocks(ca))],
      ],
      fileDigest,
    ),
  });

for (const [line, isDeaf] of [
  ["    bind :443 ssl crt ssl/a.pem ca-file ssl/ca.pem verify required", false],
  ["    server s 10.0.0.1:443 ssl verify required ca-file ssl/ca.pem", true],
  ["    server s 10.0.0.1:443 ssl verify required ca-file ssl/ca.pem crt ssl/a.pem", false],
  ["    default-server ssl verify required ca-file ssl/ca.pem", true],
  ['    default-server ssl verify required ca-file "ssl/ca.pem"', true],
  ["    httpclient.ssl.ca-file ssl/ca.pem", true],
  ["    # server s ca-file ssl/ca.pem", false],
  ["    server s 10.0.0.1:443 ssl verify required ca-file ssl/ca.pem.old", false],
] as const) {
  test(`whether a reload is needed for what \`${line.trim()}\` reads`, () => {
    const config = `backend b\n    balance roundrobin\n${line}\n`;
    assert.is(deafTo("ssl/ca.pem", planOf(config, "1\n")), isDeaf ? line.trim() : undefined);
  });
}

test("the line is found wherever it stands in a long configuration", () => {
  const filler = Array.from({ length: 5_000 }, (_, i) => `    # filler ${i}\n`).join("");
  const line = "    server s 10.0.0.1:443 ssl ca-file ssl/ca.pem\n";
  assert.is(deafTo("ssl/ca.pem", planOf(filler + line + filler, "1\n")), line.trim());
  assert.is(deafTo("ssl/ca.pem", planOf(filler + filler, "1\n")), undefined);
});

test("a changed CA file of servers without a client certificate is a reload that says so", () => {
  const options = { haproxyVersion: "3.4.7", agentOps: ALL_OPS };
  const servers = "backend b\n    server s 10.0.0.1:443 ssl ca-file ssl/ca.pem\n";
  const deaf = diffPlans(planOf(servers, "2\n"), planOf(servers, "1\n"), options);
  assert.is(deaf.verdict, "reload");
  assert.match(deaf.reasons[0]!, "CA file ssl/ca.pem changed, of which servers hear at a reload only");
  const bind = "frontend f\n    bind :443 ssl crt a.pem ca-file ssl/ca.pem\n";
  assert.equal(kinds(diffPlans(planOf(bind, "2\n"), planOf(bind, "1\n"), options).ops), ["ca_set"]);
});

test("a changed CA file is a reload on HAProxy 3.0, whose binds lose their certificates by it", () => {
  const options = { haproxyVersion: "3.0.11", agentOps: ALL_OPS };
  const bind = "frontend f\n    bind :443 ssl crt a.pem ca-file ssl/ca.pem\n";
  const { reasons } = diffPlans(planOf(bind, "2\n"), planOf(bind, "1\n"), options);
  assert.match(reasons[0]!, "CA file ssl/ca.pem changed, which HAProxy before 3.2 takes at a reload only");
});

test.run();
