/** Servers as a worker holds them: `show servers state` (management guide §9.3, format version 1). */
import { safeWord } from "./runtime-protocol.ts";
import type { RuntimeSession } from "./runtime.ts";

export interface ServerRow {
  readonly name: string;
  readonly address: string;
  readonly port: number;
  readonly weight: number;
  /** In maintenance by order (not because of a tracked server or a check). */
  readonly maint: boolean;
  readonly drain: boolean;
  /** An agent of its own (`agent-check`) may change its weight and state. */
  readonly hasAgent: boolean;
}

const FORCED_MAINT = 0x01;
const FORCED_DRAIN = 0x08;
const CHECK_CONFIGURED = 0x02;

/** Servers of a backend by name; undefined when there is no such backend. */
export async function readServers(
  session: RuntimeSession,
  backend: string,
): Promise<Map<string, ServerRow> | undefined> {
  const { text } = await session.command(`show servers state ${safeWord("backend", backend)}`);
  return /^Can't find backend|No such backend/.test(text) ? undefined : parseServersState(text);
}

export function parseServersState(text: string): Map<string, ServerRow> {
  const rows = new Map<string, ServerRow>();
  let columns: string[] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("# ")) {
      columns = line.slice(2).trim().split(" ");
      continue;
    }
    const words = line.trim().split(" ");
    if (words.length < 10 || columns.length === 0) continue;
    const field = (name: string): string => words[columns.indexOf(name)] ?? "";
    const admin = Number(field("srv_admin_state"));
    rows.set(field("srv_name"), {
      name: field("srv_name"),
      address: field("srv_addr"),
      port: Number(field("srv_port")),
      weight: Number(field("srv_uweight")),
      maint: (admin & FORCED_MAINT) !== 0,
      drain: (admin & FORCED_DRAIN) !== 0,
      hasAgent: (Number(field("srv_agent_state")) & CHECK_CONFIGURED) !== 0,
    });
  }
  return rows;
}
