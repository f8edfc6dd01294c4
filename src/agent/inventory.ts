/** What the worker has loaded, and under which names: a configuration may name files relative or absolute. */
import { join } from "node:path";
import type { OpOutcome, RuntimeSession } from "../haproxy/index.ts";
import type { Op, OpKind } from "../plan/ops.ts";
import type { RuntimeInventory } from "./api.ts";
import { CURRENT_LINK } from "./paths.ts";

export interface Inventory {
  readonly generation: number;
  readonly maps: readonly string[];
  readonly certs: readonly string[];
  readonly caFiles: readonly string[];
  readonly crlFiles: readonly string[];
  readonly crtLists: readonly string[];
}

export const EMPTY_INVENTORY: Inventory = {
  generation: 0,
  maps: [],
  certs: [],
  caFiles: [],
  crlFiles: [],
  crtLists: [],
};

export async function readInventory(session: RuntimeSession, generation: number): Promise<Inventory> {
  const [maps, certs, caFiles, crlFiles, lists] = await Promise.all(
    ["show map", "show ssl cert", "show ssl ca-file", "show ssl crl-file", "show ssl crt-list"].map((command) =>
      session.command(command),
    ),
  );
  return {
    generation,
    maps: linesOf(maps?.text).flatMap((line) => /^-?\d+ \(([^)]*)\)/.exec(line)?.[1] ?? []),
    certs: linesOf(certs?.text),
    caFiles: linesOf(caFiles?.text).map(withoutCount),
    crlFiles: linesOf(crlFiles?.text).map(withoutCount),
    crtLists: linesOf(lists?.text),
  };
}

/** What a list holds: no headings, nothing of an open transaction; nothing where HAProxy was built without TLS. */
function linesOf(text = ""): string[] {
  if (text.startsWith("Unknown command")) return [];
  return text.split("\n").filter((line) => line !== "" && !/^[#*]/.test(line));
}

/** `ca.pem - 2 certificate(s)` → `ca.pem` */
const withoutCount = (line: string): string => line.replace(/ - \d+ .*$/, "");

/** The worker's names as manifest paths: what the controller compares with. */
function manifestPaths(baseDir: string, names: readonly string[]): string[] {
  const prefixes = [`${join(baseDir, CURRENT_LINK)}/`, `${baseDir}/`, `${CURRENT_LINK}/`];
  return names.map((name) => {
    const plain = name.replace(/^opt@/, "");
    const prefix = prefixes.find((candidate) => plain.startsWith(candidate));
    return prefix === undefined ? plain : plain.slice(prefix.length);
  });
}

const MOVES: Partial<Record<OpKind, { readonly list: "certs" | "caFiles"; readonly loads: boolean }>> = {
  cert_new: { list: "certs", loads: true },
  cert_del: { list: "certs", loads: false },
  ca_new: { list: "caFiles", loads: true },
  ca_del: { list: "caFiles", loads: false },
};

/** With what these operations have loaded and unloaded since. */
export function withOps(
  inventory: Inventory,
  ops: readonly Op[],
  outcomes: readonly OpOutcome[],
  nameOf: (path: string) => string,
): Inventory {
  if (!ops.some((op) => MOVES[op.kind] !== undefined)) return inventory;
  const lists = { certs: new Set(inventory.certs), caFiles: new Set(inventory.caFiles) };
  for (const [i, op] of ops.entries()) {
    const move = MOVES[op.kind];
    const outcome = outcomes[i];
    if (move === undefined || outcome?.ok !== true) continue;
    const name = nameOf(op.path ?? "");
    if (move.loads) lists[move.list].add(name);
    // A file that is in use stays, and its outcome says so.
    else if (outcome.output === "") lists[move.list].delete(name);
  }
  const isSame = lists.certs.size === inventory.certs.length && lists.caFiles.size === inventory.caFiles.length;
  if (isSame && inventory.certs.every((name) => lists.certs.has(name))) {
    if (inventory.caFiles.every((name) => lists.caFiles.has(name))) return inventory;
  }
  return { ...inventory, generation: inventory.generation + 1, certs: [...lists.certs], caFiles: [...lists.caFiles] };
}

/** What the wire says of it. */
export function inventoryView(baseDir: string, inventory: Inventory): RuntimeInventory {
  const paths = (names: readonly string[]): string[] => manifestPaths(baseDir, names);
  return {
    generation: inventory.generation,
    maps: paths(inventory.maps),
    certs: paths(inventory.certs),
    ca_files: paths(inventory.caFiles),
    crl_files: paths(inventory.crlFiles),
    crt_lists: paths(inventory.crtLists),
  };
}

/**
 * Resolves manifest paths to the worker's names. A path that the worker does not know (a new certificate) gets the
 * prefix by which it knows the others.
 */
export function nameResolver(baseDir: string, inventory: Inventory): (path: string) => string {
  const { maps, certs, caFiles, crlFiles, crtLists } = inventory;
  const known = new Set([...maps, ...certs, ...caFiles, ...crlFiles, ...crtLists]);
  const prefixes = ["", `${join(baseDir, CURRENT_LINK)}/`, `${baseDir}/`, `${CURRENT_LINK}/`];
  const usual = prefixes.find((prefix) => prefix !== "" && [...known].some((name) => name.startsWith(prefix))) ?? "";
  const resolved = new Map<string, string>();
  return (path) => {
    let name = resolved.get(path);
    if (name === undefined) {
      const prefix = prefixes.find(
        (candidate) => known.has(`${candidate}${path}`) || known.has(`opt@${candidate}${path}`),
      );
      name = prefix === undefined ? `${usual}${path}` : `${prefix}${path}`;
      resolved.set(path, name);
    }
    return name;
  };
}
