/** Taking servers and backends out of a worker for good. Slow by nature (it waits for requests to end): on a connection of its own. */
import { safeWord } from "./runtime-protocol.ts";
import type { RuntimeSession } from "./runtime.ts";

/** `gone`: removed, or not there. `busy`: requests still run. `refused`: it will never work on this worker. */
export type Removal = "gone" | "busy" | "refused";

/** Waits up to `waitMs` for the last request to end. With `cut` the running ones are ended first. */
export async function removeServer(
  session: RuntimeSession,
  name: string,
  waitMs: number,
  cut: boolean,
): Promise<Removal> {
  const [backend, server] = name.split("/");
  const word = `${safeWord("backend", backend)}/${safeWord("server", server)}`;
  const commands = [`disable server ${word}`, `wait ${waitMs}ms srv-removable ${word}`, `del server ${word}`];
  if (cut) commands.splice(1, 0, `shutdown sessions server ${word}`);
  const replies = await session.batch(commands, waitMs + 10_000);
  const last = replies.at(-1)?.text ?? "";
  if (/Server deleted\.$|^No such (server|backend)/.test(last)) return "gone";
  return /connections attached|maintenance mode/.test(last) ? "busy" : "refused";
}

/**
 * HAProxy 3.4 may lose the acknowledgement behind old messages of its thread; `unpublish` directly before, on the same
 * line, empties that buffer, and a second deletion proves it.
 */
export async function removeBackend(session: RuntimeSession, name: string, waitMs: number): Promise<Removal> {
  const backend = safeWord("backend", name);
  const replies = await session.batch(
    [
      `unpublish backend ${backend}`,
      `wait ${waitMs}ms be-removable ${backend}`,
      `unpublish backend ${backend}`,
      `del backend ${backend}`,
    ],
    waitMs + 10_000,
  );
  const waited = replies[1]?.text ?? "";
  if (/No such backend\./.test(waited)) return "gone";
  const again = await session.command(`del backend ${backend}`);
  if (again.text.trimEnd().endsWith("No such backend.")) return "gone";
  return /streams attached|delay expired|without server/.test(waited) ? "busy" : "refused";
}
