/** Addresses to listen on, as flags write them. */
import { UsageError } from "../errors.ts";

/** `host:port`, `:port` (every address) or `[v6]:port`. @throws UsageError naming the flag. */
export function parseListen(flag: string, listen: string): { host: string; port: number } {
  const match = /^(?:\[([^\]]+)\]|([^:]*)):(\d+)$/.exec(listen);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) throw new UsageError(`${flag}: ${JSON.stringify(listen)} is not HOST:PORT`);
  return { host: match[1] ?? match[2] ?? "", port };
}
