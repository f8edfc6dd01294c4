/** What the worker has loaded, and under which names: a configuration may name files relative or absolute. */
import { join } from "node:path";
import type { RuntimeSession } from "../haproxy/index.ts";
import { CURRENT_LINK } from "./paths.ts";

export interface Inventory {
  readonly generation: number;
  readonly maps: readonly string[];
  readonly certs: readonly string[];
  readonly crtLists: readonly string[];
}

export const EMPTY_INVENTORY: Inventory = { generation: 0, maps: [], certs: [], crtLists: [] };

export async function readInventory(session: RuntimeSession, generation: number): Promise<Inventory> {
  const [maps, certs, lists] = await Promise.all([
    session.command("show map"),
    session.command("show ssl cert"),
    session.command("show ssl crt-list"),
  ]);
  const lines = (text: string): string[] =>
    text.split("\n").filter((line) => line !== "" && !line.startsWith("#") && !line.startsWith("Unknown command"));
  return {
    generation,
    maps: lines(maps.text).flatMap((line) => /^-?\d+ \(([^)]*)\)/.exec(line)?.[1] ?? []),
    certs: certs.text.startsWith("Unknown command") ? [] : lines(certs.text).filter((line) => !line.startsWith("*")),
    crtLists: lists.text.startsWith("Unknown command") ? [] : lines(lists.text),
  };
}

/** The worker's names as manifest paths: what the controller compares with. */
export function manifestPaths(baseDir: string, names: readonly string[]): string[] {
  const prefixes = [`${join(baseDir, CURRENT_LINK)}/`, `${baseDir}/`, `${CURRENT_LINK}/`];
  return names.map((name) => {
    const plain = name.replace(/^opt@/, "");
    const prefix = prefixes.find((candidate) => plain.startsWith(candidate));
    return prefix === undefined ? plain : plain.slice(prefix.length);
  });
}

/** With certificates that operations have loaded since. */
export function withCerts(inventory: Inventory, names: readonly string[]): Inventory {
  const fresh = names.filter((name) => !inventory.certs.includes(name));
  return fresh.length === 0
    ? inventory
    : { ...inventory, generation: inventory.generation + 1, certs: [...inventory.certs, ...fresh] };
}

/**
 * Resolves manifest paths to the worker's names. A path that the worker does not know (a new certificate) gets the
 * prefix by which it knows the others.
 */
export function nameResolver(baseDir: string, inventory: Inventory): (path: string) => string {
  const known = new Set([...inventory.maps, ...inventory.certs, ...inventory.crtLists]);
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
