/** What shall be served, as plain data that a test changes; and the objects that the templates make it from. */
import type { Alias } from "./templates.ts";
import { objectOf } from "./templates.ts";
import type { KubeObject } from "../../../src/stores/index.ts";

export interface ModelServer {
  address: string;
  port: number;
  weight?: number;
  disabled?: boolean;
  guid?: string;
  extra?: string;
}

export interface ModelProfile {
  readonly mode: string;
  readonly balance: string;
  readonly hashType?: string;
  readonly defaultServer?: string;
  readonly body?: string;
  /** By name: rules, "" for a directive that HAPTIC knows rules for. Backends give values. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface ModelBackend {
  profile: string;
  guid?: string;
  settings?: Record<string, string>;
  /** Text of its own: only a reload brings it. */
  body?: string;
  balance?: string;
  hashType?: string;
  defaultServer?: string;
  /** A line that the declaration does not speak of. */
  silent?: string;
  servers: Record<string, ModelServer>;
}

export interface CrtEntry {
  cert: string;
  options?: string;
  names: string[];
}

export interface Model {
  /** All that a backend may name; those in `declared` are declared whether a backend uses them or not. */
  profiles: Record<string, ModelProfile>;
  declared: string[];
  backends: Record<string, ModelBackend>;
  /** By the name of the route: several may have one host. */
  routes: Record<string, { host: string; backend: string }>;
  /** In order: the first that matches answers. */
  rules: { pattern: string; backend: string }[];
  notes: Record<string, string>;
  /** PEM texts by file name. */
  certs: Record<string, string>;
  list: CrtEntry[];
  /** Further crt-lists, by file name. */
  lists?: Record<string, CrtEntry[]>;
  /** A map that no section names. */
  loose?: string;
  cas: Record<string, string>;
  /** Files that nothing but their own text says anything of. */
  files: Record<string, { text: string; reload: boolean }>;
  lines: Record<string, string>;
  sections: Record<string, string>;
}

export function backendText(backend: ModelBackend, mode: string): string {
  const lines = [`    mode ${mode}`];
  if (backend.guid !== undefined) lines.push(`    guid ${backend.guid}`);
  if (backend.balance !== undefined) lines.push(`    balance ${backend.balance}`);
  if (backend.hashType !== undefined) lines.push(`    hash-type ${backend.hashType}`);
  if (backend.defaultServer !== undefined) lines.push(`    default-server ${backend.defaultServer}`);
  for (const line of [backend.body, backend.silent]) if (line !== undefined) lines.push(`    ${line}`);
  for (const [name, server] of Object.entries(backend.servers)) {
    const words = [`    server ${name} ${server.address}:${server.port}`];
    if (server.weight !== undefined) words.push(`weight ${server.weight}`);
    if (server.guid !== undefined) words.push(`guid ${server.guid}`);
    if (server.extra !== undefined) words.push(server.extra);
    if (server.disabled === true) words.push("disabled");
    lines.push(words.join(" "));
  }
  return `${lines.join("\n")}\n`;
}

/** The record that planRegistry.Profile takes; without a backend it declares the profile for whoever comes. */
function profileRecord({ settings = {}, ...profile }: ModelProfile, name?: string, backend?: ModelBackend): object {
  const values = Object.entries(settings).map(([setting, rules]) => {
    const value = backend?.settings?.[setting] ?? "";
    return [setting, rules === "" ? value : { value, rules }] as const;
  });
  if (values.length === 0) return profile;
  return { ...profile, settings: Object.fromEntries(values), ...(name !== undefined && { backend: name }) };
}

export const crtListText = (list: readonly CrtEntry[]): string =>
  list
    .map(({ cert, options, names }) => [`ssl/${cert}`, ...(options === undefined ? [] : [`[${options}]`]), ...names])
    .map((words) => `${words.join(" ")}\n`)
    .join("");

/** The objects of each alias, by name. */
export function objectsOf(now: Model): Readonly<Record<Alias, ReadonlyMap<string, KubeObject>>> {
  // Stores freeze what they hold.
  const model = structuredClone(now);
  const all = (kind: string, entries: Iterable<readonly [string, object]>): ReadonlyMap<string, KubeObject> =>
    new Map([...entries].map(([name, spec]) => [name, objectOf(kind, name, spec)]));
  const texts = (entries: Readonly<Record<string, string>>) =>
    Object.entries(entries).map(([name, text]) => [name, { text }] as const);
  const backends = Object.entries(model.backends).map(([name, backend]) => {
    const profile = model.profiles[backend.profile]!;
    return [
      name,
      {
        profile: profileRecord(profile, name, backend),
        mode: profile.mode,
        guid: backend.guid ?? "",
        balance: backend.balance ?? "",
        hashType: backend.hashType ?? "",
        defaultServer: backend.defaultServer ?? "",
        body: backend.body ?? "",
        shape: backend.body === undefined ? "dynamic" : "structural",
        servers: Object.entries(backend.servers).map(([server, fields]) => ({ name: server, ...fields })),
        text: backendText(backend, profile.mode),
      },
    ] as const;
  });
  const files: [string, object][] = [
    ...Object.entries(model.certs).map(([name, text]): [string, object] => [name, { kind: "cert", text }]),
    ...Object.entries(model.cas).map(([name, text]): [string, object] => [name, { kind: "ca-file", text }]),
    ...Object.entries(model.files).map(([name, file]): [string, object] => [name, { kind: "file", ...file }]),
    ...Object.entries(model.lists ?? {}).map(([name, list]): [string, object] => [
      name,
      { kind: "crt-list", text: crtListText(list) },
    ]),
    ...(model.loose === undefined ? [] : [["loose.map", { kind: "map", text: model.loose }] as [string, object]]),
    ["sites.txt", { kind: "crt-list", text: crtListText(model.list) }],
  ];
  return {
    backends: all("Backend", backends),
    routes: all("Route", Object.entries(model.routes)),
    rules: all(
      "Rule",
      model.rules.map((rule, i) => [String(i).padStart(4, "0"), rule] as const),
    ),
    notes: all("Note", texts(model.notes)),
    lines: all("Line", texts(model.lines)),
    sections: all("Section", texts(model.sections)),
    profiles: all(
      "Profile",
      model.declared.map((name) => [name, profileRecord(model.profiles[name]!)] as const),
    ),
    files: all("File", files),
  };
}
