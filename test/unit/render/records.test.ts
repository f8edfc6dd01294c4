import { test } from "uvu";
import * as assert from "uvu/assert";
import { resolveText, Tokens } from "../../../src/render/output.ts";
import { PathResolver, sanitizeName } from "../../../src/render/paths.ts";
import { PlanRecorder, ProfileCache } from "../../../src/render/plan-registry.ts";
import { FileRecorder } from "../../../src/render/registered-files.ts";

const FOLDERS = {
  mapsDir: "/etc/haproxy/maps",
  sslCertsDir: "/etc/haproxy/ssl",
  generalStorageDir: "/etc/haproxy/general",
};

const recorder = (tokens = new Tokens("n"), latest = true): PlanRecorder =>
  new PlanRecorder(tokens, { profiles: new ProfileCache(), mapPath: (setting) => `maps/${setting}.map`, latest });

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
  const plan = recorder();
  const name = plan.profile({ mode: "http", balance: "roundrobin", body: "timeout server 5s\n  retries 3\n" });
  assert.match(name, /^haptic-be-[0-9a-f]{16}$/);
  assert.is(plan.profile({ mode: "http", balance: "roundrobin", body: "timeout server 5s\nretries 3" }), name);
  assert.is.not(plan.profile({ mode: "http" }), name);
  assert.is(
    plan.declared().profiles.get(name)?.text,
    `defaults ${name}\n    mode http\n    balance roundrobin\n    timeout server 5s\n    retries 3\n`,
  );
  for (const [body, line] of [
    ["errorfiles mine", 1],
    ["retries 3\n  http-request  cache-use c", 2],
    ['"errorfiles" mine', 1],
    ["# fine\n\nhttp-request \\\n  cache-use c", 4],
    ["http-request cache\\-use c", 1],
  ] as const) {
    assert.throws(() => plan.profile({ body }), new RegExp(`in line ${line}, which kills HAProxy`), body);
    assert.throws(() => recorder().section("profile", "p", `defaults p\n${body}\n`), /kills HAProxy/);
  }
  assert.throws(() => plan.profile({ balance: "roundrobin\n errorfiles mine" }), /kills HAProxy/);
  for (const body of ["# errorfiles mine", "errorfile 503 x.http", "http-request set-var(txn.errorfiles) int(1)"])
    plan.profile({ body });
  assert.throws(() => plan.profile({ balnace: "x" }), /unknown/);
});

test("a setting that a rule can say is read from a map, so that all values share a profile", () => {
  const plan = recorder();
  const of = (backend: string, value: string, more: object = {}): string =>
    plan.profile({ backend, body: "timeout server 60s", settings: { "timeout server": value, ...more } });
  const name = of("a", "5s");
  assert.is(of("b", "1m"), name);
  assert.is(of("c", ""), name);
  assert.is(
    plan.declared().profiles.get(name)?.text,
    `defaults ${name}
    mode http
    http-request set-var(txn.haptic_timeout_server) be_name,map_str(maps/timeout-server.map)
    http-request set-timeout server var(txn.haptic_timeout_server) if { var(txn.haptic_timeout_server) -m found }
    timeout server 60s
`,
  );
  for (const backend of ["a", "b", "c"]) plan.backend({ name: backend }, `backend ${backend} from ${name}\n`);
  assert.equal(
    plan.declared().backends.map(({ settings }) => settings.get("timeout-server")),
    ["5000", "60000", ""],
  );
  assert.equal([...plan.declared().settings], ["timeout-server"]);
});

test("rules of a template's own take the value where they say $value, and keep their conditions", () => {
  const plan = recorder();
  const rules = "http-response set-header X-Frame-Options %[$value]\nhttp-request deny if { $value -m str NO }";
  const name = plan.profile({ backend: "a", settings: { "frame-options": { value: "DENY all", rules } } });
  const variable = "var(txn.haptic_frame_options)";
  assert.equal(plan.declared().profiles.get(name)?.text.split("\n").slice(3), [
    `    http-response set-header X-Frame-Options %[${variable}] if { ${variable} -m found }`,
    `    http-request deny if { ${variable} -m str NO }`,
    "",
  ]);
  assert.throws(() => plan.profile({ backend: "a", settings: { x: { value: "1", rules: "retries 3" } } }), /\$value/);
  assert.throws(() => plan.profile({ backend: "a", settings: { x: { value: "1", rule: "$value" } } }), /key "rule"/);
});

test("what no rule can say becomes text of the profile: another directive, tcp, or a HAProxy before 3.4", () => {
  const text = (record: object, latest = true): string => {
    const plan = recorder(new Tokens("n"), latest);
    return plan.declared().profiles.get(plan.profile(record))?.text ?? [...plan.declared().profiles.values()][0]!.text;
  };
  const lines = (record: object, latest = true): string[] => text(record, latest).trimEnd().split("\n").slice(2);
  assert.equal(lines({ settings: { retries: "3" }, body: "retries 1" }), ["    retries 1", "    retries 3"]);
  assert.equal(lines({ mode: "tcp", settings: { "timeout server": "3s" } }), ["    timeout server 3s"]);
  assert.equal(lines({ settings: { "timeout connect": "3s" } }, false), ["    timeout connect 3s"]);
  assert.is(lines({ backend: "a", settings: { "timeout connect": "3s" } }).length, 2);
  assert.equal(lines({ settings: { retries: "" } }), []);
});

test("a setting's value that could leave its place is refused", () => {
  const of = (settings: object, backend?: string) => () => recorder().profile({ settings, backend });
  for (const value of ["5 s", "-1s", "1y", "0", "25d", "5s\nerrorfiles x"])
    assert.throws(of({ "timeout server": value }, "a"), /has the value/, value);
  for (const value of ["3\n    errorfiles x", "3 # x", '"3', "$HOME", "a\\"])
    assert.throws(of({ retries: value }), /has the value/, value);
  assert.throws(of({ x: { value: "a\nb c", rules: "$value" } }, "a"), /no map can hold/);
  assert.throws(of({ "timeout server": "3s" }), /names no backend/);
  assert.throws(of({ "Timeout server": "3s" }), /name that cannot be used/);
  assert.throws(of({ "a b": { value: "1", rules: "$value" }, "a-b": { value: "1", rules: "$value" } }, "x"), /twice/);
  assert.throws(of([]), /no map/);
});

test("a backend that is not built from its profile alone is structural, whatever it says", () => {
  const shape = (record: object, text: string): string | undefined => {
    const plan = recorder();
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
  const backend = (record: object) => () => recorder().backend({ name: "b", ...record }, "backend b\n");
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
  assert.throws(() => recorder().backend({ name: "b" }, "backend other\n"), /does not begin/);
});

test("a declaration's text stands where its token stood, and leaves no empty line when it loses", () => {
  const tokens = new Tokens("secret");
  const plan = recorder(tokens);
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
  const plan = recorder();
  assert.is(plan.section("backend", "b", "backend b\n"), plan.section("backend", "b", "backend b\n"));
  assert.throws(() => plan.section("backend", "b", "backend b\n    mode tcp\n"), /different texts/);
  assert.throws(() => plan.section("frontend", "f", "frontend f\n"), /unknown/);
  assert.is(plan.declared().backends.length, 1);
});

test("a crt-list has a default certificate or has none, not both", () => {
  const plan = recorder();
  plan.crtListMeta("general/l", false);
  plan.crtListMeta("general/l", false);
  assert.throws(() => plan.crtListMeta("general/l", true), /both with and without/);
  assert.equal([...plan.declared().crtLists], [["general/l", false]]);
});

test.run();
