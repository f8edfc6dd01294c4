/** The serving iteration, and the one that was tried last. */
import type { TrialReply } from "../../machines/controller.ts";
import type { PodCandidate } from "../../machines/discovery.ts";
import { ControllerError } from "../errors.ts";
import { candidatesOf } from "./candidates.ts";
import type { ConfigSource } from "./config-source.ts";
import { tryConfig } from "./iteration.ts";
import type { Iteration, IterationDeps } from "./iteration.ts";

export class Iterations {
  readonly #source: ConfigSource;
  readonly #deps: IterationDeps;
  readonly #agentPort: number | undefined;
  #serving: Iteration | undefined;
  /** To be installed, or refused and kept for its watches: a change of theirs may turn the verdict. */
  #tried: { readonly iteration: Iteration; readonly accepted: boolean } | undefined;
  /** Iterations that took over so far. */
  count = 0;

  constructor(source: ConfigSource, deps: IterationDeps, agentPort: number | undefined) {
    this.#source = source;
    this.#deps = deps;
    this.#agentPort = agentPort;
  }

  get serving(): Iteration | undefined {
    return this.#serving;
  }

  /** Tries the newest assembled configuration. Rejects when that could not be done, or a newer one came meanwhile. */
  async try(signal: AbortSignal): Promise<TrialReply> {
    const config = this.#source.loaded;
    if (config === undefined) throw new ControllerError("no configuration is loaded");
    const { reply, iteration } = await tryConfig(config, this.#deps, signal);
    if (signal.aborted) {
      iteration?.release();
      throw new ControllerError("a newer configuration came");
    }
    this.#dropTried();
    this.#tried = iteration === undefined ? undefined : { iteration, accepted: reply.kind === "accepted" };
    return reply;
  }

  /** Makes the accepted one the serving one, and lets the former go. */
  install(): void {
    const tried = this.#tried;
    if (tried?.accepted !== true || tried.iteration === this.#serving) return;
    this.#serving?.release();
    this.#serving = tried.iteration;
    this.count += 1;
  }

  /** Candidates among HAProxy's pods as the serving configuration (or, before there is one, the tried one) selects them. */
  candidates(): readonly PodCandidate[] | undefined {
    const iteration = this.#serving ?? this.#tried?.iteration;
    const pods = iteration?.pods();
    if (iteration === undefined || pods === undefined) return undefined;
    return candidatesOf(pods.list(), this.#agentPort ?? iteration.agentPort);
  }

  close(): void {
    this.#dropTried();
    this.#serving?.release();
    this.#serving = undefined;
  }

  #dropTried(): void {
    if (this.#tried?.iteration !== this.#serving) this.#tried?.iteration.release();
    this.#tried = undefined;
  }
}
