import { test } from "uvu";
import * as assert from "uvu/assert";
import { resolveText, Tokens } from "../../../src/render/output.ts";
import { PathResolver, sanitizeName } from "../../../src/render/paths.ts";
import { PlanRecorder } from "../../../src/render/plan-registry.ts";
import { FileRecorder } from "../../../src/render/registered-files.ts";

const FOLDERS = {
  mapsDir: "/etc/haproxy/maps",
  sslCertsDir: "/etc/haproxy/ssl",
  generalStorageDir: "/etc/haproxy/general",
};

test("paths follow the configured folders, and names of certificates are made safe", () => {
  const paths = new PathResolver(FOLDERS);
  assert.is(paths.resolve("host.map", "map"), "maps/host.map");
  assert.is(paths.resolve("503.http", "file"), "general/503.http");
  assert.is(paths.resolve("example.com.pem", "cert"), "ssl/example_com.pem");
  assert.is(paths.resolve("my list.txt", "crt-list"), "general/my_list.txt");
  assert.is(paths.resolve("", "cert"), "ssl");
  assert.is(paths.baseDir, "/etc/haproxy");
  assert.is(
    new PathResolver({ ...FOLDERS, sslCertsDir: "/etc/haproxy/certs" }).resolve("a.pem", "cert"),
    "certs/a.pem",
  );
  assert.is(sanitizeName("a..b  c.pem"), "a_b_c.pem");
});

test("a path cannot leave its folder, be hidden, or have an unknown type", () => {
  const paths = new PathResolver(FOLDERS);
  for (const name of ["../x", "a/../b", ".hidden", "a b", "x\n"])
    assert.throws(() => paths.resolve(name, "map"), /cannot be a file's name/);
  assert.throws(() => paths.resolve("x", "certificate"), /no file type/);
});

test("a registered file may be registered again only with the same content", () => {
  const files = new FileRecorder(new PathResolver(FOLDERS));
  assert.is(files.register("cert", "a.b.pem", "one"), "ssl/a_b.pem");
  assert.is(files.register("cert", "a.b.pem", "one"), "ssl/a_b.pem");
  assert.throws(() => files.register("cert", "a_b.pem", "two"), /twice with different contents/);
  assert.throws(() => files.register("secret", "x", "y"), /unknown/);
  assert.throws(() => files.register("map", "x", "y", false), /only a file/);
  files.register("file", "x.http", "y", false);
  assert.equal(
    [...files.files().values()].map(({ path, kind, reloadOnPush }) => [path, kind, reloadOnPush]),
    [
      ["ssl/a_b.pem", "cert", true],
      ["general/x.http", "general", false],
    ],
  );
});

test("a profile is named by its content, and refuses what kills HAProxy", () => {
  const plan = new PlanRecorder(new Tokens("n"));
  const name = plan.profile({ mode: "http", balance: "roundrobin", body: "timeout server 5s\n  retries 3\n" });
  assert.match(name, /^haptic-be-[0-9a-f]{16}$/);
  assert.is(plan.profile({ mode: "http", balance: "roundrobin", body: "timeout server 5s\nretries 3" }), name);
  assert.is.not(plan.profile({ mode: "http" }), name);
  assert.is(
    plan.declared().profiles.get(name)?.text,
    `defaults ${name}\n    mode http\n    balance roundrobin\n    timeout server 5s\n    retries 3\n`,
  );
  assert.throws(() => plan.profile({ body: "errorfiles mine" }), /kills HAProxy/);
  assert.throws(() => plan.profile({ body: "http-request  cache-use c" }), /kills HAProxy/);
  assert.throws(() => plan.profile({ balnace: "x" }), /unknown/);
});

test("a backend that is not built from its profile alone is structural, whatever it says", () => {
  const shape = (record: object, text: string): string | undefined => {
    const plan = new PlanRecorder(new Tokens("n"));
    plan.backend(
      { name: "b", shape: "dynamic", profile: "p", servers: [{ name: "s", address: "10.0.0.1", port: 80 }], ...record },
      text,
    );
    return plan.declared().backends[0]?.plan.record.shapeReason;
  };
  assert.is(shape({}, "# words\nbackend b from p\n    server s 10.0.0.1:80\n"), undefined);
  assert.is(shape({ guid: "g" }, "backend b from p\n    guid g\n    server s 10.0.0.1:80\n"), undefined);
  assert.match(shape({ guid: "g" }, "backend b from p\n    guid h\n") as string, "guid");
  assert.match(shape({}, "backend b\n") as string, "backend b");
  assert.match(shape({}, "backend b from p\n    option httpchk\n") as string, "option");
  assert.match(shape({ balance: "leastconn" }, "backend b from p\n") as string, "balance");
});

test("records are checked key by key", () => {
  const backend = (record: object) => () =>
    new PlanRecorder(new Tokens("n")).backend({ name: "b", ...record }, "backend b\n");
  assert.throws(backend({ sever: [] }), /unknown/);
  assert.throws(backend({ name: "a b" }), /name/);
  assert.throws(backend({ name: "" }), /has no name/);
  assert.throws(backend({ servers: [{ name: "s", address: "x" }] }), /no port/);
  assert.throws(backend({ servers: [{ name: "s", address: "x", port: 80, weight: 300 }] }), /weight/);
  assert.throws(
    backend({
      servers: [
        { name: "s", address: "x", port: 80 },
        { name: "s", address: "y", port: 80 },
      ],
    }),
    /two servers/,
  );
  assert.throws(backend({ shape: "fluid" }), /shape/);
  assert.throws(() => new PlanRecorder(new Tokens("n")).backend({ name: "b" }, "backend other\n"), /does not begin/);
});

test("a declaration's text stands where its token stood, and leaves no empty line when it loses", () => {
  const tokens = new Tokens("secret");
  const plan = new PlanRecorder(tokens);
  const one = plan.backend({ name: "one" }, "backend one\n    server s 10.0.0.1:80\n");
  const two = plan.backend({ name: "two" }, "backend two");
  const segments = tokens.split(`# head\n${one}\n  ${two}\n# tail\n`);
  const text = (loser: string): string =>
    resolveText(segments, (place) =>
      place.kind === "backend" && place.backend.name !== loser ? place.backend.text : "",
    );
  assert.is(text(""), "# head\nbackend one\n    server s 10.0.0.1:80\n  backend two\n# tail\n");
  assert.is(text("two"), "# head\nbackend one\n    server s 10.0.0.1:80\n# tail\n");
  assert.is(text("one"), "# head\n  backend two\n# tail\n");
});

test("text that imitates a token is text", () => {
  const tokens = new Tokens("secret");
  tokens.make({ kind: "profiles" });
  assert.equal(tokens.split("a \u0001haptic:guess:0\u0001 b"), ["a \u0001haptic:guess:0\u0001 b"]);
});

test("a section may be declared twice only with the same text", () => {
  const plan = new PlanRecorder(new Tokens("n"));
  assert.is(plan.section("backend", "b", "backend b\n"), plan.section("backend", "b", "backend b\n"));
  assert.throws(() => plan.section("backend", "b", "backend b\n    mode tcp\n"), /different texts/);
  assert.throws(() => plan.section("frontend", "f", "frontend f\n"), /unknown/);
  assert.is(plan.declared().backends.length, 1);
});

test.run();
