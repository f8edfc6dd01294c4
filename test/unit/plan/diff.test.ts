import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  assemblePlan,
  type BackendRecord,
  cutBlocks,
  diffPlans,
  emptyTrees,
  type Op,
  planBackend,
  planFile,
  type RenderPlan,
  structureKey,
} from "../../../src/plan/index.ts";
import { blockOf } from "../../../src/plan/chunks.ts";
import { ALL_OPS, diff, kinds, OPTIONS, plan, PROFILE, server, type World } from "./worlds.ts";

test("equal plans need nothing, an unknown baseline needs everything and a reload", () => {
  const world: World = { backends: { a: { servers: [server("s1")] } } };
  assert.is(diff(world, world).verdict, "noop");
  const unknown = diffPlans(plan(world), undefined, OPTIONS);
  assert.is(unknown.verdict, "reload");
  assert.is(unknown.reasons.length, 1);
  assert.equal(
    unknown.changed.map((file) => file.path),
    ["haproxy.cfg"],
  );
});

test("a new server is added with the keywords of default-server, then enabled with its health check", () => {
  const { verdict, ops } = diff(
    { backends: { a: { servers: [server("s1"), server("s2", "::1", { weight: 7 })] } } },
    { backends: { a: { servers: [server("s1")] } } },
  );
  assert.is(verdict, "runtime");
  assert.equal(ops, [
    {
      kind: "server_add",
      backend: "a",
      server: "s2",
      address: "::1",
      port: 80,
      weight: 7,
      keywords: [
        { name: "check", args: [] },
        { name: "inter", args: ["2s"] },
      ],
    },
    { kind: "server_enable", backend: "a", server: "s2", health: true },
  ]);
});

test("address, weight and disabled of a server change at run time, its keywords do not", () => {
  const before: World = { backends: { a: { servers: [server("s1", "10.0.0.1", { weight: 3, extra: "check" })] } } };
  const moved = diff(
    { backends: { a: { servers: [server("s1", "10.0.0.2", { disabled: true, extra: "check" })] } } },
    before,
  );
  assert.equal(moved.ops, [
    { kind: "server_set_addr", backend: "a", server: "s1", address: "10.0.0.2", port: 80 },
    { kind: "server_set_weight", backend: "a", server: "s1", weight: 1 },
    { kind: "server_set_state", backend: "a", server: "s1", state: "maint" },
  ]);
  const keywords = diff(
    { backends: { a: { servers: [server("s1", "10.0.0.1", { weight: 3, extra: "check ssl" })] } } },
    before,
  );
  assert.equal(keywords.reasons, ["backend a, server s1 changed its keywords"]);
});

test("new servers serve before the old ones stop, so that no backend is without one in between", () => {
  const { ops } = diff(
    { backends: { a: { servers: [server("s1", "10.0.0.1", { disabled: true }), server("s2")] } } },
    { backends: { a: { servers: [server("s1")] } } },
  );
  assert.equal(kinds(ops), ["server_add", "server_enable", "server_set_state"]);
});

test("a server with a name for an address, or with a keyword that the runtime refuses, needs a reload", () => {
  const before: World = { backends: { a: {} } };
  assert.match(
    diff({ backends: { a: { servers: [server("s", "db.example")] } } }, before).reasons[0] as string,
    "literal IP",
  );
  assert.match(
    diff({ backends: { a: { servers: [server("s", "10.0.0.1", { extra: "resolvers dns" })] } } }, before)
      .reasons[0] as string,
    "keyword resolvers",
  );
  const later = { backends: { a: { servers: [server("s", "10.0.0.1", { extra: "no-sni-auto" })] } } };
  assert.is(diff(later, before).verdict, "runtime");
  assert.is(diff(later, before, { haproxyVersion: "3.2.26" }).verdict, "reload");
});

test("an algorithm that takes no dynamic server needs a reload, unless it is consistent", () => {
  const change = (fields: Partial<BackendRecord>) =>
    diff({ backends: { a: { ...fields, servers: [server("s")] } } }, { backends: { a: fields } });
  assert.is(change({ balance: "static-rr" }).verdict, "reload");
  assert.is(change({ balance: "source" }).verdict, "reload");
  assert.is(change({ balance: "source", hashType: "consistent" }).verdict, "runtime");
  assert.is(change({ balance: "random(3)" }).verdict, "runtime");
});

test("on 3.4 a new backend is built before entries point to it, and a removed one goes after them", () => {
  const one: World = { backends: { a: { servers: [server("s1")] } }, maps: { "maps/host.map": "a.example a\n" } };
  const two: World = {
    backends: { b: { guid: "g", servers: [server("s1")] } },
    maps: { "maps/host.map": "b.example b\n" },
  };
  const { verdict, ops } = diff(two, one);
  assert.is(verdict, "runtime");
  assert.equal(kinds(ops), [
    "backend_add",
    "server_add",
    "server_enable",
    "backend_publish",
    "map_add",
    "map_del",
    "backend_unpublish",
    "server_disable",
    "wait_srv_removable",
    "server_del",
    "wait_be_removable",
    "backend_del",
  ]);
  assert.equal(ops[0], { kind: "backend_add", backend: "b", profile: "haptic-be-1", guid: "g" });
});

test("before 3.4, for a structural backend and for a profile that is not loaded, a new backend needs a reload", () => {
  const next: World = { backends: { a: {} } };
  assert.is(diff(next, {}, { haproxyVersion: "3.2.1" }).verdict, "reload");
  assert.is(
    diff({ backends: { a: { shape: "structural", shapeReason: "stick-table" } } }, {}).reasons[0],
    "backend a is new and structural (stick-table)",
  );
  assert.is(diff(next, { profiles: [] }).verdict, "reload");
  assert.is(diff(next, {}).verdict, "runtime");
});

test("beside a reload, servers of backends that stay change in place; nothing is deleted, and new backends wait", () => {
  const server = (name: string, port: number) => ({ name, address: "10.0.0.1", port });
  const before = plan({
    backends: { a: { servers: [server("s1", 1), server("s2", 2)] }, b: { servers: [server("s1", 1)] } },
    structure: { [structureKey("frontend", "http")]: "frontend http\n    bind :80\n" },
  });
  const after = plan({
    backends: { a: { servers: [server("s1", 9), server("s3", 3)] }, c: { servers: [server("s1", 1)] } },
    structure: { [structureKey("frontend", "http")]: "frontend http\n    bind :81\n" },
  });
  const diff = diffPlans(after, before, OPTIONS);
  assert.is(diff.verdict, "reload");
  assert.equal(diff.ops, []);
  assert.equal(
    diff.inPlaceOps.map(({ kind, backend, server: name }) => `${kind} ${backend}/${name}`),
    ["server_set_addr a/s1", "server_add a/s3", "server_enable a/s3", "server_disable a/s2"],
  );
  const poor = new Set([...ALL_OPS].filter((kind) => kind !== "server_disable"));
  assert.equal(diffPlans(after, before, { ...OPTIONS, agentOps: poor }).inPlaceOps, [], "all of them or none");
});

test("a profile that nothing uses any more does not force a reload", () => {
  assert.is(diff({ profiles: [] }, {}).verdict, "file_only");
});

test("every fixed field and every text outside servers needs a reload that names the backend", () => {
  const base: Partial<BackendRecord> = { servers: [server("s1")] };
  for (const change of [
    { mode: "tcp" },
    { balance: "leastconn" },
    { guid: "x" },
    { body: "    option httpchk" },
    { defaultServer: "check" },
  ]) {
    const { verdict, reasons } = diff({ backends: { a: { ...base, ...change } } }, { backends: { a: base } });
    assert.is(verdict, "reload");
    assert.match(reasons[0] as string, `backend a changed its ${Object.keys(change)[0]}`);
  }
});

test("comments and blank lines of a backend's text mean nothing", () => {
  const withText = (text: string): RenderPlan => {
    const record: BackendRecord = { name: "a", servers: [], shape: "structural" };
    const trees = emptyTrees();
    return assemblePlan({
      ...trees,
      backends: trees.backends.update(new Map([["a", planBackend(record, text)]])),
      files: trees.files.update(new Map([["haproxy.cfg", planFile("haproxy.cfg", "config", cutBlocks(text))]])),
    });
  };
  const of = (next: string, before: string) => diffPlans(withText(next), withText(before), OPTIONS).verdict;
  assert.is(of("# new words\nbackend a\n\n    mode http\n", "backend a\n    mode http\n"), "file_only");
  assert.is(of("backend a\n    mode tcp\n", "backend a\n    mode http\n"), "reload");
  assert.is(of("backend a\n    server s 10.0.0.2:80\n", "backend a\n    server s 10.0.0.1:80\n"), "reload");
});

test("an algorithm that stands in the backend's own text counts", () => {
  const body = "    balance source";
  const { reasons } = diff({ backends: { a: { body, servers: [server("s")] } } }, { backends: { a: { body } } });
  assert.match(reasons[0] as string, "balance source");
});

test("changed text under a section header needs a reload that names the section", () => {
  const { reasons } = diff({ structure: { "frontend http": "2" } }, { structure: { "frontend http": "1" } });
  assert.equal(reasons, ["frontend http changed"]);
});

test("an operation that the agent does not know turns the difference into a reload", () => {
  const known = new Set(ALL_OPS);
  known.delete("map_add");
  const { verdict, reasons } = diff({ maps: { "maps/m": "a b\n" } }, { maps: { "maps/m": "" } }, { agentOps: known });
  assert.is(verdict, "reload");
  assert.match(reasons[0] as string, "map_add");
});

test("entries of an unordered map change one by one; duplicates and values with blanks replace the whole", () => {
  const change = (before: string, after: string, ordered = false) =>
    diff({ maps: { "maps/m": after }, ordered }, { maps: { "maps/m": before }, ordered }).ops;
  assert.equal(change("a 1\nb 2\nc 3\n", "a 1\nb 4\nd x y\n"), [
    { kind: "map_set", path: "maps/m", key: "b", value: "4" },
    { kind: "map_add", path: "maps/m", key: "d", value: "x y" },
    { kind: "map_del", path: "maps/m", key: "c" },
  ]);
  assert.equal(kinds(change("a 1\n", "a 1\na 2\n")), ["map_replace"]);
  assert.equal(kinds(change("a 1\n", "a 1 2\n")), ["map_replace"]);
  assert.equal(kinds(change("a 1\n", "a 1\nb;c 2\n")), ["map_replace"]);
  assert.equal(kinds(change("a 1\nb 2\n", "b 2\na 1\n")), []);
  assert.equal(kinds(change("a 1\nb 2\n", "b 2\na 1\n", true)), ["map_replace"]);
  assert.equal(kinds(change("a 1\nc 2\n", "a 1\nb 3\nc 2\n", true)), ["map_replace"]);
  assert.equal(kinds(change("a 1\nb 2\n", "b 2\nc 3\n", true)), ["map_add", "map_del"]);
  assert.equal(kinds(change("a 1\nb 2\n", "a 1\nb 3\n", true)), ["map_set"]);
  assert.equal(kinds(change("a 1\na 2\n", "a 1\na 3\n", true)), ["map_replace"]);
  assert.equal(kinds(change("a 1\n", "# words\na   1\n", true)), []);
});

test("a map that the worker has not loaded is a file only", () => {
  const loaded = {
    maps: new Set<string>(),
    certs: new Set<string>(),
    caFiles: new Set<string>(),
    crtLists: new Set<string>(),
  };
  assert.is(diff({ maps: { "maps/m": "a 2\n" } }, { maps: { "maps/m": "a 1\n" } }, { loaded }).verdict, "file_only");
});

test("certificates are set, or made before a crt-list names them; removed ones are files only", () => {
  const before: World = { certs: { "ssl/a.pem": "1" }, crtList: "ssl/a.pem a.example\nssl/z.pem z.example\n" };
  const { verdict, ops } = diff(
    {
      certs: { "ssl/a.pem": "2", "ssl/b.pem": "1" },
      crtList: "ssl/a.pem a.example\nssl/b.pem [alpn h2,http/1.1] b.example\nssl/z.pem z.example\n",
    },
    before,
  );
  assert.is(verdict, "runtime");
  assert.equal(ops, [
    { kind: "cert_set", path: "ssl/a.pem" },
    { kind: "cert_new", path: "ssl/b.pem" },
    {
      kind: "crtlist_add",
      path: "general/list.txt",
      cert: "ssl/b.pem",
      options: [{ name: "alpn", args: ["h2,http/1.1"] }],
      sni_filters: ["b.example"],
    },
  ]);
  assert.equal(
    kinds(diff(before, { ...before, crtList: "ssl/a.pem a.example\nssl/y.pem y.example\nssl/z.pem z.example\n" }).ops),
    ["crtlist_del"],
  );
  assert.is(diff({}, { certs: { "ssl/a.pem": "1" } }).verdict, "file_only");
});

test("a crt-list whose order or default certificate would differ needs a reload", () => {
  const list = (crtList: string): World => ({ crtList });
  const before = list("d.pem *\na.pem a.example\nb.pem b.example\n");
  assert.is(diff(list("d.pem *\nb.pem b.example\na.pem a.example\n"), before).verdict, "reload");
  assert.is(diff(list("x.pem x\nd.pem *\na.pem a.example\nb.pem b.example\n"), before).verdict, "reload");
  assert.is(diff(list("d.pem *\nc.pem b.example\na.pem a.example\nb.pem b.example\n"), before).verdict, "reload");
  assert.is(diff(list("d.pem *\na.pem a.example\nb.pem b.example\nc.pem b.example\n"), before).verdict, "runtime");
  assert.is(diff({}, before).verdict, "reload");
});

test("names that an entry of a crt-list gains are added at run time", () => {
  const list = (crtList: string): World => ({ crtList });
  const before = list("d.pem *\na.pem [alpn h2] a.example\nb.pem b.example\n");
  assert.equal(diff(list("d.pem *\na.pem [alpn h2] a.example c.example\nb.pem b.example\n"), before).ops, [
    {
      kind: "crtlist_add",
      path: "general/list.txt",
      cert: "a.pem",
      options: [{ name: "alpn", args: ["h2"] }],
      sni_filters: ["c.example"],
    },
  ]);
  assert.is(diff(list("d.pem *\na.pem [alpn h2] a.example b.example\nb.pem b.example\n"), before).verdict, "reload");
});

test("an entry of a crt-list with other options, other names or fewer takes the place of the former one at run time", () => {
  const list = (entry: string): World => ({ crtList: `d.pem *\n${entry}\nb.pem b.example\n` });
  const before = list("a.pem [alpn h2] a.example c.example");
  const op = { kind: "crtlist_set", path: "general/list.txt", cert: "a.pem" };
  const alpn = [{ name: "alpn", args: ["h2"] }];
  assert.equal(diff(list("a.pem [alpn h2] a.example"), before).ops, [
    { ...op, options: alpn, sni_filters: ["a.example"] },
  ]);
  assert.equal(diff(list("a.pem a.example c.example"), before).ops, [
    { ...op, options: [], sni_filters: ["a.example", "c.example"] },
  ]);
  assert.is(diff(list("a.pem [alpn h2] b.example"), before).verdict, "reload", "a later entry has this name");
  assert.is(diff(list("a.pem x.example\na.pem y.example"), before).verdict, "reload", "two entries in place of one");
  const old = new Set([...ALL_OPS].filter((kind) => kind !== "crtlist_set"));
  assert.equal(diff(list("a.pem a.example"), before, { agentOps: old }).reasons, [
    "the agent does not know the operation crtlist_set",
  ]);
});

test("a server that was added disabled gets its health checks when it is enabled", () => {
  const world = (disabled: boolean, extra: string): World => ({
    profiles: [{ ...PROFILE, text: "" }],
    backends: { a: { servers: [server("s", "10.0.0.1", { disabled, extra })] } },
  });
  assert.equal(diff(world(false, "check inter 1s"), world(true, "check inter 1s")).ops, [
    { kind: "server_enable", backend: "a", server: "s", health: true },
  ]);
  assert.equal(diff(world(false, ""), world(true, "")).ops, [
    { kind: "server_set_state", backend: "a", server: "s", state: "ready" },
  ]);
});

test("a backend that leaves needs a reload where HAProxy cannot delete it", () => {
  assert.equal(diff({}, { backends: { a: {} } }, { haproxyVersion: "3.2.1" }).reasons, [
    "backend a is gone, which HAProxy before 3.4 takes at a reload only",
  ]);
  assert.equal(diff({}, { backends: { a: { shape: "structural" } } }).reasons, [
    "backend a is gone and was structural",
  ]);
});

test("a server's own keywords stand in for those of default-server", () => {
  const { ops } = diff(
    { backends: { a: { servers: [server("s", "10.0.0.1", { extra: "inter 5s maxconn 9" })] } } },
    { backends: { a: {} } },
  );
  assert.equal(ops[0]?.keywords, [
    { name: "check", args: [] },
    { name: "inter", args: ["5s"] },
    { name: "maxconn", args: ["9"] },
  ]);
});

test("the check of a new server uses TLS and PROXY where that of a server in the file would", () => {
  const names = (extra: string): string[] | undefined =>
    diff(
      { backends: { a: { servers: [server("s", "10.0.0.1", { extra })] } } },
      { backends: { a: {} } },
    ).ops[0]?.keywords?.map(({ name }) => name);
  assert.is(
    names("ssl verify none send-proxy-v2")?.join(" "),
    "check inter ssl verify send-proxy-v2 check-ssl check-send-proxy",
  );
  assert.equal(names("ssl verify none check-ssl"), ["check", "inter", "ssl", "verify", "check-ssl"]);
  assert.equal(names("ssl verify none port 81"), ["check", "inter", "ssl", "verify", "port"]);
});

test("a server's guid is fixed", () => {
  const world = (guid: string): World => ({ backends: { a: { servers: [server("s", "10.0.0.1", { guid })] } } });
  assert.equal(diff(world("x"), world("y")).reasons, ["backend a, server s changed its guid"]);
});

test("a certificate or crt-list that the worker has not loaded is a file only", () => {
  const loaded = {
    maps: new Set<string>(),
    certs: new Set<string>(),
    caFiles: new Set<string>(),
    crtLists: new Set<string>(),
  };
  const world = (pem: string, list: string): World => ({ certs: { "ssl/a.pem": pem }, crtList: list });
  assert.is(diff(world("2", "ssl/a.pem b\n"), world("1", "ssl/a.pem a\n"), { loaded }).verdict, "file_only");
});

test("a general file reloads or not as it says", () => {
  const general = (content: string, reload: boolean): World => ({
    general: { "general/503.http": { text: content, reload } },
  });
  assert.equal(diff(general("2", true), general("1", true)).reasons, ["file general/503.http changed"]);
  assert.is(diff(general("2", false), general("1", false)).verdict, "file_only");
  assert.equal(diff({}, general("1", false)).removed, ["general/503.http"]);
});

test("too many operations, or too many backends at once, become a reload", () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`b${i}`, { servers: [server("s")] }]));
  assert.is(diff({ backends: many }, {}).verdict, "runtime");
  assert.is(diff({ backends: many }, {}, { maxOps: 100 }).verdict, "reload");
  assert.is(diff({ backends: many }, {}, { maxBackendChanges: 29 }).verdict, "reload");
});

/** What a worker would hold after the operations. */
interface Model {
  backends: Map<string, Map<string, { at: string; weight: number; ready: boolean }>>;
  published: Set<string>;
  map: Map<string, string>;
}

function modelOf(world: World): Model {
  const backends = Object.entries(world.backends ?? {}).map(([name, record]) => {
    const servers = (record.servers ?? []).map(
      (s) => [s.name, { at: `${s.address}:${s.port}`, weight: s.weight ?? 1, ready: s.disabled !== true }] as const,
    );
    return [name, new Map(servers)] as const;
  });
  const map = Object.values(world.maps ?? {})[0] ?? "";
  const entries = map
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" ") as [string, string]);
  return { backends: new Map(backends), published: new Set(backends.map(([name]) => name)), map: new Map(entries) };
}

function run(model: Model, op: Op, next: World): void {
  const servers = model.backends.get(op.backend ?? "");
  const entry = servers?.get(op.server ?? "");
  const need = <T>(value: T | undefined): T => {
    assert.ok(value !== undefined, `${op.kind} has nothing to work on`);
    return value;
  };
  switch (op.kind) {
    case "backend_add":
      assert.not(servers);
      model.backends.set(need(op.backend), new Map());
      break;
    case "backend_publish":
      need(servers);
      model.published.add(need(op.backend));
      break;
    case "backend_unpublish":
      need(servers);
      assert.not([...model.map.values()].includes(need(op.backend)));
      model.published.delete(need(op.backend));
      break;
    case "backend_del":
      assert.is(need(servers).size, 0);
      assert.not(model.published.has(need(op.backend)));
      model.backends.delete(need(op.backend));
      break;
    case "server_add":
      assert.not(entry);
      need(servers).set(need(op.server), { at: `${op.address}:${op.port}`, weight: op.weight ?? 1, ready: false });
      break;
    case "server_enable":
      need(entry).ready = true;
      break;
    case "server_disable":
      need(entry).ready = false;
      break;
    case "server_set_addr":
      need(entry).at = `${op.address}:${op.port}`;
      break;
    case "server_set_weight":
      need(entry).weight = need(op.weight ?? undefined);
      break;
    case "server_set_state":
      need(entry).ready = op.state === "ready";
      break;
    case "server_del":
      assert.not(need(entry).ready);
      need(servers).delete(need(op.server));
      break;
    case "map_add":
      assert.not(model.map.has(need(op.key)));
      assert.ok(model.published.has(need(op.value)));
      model.map.set(need(op.key), need(op.value));
      break;
    case "map_set":
      assert.ok(model.map.has(need(op.key)));
      assert.ok(model.published.has(need(op.value)));
      model.map.set(need(op.key), need(op.value));
      break;
    case "map_del":
      assert.ok(model.map.delete(need(op.key)));
      break;
    case "map_replace":
      model.map = modelOf(next).map;
      break;
    case "wait_srv_removable":
    case "wait_be_removable":
      break;
    default:
      assert.unreachable(op.kind);
  }
}

test("running the operations on a model of the baseline gives the model of the next plan, with no entry ever dangling", () => {
  const record = fc.uniqueArray(
    fc.record({
      name: fc.constantFrom("s1", "s2", "s3", "s4"),
      address: fc.constantFrom("10.0.0.1", "10.0.0.2", "fd00::1"),
      port: fc.constantFrom(80, 8080),
      weight: fc.option(fc.integer({ min: 0, max: 256 }), { nil: undefined }),
      disabled: fc.option(fc.boolean(), { nil: undefined }),
    }),
    { selector: (s) => s.name, maxLength: 4 },
  );
  const world = fc.dictionary(fc.constantFrom("a", "b", "c", "d", "e"), record).chain((servers) => {
    const names = Object.keys(servers);
    const hosts = fc.dictionary(
      fc.constantFrom("h1", "h2", "h3", "h4"),
      names.length === 0 ? fc.constant("") : fc.constantFrom(...names),
    );
    return hosts.map((entries): World => ({
      backends: Object.fromEntries(
        Object.entries(servers).map(([name, list]) => [
          name,
          { servers: list.map((s) => JSON.parse(JSON.stringify(s))) },
        ]),
      ),
      maps: {
        "maps/host.map": Object.entries(entries)
          .filter(([, value]) => value !== "")
          .map(([k, v]) => `${k} ${v}\n`)
          .join(""),
      },
    }));
  });
  fc.assert(
    fc.property(world, world, (before, after) => {
      const result = diff(after, before);
      assert.is.not(result.verdict, "reload", result.reasons.join());
      const model = modelOf(before);
      for (const op of result.ops) run(model, op, after);
      assert.equal(model, modelOf(after));
    }),
    { numRuns: 500 },
  );
});

test("a map of many blocks is compared by its changed blocks", () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `host${i}.example.com backend_${i}`);
  const before = lines.join("\n");
  lines.splice(7000, 1);
  lines.splice(12_000, 0, "new.example.com backend_x");
  const result = diff({ maps: { "maps/m": lines.join("\n") } }, { maps: { "maps/m": before } });
  assert.equal(result.ops, [
    { kind: "map_add", path: "maps/m", key: "new.example.com", value: "backend_x" },
    { kind: "map_del", path: "maps/m", key: "host7000.example.com" },
  ]);
});

test("a baseline map whose content is not known is replaced as a whole", () => {
  const block = blockOf(Buffer.from("a 1\n"));
  const trees = emptyTrees();
  const blind = planFile("maps/m", "map", [{ ...block, bytes: new Uint8Array(0) }]);
  const baseline = assemblePlan({ ...trees, files: trees.files.update(new Map([["maps/m", blind]])) });
  const next = assemblePlan({
    ...trees,
    files: trees.files.update(new Map([["maps/m", planFile("maps/m", "map", cutBlocks("a 2\n"))]])),
  });
  assert.equal(kinds(diffPlans(next, baseline, OPTIONS).ops), ["map_replace"]);
});

test.run();
