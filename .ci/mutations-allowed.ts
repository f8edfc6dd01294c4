/**
 * Changes of the charts that no test can notice, as they make no difference to anybody, with the reason. `npm run mutate` fails on an
 * unnoticed change that is not here, and on an entry here that is noticed or gone.
 */
const explanations: Readonly<Record<string, readonly string[]>> = {
  "`choosing` leads to `starting` in the same step, as a start waits by then": [
    "agent.detached.attaching on START.REQUESTED #0: leads to agent.detached.starting",
    "agent.detached.pausing on START.REQUESTED #0: leads to agent.detached.starting",
  ],
};

/** Reason by change. */
export const allowed: ReadonlyMap<string, string> = new Map(
  Object.entries(explanations).flatMap(([reason, changes]) => changes.map((change) => [change, reason] as const)),
);
