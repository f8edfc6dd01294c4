/** Random changes of servers and backends. */
import { whole } from "../../support/random.ts";
import { chance, type Dice, free, HOSTS, type Kind, numbered, one } from "./dice.ts";
import type { Model, ModelBackend, ModelServer } from "./model.ts";
import { PROFILES } from "./start.ts";

const MAX_BACKENDS = 14;
const MAX_SERVERS = 5;

function place(dice: Dice): { address: string; port: number } {
  const { addresses, ports, dead } = dice.targets;
  return { address: chance(dice, 0.1) ? dead : one(dice, addresses)!, port: one(dice, ports)! };
}

const EXTRAS = [
  "check inter 150ms fastinter 100ms downinter 150ms rise 1 fall 1",
  "agent-check agent-port 9002 agent-inter 300ms",
  "check inter 150ms fastinter 100ms downinter 150ms rise 1 fall 1 ssl verify none",
  "backup",
  "maxconn 25 maxqueue 10",
  "cookie one",
  "ssl verify none",
  "ssl verify required ca-file ssl/upstream.pem",
  "send-proxy-v2",
  "pool-max-conn 5 pool-purge-delay 9s",
];

function newServer(dice: Dice, backend: string, name: string): ModelServer {
  const server: ModelServer = place(dice);
  if (chance(dice, 0.4)) server.weight = whole(dice.random, 257);
  if (chance(dice, 0.15)) server.disabled = true;
  if (chance(dice, 0.2)) server.guid = `be:${backend}:${name}`;
  if (chance(dice, 0.3)) server.extra = one(dice, EXTRAS)!;
  return server;
}

/** A server, of a backend whose algorithm takes changes or of any. */
function someServer(model: Model, dice: Dice, dynamic: boolean) {
  const backends = Object.entries(model.backends).filter(
    ([, backend]) => Object.keys(backend.servers).length > 0 && (!dynamic || backend.profile !== "source"),
  );
  const [backend, record] = one(dice, backends) ?? [];
  if (backend === undefined || record === undefined) return undefined;
  const name = one(dice, Object.keys(record.servers))!;
  return { backend, record, name, server: record.servers[name]! };
}

/** At a random place: the order of servers in the text is not that of their coming. */
function insert<T>(dice: Dice, into: Record<string, T>, name: string, value: T): Record<string, T> {
  const entries = Object.entries(into);
  entries.splice(whole(dice.random, entries.length + 1), 0, [name, value]);
  return Object.fromEntries(entries);
}

function addServer(model: Model, dice: Dice): boolean {
  const backends = Object.entries(model.backends).filter(
    ([, { servers, profile }]) => Object.keys(servers).length < MAX_SERVERS && profile !== "source",
  );
  const [backend, record] = one(dice, backends) ?? [];
  if (backend === undefined || record === undefined) return false;
  const name = free(dice, numbered("s", MAX_SERVERS + 2), record.servers);
  if (name === undefined) return false;
  record.servers = insert(dice, record.servers, name, newServer(dice, backend, name));
  return true;
}

function removeServer(model: Model, dice: Dice): boolean {
  const found = someServer(model, dice, true);
  if (found === undefined) return false;
  delete found.record.servers[found.name];
  return true;
}

function setSetting(record: ModelBackend, dice: Dice): void {
  const [name, values] = one(dice, [
    ["timeout server", ["3s", "7s", "1500ms"]],
    ["frames", ["DENY", "SAMEORIGIN"]],
  ] as const)!;
  const settings = { ...record.settings };
  if (settings[name] !== undefined && chance(dice, 0.3)) delete settings[name];
  else settings[name] = one<string>(dice, values)!;
  record.settings = settings;
}

function addBackend(model: Model, dice: Dice, profile: string | undefined): boolean {
  const name = free(dice, numbered("be-", MAX_BACKENDS + 4), model.backends);
  if (name === undefined || profile === undefined || Object.keys(model.backends).length >= MAX_BACKENDS) return false;
  const servers: Record<string, ModelServer> = {};
  for (const server of numbered("s", whole(dice.random, 4))) servers[server] = newServer(dice, name, server);
  const record: ModelBackend = { profile, servers, ...(chance(dice, 0.4) && { guid: `be:${name}` }) };
  model.backends[name] = record;
  if (profile === "settled" && chance(dice, 0.7)) setSetting(record, dice);
  const route = free(dice, numbered("r", 40), model.routes);
  if (route !== undefined) model.routes[route] = { host: one(dice, HOSTS)!, backend: name };
  return true;
}

function removeBackend(model: Model, dice: Dice, dynamic: boolean): boolean {
  const name = one(
    dice,
    Object.keys(model.backends).filter((each) => (model.backends[each]!.body === undefined) === dynamic),
  );
  if (name === undefined) return false;
  delete model.backends[name];
  // Mostly the routes go, too; one that stays names a backend that is not there.
  for (const [route, { backend }] of Object.entries(model.routes))
    if (backend === name && chance(dice, 0.9)) delete model.routes[route];
  return true;
}

const dynamicProfiles = (model: Model): string[] => model.declared.filter((name) => name !== "source");
const setOrClear = (dice: Dice, server: ModelServer): void => {
  if (server.weight !== undefined && chance(dice, 0.2)) delete server.weight;
  else server.weight = whole(dice.random, 257);
};

export const SERVER_KINDS: readonly Kind[] = [
  { name: "server added", group: "servers", since: 3.0, weight: 10, make: addServer },
  { name: "server removed", group: "servers", since: 3.0, weight: 9, make: removeServer },
  {
    name: "server moved",
    group: "servers",
    since: 3.0,
    weight: 7,
    make(model, dice) {
      const found = someServer(model, dice, false);
      if (found !== undefined) Object.assign(found.server, place(dice));
      return found !== undefined;
    },
  },
  {
    name: "server's weight",
    group: "servers",
    since: 3.0,
    weight: 6,
    make(model, dice) {
      const found = someServer(model, dice, true);
      if (found !== undefined) setOrClear(dice, found.server);
      return found !== undefined;
    },
  },
  {
    name: "server drained or back",
    group: "servers",
    since: 3.0,
    weight: 4,
    make(model, dice) {
      const found = someServer(model, dice, true);
      if (found !== undefined) found.server.weight = found.server.weight === 0 ? 10 : 0;
      return found !== undefined;
    },
  },
  {
    name: "server in maintenance or back",
    group: "servers",
    since: 3.0,
    weight: 5,
    make(model, dice) {
      const found = someServer(model, dice, false);
      if (found === undefined) return false;
      if (found.server.disabled === true) delete found.server.disabled;
      else found.server.disabled = true;
      return true;
    },
  },
  {
    name: "server replaced",
    group: "servers",
    since: 3.0,
    weight: 6,
    make(model, dice) {
      return removeServer(model, dice) && addServer(model, dice);
    },
  },
  {
    name: "server's keywords",
    group: "servers",
    since: undefined,
    weight: 1,
    make(model, dice) {
      const found = someServer(model, dice, true);
      if (found !== undefined) found.server.extra = found.server.extra === "backup" ? "maxconn 30" : "backup";
      return found !== undefined;
    },
  },
  {
    name: "server of a fixed algorithm added or weighted",
    group: "servers",
    since: undefined,
    weight: 0.5,
    make(model, dice) {
      const pinned = Object.entries(model.backends).find(([, { profile }]) => profile === "source");
      if (pinned === undefined) return false;
      const [backend, { servers }] = pinned;
      const name = free(dice, numbered("s", 4), servers);
      if (name === undefined || chance(dice, 0.5)) {
        const server = one(dice, Object.values(servers));
        if (server === undefined) return false;
        setOrClear(dice, server);
      } else servers[name] = newServer(dice, backend, name);
      return true;
    },
  },
  {
    name: "backend added from a loaded profile",
    group: "backends",
    since: 3.4,
    weight: 7,
    make: (model, dice) => addBackend(model, dice, one(dice, dynamicProfiles(model))),
  },
  {
    name: "backend removed",
    group: "backends",
    since: 3.4,
    weight: 6,
    make: (model, dice) => removeBackend(model, dice, true),
  },
  {
    name: "setting of a backend",
    group: "backends",
    since: 3.0,
    weight: 4,
    make(model, dice) {
      const record = one(
        dice,
        Object.values(model.backends).filter(({ profile }) => profile === "settled"),
      );
      if (record !== undefined) setSetting(record, dice);
      return record !== undefined;
    },
  },
  {
    name: "backend added with a text of its own",
    group: "backends",
    since: undefined,
    weight: 0.7,
    make(model, dice) {
      const known = new Set(Object.keys(model.backends));
      if (!addBackend(model, dice, one(dice, dynamicProfiles(model)))) return false;
      const added = Object.keys(model.backends).find((name) => !known.has(name))!;
      model.backends[added]!.body = "http-request set-header x-special yes";
      return true;
    },
  },
  {
    name: "backend with a text of its own removed",
    group: "backends",
    since: undefined,
    weight: 0.7,
    make: (model, dice) => removeBackend(model, dice, false),
  },
  {
    name: "backend's profile or text",
    group: "backends",
    since: undefined,
    weight: 1,
    make(model, dice) {
      const record = one(dice, Object.values(model.backends));
      if (record === undefined) return false;
      if (record.body !== undefined) record.body = `http-request set-header x-special ${whole(dice.random, 100)}`;
      else
        record.profile = one(
          dice,
          model.declared.filter((name) => name !== record.profile),
        )!;
      return true;
    },
  },
  {
    name: "backend of a new profile",
    group: "backends",
    since: undefined,
    weight: 0.7,
    make(model, dice) {
      const unused = Object.keys(PROFILES).filter(
        (name) =>
          !model.declared.includes(name) && !Object.values(model.backends).some((each) => each.profile === name),
      );
      return addBackend(model, dice, one(dice, unused));
    },
  },
  {
    name: "backend's name taken over with its guid",
    group: "backends",
    since: undefined,
    weight: 0.5,
    make(model, dice) {
      const found = Object.entries(model.backends).find(
        ([, { guid, body }]) => guid !== undefined && body === undefined,
      );
      const name = free(dice, numbered("be-", MAX_BACKENDS + 4), model.backends);
      if (found === undefined || name === undefined) return false;
      delete model.backends[found[0]];
      model.backends[name] = found[1];
      return true;
    },
  },
];
