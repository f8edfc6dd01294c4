/** Gives `discovery` its probes: one question to a candidate's agent. */
import { fromPromise } from "xstate";
import { discoveryMachine, discoveryReads } from "../../machines/discovery.ts";
import { podProbeMachine } from "../../machines/podProbe.ts";
import type { ProbeReply } from "../../machines/podProbe.ts";
import type { AgentConnect } from "./agent-port.ts";
import type { Bus } from "./bus.ts";
import { onBus, registered } from "./component.ts";
import type { ActorRegistry } from "./component.ts";
import type { Term } from "./term.ts";

export function wireDiscovery(connect: AgentConnect, term: Term, bus: Bus, registry: ActorRegistry) {
  const podProbe = registered(
    podProbeMachine.provide({
      actors: {
        probe: fromPromise<ProbeReply, { pod: string; address: string }>(async ({ input, signal }) => {
          const port = connect(input.address);
          try {
            const state = await port.state({ verify: false, plan: false }, signal);
            term.saw(state.applied_token.leader_epoch);
            return { version: state.haproxy?.version ?? "" };
          } finally {
            await port.close();
          }
        }),
      },
    }),
    registry,
  );
  return onBus(discoveryMachine.provide({ actors: { podProbe } }), discoveryReads, bus, registry);
}
