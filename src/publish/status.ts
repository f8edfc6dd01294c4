/** The status of a HAProxyCfg: conditions and where it runs, and whether what is published says it already. Pure. */
import type { Condition, DeployedToPod, HAProxyCfg, HAProxyCfgStatus } from "../config/index.ts";
import type { PublishFailure } from "../errors.ts";
import { canonicalJson } from "../plan/index.ts";

/** What HAProxy says of the newest render; a part is undefined while this term has not heard of it. */
export interface GateNews {
  /** "" = it accepted. */
  readonly refusal: string | undefined;
  readonly isPinned: boolean | undefined;
}

export interface PublishTrouble {
  readonly reason: PublishFailure;
  readonly message: string;
}

export interface StatusParts {
  readonly gate: GateNews;
  /** Why the newest accepted plan is not published. */
  readonly trouble: PublishTrouble | undefined;
  /** The plan that is published. */
  readonly planId: string;
  readonly pods: readonly DeployedToPod[];
  /** Given where the published set is written with it. */
  readonly set: Pick<HAProxyCfgStatus, "auxiliaryFiles" | "metadata"> | undefined;
}

/** CRD limit of a condition's message. */
const MAX_MESSAGE = 32_768;
/** So long a message leaves room for the configuration in the same object. */
const LONGEST = 4_096;
const MAX_NAMED = 5;

const cut = (text: string): string =>
  text.length <= LONGEST ? text : `${text.slice(0, Math.min(LONGEST, MAX_MESSAGE) - 1)}…`;

/** Their messages hold numbers and addresses that change with each attempt: told in other words they are no news. */
const PASSING: ReadonlySet<string> = new Set<PublishFailure>(["Conflict", "Outdated", "Unavailable", "Unreachable"]);

type Said = Pick<Condition, "status" | "reason"> & { readonly message: string };

const yes = (reason: string, message: string): Said => ({ status: "True", reason, message });
const no = (reason: string, message: string): Said => ({ status: "False", reason, message });

function validated({ refusal }: GateNews): Said | undefined {
  if (refusal === undefined) return undefined;
  return refusal === ""
    ? yes("HAProxyAccepted", "HAProxy accepts the newest render")
    : no("HAProxyRefused", `HAProxy refused the newest render; the last accepted one stays: ${refusal}`);
}

function pinned({ isPinned }: GateNews): Said | undefined {
  if (isPinned === undefined) return undefined;
  return isPinned
    ? yes("RefusedRepeatedly", "HAProxy refused two renders in a row: nothing new is deployed until it accepts one")
    : no("NotPinned", "renders are deployed as they come");
}

function ready(planId: string, pods: readonly DeployedToPod[]): Said {
  if (pods.length === 0) return no("NoPods", "no HAProxy pod is known");
  const others = pods.filter(
    ({ appliedPlanID, runningPlanID, consecutiveErrors = 0 }) =>
      appliedPlanID !== planId || runningPlanID !== planId || consecutiveErrors > 0,
  );
  const count = `${pods.length - others.length} of ${pods.length} HAProxy pods run it`;
  if (others.length === 0) return yes("OnEveryPod", count);
  const named = others
    .slice(0, MAX_NAMED)
    .map(({ podName }) => podName)
    .join(", ");
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : "";
  return no("NotOnEveryPod", `${count}; not ${named}${more}`);
}

/** The status to apply. Conditions of which nothing is known stay as they are published; times change with what they speak of. */
export function statusOf(
  cfg: Pick<HAProxyCfg, "metadata" | "status">,
  parts: StatusParts,
  now: string,
): HAProxyCfgStatus {
  const { gate, trouble, planId, pods, set } = parts;
  const generation = cfg.metadata.generation ?? 1;
  const before = cfg.status;
  const condition = (type: string, said: Said | undefined): readonly Condition[] => {
    const live = before?.conditions?.find((each) => each.type === type);
    if (said === undefined) return live === undefined ? [] : [live];
    const { status, reason } = said;
    const told = type === "Synced" && PASSING.has(reason) && live?.reason === reason;
    return [
      {
        type,
        status,
        reason,
        message: told ? (live?.message ?? "") : cut(said.message),
        observedGeneration: generation,
        lastTransitionTime: live?.status === status ? live.lastTransitionTime : now,
      },
    ];
  };
  const synced =
    trouble === undefined ? yes("Published", "what is published is in force") : no(trouble.reason, trouble.message);
  const { auxiliaryFiles, metadata } = set ?? before ?? {};
  return {
    observedGeneration: generation,
    ...(auxiliaryFiles !== undefined && { auxiliaryFiles }),
    ...(metadata !== undefined && { metadata }),
    deployedToPods: pods,
    conditions: [
      ...condition("ConfigValidated", validated(gate)),
      ...condition("ConfigPinned", pinned(gate)),
      ...condition("Synced", synced),
      ...condition("Ready", ready(planId, pods)),
    ],
  };
}

const OURS: ReadonlySet<string> = new Set(["ConfigValidated", "ConfigPinned", "Synced", "Ready"]);

/** Whether the published status says the same; conditions of others do not count. */
export function sameStatus(published: HAProxyCfgStatus | undefined, wanted: HAProxyCfgStatus): boolean {
  const ours = (status: HAProxyCfgStatus): string => {
    const { observedGeneration, auxiliaryFiles, metadata, deployedToPods = [], conditions = [] } = status;
    const own = conditions.filter(({ type }) => OURS.has(type)).sort((a, b) => (a.type < b.type ? -1 : 1));
    return canonicalJson({ observedGeneration, auxiliaryFiles, metadata, deployedToPods, conditions: own });
  };
  return published !== undefined && ours(published) === ours(wanted);
}
