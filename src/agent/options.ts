/** Where an agent's things lie. Relative paths in flags are relative to the base directory. */
import { isAbsolute, join, resolve } from "node:path";
import { STATE_FILE } from "./paths.ts";

export interface AgentPaths {
  /** Absolute. */
  readonly baseDir: string;
  /** HAProxy's configuration inside a set. */
  readonly config: string;
  /** Absolute. */
  readonly masterSocket: string;
  readonly workerSocket: string;
  /** The agent's own unix socket: `haptic agent state`, `health`, and the start wrapper. */
  readonly localSocket: string;
  /** Where a preStop hook asks for the end of traffic; undefined = nowhere. */
  readonly drainSocket: string | undefined;
  /** A link to the state file of the set in force; undefined = nowhere. Absolute. */
  readonly stateFile: string | undefined;
}

export interface PathFlags {
  readonly baseDir?: string;
  readonly config?: string;
  readonly masterSocket?: string;
  readonly workerSocket?: string;
  readonly localSocket?: string;
  /** "" = none. */
  readonly drainSocket?: string;
  /** "" = none. */
  readonly stateFile?: string;
}

/** Fills in the defaults: `/etc/haproxy`, `haproxy.cfg`, `haproxy-master.sock`, `haproxy-worker.sock`, `.haptic/agent.sock`, `haptic-drain.sock`, `.haptic-agent.json`. */
export function agentPaths(flags: PathFlags): AgentPaths {
  const baseDir = resolve(flags.baseDir ?? "/etc/haproxy");
  const inBase = (path: string): string => (isAbsolute(path) ? path : join(baseDir, path));
  return {
    baseDir,
    config: flags.config ?? "haproxy.cfg",
    masterSocket: inBase(flags.masterSocket ?? "haproxy-master.sock"),
    workerSocket: inBase(flags.workerSocket ?? "haproxy-worker.sock"),
    localSocket: inBase(flags.localSocket ?? ".haptic/agent.sock"),
    drainSocket: flags.drainSocket === "" ? undefined : inBase(flags.drainSocket ?? "haptic-drain.sock"),
    stateFile: flags.stateFile === "" ? undefined : inBase(flags.stateFile ?? STATE_FILE),
  };
}
