/**
 * Changes of the charts that no test can notice, as they make no difference to anybody, with the reason. `npm run mutate` fails on an
 * unnoticed change that is not here, and on an entry here that is noticed or gone.
 */
const explanations: Readonly<Record<string, readonly string[]>> = {
  "a start waits by then: choosing goes on to starting at once": [
    "agent.detached.attaching on START.REQUESTED #0: leads to agent.detached.starting",
    "agent.detached.pausing on START.REQUESTED #0: leads to agent.detached.starting",
  ],
  "waiting goes on to idle at once: whoever has rendered is ready, and stays so": [
    "coordinator.rendering done(render) #0: leads to coordinator.waiting",
    "coordinator.rendering done(render) #1: leads to coordinator.waiting",
    "coordinator.rendering error(render) #0: leads to coordinator.waiting",
  ],
  "choosing goes on to waiting at once: nobody waits with an interval of 0": [
    "driftMonitor.waiting on DEPLOYMENT.COMPLETED #0: leads to driftMonitor.choosing",
    "driftMonitor.waiting after interval #0: leads to driftMonitor.choosing",
  ],
  "the debt is settled by then, and the pod has the plan: deciding goes on to idle, saying nothing": [
    "podApply.work.deciding always #3: leads to podApply.work.deciding",
    "podApply.work.deciding always #3: leads nowhere",
  ],
  "nothing is known of the pod by then, or it is to be looked at: deciding goes on to reading at once": [
    "podApply.work.sending done(send) #2: leads to podApply.work.reading",
    "podApply.work.sending done(send) #3: leads to podApply.work.reading",
    "podApply.work.backingOff on POD.APPLY #0: leads to podApply.work.reading",
    "podApply.work.backingOff after backoff #0: leads to podApply.work.reading",
  ],
  "no attempt is counted any more by then: deciding goes on to idle, saying nothing": [
    "publisher.deciding always #1: leads to publisher.deciding",
    "publisher.deciding always #1: leads nowhere",
  ],
  "the refusal just remembered is judged once more as a repeated one: idle, saying nothing": [
    "renderGate.pinned.judged always #3: leads to renderGate.pinned.deciding",
    "renderGate.pinned.judged always #3: leads to renderGate.pinned.judged",
    "renderGate.pinned.judged always #3: leads nowhere",
    "renderGate.holding: begins in deciding",
    "renderGate.holding: begins in judged",
    "renderGate.pinned: begins in deciding",
    "renderGate.pinned: begins in judged",
  ],
};

/** Reason by change. */
export const allowed: ReadonlyMap<string, string> = new Map(
  Object.entries(explanations).flatMap(([reason, changes]) => changes.map((change) => [change, reason] as const)),
);
