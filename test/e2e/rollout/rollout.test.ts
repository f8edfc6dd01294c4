// runner: limit 240 s
/** A bounded part of `npm run rollout`: fewer pods, requests, reloads and backends, for CI. */
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { missingAioquic } from "../../parts/aioquic.ts";
import { missingHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { isolated } from "../harness/isolation.ts";
import { apiServers } from "../harness/planes.ts";
import { PARTS } from "./parts.ts";
import { Stages } from "./stage.ts";

const network = await isolated(import.meta.filename);
const missing = network.missing ?? missingHaproxy("3.4");
const test = needing(base, missing);
const stages = new Stages(apiServers.embedded, network);
const figures: string[] = [];
test.after(() => stages.close());

for (const { title, stage, prove } of PARTS) {
  test(`bounded: ${title}`, async () => {
    for (const line of await prove(await stages.of(stage("bounded")), "bounded")) {
      figures.push(line);
      process.stdout.write(`${line}\n`);
    }
  });
}

needing(base, missing ?? missingAioquic())("bounded: HTTP/3 was part of the load on forced reloads", () => {
  const line = figures.find((one) => one.includes("HTTP/3")) ?? "";
  assert.match(line, /HTTP\/3: [1-9]\d{2,} requests, 0 failed/);
});

base.run();
