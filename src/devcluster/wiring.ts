/** Gives the charts of `haptic dev` their actors: when something is done the charts say, how is in the session. */
import { defer, distinctUntilChanged, repeat, tap, timer } from "rxjs";
import { fromCallback, fromPromise } from "xstate";
import { devClusterMachine, type DevClusterEvent } from "../../machines/devCluster.ts";
import { type ContainerRef, devContainerMachine, type DevContainerEvent } from "../../machines/devContainer.ts";
import { type ContainerStates, devPodMachine } from "../../machines/devPod.ts";
import { devWorkloadsMachine, type DevWorkloadsEvent } from "../../machines/devWorkloads.ts";
import { namedController } from "./controllers.ts";
import type { ContainerName } from "./pods.ts";
import type { DevSession } from "./session.ts";

/** Pauses between two probes, milliseconds: short until a container is ready, then as a kubelet might. */
const PROBE_PAUSE = { unready: 40, ready: 1_000 } as const;

/** What can be done with a container, wherever it is. */
interface ContainerParts {
  run(ref: ContainerRef): Promise<string>;
  probe(ref: ContainerRef): Promise<boolean>;
  terminate(ref: ContainerRef): Promise<void>;
}

function wireContainer(parts: ContainerParts): typeof devContainerMachine {
  return devContainerMachine.provide({
    actors: {
      process: fromPromise<string, ContainerRef>(({ input }) => parts.run(input)),
      terminate: fromPromise<void, ContainerRef>(({ input }) => parts.terminate(input)),
      probe: fromCallback<DevContainerEvent, ContainerRef>(({ input, sendBack }) => {
        let pause: number = PROBE_PAUSE.unready;
        const verdicts = defer(() => parts.probe(input)).pipe(
          tap((ok) => (pause = ok ? PROBE_PAUSE.ready : PROBE_PAUSE.unready)),
          repeat({ delay: () => timer(pause) }),
          distinctUntilChanged(),
        );
        const subscription = verdicts.subscribe({
          next: (ok) => sendBack({ type: ok ? "PROBE.PASSED" : "PROBE.FAILED" }),
          error: () => sendBack({ type: "PROBE.FAILED" }),
        });
        return () => subscription.unsubscribe();
      }),
    },
  });
}

export function wireDevCluster(session: DevSession): typeof devClusterMachine {
  const container = wireContainer({
    run: ({ pod, container: name }) => session.pod(pod).run(name as ContainerName),
    probe: ({ pod, container: name }) => session.pod(pod).probe(name as ContainerName),
    terminate: ({ pod, container: name }) => session.pod(pod).terminate(name as ContainerName),
  });
  return devClusterMachine.provide({
    actors: {
      prepare: fromPromise<void>(() => session.prepare()),
      startApi: fromPromise<void>(() => session.startApi()),
      api: fromCallback<DevClusterEvent>(() => () => void session.closeApi()),
      createObjects: fromPromise<void>(() => session.createObjects()),
      workloads: devWorkloadsMachine.provide({
        actors: {
          watches: fromCallback<DevWorkloadsEvent>(({ sendBack }) => {
            const subscription = session.workloads.watch(() => sendBack({ type: "WORKLOADS.CHANGED" }));
            return () => subscription.unsubscribe();
          }),
          reconcile: fromPromise<void>(() => session.workloads.reconcile()),
        },
      }),
      pod: devPodMachine.provide({
        actors: {
          agent: container,
          haproxy: container,
          writeStatus: fromPromise<void, { pod: string; containers: ContainerStates }>(({ input }) =>
            session.pod(input.pod).writeStatus(input.containers),
          ),
        },
      }),
      controller: wireContainer({
        run: ({ container: name }) => namedController(session.controllers, name).run(),
        probe: ({ container: name }) => namedController(session.controllers, name).probe(),
        terminate: ({ container: name }) => namedController(session.controllers, name).terminate(),
      }),
      clear: fromPromise<void>(() => session.clear()),
    },
  });
}
