/** Where an agent's things lie. Relative paths in flags are relative to the base directory. */
import { join, resolve } from "node:path";
import { UsageError } from "../errors.ts";
import { CURRENT_LINK, PRIVATE_DIR, STATE_FILE } from "./paths.ts";

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

/**
 * Fills in the defaults: `/etc/haproxy`, `haproxy.cfg`, `haproxy-master.sock`, `haproxy-worker.sock`, `.haptic/agent.sock`, `haptic-drain.sock`, `.haptic-agent.json`.
 * @throws UsageError where the link to the state would stand in the place of something else.
 */
export function agentPaths(flags: PathFlags): AgentPaths {
  const baseDir = resolve(flags.baseDir ?? "/etc/haproxy");
  const inBase = (path: string): string => resolve(baseDir, path);
  const paths: AgentPaths = {
    baseDir,
    config: flags.config ?? "haproxy.cfg",
    masterSocket: inBase(flags.masterSocket ?? "haproxy-master.sock"),
    workerSocket: inBase(flags.workerSocket ?? "haproxy-worker.sock"),
    localSocket: inBase(flags.localSocket ?? ".haptic/agent.sock"),
    drainSocket: flags.drainSocket === "" ? undefined : inBase(flags.drainSocket ?? "haptic-drain.sock"),
    stateFile: flags.stateFile === "" ? undefined : inBase(flags.stateFile ?? STATE_FILE),
  };
  checkStateFile(paths);
  return paths;
}

/** At the first start nothing of this is there yet, so that the link would take its place. */
function checkStateFile({ stateFile, baseDir, config, ...sockets }: AgentPaths): void {
  if (stateFile === undefined) return;
  const taken = [
    join(baseDir, CURRENT_LINK),
    join(baseDir, PRIVATE_DIR),
    // With the folder that it lies in, which is a link into the set.
    join(baseDir, config.split("/", 1)[0]!),
    ...Object.values(sockets).filter((path) => path !== undefined),
  ];
  const place = taken.find((path) => stateFile === path || stateFile.startsWith(`${path}/`));
  if (stateFile !== baseDir && place === undefined) return;
  throw new UsageError(
    `--state-file: ${stateFile} is a place that the agent or HAProxy needs itself${place === undefined ? "" : ` (${place})`}`,
    `name a file of its own, such as ${STATE_FILE}, or "" for none`,
  );
}
