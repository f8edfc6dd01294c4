/** What each HAProxy pod took and runs, as `deployedToPods` says it. Kept from what is heard; no I/O. */
import type { DeployerEmitted } from "../../machines/deployer.ts";
import type { DiscoveryEmitted, DiscoveryEvent } from "../../machines/discovery.ts";
import type { DeployedToPod } from "../config/index.ts";

export type PodNews =
  | Extract<DeployerEmitted, { type: `POD.${string}` }>
  | Extract<DiscoveryEmitted, { type: "PODS.CHANGED" }>
  | Extract<DiscoveryEvent, { type: "PODS.LISTED" }>;

/** An admitted pod. `id` is its uid, and after an `@` its agent's container. */
export interface PodIdentity {
  readonly id: string;
  readonly name: string;
}

/** An agent's answer to an apply. */
export interface PodApply {
  readonly pod: string;
  readonly planId: string;
  readonly mode: string;
  readonly ok: boolean;
  readonly reasons: readonly string[];
  /** No answer to an apply: its agent reloaded by itself. */
  readonly isOwn?: boolean;
}

/** What the pod said of itself last; "" = not known. */
export interface PodPlans {
  readonly applied: string;
  readonly running: string;
}

interface Outcome {
  appliedPlanID: string;
  mode: string;
  reasons: readonly string[];
  deployedAt: string | undefined;
  lastReloadAt: string | undefined;
  lastError: string | undefined;
  lastErrorAt: string | undefined;
  consecutiveErrors: number;
  /** It took something in this term: what it had before is overwritten. */
  took: boolean;
}

/** CRD limits. */
const MAX_PODS = 1024;
const MAX_REASONS = 8;
const MAX_REASON = 512;
const MAX_ERROR = 1024;
/** Bytes that the entries may have together beside a large configuration. */
const MAX_ENTRIES_BYTES = 120_000;

const MODES: ReadonlySet<string> = new Set(["runtime", "file_only", "reload", "scheduled", "noop", "rejected"]);
const cut = (text: string, limit: number): string => (text.length <= limit ? text : `${text.slice(0, limit - 1)}…`);

/** At most eight, the last of which says how many were left out. */
export function fewReasons(reasons: readonly string[]): readonly string[] {
  const short = reasons.map((reason) => cut(reason, MAX_REASON));
  if (short.length <= MAX_REASONS) return short;
  return [...short.slice(0, MAX_REASONS - 1), `and ${short.length - MAX_REASONS + 1} more`];
}

/** Of a large fleet's reasons, which are mostly the same: the first, and how many more there are. */
function firstReason(reasons: readonly string[]): readonly string[] {
  return reasons.length < 2 ? reasons : [reasons[0]!, `and ${reasons.length - 1} more`];
}

const fresh = (): Outcome => ({
  appliedPlanID: "",
  mode: "",
  reasons: [],
  deployedAt: undefined,
  lastReloadAt: undefined,
  lastError: undefined,
  lastErrorAt: undefined,
  consecutiveErrors: 0,
  took: false,
});

const uidOf = (id: string): string => id.split("@")[0] ?? id;
const runtimeOf = (id: string): string => (id.includes("@") ? id.slice(id.indexOf("@") + 1) : "");

export class PodBook {
  readonly #now: () => string;
  #admitted: readonly PodIdentity[] = [];
  #candidates: readonly PodIdentity[] = [];
  #outcomes = new Map<string, Outcome>();
  /** The last answer of each pod that was more than a look. */
  #answers = new Map<string, PodApply>();

  /** `now` gives RFC 3339. */
  constructor(now: () => string) {
    this.#now = now;
  }

  /** A term begins or ends: what it heard is in the published object, or is old. */
  begin(): void {
    this.#outcomes.clear();
    this.#answers.clear();
  }

  admit(pods: readonly PodIdentity[]): void {
    this.#admitted = pods;
    const known = new Set(pods.map(({ id }) => id));
    for (const id of this.#outcomes.keys()) if (!known.has(id)) this.#outcomes.delete(id);
    for (const id of this.#answers.keys()) if (!known.has(id)) this.#answers.delete(id);
  }

  /** Pods that are there, whether or not their agents answer. */
  list(pods: readonly PodIdentity[]): void {
    this.#candidates = pods;
  }

  answered(apply: PodApply): void {
    if (apply.isOwn === true) return this.#reloaded(apply);
    if (apply.mode !== "noop") this.#answers.set(apply.pod, apply);
  }

  /** The pod has this plan: it took it, or (mode noop) had it already. */
  applied(pod: string, planId: string, mode: string): void {
    const outcome = this.#of(pod);
    if (outcome === undefined) return;
    if (mode !== "noop") {
      const answer = this.#answers.get(pod);
      const now = this.#now();
      outcome.mode = mode;
      outcome.reasons = answer?.planId === planId ? answer.reasons : [];
      outcome.deployedAt = now;
      if (mode === "reload") outcome.lastReloadAt = now;
      outcome.took = true;
    }
    outcome.appliedPlanID = planId;
    outcome.lastError = undefined;
    outcome.lastErrorAt = undefined;
    outcome.consecutiveErrors = 0;
  }

  /** The plan stays, but it was loaded once more, for a reason of the agent's. */
  #reloaded({ pod, mode, ok, reasons }: PodApply): void {
    const outcome = ok ? this.#of(pod) : undefined;
    if (outcome === undefined) return;
    outcome.mode = mode;
    outcome.reasons = reasons;
    outcome.lastReloadAt = this.#now();
    outcome.took = true;
  }

  failed(pod: string, message: string): void {
    const outcome = this.#of(pod);
    if (outcome === undefined) return;
    if (outcome.consecutiveErrors === 0) outcome.lastErrorAt = this.#now();
    outcome.lastError = cut(message, MAX_ERROR);
    outcome.consecutiveErrors += 1;
  }

  #of(pod: string): Outcome | undefined {
    if (!this.#admitted.some(({ id }) => id === pod)) return undefined;
    const outcome = this.#outcomes.get(pod) ?? fresh();
    this.#outcomes.set(pod, outcome);
    return outcome;
  }

  /** How many admitted pods there are. */
  get size(): number {
    return this.#admitted.length;
  }

  /**
   * The entries, by name. `published` are those that the object has: they stay what they are for a pod of which this term has heard
   * nothing else. `checksum` gives the checksum of a plan's haproxy.cfg where it is known.
   */
  entries(
    published: readonly DeployedToPod[],
    plans: (pod: string) => PodPlans,
    checksum: (planId: string) => string | undefined,
  ): readonly DeployedToPod[] {
    const former = new Map(published.map((entry) => [entry.podName, entry]));
    const formerOf = ({ id, name }: PodIdentity): DeployedToPod | undefined => {
      const entry = former.get(name);
      return entry?.podUID === uidOf(id) && (entry.podRuntimeID ?? "") === runtimeOf(id) ? entry : undefined;
    };
    const made = new Map<string, DeployedToPod>();
    for (const pod of this.#candidates) {
      const entry = formerOf(pod);
      if (entry !== undefined) made.set(pod.name, entry);
    }
    for (const pod of this.#admitted) {
      made.set(pod.name, entryOf(pod, this.#outcomes.get(pod.id), formerOf(pod), plans(pod.id), checksum));
    }
    const sorted = [...made.values()].sort((a, b) => (a.podName < b.podName ? -1 : 1)).slice(0, MAX_PODS);
    const fits = (entries: readonly DeployedToPod[]): boolean =>
      Buffer.byteLength(JSON.stringify(entries)) <= MAX_ENTRIES_BYTES;
    if (fits(sorted)) return sorted;
    const first = sorted.map((entry) => ({ ...entry, reasons: firstReason(entry.reasons ?? []) }));
    if (fits(first)) return first;
    return sorted.map(({ lastError, ...entry }) => ({
      ...entry,
      reasons: [],
      ...(lastError !== undefined && { lastError: cut(lastError, 64) }),
    }));
  }
}

function entryOf(
  pod: PodIdentity,
  outcome: Outcome | undefined,
  former: DeployedToPod | undefined,
  plans: PodPlans,
  checksum: (planId: string) => string | undefined,
): DeployedToPod {
  const heard = outcome?.appliedPlanID ?? "";
  const appliedPlanID = plans.applied !== "" ? plans.applied : heard !== "" ? heard : (former?.appliedPlanID ?? "");
  const runningPlanID = plans.running !== "" ? plans.running : former?.runningPlanID;
  const isFormer = former?.appliedPlanID === appliedPlanID;
  // Who looked and found the plan there keeps what is said of how it came there.
  const kept = outcome?.took === true || !isFormer ? undefined : former;
  const sum = checksum(appliedPlanID) ?? (isFormer ? former?.checksum : undefined);
  const mode = kept?.mode ?? (outcome?.mode || (heard === "" ? "" : "noop"));
  const deployedAt = kept?.deployedAt ?? outcome?.deployedAt ?? (isFormer ? former?.deployedAt : undefined);
  const lastReloadAt = outcome?.lastReloadAt ?? former?.lastReloadAt;
  const silent = outcome === undefined ? former : undefined;
  const lastError = outcome === undefined ? silent?.lastError : outcome.lastError;
  const lastErrorAt = outcome === undefined ? silent?.lastErrorAt : outcome.lastErrorAt;
  return {
    podName: pod.name,
    podUID: uidOf(pod.id),
    podRuntimeID: runtimeOf(pod.id),
    ...(sum !== undefined && { checksum: sum }),
    ...(appliedPlanID !== "" && { appliedPlanID }),
    ...(runningPlanID !== undefined && { runningPlanID }),
    mode: (MODES.has(mode) ? mode : "") as NonNullable<DeployedToPod["mode"]>,
    reasons: kept?.reasons ?? fewReasons(outcome?.reasons ?? []),
    ...(deployedAt !== undefined && { deployedAt }),
    ...(lastReloadAt !== undefined && { lastReloadAt }),
    ...(lastError !== undefined && { lastError }),
    ...(lastErrorAt !== undefined && { lastErrorAt }),
    consecutiveErrors: outcome === undefined ? (silent?.consecutiveErrors ?? 0) : outcome.consecutiveErrors,
  };
}
