import { test } from "uvu";
import * as assert from "uvu/assert";
import { createActor, createMachine, fromCallback, fromPromise, SimulatedClock } from "xstate";
import { type ContainerRef, type DevContainerEvent, devContainerMachine } from "../../machines/devContainer.ts";
import { type ContainerStates, devPodMachine, type PodChanged } from "../../machines/devPod.ts";
import { modelTests } from "./harness.ts";

const turn = (): Promise<void> => new Promise((wake) => setImmediate(wake));

interface Write {
  readonly phases: readonly string[];
  readonly settle: (error?: Error) => Promise<void>;
}

/** A pod whose containers are driven by their probes, and whose writes the test settles. */
function pod(): {
  readonly clock: SimulatedClock;
  readonly heard: PodChanged[];
  readonly writes: Write[];
  readonly ready: (container: string) => void;
  readonly stop: () => Promise<void>;
} {
  const clock = new SimulatedClock();
  const heard: PodChanged[] = [];
  const writes: Write[] = [];
  const probes: Record<string, (event: DevContainerEvent) => void> = {};
  const container = devContainerMachine.provide({
    actors: {
      process: fromPromise<string, ContainerRef>(() => new Promise(() => undefined)),
      probe: fromCallback<DevContainerEvent, ContainerRef>(({ sendBack, input }) => {
        probes[input.container] = sendBack;
      }),
      terminate: fromPromise<void, ContainerRef>(() => Promise.resolve()),
    },
  });
  const machine = devPodMachine.provide({
    actors: {
      agent: container,
      haproxy: container,
      writeStatus: fromPromise<void, { pod: string; containers: ContainerStates }>(
        ({ input }) =>
          new Promise((resolve, reject) => {
            assert.is(input.pod, "haproxy-1");
            const phases = Object.values(input.containers).map((one) => `${one.container} ${one.phase}`);
            writes.push({
              phases: phases.sort(),
              settle: (error) => (error === undefined ? resolve() : reject(error), turn()),
            });
          }),
      ),
    },
  });
  const parent = createMachine({
    invoke: { id: "pod", src: machine, input: { pod: "haproxy-1", backoffMs: () => 0, settledMs: 1_000 } },
    on: { "POD.CHANGED": { actions: ({ event }) => heard.push(event as PodChanged) } },
  });
  const actor = createActor(parent, { clock }).start();
  const child = (): { send: (event: { type: string }) => void } => actor.getSnapshot().children["pod"] as never;
  return {
    clock,
    heard,
    writes,
    ready: (name) => probes[name]!({ type: "PROBE.PASSED" }),
    stop: () => (child().send({ type: "POD.STOP" }), turn()),
  };
}

test("a pod is ready when each of its containers is", () => {
  const one = pod();
  one.ready("haproxy");
  assert.is(one.heard.at(-1)!.ready, false);
  one.ready("agent");
  assert.equal([one.heard.at(-1)!.ready, one.heard.at(-1)!.pod], [true, "haproxy-1"]);
});

test("a change during a write is written too", async () => {
  const one = pod();
  const first = one.writes.at(-1)!;
  assert.equal(first.phases, ["agent starting", "haproxy starting"]);
  const before = one.writes.length;
  one.ready("agent");
  await first.settle();
  assert.is(one.writes.length, before + 1);
  assert.equal(one.writes.at(-1)!.phases, ["agent ready", "haproxy starting"]);
});

test("what was written is not written again without a change", async () => {
  const one = pod();
  const before = one.writes.length;
  await one.writes.at(-1)!.settle();
  one.clock.increment(60_000);
  assert.is(one.writes.length, before);
});

test("a refused write is tried again after a while, or at the next change", async () => {
  const one = pod();
  await one.writes.at(-1)!.settle(new Error("unreachable"));
  const before = one.writes.length;
  one.clock.increment(999);
  assert.is(one.writes.length, before);
  one.clock.increment(1);
  assert.is(one.writes.length, before + 1);
  await one.writes.at(-1)!.settle(new Error("unreachable"));
  one.ready("haproxy");
  assert.is(one.writes.length, before + 2);
});

test("a pod that is told to stop stops both containers, and says when both are", async () => {
  const one = pod();
  one.ready("agent");
  one.ready("haproxy");
  assert.not(one.heard.some(({ stopped }) => stopped));
  await one.stop();
  await turn();
  const last: PodChanged = one.heard.at(-1)!;
  assert.equal([last.stopped, last.ready], [true, false]);
  assert.is(one.heard.filter(({ stopped }) => stopped).length, 1);
  assert.equal(one.writes.at(-1)!.phases, ["agent stopped", "haproxy stopped"]);
});

test.run();

const changed = (name: string, phase: string) => ({
  type: "CONTAINER.CHANGED",
  pod: "haproxy-1",
  container: name,
  phase,
  restarts: 0,
  lastExit: "",
});

modelTests({
  machine: devPodMachine,
  child: true,
  input: { pod: "haproxy-1", backoffMs: () => 0, settledMs: 1_000 },
  events: [
    changed("agent", "ready"),
    changed("agent", "stopped"),
    changed("haproxy", "ready"),
    changed("haproxy", "stopped"),
    { type: "xstate.done.actor.writeStatus" },
    { type: "xstate.error.actor.writeStatus", error: "unreachable" },
    { type: "xstate.after.retry.devPod.object.refused" },
    { type: "xstate.error.actor.agent", actorId: "agent", error: "defect" },
    { type: "xstate.error.actor.haproxy", actorId: "haproxy", error: "defect" },
    { type: "POD.STOP" },
  ],
  key: ({ containers }: { containers: Record<string, { phase: string }> }) =>
    Object.entries(containers)
      .map(([name, { phase }]) => `${name} ${phase}`)
      .sort(),
});
