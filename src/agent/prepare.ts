/**
 * What the start wrapper does before `exec haproxy`: fold the journal, check with HAProxy itself, fall back to the last
 * known good set, print the configuration's path. With a living agent the agent does the file work: one writer.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { firstValueFrom, timer } from "rxjs";
import { AgentTreeError } from "../errors.ts";
import { checkConfig } from "../haproxy/index.ts";
import { Holding } from "./holding.ts";
import { askAgent, LocalLock } from "./local.ts";
import type { AgentPaths } from "./options.ts";
import { foldForStart, returnToLastGood } from "./start-files.ts";

/** An agent that holds the lock is about to listen, or about to be gone. */
const BETWEEN_ASKING_MS = 20;

export interface PrepareOptions extends AgentPaths {
  /** The haproxy binary. */
  readonly haproxy: string;
  readonly now: () => number;
}

export interface Prepared {
  /** Absolute path for `haproxy -f`. */
  readonly configPath: string;
  readonly set: "current" | "last-good" | "bootstrap";
  /** What HAProxy said to a set that was passed over. */
  readonly refusals: readonly string[];
}

/** @throws AgentTreeError when not even the bootstrap configuration passes HAProxy's check. */
export async function prepareStart(options: PrepareOptions): Promise<Prepared> {
  mkdirSync(options.baseDir, { recursive: true });
  for (;;) {
    const living = await askAgent(options.localSocket, "POST", "/start");
    if (living !== undefined)
      return checked(options, () => askAgent(options.localSocket, "POST", "/start?fallback=1").then(() => undefined));
    const lock = await LocalLock.tryTake(options.localSocket);
    if (lock !== undefined) return prepareAlone(options, lock);
    await firstValueFrom(timer(BETWEEN_ASKING_MS));
  }
}

async function prepareAlone(options: PrepareOptions, lock: LocalLock): Promise<Prepared> {
  try {
    const holding = new Holding({ ...options });
    await holding.recover();
    await foldForStart(holding);
    try {
      return await checked(options, () => returnToLastGood(holding));
    } finally {
      holding.close();
    }
  } finally {
    await lock.release();
  }
}

async function checked(options: PrepareOptions, fallBack: () => Promise<void>): Promise<Prepared> {
  const configPath = join(options.baseDir, "current", options.config);
  const refusals: string[] = [];
  for (const set of ["current", "last-good", "bootstrap"] as const) {
    const check = await checkConfig(options.haproxy, configPath);
    if (check.ok) return { configPath, set, refusals };
    refusals.push(check.output);
    if (set !== "bootstrap") await fallBack();
  }
  throw new AgentTreeError("HAProxy refuses even the bootstrap configuration", { hint: refusals.at(-1) ?? "" });
}
