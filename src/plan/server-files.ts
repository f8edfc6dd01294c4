/** Certificates and CA files that a new server names: a dynamic server takes only what the process has loaded already. */
import type { Ledger } from "./ledger.ts";
import type { Op } from "./ops.ts";
import type { Obstacle } from "./servers.ts";
import type { RenderPlan } from "./types.ts";

const KINDS = { crt: "certs", "ca-file": "caFiles", "crl-file": "crlFiles" } as const;
type FileKeyword = keyof typeof KINDS;

const isFileKeyword = (name: string): name is FileKeyword => Object.hasOwn(KINDS, name);

/** Has files loaded that the worker lacks and the plan holds; an obstacle where nobody could load them. */
export function loadServerFiles(ops: readonly Op[], next: RenderPlan, ledger: Ledger): Obstacle | undefined {
  for (const { name, args } of ops.flatMap((op) => op.keywords ?? [])) {
    const path = args[0];
    // A name with an @ is HAProxy's own, such as @system-ca.
    if (!isFileKeyword(name) || path === undefined || path.startsWith("@")) continue;
    if (ledger.holds(KINDS[name], path) !== false) continue;
    const file = next.files.get(path);
    if (name === "crt" && file?.kind === "cert") ledger.load("cert", path);
    else if (name === "ca-file" && file?.kind === "ca") ledger.load("ca", path);
    else return { what: `it names ${name} ${path}, which HAProxy has not loaded`, rule: "server-file", key: "extra" };
  }
  return undefined;
}

/** Files that servers of the plan name; who looks for them walks over all backends. */
export function namedByServers(plan: RenderPlan): ReadonlySet<string> {
  const paths = new Set<string>();
  const collect = (text: string | undefined): void => {
    if (text === undefined) return;
    for (const match of text.matchAll(/(?:^|\s)(?:crt|ca-file|crl-file)\s+(\S+)/g)) paths.add(match[1] as string);
  };
  for (const [, { text }] of plan.profiles.entries()) collect(text);
  for (const [, { record }] of plan.backends.entries()) {
    collect(record.defaultServer);
    collect(record.body);
    for (const { extra } of record.servers) collect(extra);
  }
  return paths;
}
