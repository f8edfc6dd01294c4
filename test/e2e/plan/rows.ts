/**
 * The verdict table: each kind of change, how it has to be brought about, and what the worker must hold afterwards. One row a
 * change; a reload is right where HAProxy takes the change no other way.
 */
import { RELOAD_RULES } from "../../../src/plan/index.ts";
import type { Model, ModelProfile } from "./model.ts";
import { type Material, nameOf, PROFILES, type Targets } from "./start.ts";
import type { WorkerState } from "./worker-state.ts";

/** Those of the sequences, and more. */
export const ROW_PROFILES = {
  ...PROFILES,
  random: { mode: "http", balance: "random" },
  staticRoundRobin: { mode: "http", balance: "static-rr" },
  mapBased: { mode: "http", balance: "uri" },
  tcp: { mode: "tcp", balance: "roundrobin" },
} satisfies Record<string, ModelProfile>;

export const VERSIONS = ["3.4", "3.2", "3.0"] as const;
export type Version = (typeof VERSIONS)[number];
export type Mode = "runtime" | "file_only" | "reload" | "noop" | "rejected";

export interface Parts {
  readonly material: Material;
  readonly targets: Targets;
}

export interface Row {
  readonly change: string;
  /** The same for all versions, or by version. */
  readonly mode: Mode | Readonly<Record<Version, Mode>>;
  /** What there is before, beside the model that each row begins with. */
  readonly before?: (model: Model, parts: Parts) => void;
  readonly make: (model: Model, parts: Parts) => void;
  /** Why it reloads, whole: kind of reload, and what is told before the hint. The same for all versions that reload, or by version. */
  readonly why?: readonly Why[] | Readonly<Partial<Record<Version, readonly Why[]>>>;
  /** Field of the worker's state by object, `server web/c · srv_addr`, → the value it must have; undefined = there is no such object. */
  readonly holds: (parts: Parts) => Readonly<Record<string, string | undefined>>;
}

export type Why = readonly [rule: keyof typeof RELOAD_RULES, cause: string];

/** Names of profiles and sizes of files are no part of what a row says. */
export const readable = (reason: string): string =>
  reason.replaceAll(/haptic-be-[0-9a-f]{16}/g, "haptic-be-…").replaceAll(/\d+ bytes( → \d+)?/g, "N bytes");

/** The reasons that a row has to have, as statuses tell them. */
export function reasonsOf({ why = [] }: Row, version: Version): readonly string[] {
  const list: readonly Why[] = isList(why) ? why : (why[version] ?? []);
  return list.map(([rule, cause]) => {
    const { hint } = RELOAD_RULES[rule];
    return `${cause}; ${hint.startsWith("nothing") ? "" : "to avoid it: "}${hint}`;
  });
}

const isList = (why: NonNullable<Row["why"]>): why is readonly Why[] => Array.isArray(why);

export const modeOf = (row: Row, version: Version): Mode =>
  typeof row.mode === "string" ? row.mode : row.mode[version];

/** What of this the worker does not hold. */
export function missing(worker: WorkerState, holds: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(holds).flatMap(([place, wanted]) => {
    const [key = "", field] = place.split(" · ");
    const held = field === undefined ? worker.get(key) && "there" : worker.get(key)?.[field];
    const isRight =
      wanted === undefined
        ? held === undefined
        : wanted === held || (wanted.startsWith("…") && held?.includes(wanted.slice(1)));
    return isRight ? [] : [`${place} is ${held ?? "not there"} instead of ${wanted ?? "gone"}`];
  });
}

const since = (version: "3.2" | "3.4"): Row["mode"] =>
  version === "3.2"
    ? { "3.4": "runtime", "3.2": "runtime", "3.0": "reload" }
    : { "3.4": "runtime", "3.2": "reload", "3.0": "reload" };

/** A backend `more` with one server, of this profile. */
const withBackend =
  (profile: string, more: Partial<Model["backends"][string]> = {}) =>
  (model: Model, { targets }: Parts): void => {
    if (!model.declared.includes(profile)) model.declared.push(profile);
    model.backends["more"] = { profile, servers: { a: { address: targets.addresses[0]!, port: 9001 } }, ...more };
  };

const addTo =
  (backend: string, fields: Partial<Model["backends"][string]["servers"][string]> = {}) =>
  (model: Model, { targets }: Parts): void => {
    model.backends[backend]!.servers["z"] = { address: targets.addresses[3]!, port: 9002, ...fields };
  };

function balanceOf(profile: keyof typeof ROW_PROFILES): string {
  const { balance, hashType }: ModelProfile = ROW_PROFILES[profile];
  return hashType === undefined ? balance : `${balance} and hash-type ${hashType}`;
}

const SERVERS: readonly Row[] = [
  {
    change: "a server's address",
    mode: "runtime",
    make: (model, { targets }) => void (model.backends["web"]!.servers["a"]!.address = targets.addresses[3]!),
    holds: ({ targets }) => ({ "server web/a · srv_addr": targets.addresses[3] }),
  },
  {
    change: "a server's port",
    mode: "runtime",
    make: (model) => void (model.backends["web"]!.servers["a"]!.port = 9002),
    holds: () => ({ "server web/a · srv_port": "9002" }),
  },
  {
    change: "a server's weight",
    mode: "runtime",
    make: (model) => void (model.backends["web"]!.servers["b"]!.weight = 99),
    holds: () => ({ "server web/b · srv_uweight": "99", "server web/b · stat weight": "99" }),
  },
  {
    change: "a server drained by the weight 0",
    mode: "runtime",
    make: (model) => void (model.backends["web"]!.servers["b"]!.weight = 0),
    holds: () => ({ "server web/b · srv_uweight": "0" }),
  },
  {
    change: "a weight that is not given any more",
    mode: "runtime",
    make: (model) => void delete model.backends["web"]!.servers["b"]!.weight,
    holds: () => ({ "server web/b · srv_uweight": "1" }),
  },
  {
    change: "a server into maintenance",
    mode: "runtime",
    make: (model) => void (model.backends["web"]!.servers["a"]!.disabled = true),
    holds: () => ({ "server web/a · srv_admin_state": "1", "server web/a · stat status": "MAINT" }),
  },
  {
    change: "a server out of the maintenance that the file says",
    mode: "runtime",
    before: (model) => void (model.backends["api"]!.servers["a"]!.disabled = true),
    make: (model) => void delete model.backends["api"]!.servers["a"]!.disabled,
    holds: () => ({ "server api/a · srv_admin_state": "0", "server api/a · stat status": "UP" }),
  },
  {
    change: "a server out of the maintenance that it was added in",
    mode: "runtime",
    before: (model, parts) => addTo("api", { disabled: true })(model, parts),
    make: (model) => void delete model.backends["api"]!.servers["z"]!.disabled,
    holds: () => ({ "server api/z · srv_check_state": "6", "server api/z · stat status": "UP" }),
  },
  {
    change: "a weight where the algorithm knows none at run time",
    mode: "reload",
    why: [
      [
        "server-balance",
        "backend pinned, server a: balance source takes no weight at run time (from Backend pinned, servers.a.weight)",
      ],
    ],
    make: (model) => void (model.backends["pinned"]!.servers["a"]!.weight = 9),
    holds: () => ({ "server pinned/a · srv_uweight": "9" }),
  },
  {
    change: "a new server",
    mode: "runtime",
    make: addTo("web", { weight: 5 }),
    holds: ({ targets }) => ({
      "server web/z · srv_addr": targets.addresses[3],
      "server web/z · srv_port": "9002",
      "server web/z · srv_uweight": "5",
      "server web/z · stat status": "no check",
    }),
  },
  {
    change: "a new server with what default-server of its profile says",
    mode: "runtime",
    make: addTo("api"),
    holds: () => ({
      "server api/z · srv_uweight": "20",
      "server api/z · stat slim": "40",
      "server api/z · stat check_rise": "1",
      "server api/z · stat status": "UP",
    }),
  },
  {
    change: "a new server with keywords of its own",
    mode: "runtime",
    make: addTo("web", { guid: "z", extra: "check inter 150ms rise 1 fall 1 maxconn 25 backup cookie z" }),
    holds: () => ({
      "server web/z · stat slim": "25",
      "server web/z · stat bck": "1",
      "server web/z · stat cookie": "z",
      "server web/z · stat status": "UP",
      "guid z": "there",
    }),
  },
  ...(["random", "first", "consistent"] as const).map((profile): Row => ({
    change: `a new server under balance ${balanceOf(profile)}`,
    mode: "runtime",
    before: withBackend(profile),
    make: addTo("more"),
    holds: () => ({ "server more/z · srv_admin_state": "0" }),
  })),
  ...(["source", "staticRoundRobin", "mapBased"] as const).map((profile): Row => ({
    change: `a new server under balance ${balanceOf(profile)}, which takes none at run time`,
    mode: "reload",
    why: [
      [
        "server-balance",
        `backend more, new server z: balance ${ROW_PROFILES[profile].balance} takes no server at run time (from Backend more, servers.z.name)`,
      ],
    ],
    before: withBackend(profile),
    make: addTo("more"),
    holds: () => ({ "server more/z · srv_admin_state": "0" }),
  })),
  {
    change: "a new server by its host name",
    mode: "reload",
    why: [
      [
        "server-address",
        'backend web, new server z: address "localhost" is not a literal IP address (from Backend web, servers.z.address)',
      ],
    ],
    make: addTo("web", { address: "localhost" }),
    holds: () => ({ "server web/z · srv_fqdn": "localhost" }),
  },
  {
    change: "a new server with a keyword that no command takes",
    mode: "reload",
    why: [
      [
        "server-keyword",
        "backend web, new server z: keyword init-addr, which HAProxy does not take at run time (from Backend web, servers.z.extra)",
      ],
    ],
    make: addTo("web", { extra: "init-addr none" }),
    holds: () => ({ "server web/z": "there" }),
  },
  {
    change: "a new server with a keyword that commands take since 3.2",
    mode: since("3.2"),
    why: [
      [
        "server-keyword",
        "backend web, new server z: keyword pool-conn-name, which HAProxy does not take at run time (from Backend web, servers.z.extra)",
      ],
    ],
    make: addTo("web", { extra: "maxconn 5 pool-conn-name str(x)" }),
    holds: () => ({ "server web/z · stat slim": "5" }),
  },
  {
    change: "a new server with a CA file that is loaded",
    mode: "runtime",
    before: (model) =>
      void (model.backends["web"]!.servers["b"]!.extra = "ssl verify required ca-file ssl/upstream.pem"),
    make: addTo("web", { extra: "ssl verify required ca-file ssl/upstream.pem" }),
    holds: () => ({ "server web/z · srv_use_ssl": "1" }),
  },
  {
    change: "a new server with a CA file of the set that nothing has named",
    mode: "runtime",
    make: addTo("web", { extra: "ssl verify required ca-file ssl/upstream.pem" }),
    holds: () => ({ "server web/z · srv_use_ssl": "1", "ca-file ssl/upstream.pem": "there" }),
  },
  {
    change: "a new server with a client certificate of the set that nothing has named",
    mode: "runtime",
    before: (model, { material }) => void (model.certs["site-1.pem"] = material.certs["site-1"]![0]!),
    make: addTo("web", { extra: "ssl verify none crt ssl/site-1.pem" }),
    holds: () => ({ "server web/z · srv_use_ssl": "1", "cert ssl/site-1.pem · Status": "Used" }),
  },
  {
    change: "a server that is gone",
    mode: "runtime",
    make: (model) => void delete model.backends["web"]!.servers["a"],
    holds: () => ({ "server web/a": undefined, "guid be:web:a": undefined, "server web/b · srv_admin_state": "0" }),
  },
  {
    change: "the last server of a backend",
    mode: "runtime",
    make: (model) => void delete model.backends["api"]!.servers["a"],
    holds: () => ({ "server api/a": undefined, "backend api · show backend": "listed" }),
  },
  {
    change: "a server in place of another",
    mode: "runtime",
    make(model, parts) {
      delete model.backends["web"]!.servers["a"];
      addTo("web", { guid: "be:web:z" })(model, parts);
    },
    holds: () => ({ "server web/a": undefined, "server web/z · srv_admin_state": "0", "guid be:web:z": "there" }),
  },
  {
    change: "another keyword of a server",
    mode: "reload",
    why: [
      [
        "server-extra",
        "backend web, server a changed its keywords: maxconn 12 is new (from Backend web, servers.a.extra)",
      ],
    ],
    make: (model) => void (model.backends["web"]!.servers["a"]!.extra = "maxconn 12"),
    holds: () => ({ "server web/a · stat slim": "12" }),
  },
  {
    change: "a server's guid",
    mode: "reload",
    why: [
      ["server-guid", "backend web, server a changed its guid: be:web:a → other (from Backend web, servers.a.guid)"],
    ],
    make: (model) => void (model.backends["web"]!.servers["a"]!.guid = "other"),
    holds: () => ({ "guid other": "there", "guid be:web:a": undefined }),
  },
  {
    change: "a new server with the guid of one that goes",
    mode: "reload",
    why: [
      [
        "server-guid",
        "backend web, new server z: its guid be:web:a is still that of server web/a (from Backend web, servers.z.guid)",
      ],
    ],
    make(model, parts) {
      delete model.backends["web"]!.servers["a"];
      addTo("web", { guid: "be:web:a" })(model, parts);
    },
    holds: () => ({ "guid be:web:a": "there", "server web/a": undefined, "server web/z · srv_admin_state": "0" }),
  },
];

const BACKENDS: readonly Row[] = [
  {
    change: "a new backend of a loaded profile",
    mode: since("3.4"),
    why: [
      ["backend-version", "backend more is new, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
    ],
    make: withBackend("plain", { guid: "be:more" }),
    holds: () => ({
      "backend more · show backend": "listed",
      "backend more · stat status": "UP",
      "backend more · stat algo": "roundrobin",
      "server more/a · srv_admin_state": "0",
      "guid be:more": "there",
    }),
  },
  {
    change: "a new backend without servers",
    mode: since("3.4"),
    why: [
      ["backend-version", "backend more is new, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
    ],
    make: withBackend("plain", { servers: {} }),
    holds: () => ({ "backend more · show backend": "listed" }),
  },
  {
    change: "a new backend whose servers are checked",
    mode: since("3.4"),
    why: [
      ["backend-version", "backend more is new, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
    ],
    make: withBackend("checked"),
    holds: () => ({ "server more/a · stat status": "UP", "server more/a · stat slim": "40" }),
  },
  {
    change: "a new backend and the host that leads to it",
    mode: since("3.4"),
    why: [
      ["backend-version", "backend more is new, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
    ],
    make(model, parts) {
      withBackend("plain")(model, parts);
      model.routes["more"] = { host: "more.example", backend: "more" };
    },
    holds: () => ({ "backend more · stat status": "UP", "map maps/host.map · entries": "…more.example more" }),
  },
  {
    change: "a backend that is gone, which was added at run time where that can be",
    mode: since("3.4"),
    why: [
      ["backend-version", "backend more is gone, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
    ],
    before: withBackend("plain"),
    make: (model) => void delete model.backends["more"],
    holds: () => ({ "backend more": undefined, "server more/a": undefined }),
  },
  {
    change: "a backend of the file that is gone, which only maps have named",
    mode: since("3.4"),
    why: [
      ["backend-version", "backend web is gone, which HAProxy before 3.4 takes at a reload only (from Backend web)"],
    ],
    make(model) {
      delete model.backends["web"];
      delete model.routes["web"];
    },
    holds: () => ({ "backend web": undefined, "server web/a": undefined, "guid be:web": undefined }),
  },
  {
    change: "a setting of a backend",
    mode: "runtime",
    make: (model) => void (model.backends["tuned"]!.settings = { "timeout server": "9s", frames: "DENY" }),
    holds: () => ({
      "map maps/haptic-setting-timeout-server.map · entries": "tuned 9000",
      "map maps/haptic-setting-frames.map · entries": "tuned DENY",
    }),
  },
  {
    change: "a setting that a backend has no more",
    mode: "runtime",
    make: (model) => void delete model.backends["tuned"]!.settings,
    holds: () => ({ "map maps/haptic-setting-timeout-server.map · entries": "" }),
  },
  {
    change: "a new backend with settings",
    mode: since("3.4"),
    why: [
      ["backend-version", "backend more is new, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
    ],
    make: withBackend("settled", { settings: { frames: "SAMEORIGIN" } }),
    holds: () => ({
      "backend more · stat status": "UP",
      "map maps/haptic-setting-frames.map · entries": "more SAMEORIGIN",
    }),
  },
  {
    change: "a new backend of a profile that is not loaded",
    mode: "reload",
    why: {
      "3.4": [
        ["profile-new", "profile haptic-be-… is new (from Profile late, planRegistry.Profile)"],
        [
          "backend-profile-unloaded",
          "backend more is new and its profile haptic-be-… is not loaded (from Backend more, profile)",
        ],
      ],
      "3.2": [
        ["profile-new", "profile haptic-be-… is new (from Profile late, planRegistry.Profile)"],
        ["backend-version", "backend more is new, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
      ],
      "3.0": [
        ["profile-new", "profile haptic-be-… is new (from Profile late, planRegistry.Profile)"],
        ["backend-version", "backend more is new, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
      ],
    },
    make: withBackend("late"),
    holds: () => ({ "backend more · stat status": "UP" }),
  },
  {
    change: "a new backend with a text of its own",
    mode: "reload",
    why: {
      "3.4": [["backend-structural", "backend more is new and structural (from Backend more, shape)"]],
      "3.2": [
        ["backend-version", "backend more is new, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
      ],
      "3.0": [
        ["backend-version", "backend more is new, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
      ],
    },
    make: withBackend("plain", { body: "http-request set-header x-more yes" }),
    holds: () => ({ "backend more · stat status": "UP" }),
  },
  {
    change: "a backend with a text of its own that is gone",
    mode: "reload",
    why: {
      "3.4": [["backend-structural", "backend special is gone and was structural (from Backend special, shape)"]],
      "3.2": [
        [
          "backend-version",
          "backend special is gone, which HAProxy before 3.4 takes at a reload only (from Backend special)",
        ],
      ],
      "3.0": [
        [
          "backend-version",
          "backend special is gone, which HAProxy before 3.4 takes at a reload only (from Backend special)",
        ],
      ],
    },
    make: (model) => void delete model.backends["special"],
    holds: () => ({ "backend special": undefined }),
  },
  {
    change: "a new backend whose algorithm takes no servers at run time",
    mode: "reload",
    why: {
      "3.4": [
        [
          "server-balance",
          "backend more is new, server a: balance source takes no server at run time (from Backend more, servers.a.name)",
        ],
      ],
      "3.2": [
        ["backend-version", "backend more is new, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
      ],
      "3.0": [
        ["backend-version", "backend more is new, which HAProxy before 3.4 takes at a reload only (from Backend more)"],
      ],
    },
    make: withBackend("source"),
    holds: () => ({ "backend more · stat algo": "source" }),
  },
  {
    change: "a backend's profile",
    mode: "reload",
    why: [
      ["backend-profile", "backend web changed its profile: haptic-be-… → haptic-be-… (from Backend web, profile)"],
    ],
    make: (model) => void (model.backends["web"]!.profile = "checked"),
    holds: () => ({ "backend web · stat algo": "leastconn" }),
  },
  {
    change: "a backend's mode, by its profile",
    mode: "reload",
    why: [
      [
        "backend-profile",
        "backend web changed its profile, mode: haptic-be-… → haptic-be-…, http → tcp (from Backend web, profile, mode)",
      ],
    ],
    before: (model) => void model.declared.push("tcp"),
    make: (model) => void (model.backends["web"]!.profile = "tcp"),
    holds: () => ({ "backend web · stat mode": "tcp" }),
  },
  {
    change: "a backend's guid",
    mode: "reload",
    why: [["backend-guid", "backend web changed its guid: be:web → be:other (from Backend web, guid)"]],
    make: (model) => void (model.backends["web"]!.guid = "be:other"),
    holds: () => ({ "guid be:other": "there", "guid be:web": undefined }),
  },
  {
    change: "a backend's own balance",
    mode: "reload",
    why: [
      ["backend-field", "backend special changed its balance: roundrobin → leastconn (from Backend special, balance)"],
    ],
    before: (model) => void Object.assign(model.backends["special"]!, { balance: "roundrobin" }),
    make: (model) => void Object.assign(model.backends["special"]!, { balance: "leastconn" }),
    holds: () => ({ "backend special · stat algo": "leastconn" }),
  },
  {
    change: "a backend's own hash-type",
    mode: "reload",
    why: [
      [
        "backend-field",
        "backend special changed its hashType: map-based → consistent (from Backend special, hashType)",
      ],
    ],
    before: (model) => void Object.assign(model.backends["special"]!, { balance: "uri", hashType: "map-based" }),
    make: (model) => void Object.assign(model.backends["special"]!, { hashType: "consistent" }),
    holds: () => ({ "backend special · stat algo": "uri" }),
  },
  {
    change: "a backend's own default-server",
    mode: "reload",
    why: [
      [
        "backend-default-server",
        "backend special changed its defaultServer: maxconn 33 is new (from Backend special, defaultServer)",
      ],
    ],
    make: (model) => void Object.assign(model.backends["special"]!, { defaultServer: "maxconn 33" }),
    holds: () => ({ "server special/a · stat slim": "33" }),
  },
  {
    change: "a backend's own text",
    mode: "reload",
    why: [["backend-text", "backend special changed its body (from Backend special, body)"]],
    make: (model) => void Object.assign(model.backends["special"]!, { body: "cookie C insert indirect nocache" }),
    holds: () => ({ "backend special · stat cookie": "C" }),
  },
  {
    change: "text of a backend that its declaration does not speak of",
    mode: "reload",
    why: [["backend-text", "backend special changed text outside its servers (from Backend special, text)"]],
    make: (model) => void Object.assign(model.backends["special"]!, { silent: "cookie S insert indirect nocache" }),
    holds: () => ({ "backend special · stat cookie": "S" }),
  },
];

const TEXT: readonly Row[] = [
  {
    change: "nothing",
    mode: "noop",
    make: () => undefined,
    holds: () => ({ "backend web · stat status": "UP" }),
  },
  {
    change: "a new profile",
    mode: "reload",
    why: [["profile-new", "profile haptic-be-… is new (from Profile late, planRegistry.Profile)"]],
    make: (model) => void model.declared.push("late"),
    holds: () => ({ "backend web · stat status": "UP" }),
  },
  {
    change: "a profile that no backend names any more, which may stay until the next reload",
    mode: "file_only",
    before: (model) => void model.declared.push("late"),
    make: (model) => void model.declared.pop(),
    holds: () => ({ "backend web · stat status": "UP" }),
  },
  {
    change: "a line of a frontend",
    mode: "reload",
    why: [
      ["section", "frontend http from base changed: maxconn none → 123 (from Line a, haproxyConfig.template line 22)"],
    ],
    make: (model) => void (model.lines["a"] = "maxconn 123"),
    holds: () => ({ "frontend http · stat slim": "123" }),
  },
  {
    change: "a comment",
    mode: "file_only",
    make: (model) => void (model.lines["a"] = "# what this is for"),
    holds: () => ({ "frontend http · stat status": "OPEN" }),
  },
  {
    change: "a new listen section",
    mode: "reload",
    why: [["section-new", "listen extra from base is new (from Section a, haproxyConfig.template)"]],
    make: (model) => void (model.sections["a"] = 'listen extra from base\n    bind "${HAPTIC_BIND_ADDRESS}:8088"'),
    holds: () => ({ "frontend extra · stat status": "OPEN" }),
  },
  {
    change: "a section that is gone",
    mode: "reload",
    why: [["section-gone", "listen extra from base is gone (from Section a, haproxyConfig.template)"]],
    before: (model) => void (model.sections["a"] = 'listen extra from base\n    bind "${HAPTIC_BIND_ADDRESS}:8088"'),
    make: (model) => void delete model.sections["a"],
    holds: () => ({ "frontend extra": undefined }),
  },
  {
    change: "what HAProxy refuses",
    mode: "rejected",
    make: (model) => void (model.lines["a"] = "no-such-directive"),
    holds: () => ({ "backend web · stat status": "UP", "server web/a · srv_admin_state": "0" }),
  },
];

const MAP_ROWS: readonly Row[] = [
  {
    change: "an entry of a map without order: new, other and gone at once",
    mode: "runtime",
    make(model) {
      model.routes["new"] = { host: "0-new.example", backend: "web" };
      model.routes["api"]!.backend = "web";
      delete model.routes["special"];
    },
    holds: () => ({ "map maps/host.map · entries": "0-new.example web\napi.example web\nweb.example web" }),
  },
  {
    change: "a second entry of a key, before the first",
    mode: "runtime",
    make: (model) => void (model.routes["a-web"] = { host: "web.example", backend: "api" }),
    holds: () => ({ "map maps/host.map · entries": "…web.example api\nweb.example web" }),
  },
  {
    change: "a value with blanks",
    mode: "runtime",
    make: (model) => void (model.notes["new.example"] = "a b  c; d"),
    holds: () => ({ "map maps/notes.map · entries": "…new.example a b  c; d" }),
  },
  {
    change: "a value that no command carries",
    mode: "reload",
    why: [["entry-size", "map maps/notes.map has an entry of 12 KiB or more: N bytes (content)"]],
    make: (model) => void (model.notes["new.example"] = "long ".repeat(2_600).trim()),
    holds: () => ({ "map maps/notes.map · entries": `…new.example ${"long ".repeat(2_600).trim()}` }),
  },
  {
    change: "a thousand entries",
    mode: "runtime",
    make(model) {
      for (let i = 0; i < 1000; i++) model.routes[`many-${i}`] = { host: `m${i}.example`, backend: "web" };
    },
    holds: () => ({ "map maps/host.map · entries": "…m999.example web" }),
  },
  {
    change: "an entry in the middle of a map whose order counts",
    mode: "runtime",
    make: (model) => void model.rules.splice(1, 0, { pattern: "^b\\.example$", backend: "api" }),
    holds: () => ({
      "map maps/regex.map · entries": "^a.*\\.example$ api\n^b\\.example$ api\n^.*\\.example$ web",
    }),
  },
  {
    change: "the order of a map whose order counts",
    mode: "runtime",
    make: (model) => void model.rules.reverse(),
    holds: () => ({ "map maps/regex.map · entries": "^.*\\.example$ web\n^a.*\\.example$ api" }),
  },
  {
    change: "all entries of a map",
    mode: "runtime",
    make: (model) => void (model.rules = []),
    holds: () => ({ "map maps/regex.map · entries": "" }),
  },
];

const CERTIFICATES: readonly Row[] = [
  {
    change: "a certificate's content",
    mode: "runtime",
    make: (model, { material }) => void (model.certs["site-0.pem"] = material.certs["site-0"]![2]!),
    holds: () => ({ "cert ssl/site-0.pem · Subject Alternative Name": "DNS:site-0.example, DNS:also-site-0.example" }),
  },
  {
    change: "the default certificate's content",
    mode: "runtime",
    make: (model, { material }) => void (model.certs["base.pem"] = material.certs["base"]![2]!),
    holds: () => ({ "cert ssl/base.pem · Subject Alternative Name": "DNS:base.example, DNS:also-base.example" }),
  },
  {
    change: "a certificate's content, with a chain that no command carries",
    mode: "reload",
    why: [
      [
        "certificate-size",
        "certificate ssl/site-0.pem: its chain has N bytes, more than the 12288 that HAProxy takes at run time (from File site-0.pem, content)",
      ],
    ],
    make: (model, { material }) =>
      void (model.certs["site-0.pem"] = material.certs["site-0"]![2]! + material.cas[2]!.repeat(12)),
    holds: () => ({ "cert ssl/site-0.pem · Subject Alternative Name": "DNS:site-0.example, DNS:also-site-0.example" }),
  },
  {
    change: "a new certificate and its entry in the crt-list",
    mode: "runtime",
    make(model, { material }) {
      model.certs["site-1.pem"] = material.certs["site-1"]![0]!;
      model.list.push({ cert: "site-1.pem", options: "alpn h2,http/1.1", names: [nameOf("site-1")] });
    },
    holds: () => ({
      "cert ssl/site-1.pem · Status": "Used",
      "crt-list general/sites.txt · entries": "…ssl/site-1.pem [alpn h2,http/1.1] site-1.example",
    }),
  },
  {
    change: "a new certificate that nothing names",
    mode: "runtime",
    make: (model, { material }) => void (model.certs["site-1.pem"] = material.certs["site-1"]![0]!),
    holds: () => ({ "cert ssl/site-1.pem · Status": "Unused" }),
  },
  {
    change: "an entry for a certificate that was there when HAProxy started, and that nothing named",
    mode: "runtime",
    before(model, { material }) {
      model.certs["site-1.pem"] = material.certs["site-1"]![0]!;
      model.lines["a"] = "maxconn 321";
    },
    make: (model) => void model.list.push({ cert: "site-1.pem", names: [nameOf("site-1")] }),
    holds: () => ({ "cert ssl/site-1.pem · Status": "Used" }),
  },
  {
    change: "an entry of a crt-list that is gone, with its certificate",
    mode: "runtime",
    make(model) {
      model.list.pop();
      delete model.certs["site-0.pem"];
    },
    holds: () => ({ "cert ssl/site-0.pem": undefined, "crt-list general/sites.txt · entries": "ssl/base.pem []" }),
  },
  {
    change: "another name of an entry, and then that entry's end",
    mode: "runtime",
    before: (model) => void model.list[1]!.names.push("www.site-0.example"),
    make: (model) => void model.list.pop(),
    holds: () => ({ "crt-list general/sites.txt · entries": "ssl/base.pem []" }),
  },
  {
    change: "more names of an entry",
    mode: "runtime",
    make: (model) => void model.list[1]!.names.push("www.site-0.example"),
    holds: () => ({ "crt-list general/sites.txt · entries": "…ssl/site-0.pem [] site-0.example www.site-0.example" }),
  },
  {
    change: "options of an entry",
    mode: "runtime",
    make: (model) => void (model.list[1]!.options = "ssl-min-ver TLSv1.3"),
    holds: () => ({ "crt-list general/sites.txt · entries": "…ssl/site-0.pem [ssl-min-ver TLSv1.3]" }),
  },
  {
    change: "fewer names of an entry",
    mode: "runtime",
    before: (model) => void model.list[1]!.names.push("www.site-0.example"),
    make: (model) => void model.list[1]!.names.pop(),
    holds: () => ({ "crt-list general/sites.txt · entries": "ssl/base.pem []\nssl/site-0.pem [] site-0.example" }),
  },
  {
    change: "a new entry before one that answers for the same name",
    mode: "reload",
    why: [
      [
        "crt-list-order",
        "crt-list general/sites.txt: the new names of ssl/site-1.pem are answered for by a later entry too (from File site-1.pem and File sites.txt, entries)",
      ],
    ],
    make(model, { material }) {
      model.certs["site-1.pem"] = material.certs["site-1"]![0]!;
      model.list.splice(1, 0, { cert: "site-1.pem", names: [nameOf("site-0")] });
    },
    holds: () => ({ "cert ssl/site-1.pem · Status": "Used" }),
  },
  {
    change: "the first entry of a crt-list",
    mode: "reload",
    why: [
      [
        "crt-list-first",
        "crt-list general/sites.txt changed its first entry: ssl/base.pem → ssl/site-0.pem (from File sites.txt, entries[0])",
      ],
    ],
    make: (model) => void model.list.reverse(),
    holds: () => ({ "crt-list general/sites.txt · entries": "…ssl/base.pem []" }),
  },
  {
    change: "the order of a crt-list",
    mode: "reload",
    why: [
      [
        "crt-list-order",
        "crt-list general/sites.txt changed its order (from File sites.txt, entries, from ssl/site-0.pem on)",
      ],
    ],
    before(model, { material }) {
      model.certs["site-1.pem"] = material.certs["site-1"]![0]!;
      model.list.push({ cert: "site-1.pem", names: [nameOf("site-1")] });
    },
    make: (model) => void model.list.push(...model.list.splice(1, 1)),
    holds: () => ({ "cert ssl/site-1.pem · Status": "Used" }),
  },
  {
    change: "a new crt-list and the bind that names it",
    mode: "reload",
    why: [
      ["section-new", "frontend more from base is new (from Section a and File more.txt, haproxyConfig.template)"],
      ["crt-list-new", "crt-list general/more.txt is new (from Section a and File more.txt)"],
    ],
    make(model) {
      model.lists = { "more.txt": [{ cert: "base.pem", names: [] }] };
      model.sections["a"] =
        'frontend more from base\n    bind "${HAPTIC_BIND_ADDRESS}:8449" ssl crt-list general/more.txt';
    },
    holds: () => ({ "crt-list general/more.txt · entries": "ssl/base.pem []" }),
  },
  {
    change: "a crt-list that nothing names",
    mode: "reload",
    why: [["crt-list-new", "crt-list general/more.txt is new (from File more.txt)"]],
    make: (model) => void (model.lists = { "more.txt": [{ cert: "base.pem", names: [] }] }),
    holds: () => ({ "crt-list general/more.txt": undefined }),
  },
  {
    change: "a CA file's content, for clients",
    mode: since("3.2"),
    why: [
      [
        "ca-version",
        "CA file ssl/clients.pem changed, which HAProxy before 3.2 takes at a reload only: N bytes (from File clients.pem, content)",
      ],
    ],
    make: (model, { material }) => void (model.cas["clients.pem"] = material.cas[3]!),
    holds: () => ({ "ca-file ssl/clients.pem · listed": "ssl/clients.pem - 2 certificate(s)" }),
  },
  {
    change: "a CA file's content, for servers",
    mode: "reload",
    why: {
      "3.4": [
        [
          "ca-servers",
          "CA file ssl/upstream.pem changed, of which servers hear at a reload only: N bytes (from File upstream.pem, content)",
        ],
      ],
      "3.2": [
        [
          "ca-servers",
          "CA file ssl/upstream.pem changed, of which servers hear at a reload only: N bytes (from File upstream.pem, content)",
        ],
      ],
      "3.0": [
        [
          "ca-version",
          "CA file ssl/upstream.pem changed, which HAProxy before 3.2 takes at a reload only: N bytes (from File upstream.pem, content)",
        ],
      ],
    },
    before: (model) =>
      void (model.backends["web"]!.servers["b"]!.extra = "ssl verify required ca-file ssl/upstream.pem"),
    make: (model, { material }) => void (model.cas["upstream.pem"] = material.cas[3]!),
    holds: () => ({ "ca-file ssl/upstream.pem · listed": "ssl/upstream.pem - 2 certificate(s)" }),
  },
  {
    change: "a new CA file",
    mode: "runtime",
    make: (model, { material }) => void (model.cas["new.pem"] = material.cas[2]!),
    holds: () => ({ "ca-file ssl/new.pem · listed": "ssl/new.pem - 2 certificate(s)" }),
  },
  {
    change: "a CA file that is gone",
    mode: "runtime",
    before: (model, { material }) => void (model.cas["new.pem"] = material.cas[2]!),
    make: (model) => void delete model.cas["new.pem"],
    holds: () => ({ "ca-file ssl/new.pem": undefined }),
  },
];

const FILES: readonly Row[] = [
  {
    change: "a map that no section names",
    mode: "file_only",
    make: (model) => void (model.loose = "a b\nc d\n"),
    holds: () => ({ "map maps/loose.map": undefined }),
  },
  {
    change: "a file that needs a reload",
    mode: "reload",
    why: [["file", "file general/new.http changed: N bytes (from File new.http, content)"]],
    before: (model) => void (model.files["new.http"] = { text: "new", reload: true }),
    make: (model) => void (model.files["new.http"] = { text: "newer", reload: true }),
    holds: () => ({ "backend web · stat status": "UP" }),
  },
  {
    change: "a new file that needs a reload",
    mode: "reload",
    why: [["file", "file general/new.http is new (from File new.http, reloadOnPush)"]],
    make: (model) => void (model.files["new.http"] = { text: "new", reload: true }),
    holds: () => ({ "backend web · stat status": "UP" }),
  },
  {
    change: "a file that needs a reload and is gone",
    mode: "reload",
    why: [["file", "file general/new.http is gone (from File new.http, reloadOnPush)"]],
    before: (model) => void (model.files["new.http"] = { text: "new", reload: true }),
    make: (model) => void delete model.files["new.http"],
    holds: () => ({ "backend web · stat status": "UP" }),
  },
  {
    change: "a file that needs no reload",
    mode: "file_only",
    make: (model) => void (model.files["readme.txt"]!.text = "other words"),
    holds: () => ({ "backend web · stat status": "UP" }),
  },
  {
    change: "a new file that needs no reload",
    mode: "file_only",
    make: (model) => void (model.files["new.txt"] = { text: "new", reload: false }),
    holds: () => ({ "backend web · stat status": "UP" }),
  },
  {
    change: "a file that needs no reload and is gone",
    mode: "file_only",
    make: (model) => void delete model.files["readme.txt"],
    holds: () => ({ "backend web · stat status": "UP" }),
  },
];

export const ROWS: readonly Row[] = [...SERVERS, ...BACKENDS, ...TEXT, ...MAP_ROWS, ...CERTIFICATES, ...FILES];
