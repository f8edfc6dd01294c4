/** A controller of few words: it remembers what the pod holds and ships sets to it. */
import type { AgentClient, ApplyOutcome } from "../../../src/agent/client.ts";
import type { ApplyResult, Conflict, Manifest } from "../../../src/agent/api.ts";
import type { Op } from "../../../src/plan/ops.ts";
import { deltaShipment, fullShipment, setOf, type TestSet } from "./harness.ts";

export class TestController {
  readonly client: AgentClient;
  epoch: number;
  seq = 0;
  set: TestSet = new Map();
  planId = "";

  constructor(client: AgentClient, epoch = 1) {
    this.client = client;
    this.epoch = epoch;
  }

  /** Ships a whole set, to be loaded by a reload. */
  async load(
    files: Readonly<Record<string, string>>,
    extra: Partial<Manifest> = {},
    planBlob?: Uint8Array,
  ): Promise<ApplyResult> {
    const set = setOf(files);
    const planId = this.#next();
    const { manifest, parts } = fullShipment(set, {
      planId,
      prev: this.planId,
      token: this.token,
      mode: "reload",
      extra,
    });
    return this.#keep(set, planId, await this.client.apply(manifest, parts, planBlob));
  }

  /** Ships the difference, with operations. */
  async change(
    files: Readonly<Record<string, string>>,
    ops: Op[],
    extra: Partial<Manifest> = {},
  ): Promise<ApplyResult> {
    const set = setOf(files);
    const planId = this.#next();
    const { manifest, parts } = deltaShipment(this.set, set, {
      planId,
      prev: this.planId,
      token: this.token,
      ops,
      extra,
    });
    return this.#keep(set, planId, await this.client.apply(manifest, parts));
  }

  get token(): { leader_epoch: number; render_seq: number } {
    return { leader_epoch: this.epoch, render_seq: this.seq };
  }

  #next(): string {
    this.seq += 1;
    return `plan-${this.epoch}-${this.seq}`;
  }

  #keep(set: TestSet, planId: string, outcome: ApplyOutcome): ApplyResult {
    const result = resultOf(outcome);
    if (result.ok) {
      this.set = set;
      this.planId = planId;
    }
    return result;
  }
}

export function resultOf(outcome: ApplyOutcome): ApplyResult {
  if (outcome.kind !== "result") throw new Error(`not a result: ${JSON.stringify(outcome)}`);
  return outcome.result;
}

export function conflictOf(outcome: ApplyOutcome): Conflict {
  if (outcome.kind !== "conflict") throw new Error(`not a conflict: ${JSON.stringify(outcome)}`);
  return outcome.conflict;
}
