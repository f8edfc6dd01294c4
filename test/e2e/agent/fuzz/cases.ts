/** Requests that break the agent's contract, one way each, made of a good one. */
import type { Manifest } from "../../../../src/agent/api.ts";
import { whole } from "../../../support/random.ts";
import type { RawRequest } from "./raw-client.ts";

/** A good apply: its manifest, and its parts by path. */
export interface Good {
  readonly manifest: Manifest;
  readonly parts: ReadonlyMap<string, Buffer>;
}

export interface World {
  readonly random: () => number;
  /** Of other content than what the pod holds, in every file. */
  readonly good: Good;
  /** Digests of what it holds, by path. */
  readonly held: ReadonlyMap<string, string>;
  /** Somewhere that the agent must not touch, as an absolute path and as one relative to the tree. */
  readonly outside: string;
}

export interface Case {
  readonly what: string;
  readonly request: RawRequest;
  /** Answers that are right; 0 = the connection may end without one. */
  readonly status: readonly number[];
  /** All of them stand in the answer. */
  readonly says?: readonly string[];
}

type Maker = (world: World) => Case;
type Loose = Record<string, unknown>;

interface Piece {
  readonly head: string;
  readonly bytes: Buffer;
}

const REFUSED = [400];
const pick = <T>(random: () => number, from: readonly T[]): T => from[whole(random, from.length)]!;
const clone = (manifest: Manifest): Loose => structuredClone(manifest) as unknown as Loose;
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

function piecesOf(manifest: Buffer, parts: Iterable<readonly [string, Buffer]>): Piece[] {
  return [
    { head: 'name="manifest"', bytes: manifest },
    ...[...parts].map(([path, bytes]) => ({ head: `name="file"; filename="${path}"`, bytes })),
  ];
}

function bodyOf(pieces: readonly Piece[], boundary = "b0undary", end = `\r\n--${boundary}--\r\n`): Buffer {
  const chunks = pieces.flatMap(({ head, bytes }, i) => [
    Buffer.from(`${i === 0 ? "" : "\r\n"}--${boundary}\r\ncontent-disposition: form-data; ${head}\r\n\r\n`),
    bytes,
  ]);
  return Buffer.concat([...chunks, Buffer.from(end)]);
}

const TYPE = "multipart/form-data; boundary=b0undary";

function apply(body: Buffer, more: Partial<RawRequest> = {}): RawRequest {
  return { method: "POST", path: "/v1/apply", body, ...more, headers: { "content-type": TYPE, ...more.headers } };
}

/** The good apply with another manifest. */
function withManifest({ good }: World, manifest: unknown): RawRequest {
  return apply(bodyOf(piecesOf(json(manifest), good.parts)));
}

const BAD_PATHS: readonly ((world: World) => string)[] = [
  () => "..",
  () => "../evil",
  () => "maps/../../evil",
  () => "maps/..",
  () => ".",
  () => "./maps/x",
  () => "maps/./x",
  () => ".hidden",
  () => "maps/.hidden",
  () => ".haptic/journal",
  () => "maps//x",
  () => "maps/",
  () => "/",
  () => "/etc/passwd",
  ({ outside }) => `${outside}/target`,
  ({ outside }) => `../..${outside}/target`,
  () => "current/haproxy.cfg",
  () => "current",
  () => "haproxy-worker.sock",
  () => "haproxy-master.sock/x",
  () => "haptic-drain.sock",
  () => "",
  () => "maps/a\u0000b",
  () => "maps/a\nb",
  () => "maps\\..\\x",
  () => 'maps/a"b',
  () => "maps/\u007f",
  () => "maps/\ud800",
  () => `maps/${"x".repeat(300)}`,
  () => `${"a/".repeat(127)}aa`,
  () => `maps/${"é".repeat(126)}`,
];

const NO_PATHS: readonly unknown[] = [null, 5, true, [], {}, ["maps/x"], { length: 3 }];

const badPath: Maker = (world) => {
  const { random } = world;
  const isText = random() < 0.8;
  const path = isText ? pick(random, BAD_PATHS)(world) : pick(random, NO_PATHS);
  const manifest = clone(world.good.manifest);
  const files = manifest["files"] as Loose[];
  const place = whole(random, 5);
  if (place === 0) files[whole(random, files.length)]!["path"] = path;
  else if (place === 1) files.push({ ...files[0], path });
  else if (place === 2) {
    delete manifest["files"];
    Object.assign(manifest, { changed: [], removed: ["general/gone", path] });
  } else if (place === 3) manifest["ops"] = [{ kind: "map_add", path, key: "k", value: "v" }];
  else manifest["in_place_ops"] = [{ kind: "crtlist_add", path: "general/list.txt", cert: path }];
  const what = `path ${JSON.stringify(path)?.slice(0, 60)} in place ${place}`;
  return {
    what,
    request: withManifest(world, manifest),
    status: REFUSED,
    says: [place === 4 && !isText ? "cert" : "path", "HAPTIC_E_AGENT_REQUEST"],
  };
};

const fileAndFolder: Maker = (world) => {
  const manifest = clone(world.good.manifest);
  const files = manifest["files"] as Loose[];
  files.push({ ...files[0], path: `${String(files[0]!["path"])}/below` });
  return {
    what: "a path that is file and folder",
    request: withManifest(world, manifest),
    status: REFUSED,
    says: ["path"],
  };
};

const twice: Maker = (world) => {
  const manifest = clone(world.good.manifest);
  const files = manifest["files"] as Loose[];
  files.push({ ...pick(world.random, files) });
  return { what: "a path twice", request: withManifest(world, manifest), status: REFUSED, says: ["path comes twice"] };
};

const JUNK: readonly unknown[] = [null, true, -1, 0.5, 1e300, "junk", [], {}, [[]], [null], { a: { b: {} } }];

/** Field → values that it can have none of. */
const FIELDS: Readonly<Record<string, readonly unknown[]>> = {
  identity_version: [undefined, 0, 2, "1", ...JUNK],
  plan_schema_version: [undefined, ...JUNK.filter((value) => value !== 1e300), 1e300],
  plan_id: [undefined, "", "a\nb", "x".repeat(257), ...JUNK.filter((value) => value !== "junk")],
  expected_prev_plan_id: [undefined, "x".repeat(257), "a\u0000", ...JUNK.filter((value) => value !== "junk")],
  token: [
    undefined,
    { leader_epoch: 1 },
    { leader_epoch: "1", render_seq: 2 },
    { leader_epoch: -1, render_seq: 0 },
    ...JUNK,
  ],
  expected_prev_token: [{ render_seq: 1 }, ...JUNK],
  worker_ops_plan_id: JUNK.filter((value) => value !== "junk"),
  expected_worker_ops_plan_id: JUNK.filter((value) => value !== "junk"),
  validated_plan_id: JUNK.filter((value) => value !== "junk"),
  mode: [undefined, "", "AUTO", "__proto__", ...JUNK],
  ops: [undefined, ...JUNK.filter((value) => !Array.isArray(value)), [[]], [null], [5], ["server_add"]],
  in_place_ops: [undefined, ...JUNK.filter((value) => !Array.isArray(value)), [[]], [null]],
  files: [null, true, 5, "junk", {}, [null], [[]], [5]],
};

const badField: Maker = (world) => {
  const { random } = world;
  const field = pick(random, Object.keys(FIELDS));
  const value = pick(random, FIELDS[field]!);
  const manifest = clone(world.good.manifest);
  if (value === undefined) delete manifest[field];
  else manifest[field] = value;
  const isList = ["ops", "in_place_ops", "files"].includes(field) && Array.isArray(value);
  // Of a list the element is what is wrong.
  const named = isList ? (field === "files" ? "file" : "operation") : field.endsWith("ops") ? "ops" : field;
  const what = `${field} = ${JSON.stringify(value)?.slice(0, 60) ?? "nothing"}`;
  return { what, request: withManifest(world, manifest), status: REFUSED, says: [named, "HAPTIC_E_AGENT_REQUEST"] };
};

const FILE_FIELDS: Readonly<Record<string, readonly unknown[]>> = {
  kind: [undefined, "", "symlink", "__proto__", ...JUNK],
  digest: [undefined, "", "ab", "G".repeat(64), "a".repeat(65), ...JUNK],
  size: [undefined, "5", ...JUNK.filter((value) => value !== 1e300)],
  reload_on_change: [undefined, "true", 1, ...JUNK.filter((value) => value !== true)],
  blocks: [null, 5, "x", {}, [null], [5], [{}], [{ digest: "x", size: 1 }]],
  patch: [null, 5, "x", {}, [], { base_digest: "x", splices: [] }, { base_digest: "a".repeat(64), splices: [null] }],
};

const badFileField: Maker = (world) => {
  const { random } = world;
  const field = pick(random, Object.keys(FILE_FIELDS));
  const value = pick(random, FILE_FIELDS[field]!);
  const manifest = clone(world.good.manifest);
  const file = pick(random, manifest["files"] as Loose[]);
  if (value === undefined) delete file[field];
  else file[field] = value;
  const named = field === "blocks" ? "block" : field === "patch" ? "" : field;
  const what = `a file's ${field} = ${JSON.stringify(value)?.slice(0, 60) ?? "nothing"}`;
  return { what, request: withManifest(world, manifest), status: REFUSED, says: [String(file["path"]), named] };
};

const SERVER = { backend: "one", server: "s1" };
const OPS: readonly (readonly [Loose, string])[] = [
  [{ kind: "reboot" }, "reboot"],
  [{ kind: "__proto__" }, "__proto__"],
  [{ kind: "constructor" }, "constructor"],
  [{ kind: 5 }, "operation 5"],
  [{ kind: "server_add", backend: "one", address: "127.0.0.1", port: 1 }, "server is missing"],
  [{ kind: "server_add", ...SERVER, port: 1 }, "address is missing"],
  [{ kind: "server_add", ...SERVER, address: "127.0.0.1", port: "80" }, "port"],
  [{ kind: "server_add", ...SERVER, address: "127.0.0.1", port: 70_000 }, "port"],
  [{ kind: "server_add", ...SERVER, address: "127.0.0.1", port: 1, keywords: 5 }, "keywords"],
  [{ kind: "server_add", ...SERVER, address: "127.0.0.1", port: 1, keywords: [{ name: "check" }] }, "keywords"],
  [{ kind: "server_add", ...SERVER, address: "127.0.0.1", port: 1, keywords: [null] }, "keywords"],
  [{ kind: "server_disable", backend: {}, server: "s1" }, "backend"],
  [{ kind: "server_disable", backend: "one", server: ["s1"] }, "server"],
  [{ kind: "server_set_weight", ...SERVER, weight: 257 }, "weight"],
  [{ kind: "server_set_weight", ...SERVER, weight: "1" }, "weight"],
  [{ kind: "server_set_state", ...SERVER }, "state"],
  [{ kind: "server_set_state", ...SERVER, state: 5 }, "state"],
  [{ kind: "server_enable", ...SERVER, health: "yes" }, "health"],
  [{ kind: "wait_srv_removable", ...SERVER, timeout_ms: 30_001 }, "timeout_ms"],
  [{ kind: "wait_srv_removable", ...SERVER, timeout_ms: -1 }, "timeout_ms"],
  [{ kind: "map_add", path: "maps/host.map", key: "k" }, "value"],
  [{ kind: "map_add", path: "maps/host.map", key: {}, value: "v" }, "key"],
  [{ kind: "map_del", path: "maps/host.map" }, "key"],
  [{ kind: "map_replace" }, "path"],
  [{ kind: "crtlist_add", path: "general/list.txt" }, "cert"],
  [{ kind: "crtlist_add", path: "general/list.txt", cert: "c.pem", options: "x" }, "options"],
  [{ kind: "crtlist_add", path: "general/list.txt", cert: "c.pem", sni_filters: [5] }, "sni_filters"],
];

const badOp: Maker = (world) => {
  const [op, named] = pick(world.random, OPS);
  const manifest = clone(world.good.manifest);
  manifest[pick(world.random, ["ops", "in_place_ops"])] = [op];
  return {
    what: `operation ${JSON.stringify(op)}`,
    request: withManifest(world, manifest),
    status: REFUSED,
    says: [named],
  };
};

const tooMany: Maker = (world) => {
  const manifest = clone(world.good.manifest);
  const kind = whole(world.random, 3);
  if (kind === 0) manifest["ops"] = Array.from({ length: 1_001 }, () => ({ kind: "server_disable", ...SERVER }));
  else if (kind === 1) {
    const [file] = manifest["files"] as Loose[];
    manifest["files"] = Array.from({ length: 4_097 }, (_, i) => ({ ...file, path: `general/${i}` }));
  } else Object.assign(manifest, { changed: [], removed: [] });
  const says = [["operations"], ["4096 files"], ["exclude each other"]][kind]!;
  return { what: `too much, ${kind}`, request: withManifest(world, manifest), status: [400, 413], says };
};

/** Bytes that are no manifest at all. */
const noManifest: Maker = (world) => {
  const { random, good } = world;
  const text = JSON.stringify(good.manifest);
  const variants: readonly (readonly [string, Buffer])[] = [
    ["nothing", Buffer.alloc(0)],
    ["null", Buffer.from("null")],
    ["a list", Buffer.from("[]")],
    ["a number", Buffer.from("17")],
    ["cut JSON", Buffer.from(text.slice(0, whole(random, text.length - 1)))],
    ["a byte order mark", Buffer.from(`\ufeff${text}`)],
    ["bytes of no text", Buffer.from(Array.from({ length: 200 }, () => whole(random, 256)))],
    ["deep lists", Buffer.from("[".repeat(100_000))],
    ["deep objects", Buffer.from('{"a":'.repeat(50_000))],
    ["a comma too many", Buffer.from(text.replace(/\}$/, ",}"))],
  ];
  const [what, bytes] = pick(random, variants);
  const request = apply(bodyOf(piecesOf(bytes, good.parts)));
  return { what: `a manifest of ${what}`, request, status: REFUSED, says: ["manifest", "HAPTIC_E_AGENT_REQUEST"] };
};

const wrongContent: Maker = (world) => {
  const { random, good } = world;
  const manifest = clone(good.manifest);
  const files = manifest["files"] as Loose[];
  const file = pick(
    random,
    files.filter((one) => (good.parts.get(String(one["path"]))?.length ?? 0) > 1),
  );
  const path = String(file["path"]);
  const parts = new Map(good.parts);
  const bytes = Buffer.from(parts.get(path)!);
  const kind = whole(random, 7);
  const hex = "0123456789abcdef";
  if (kind === 0) {
    const at = whole(random, bytes.length);
    bytes[at] = bytes[at]! ^ (1 + whole(random, 255));
    parts.set(path, bytes);
  } else if (kind === 1) parts.set(path, bytes.subarray(0, whole(random, bytes.length)));
  else if (kind === 2) parts.set(path, Buffer.concat([bytes, Buffer.from("x")]));
  else if (kind === 3) file["digest"] = Array.from({ length: 64 }, () => pick(random, [...hex])).join("");
  else if (kind === 4) file["size"] = Number(file["size"]) + 1 + whole(random, 1_000);
  else if (kind === 5) (file["blocks"] as Loose[])[0]!["size"] = whole(random, 0xffff_ffff);
  else (file["blocks"] as Loose[]).push({ digest: "a".repeat(64), size: 0 });
  const request = apply(bodyOf(piecesOf(json(manifest), parts)));
  return { what: `content that is not its digest, ${kind}`, request, status: REFUSED, says: [path] };
};

const lacking: Maker = (world) => {
  const path = pick(world.random, [...world.good.parts.keys()]);
  const parts = new Map(world.good.parts);
  parts.delete(path);
  const request = apply(bodyOf(piecesOf(json(world.good.manifest), parts)));
  return { what: "a part that is not there", request, status: [409], says: ["missing", path] };
};

const badPatch: Maker = (world) => {
  const { random, good, held } = world;
  const manifest = clone(good.manifest);
  const files = manifest["files"] as Loose[];
  const file = pick(random, files);
  const insert = file["blocks"];
  delete file["blocks"];
  const splices = pick<unknown>(random, [
    [{ index: 1e6, remove: 0, insert }],
    [{ index: 0, remove: 1e6, insert }],
    [{ index: -1, remove: 0, insert }],
    [{ index: 0.5, remove: 0, insert }],
    [
      { index: 1, remove: 0, insert },
      { index: 0, remove: 0, insert: [] },
    ],
    [{ index: 0, remove: 0 }],
    [{}],
    5,
  ]);
  file["patch"] = { base_digest: pick(random, [held.get(String(file["path"])), "a".repeat(64), 7, null]), splices };
  const what = `patch ${JSON.stringify(file["patch"]).slice(0, 60)}`;
  return { what, request: withManifest(world, manifest), status: [400, 409], says: [String(file["path"])] };
};

const badForm: Maker = (world) => {
  const { random, good } = world;
  const pieces = piecesOf(json(good.manifest), good.parts);
  const [manifest, ...rest] = pieces as [Piece, ...Piece[]];
  const variants: readonly (() => readonly [string, RawRequest, readonly number[], string])[] = [
    () => ["no type", apply(bodyOf(pieces), { headers: { "content-type": "" } }), [415], "multipart"],
    () => ["JSON", apply(json(good.manifest), { headers: { "content-type": "application/json" } }), [415], "multipart"],
    () => [
      "no boundary",
      apply(bodyOf(pieces), { headers: { "content-type": "multipart/form-data" } }),
      [415],
      "multipart",
    ],
    () => [
      "a boundary that is too long",
      apply(bodyOf(pieces, "b".repeat(90)), {
        headers: { "content-type": `multipart/form-data; boundary=${"b".repeat(90)}` },
      }),
      [400, 415],
      "",
    ],
    () => ["another boundary", apply(bodyOf(pieces, "another")), REFUSED, ""],
    () => ["no end", apply(bodyOf(pieces, "b0undary", "")), REFUSED, "ends before its last part"],
    () => ["nothing", apply(Buffer.alloc(0)), REFUSED, "ends before its last part"],
    () => ["an end alone", apply(Buffer.from("--b0undary--\r\n")), REFUSED, "ends before its last part"],
    () => [
      "line feeds alone",
      apply(Buffer.from(bodyOf(pieces).toString("latin1").replaceAll("\r\n", "\n"), "latin1")),
      REFUSED,
      "",
    ],
    () => ["files before the manifest", apply(bodyOf([...rest, manifest])), REFUSED, "manifest"],
    () => ["two manifests", apply(bodyOf([manifest, manifest, ...rest])), REFUSED, "manifest"],
    () => ["a part twice", apply(bodyOf([...pieces, rest[0]!])), REFUSED, "twice"],
    () => [
      "a part without a filename",
      apply(bodyOf([...pieces, { head: 'name="file"', bytes: Buffer.from("x") }])),
      REFUSED,
      "filename",
    ],
    () => [
      "a part without a name",
      apply(bodyOf([...pieces, { head: 'filename="x"', bytes: Buffer.from("x") }])),
      REFUSED,
      "name",
    ],
    () => [
      "a part of no file",
      apply(
        bodyOf([
          ...pieces,
          {
            head: `name="file"; filename="${pick(random, ["maps/other", "../evil", "/etc/x"])}"`,
            bytes: Buffer.from("x"),
          },
        ]),
      ),
      REFUSED,
      "no file that the manifest names",
    ],
    () => [
      "a long header",
      apply(bodyOf([manifest, { head: `name="file"; filename="${"x".repeat(9_000)}"`, bytes: Buffer.alloc(1) }])),
      REFUSED,
      "header",
    ],
    () => ["bytes before the first part", apply(Buffer.concat([Buffer.alloc(300, "x"), bodyOf(pieces)])), REFUSED, ""],
  ];
  const [what, request, status, says] = pick(random, variants)();
  return { what: `form: ${what}`, request, status, says: says === "" ? [] : [says] };
};

/** A body that ends early, anywhere, or comes in small pieces. */
const transport: Maker = (world) => {
  const { random, good } = world;
  const manifest = clone(good.manifest);
  manifest["mode"] = "no such mode";
  const body = bodyOf(piecesOf(json(manifest), good.parts));
  const kind = whole(random, 3);
  const slow = { bytes: 50 + whole(random, 400), pauseMs: whole(random, 3) };
  if (kind === 0) {
    const whole_ = bodyOf(piecesOf(json(good.manifest), good.parts));
    const cutAt = whole(random, whole_.length);
    return {
      what: `cut after ${cutAt} bytes`,
      request: apply(whole_, { cutAt, chunked: random() < 0.5 }),
      status: [0, 400],
    };
  }
  const request = apply(body, { slow, chunked: kind === 1 });
  return { what: `slow, ${slow.bytes} bytes a piece`, request, status: REFUSED, says: ["mode"] };
};

const otherwise: Maker = ({ random }) => {
  const method = pick(random, ["DELETE", "PATCH", "OPTIONS", "PUT", "GET", "POST"]);
  const path = pick(random, [
    "/",
    "/v1/applyy",
    "/v1/../etc/passwd",
    "/%2e%2e/x",
    "//",
    "/v1/apply/",
    "/v2/state",
    "/drain",
    "/start?fallback=1",
  ]);
  return { what: `${method} ${path}`, request: { method, path }, status: [400, 404, 501] };
};

const plan: Maker = ({ random }) => {
  const id = pick(random, ["", "other", "../x", "%00", "%0a", "x".repeat(5_000)]);
  const body = Buffer.alloc(whole(random, 2_000), 1);
  return {
    what: `plan ${id.slice(0, 20)}`,
    request: { method: "PUT", path: `/v1/plan?plan_id=${id}`, body },
    status: [400, 409],
  };
};

/** Costly ones: megabytes. */
const oversize: Maker = ({ random, good }) => {
  const variants: readonly (() => readonly [string, RawRequest, string])[] = [
    () => [
      "a body that says that it is too large",
      apply(Buffer.alloc(0), { headers: { "content-length": "67108865" } }),
      "too large",
    ],
    () => [
      "a manifest above 16 MiB",
      apply(bodyOf(piecesOf(Buffer.alloc(17 * 2 ** 20, " "), []))),
      "manifest is too large",
    ],
    () => [
      "a plan above 8 MiB",
      apply(
        bodyOf([
          ...piecesOf(json(good.manifest), good.parts),
          { head: 'name="plan"', bytes: Buffer.alloc(9 * 2 ** 20) },
        ]),
      ),
      "plan is too large",
    ],
    () => [
      "a body without an end above 64 MiB",
      apply(
        bodyOf([
          ...piecesOf(json(good.manifest), good.parts),
          { head: 'name="file"; filename="maps/x"', bytes: Buffer.alloc(65 * 2 ** 20) },
        ]),
        { chunked: true },
      ),
      "too large",
    ],
    () => [
      "a plan of its own above 8 MiB",
      { method: "PUT", path: "/v1/plan?plan_id=x", body: Buffer.alloc(9 * 2 ** 20) },
      "larger than",
    ],
  ];
  const [what, request, says] = pick(random, variants)();
  // Who is answered while it still sends may find its connection ended first.
  return { what: `oversize: ${what}`, request, status: [413, 0], says: [says] };
};

const MAKERS: readonly (readonly [weight: number, maker: Maker])[] = [
  [30, badPath],
  [3, fileAndFolder],
  [3, twice],
  [25, badField],
  [15, badFileField],
  [15, badOp],
  [3, tooMany],
  [10, noManifest],
  [15, wrongContent],
  [5, lacking],
  [8, badPatch],
  [20, badForm],
  [10, transport],
  [5, otherwise],
  [4, plan],
  [1, oversize],
];
const TOTAL = MAKERS.reduce((sum, [weight]) => sum + weight, 0);

export function makeCase(world: World): Case {
  let left = whole(world.random, TOTAL);
  for (const [weight, maker] of MAKERS) {
    left -= weight;
    if (left < 0) return maker(world);
  }
  return badPath(world);
}
