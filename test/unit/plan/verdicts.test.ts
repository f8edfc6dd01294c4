/** One test a row of the table of docs/reloads.md: what a change asks of a running HAProxy. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  backendDigest,
  type BackendRecord,
  ChunkedTree,
  decodePlan,
  diffPlans,
  encodePlan,
  type LoadedFiles,
  planBackend,
  type PlanDiff,
  planProfile,
  type RenderPlan,
} from "../../../src/plan/index.ts";
import { ALL_OPS, diff, kinds, plan, PROFILE, server, type World } from "./worlds.ts";

const loadedWith = (names: Partial<Record<keyof LoadedFiles, readonly string[]>>): LoadedFiles => ({
  maps: new Set(names.maps ?? []),
  certs: new Set(names.certs ?? []),
  caFiles: new Set(names.caFiles ?? []),
  crtLists: new Set(names.crtLists ?? []),
  crlFiles: new Set(names.crlFiles ?? []),
});

const withServer = (more: object): World => ({ backends: { a: { servers: [server("s", "10.0.0.1", more)] } } });

/** A reload whose only reason has all that a reader needs. */
function reloads({ verdict, reasons, reloads: told, ops }: PlanDiff, text: string | RegExp, field?: string): void {
  assert.is(verdict, "reload");
  assert.equal(ops, []);
  assert.is(told.length, 1, reasons.join("; "));
  assert.match(reasons[0] as string, text);
  assert.is.not(told[0]!.section, "");
  assert.is.not(told[0]!.hint, "");
  if (field !== undefined) assert.is(told[0]!.field, field);
}

for (const [what, before, after, kind] of [
  ["address", { address: "10.0.0.1" }, { address: "10.0.0.2" }, "server_set_addr"],
  ["port", { port: 80 }, { port: 81 }, "server_set_addr"],
  ["weight", { weight: 1 }, { weight: 0 }, "server_set_weight"],
  ["admin state", {}, { disabled: true }, "server_set_state"],
] as const) {
  test(`row "server address/port/weight/admin state → runtime": ${what}`, () => {
    for (const haproxyVersion of ["3.0.1", "3.2.1", "3.4.7"]) {
      const { verdict, ops } = diff(withServer(after), withServer(before), { haproxyVersion });
      assert.equal([verdict, kinds(ops)], ["runtime", [kind]]);
    }
  });
}

test("another weight needs a reload where the algorithm takes none at run time", () => {
  const world = (weight: number): World => ({
    backends: { a: { balance: "static-rr", shape: "structural", servers: [server("s", "10.0.0.1", { weight })] } },
  });
  reloads(diff(world(2), world(1)), /server s: balance static-rr takes no weight at run time/);
});

test('row "add server: literal IP, runtime-creatable keywords, algorithm accepts dynamic → runtime, from 3.0"', () => {
  const before: World = { backends: { a: {} } };
  for (const haproxyVersion of ["3.0.1", "3.2.1", "3.4.7"]) {
    const added = diff(withServer({ extra: "maxconn 9" }), before, { haproxyVersion });
    assert.equal([added.verdict, kinds(added.ops)], ["runtime", ["server_add", "server_enable"]]);
  }
  reloads(
    diff(withServer({ address: "db.example" }), before),
    /new server s: address "db.example" is not a literal IP/,
  );
  reloads(diff(withServer({ port: 0 }), before), /port 0 is out of range/);
  reloads(diff(withServer({ extra: "resolvers r" }), before), /keyword resolvers/);
});

test('row "add server: the algorithm accepts dynamic (roundrobin, leastconn, random, first; hash needs consistent; static-rr no)"', () => {
  const change = (fields: object) =>
    diff({ backends: { a: { ...fields, servers: [server("s")] } } }, { backends: { a: fields } });
  for (const balance of ["roundrobin", "leastconn", "random", "random(2)", "first"])
    assert.is(change({ balance }).verdict, "runtime", balance);
  for (const balance of ["source", "uri whole", "hdr(host)", "url_param id", "hash path"]) {
    reloads(change({ balance }), /takes no server at run time/);
    assert.is(change({ balance, hashType: "consistent" }).verdict, "runtime", balance);
  }
  reloads(change({ balance: "static-rr" }), /balance static-rr/);
});

test('row "add server: the certificate and CA file that it names are loaded": the plan\'s are loaded first, others need a reload', () => {
  const before: World = {
    backends: { a: {} },
    certs: { "ssl/c.pem": "c" },
    caFiles: { "ssl/ca.pem": "k" },
  };
  const after: World = { ...before, ...withServer({ extra: "ssl crt ssl/c.pem ca-file ssl/ca.pem" }) };
  const has = loadedWith({ certs: ["ssl/c.pem"], caFiles: ["ssl/ca.pem"] });
  assert.equal(kinds(diff(after, before, { loaded: has }).ops), ["server_add", "server_enable"]);
  assert.equal(kinds(diff(after, before, { loaded: loadedWith({}) }).ops), [
    "cert_new",
    "ca_new",
    "server_add",
    "server_enable",
  ]);
  const brought = { ...after, certs: { "ssl/c.pem": "c" }, caFiles: { "ssl/ca.pem": "k" } };
  assert.equal(kinds(diff(brought, { backends: { a: {} } }, { loaded: loadedWith({}) }).ops).slice(0, 3), [
    "cert_new",
    "ca_new",
    "server_add",
  ]);
  const elsewhere = (extra: string) => diff(withServer({ extra }), { backends: { a: {} } }, { loaded: loadedWith({}) });
  reloads(elsewhere("ssl ca-file /etc/ssl/ca.pem"), /ca-file \/etc\/ssl\/ca.pem, which HAProxy has not loaded/);
  reloads(elsewhere("ssl crl-file ssl/crl.pem"), /crl-file/);
  assert.is(elsewhere("ssl ca-file @system-ca").verdict, "runtime");
});

test("a server that waits for its CA file does not run in place while a reload is awaited", () => {
  const before: World = { backends: { a: {} }, structure: { "frontend f": "1" } };
  const servers = [server("s", "10.0.0.1", { extra: "ssl ca-file ssl/ca.pem" }), server("t")];
  const next: World = {
    backends: { a: { servers } },
    caFiles: { "ssl/ca.pem": "k" },
    structure: { "frontend f": "2" },
  };
  assert.equal(
    diff(next, before, { loaded: loadedWith({}) }).inPlaceOps.map((op) => `${op.kind} ${op.server}`),
    ["server_add t", "server_enable t"],
  );
});

test('row "remove server → disable, wait until removable, delete"', () => {
  for (const haproxyVersion of ["3.0.1", "3.2.1", "3.4.7"]) {
    const { verdict, ops } = diff({ backends: { a: {} } }, withServer({}), { haproxyVersion });
    assert.equal([verdict, kinds(ops)], ["runtime", ["server_disable", "wait_srv_removable", "server_del"]]);
  }
});

test('row "other keyword on an existing server → reload"', () => {
  reloads(
    diff(withServer({ extra: "check" }), withServer({ extra: "check inter 9s" })),
    /backend a, server s changed its keywords/,
    "servers.s.extra",
  );
});

test('row "add/remove dynamic backend (declared, empty body, profile already loaded) → runtime from 3.4, else reload"', () => {
  const one: World = { backends: { a: { servers: [server("s")] } } };
  const added = diff(one, {});
  assert.equal(
    [added.verdict, kinds(added.ops)],
    ["runtime", ["backend_add", "server_add", "server_enable", "backend_publish"]],
  );
  const gone = diff({}, one);
  assert.equal(
    [gone.verdict, kinds(gone.ops)[0], kinds(gone.ops).at(-1)],
    ["runtime", "backend_unpublish", "backend_del"],
  );
  for (const haproxyVersion of ["3.0.1", "3.2.1"]) {
    reloads(diff(one, {}, { haproxyVersion }), /backend a is new, which HAProxy before 3.4/);
    reloads(diff({}, one, { haproxyVersion }), /backend a is gone, which HAProxy before 3.4/);
  }
  reloads(
    diff({ backends: { a: { shape: "structural", shapeReason: "it has a body of its own" } } }, {}),
    /body/,
    "shape",
  );
  const other = planProfile("haptic-be-2", "    mode http\n");
  const unloaded = diff(
    { profiles: [PROFILE, other], backends: { a: { profile: other.name } } },
    { profiles: [PROFILE] },
  );
  assert.equal(unloaded.reasons, [
    "profile haptic-be-2 is new",
    "backend a is new and its profile haptic-be-2 is not loaded",
  ]);
});

for (const [field, value] of Object.entries({
  profile: "haptic-be-2",
  mode: "tcp",
  balance: "leastconn",
  hashType: "consistent",
  guid: "g",
  defaultServer: "check",
  body: "    option httpchk",
})) {
  test(`row "backend profile, mode, balance, hash-type, guid, default-server, body → reload": ${field}`, () => {
    const profiles = [PROFILE, planProfile("haptic-be-2", "    mode http\n")];
    reloads(
      diff({ profiles, backends: { a: { [field]: value } } }, { profiles, backends: { a: {} } }),
      `backend a changed its ${field}`,
      field,
    );
  });
}

test('row "new named defaults profile → reload", and one that nothing uses any more stays in the worker', () => {
  reloads(diff({ profiles: [PROFILE] }, { profiles: [] }), "profile haptic-be-1 is new");
  assert.is(diff({ profiles: [] }, { profiles: [PROFILE] }).verdict, "file_only");
  const other = diff({ profiles: [planProfile(PROFILE.name, "x")] }, { profiles: [PROFILE] });
  reloads(other, "profile haptic-be-1 changed its text");
});

test('row "any section text, listen → reload"', () => {
  for (const section of ["global", "frontend http", "listen l", "defaults base", "userlist u"])
    reloads(
      diff({ structure: { [section]: "2" } }, { structure: { [section]: "1" } }),
      `${section} changed`,
      "haproxyConfig.template",
    );
  reloads(diff({ structure: { "frontend http": "1" } }, {}), "frontend http is new");
  reloads(diff({}, { structure: { "frontend http": "1" } }), "frontend http is gone");
  const order = { "the order of sections": "1" };
  reloads(diff({ structure: order }, {}), "the order of sections changed");
  reloads(diff({ structure: { ...order, "listen l": "1" } }, {}), "listen l is new");
});

test('row "unaccounted text → reload": text of a backend that its record does not hold', () => {
  const of = (text: string): RenderPlan => {
    const record: BackendRecord = { name: "a", servers: [server("s")], shape: "structural" };
    const backend = { ...planBackend(record, text), origin: "Route default/web" };
    return { ...plan({}), id: text, backends: ChunkedTree.from([["a", backend] as const], backendDigest) };
  };
  const before = of("backend a\n    server s 10.0.0.1:80\n");
  const options = { haproxyVersion: "3.4.7", agentOps: ALL_OPS };
  const more = diffPlans(of("backend a\n    http-reuse safe\n    server s 10.0.0.1:80\n"), before, options);
  reloads(more, "backend a changed text outside its servers", "text");
  assert.is(more.reloads[0]?.object, "Route default/web");
  const keyword = diffPlans(of("backend a\n    server s 10.0.0.1:80 check\n"), before, options);
  reloads(keyword, "backend a changed text that its record does not account for", "text");
});

const map = (text: string, ordered = false): World => ({ maps: { "maps/m": text }, ordered });

test('row "map loaded by the worker, ordered=false → per-entry add/set/del (whole replace if cheaper or unrepresentable)"', () => {
  const loaded = loadedWith({ maps: ["maps/m"] });
  assert.equal(kinds(diff(map("a 1\nb 3\nd 4\n"), map("a 1\nb 2\nc 3\n"), { loaded }).ops), [
    "map_set",
    "map_add",
    "map_del",
  ]);
  assert.equal(kinds(diff(map("a 1\na 2\n"), map("a 1\n"), { loaded }).ops), ["map_replace"]);
  assert.equal(kinds(diff(map("a;b 1\n"), map("a 1\n"), { loaded }).ops), ["map_replace"]);
  const lines = (from: number) => Array.from({ length: 1000 }, (_, i) => `k${from + i} v\n`).join("");
  assert.equal(kinds(diff(map(lines(5000)), map(lines(0)), { loaded }).ops), ["map_replace"]);
});

test('row "map ordered=true → atomic versioned replace when order matters"', () => {
  assert.equal(kinds(diff(map("b 2\na 1\n", true), map("a 1\nb 2\n", true)).ops), ["map_replace"]);
  assert.equal(kinds(diff(map("c 3\na 1\nb 2\n", true), map("a 1\nb 2\n", true)).ops), ["map_replace"]);
  assert.equal(kinds(diff(map("a 1\nb 2\nc 3\n", true), map("a 1\nb 2\n", true)).ops), ["map_add"]);
  assert.equal(kinds(diff(map("a 1\nb 3\n", true), map("a 1\nb 2\n", true)).ops), ["map_set"]);
});

test('row "an entry of a map or a crt-list of 12 KiB or more → reload"', () => {
  const long = "x".repeat(12 * 1024);
  const wide = "ä".repeat(6 * 1024);
  const text = "map maps/m has an entry of 12 KiB or more";
  reloads(diff(map(`a 1\nb ${long}\n`), map("a 1\n")), text, "content");
  reloads(diff(map(`a ${wide}\n`), map("a 1\n")), text, "content");
  reloads(diff(map("a 1\n"), map(`a 1\n${long} b\n`)), text, "content");
  reloads(diff(map(`b 2\na ${long}\n`, true), map(`a ${long}\nb 2\n`, true)), text, "content");
  // What is as it was, or only had such a value, needs none.
  assert.equal(kinds(diff(map(`a ${long}\nb 2\n`), map(`a ${long}\nb 1\n`)).ops), ["map_set"]);
  assert.equal(kinds(diff(map("a 1\n"), map(`a ${long}\n`)).ops), ["map_set"]);
  assert.equal(kinds(diff(map("b 1\n"), map(`a ${long}\nb 1\n`)).ops), ["map_del"]);
  const names = (count: number): string => Array.from({ length: count }, (_, i) => `name-${i}.example`).join(" ");
  const wideList = (count: number): World => list(`d.pem *\na.pem ${names(count)}\n`);
  const entry = "crt-list general/list.txt: the entry of a.pem has 12 KiB or more";
  reloads(diff(wideList(1_000), wideList(10), inList), entry, "entry a.pem");
  assert.equal(kinds(diff(wideList(10), wideList(1_000), inList).ops), ["crtlist_set"]);
});

test('row "map not loaded → file_only"', () => {
  assert.is(diff(map("a 2\n"), map("a 1\n"), { loaded: loadedWith({}) }).verdict, "file_only");
  assert.is(diff(map("a 1\n"), {}).verdict, "file_only");
  assert.is(diff({}, map("a 1\n")).verdict, "file_only");
});

test('row "cert / CA content → runtime set+commit / new", and what is gone is unloaded', () => {
  const certs = (content: string): World => ({ certs: { "ssl/a.pem": content } });
  const cas = (content: string): World => ({ caFiles: { "ssl/ca.pem": content } });
  const loaded = loadedWith({ certs: ["ssl/a.pem"], caFiles: ["ssl/ca.pem"] });
  assert.equal(kinds(diff(certs("2"), certs("1"), { loaded }).ops), ["cert_set"]);
  assert.equal(kinds(diff(cas("2"), cas("1"), { loaded }).ops), ["ca_set"]);
  assert.equal(kinds(diff(certs("1"), {}, { loaded: loadedWith({}) }).ops), ["cert_new"]);
  assert.equal(kinds(diff(cas("1"), {}, { loaded: loadedWith({}) }).ops), ["ca_new"]);
  assert.equal(kinds(diff({}, certs("1"), { loaded }).ops), ["cert_del"]);
  assert.equal(kinds(diff({}, cas("1"), { loaded }).ops), ["ca_del"]);
  assert.is(diff({}, cas("1"), { loaded: loadedWith({}) }).verdict, "file_only", "nothing to unload");
});

test("a CA file that a server names stays in the worker, and an agent without CA operations is not asked what it holds", () => {
  const withCa = withServer({ extra: "ssl ca-file ssl/ca.pem" });
  const loaded = loadedWith({ caFiles: ["ssl/ca.pem"] });
  const gone = diff(withCa, { ...withCa, caFiles: { "ssl/ca.pem": "1" } }, { loaded });
  assert.is(gone.verdict, "file_only");
  const old = new Set([...ALL_OPS].filter((kind) => !kind.startsWith("ca_") && !kind.endsWith("_del")));
  const changed = diff(
    { caFiles: { "ssl/ca.pem": "2" } },
    { caFiles: { "ssl/ca.pem": "1" } },
    {
      agentOps: old,
      loaded: loadedWith({}),
    },
  );
  assert.equal(changed.reasons, ["the agent does not know the operation ca_set"]);
});

const list = (crtList: string, strict = false): World => ({ crtList, strict });
const LIST = ["general/list.txt"];
const inList = {
  loaded: loadedWith({ crtLists: LIST, certs: ["0.pem", "a.pem", "b.pem", "d.pem"] }),
};

test('row "crt-list entries of an existing loaded list, order preserved → runtime; add/remove list or reorder → reload"', () => {
  const before = list("d.pem *\na.pem a.example\n");
  const added = diff(list("d.pem *\na.pem a.example\nb.pem b.example\n"), before, inList);
  assert.equal([added.verdict, kinds(added.ops)], ["runtime", ["crtlist_add"]]);
  const gone = diff(list("d.pem *\n"), before, inList);
  assert.equal([gone.verdict, kinds(gone.ops)], ["runtime", ["crtlist_del"]]);
  reloads(diff(list("a.pem a.example\nd.pem *\n"), before, inList), /changed its first entry/);
  const three = list("d.pem *\na.pem a.example\nb.pem b.example\n");
  reloads(diff(list("d.pem *\nb.pem b.example\na.pem a.example\n"), three, inList), /changed its order/);
  reloads(diff(before, {}), "crt-list general/list.txt is new");
  reloads(diff({}, before), "crt-list general/list.txt is gone");
});

test("a crt-list entry has its certificate loaded first, where nothing named it before; one that is nowhere needs a reload", () => {
  const certs = { "a.pem": "a", "d.pem": "d" };
  const [before, after] = [list("d.pem\n"), list("d.pem\na.pem a.example\n")];
  const options = { loaded: loadedWith({ crtLists: ["general/list.txt"], certs: ["d.pem"] }) };
  const found = diff({ ...after, certs }, { ...before, certs }, options);
  assert.equal([found.verdict, kinds(found.ops)], ["runtime", ["cert_new", "crtlist_add"]]);
  reloads(diff(after, before, options), /names a.pem, which HAProxy has not loaded/);
});

test("a crt-list without a default certificate: its first entry comes and goes at run time, also as the only one", () => {
  const one = list("a.pem a.example\n", true);
  assert.equal(kinds(diff(one, list("", true), inList).ops), ["crtlist_add"]);
  assert.equal(kinds(diff(list("", true), one, inList).ops), ["crtlist_del"]);
  assert.equal(kinds(diff(list("0.pem 0.example\na.pem a.example\n", true), one, inList).ops), ["crtlist_add"]);
  assert.is(diff(list("0.pem 0.example\na.pem a.example\n"), list("a.pem a.example\n"), inList).verdict, "reload");
  assert.is(diff(one, list("", false), inList).verdict, "reload", "it had a default certificate before");
});

test('row "general file reloadOnPush=true changed/removed → reload; false → file_only"', () => {
  const general = (text: string, reload: boolean): World => ({ general: { "general/e": { text, reload } } });
  reloads(diff(general("2", true), general("1", true)), "file general/e changed", "content");
  reloads(diff({}, general("1", true)), "file general/e is gone");
  reloads(diff(general("1", true), {}), "file general/e is new");
  for (const [next, before] of [
    [general("2", false), general("1", false)],
    [{}, general("1", false)],
    [general("1", false), {}],
  ] as const)
    assert.is(diff(next, before).verdict, "file_only");
});

test("nil or unknown baseline, another schema, an unknown operation → the full set and a reload", () => {
  const next = plan(withServer({}));
  const options = { haproxyVersion: "3.4.7", agentOps: ALL_OPS };
  assert.equal(diffPlans(next, undefined, options).reasons, ["no plan is known of what this pod runs"]);
  const { reasons, changed } = diffPlans(next, { ...next, schemaVersion: 0 }, options);
  assert.equal([reasons, changed.length], [["the pod's plan has another schema version"], 1]);
  const { verdict, reloads: told } = diff(withServer({ weight: 2 }), withServer({ weight: 1 }), {
    agentOps: new Set(),
  });
  assert.equal([verdict, told[0]?.text], ["reload", "the agent does not know the operation server_set_weight"]);
});

test("a baseline read back from the pod's stored plan gives the same difference as one that was kept", async () => {
  const before: World = { ...withServer({}), ...map("a 1\nb 2\n"), ...list("d.pem *\n") };
  const after: World = { ...withServer({ weight: 9 }), ...map("a 1\nb 3\n"), ...list("d.pem *\ne.pem e.example\n") };
  const pause = async (): Promise<void> => {};
  const read = await decodePlan((await encodePlan(plan(before), pause))!, pause);
  const options = { haproxyVersion: "3.4.7", agentOps: ALL_OPS };
  assert.equal(diffPlans(plan(after), read, options).ops, diff(after, before).ops);
  assert.equal(kinds(diff(after, before).ops), ["server_set_weight", "crtlist_add", "map_set"]);
});

test("of many reasons seven are told, and how many more there are", () => {
  const backends = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`b${10 + i}`, { body: "    x" }]));
  const { reasons } = diff({ backends }, { backends: Object.fromEntries(Object.keys(backends).map((n) => [n, {}])) });
  assert.is(reasons.length, 8);
  assert.is(reasons.at(-1), "and 13 more");
});

test.run();
