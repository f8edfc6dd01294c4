import { discoveryMachine } from "../../machines/discovery.ts";
import { modelTests } from "./harness.ts";

const pod = (id: string, address = `${id}:5555`) => ({ id, namespace: "d", name: id, address });

modelTests({
  machine: discoveryMachine,
  input: { backoffMs: (attempt: number) => 100 * attempt },
  events: [
    { type: "PODS.LISTED", candidates: [] },
    { type: "PODS.LISTED", candidates: [pod("a"), pod("b")] },
    { type: "PODS.LISTED", candidates: [pod("a", "elsewhere:5555")] },
    { type: "POD.ADMITTED", pod: "a", version: "3.4.7" },
    { type: "POD.ADMITTED", pod: "b", version: "" },
    { type: "POD.REJECTED", pod: "b", message: "refused" },
    { type: "xstate.error.actor.podProbe:a", actorId: "podProbe:a", error: "defect" },
    { type: "xstate.after.settleLimit.discovery.meeting" },
  ],
  key: ({ candidates, admitted, heard }: Record<string, unknown>) => ({
    candidates: (candidates as { address: string }[]).map(({ address }) => address),
    admitted,
    heard,
  }),
});
