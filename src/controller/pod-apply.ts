/** Gives `podApply` its actors: the requests to one pod's agent. */
import { fromPromise } from "xstate";
import { podApplyMachine } from "../../machines/podApply.ts";
import type { ApplyReply, BlobReport, KnownState, SendRequest } from "../../machines/podApply.ts";
import { registered } from "./component.ts";
import type { ActorRegistry } from "./component.ts";
import type { PodSessions } from "./pod-sessions.ts";

interface PodAndPlan {
  readonly pod: string;
  readonly planId: string;
}

export const wirePodApply = (sessions: PodSessions, registry: ActorRegistry) =>
  registered(
    podApplyMachine.provide({
      actors: {
        readState: fromPromise<KnownState, { pod: string; verify: boolean }>(({ input, signal }) =>
          sessions.readState(input.pod, input.verify, signal),
        ),
        send: fromPromise<ApplyReply, SendRequest>(({ input, signal }) =>
          sessions.send(input.pod, input.planId, input.seq, input.form, signal),
        ),
        promote: fromPromise<ApplyReply, PodAndPlan>(({ input, signal }) =>
          sessions.promote(input.pod, input.planId, signal),
        ),
        revert: fromPromise<ApplyReply, PodAndPlan>(({ input, signal }) =>
          sessions.revert(input.pod, input.planId, signal),
        ),
        storeBlob: fromPromise<BlobReport, PodAndPlan>(({ input, signal }) =>
          sessions.storeBlob(input.pod, input.planId, signal),
        ),
      },
    }),
    registry,
  );
