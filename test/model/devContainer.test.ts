import { test } from "uvu";
import * as assert from "uvu/assert";
import { createActor, createMachine, fromCallback, fromPromise, SimulatedClock } from "xstate";
import {
  type ContainerChanged,
  type ContainerRef,
  type DevContainerEvent,
  devContainerMachine,
} from "../../machines/devContainer.ts";
import { modelTests } from "./harness.ts";

/** A container whose process, probe and end are in the test's hands. */
function container(): {
  readonly clock: SimulatedClock;
  readonly phases: () => string[];
  readonly last: () => ContainerChanged;
  readonly started: () => number;
  readonly exit: (how: string) => Promise<void>;
  readonly crash: (how: string) => Promise<void>;
  readonly probe: (event: DevContainerEvent) => void;
  readonly stop: () => void;
  readonly terminated: (error?: Error) => Promise<void>;
  readonly asked: () => boolean;
} {
  const clock = new SimulatedClock();
  const heard: ContainerChanged[] = [];
  let [started, asked] = [0, false];
  let settle: { resolve: (how: string) => void; reject: (error: Error) => void };
  let ending: { resolve: () => void; reject: (error: Error) => void };
  let tellProbe: (event: DevContainerEvent) => void = () => undefined;
  const machine = devContainerMachine.provide({
    actors: {
      process: fromPromise<string, ContainerRef>(({ input }) => {
        assert.equal(input, { pod: "p", container: "agent" });
        started += 1;
        return new Promise((resolve, reject) => {
          settle = { resolve, reject };
        });
      }),
      probe: fromCallback<DevContainerEvent, ContainerRef>(({ sendBack }) => {
        tellProbe = sendBack;
      }),
      terminate: fromPromise<void, ContainerRef>(() => {
        asked = true;
        return new Promise((resolve, reject) => {
          ending = { resolve, reject };
        });
      }),
    },
  });
  const parent = createMachine({
    invoke: {
      id: "child",
      src: machine,
      input: { pod: "p", container: "agent", backoffMs: (recent: number) => recent * 100, settledMs: 1_000 },
    },
    on: { "*": { actions: ({ event }) => heard.push(event as unknown as ContainerChanged) } },
  });
  const actor = createActor(parent, { clock }).start();
  const turn = (): Promise<void> => new Promise((wake) => setImmediate(wake));
  const child = (): { send: (event: DevContainerEvent) => void } => actor.getSnapshot().children["child"] as never;
  return {
    clock,
    phases: () => heard.filter(({ type }) => type === "CONTAINER.CHANGED").map(({ phase }) => phase),
    last: () => heard.findLast(({ type }) => type === "CONTAINER.CHANGED")!,
    started: () => started,
    exit: (how) => (settle.resolve(how), turn()),
    crash: (how) => (settle.reject(new Error(how)), turn()),
    probe: (event) => tellProbe(event),
    stop: () => child().send({ type: "CONTAINER.STOP" }),
    terminated: (error) => (error === undefined ? ending.resolve() : ending.reject(error), turn()),
    asked: () => asked,
  };
}

test("a container is ready when its probe passes, unready when it fails, and ready again", () => {
  const one = container();
  one.probe({ type: "PROBE.FAILED" });
  one.probe({ type: "PROBE.PASSED" });
  one.probe({ type: "PROBE.PASSED" });
  one.probe({ type: "PROBE.FAILED" });
  one.probe({ type: "PROBE.FAILED" });
  one.probe({ type: "PROBE.PASSED" });
  assert.equal(one.phases(), ["starting", "ready", "unready", "ready"]);
});

test("a process that ends is started again after its backoff, which grows", async () => {
  const one = container();
  await one.exit("exit code 1");
  assert.equal([one.last().phase, one.last().lastExit, one.last().restarts], ["waiting", "exit code 1", 0]);
  one.clock.increment(0);
  assert.equal([one.started(), one.last().phase, one.last().restarts], [2, "starting", 1]);
  await one.crash("no such file");
  assert.match(one.last().lastExit, "no such file");
  one.clock.increment(99);
  assert.is(one.started(), 2);
  one.clock.increment(1);
  assert.equal([one.started(), one.last().restarts], [3, 2]);
});

test("after a long life earlier ends count no more for the backoff, but for the number of restarts", async () => {
  const one = container();
  await one.exit("exit code 1");
  one.clock.increment(0);
  await one.exit("exit code 1");
  one.clock.increment(100);
  assert.is(one.started(), 3);
  one.clock.increment(1_000);
  await one.exit("exit code 1");
  one.clock.increment(0);
  assert.equal([one.started(), one.last().restarts], [4, 3]);
});

test("a container that is stopped while it runs asks its process to end, and is stopped when that is gone", async () => {
  for (const error of [undefined, new Error("would not end")]) {
    const one = container();
    one.probe({ type: "PROBE.PASSED" });
    one.stop();
    assert.ok(one.asked());
    assert.is(one.last().phase, "ready");
    await one.terminated(error);
    assert.is(one.last().phase, "stopped");
    one.clock.increment(10_000);
    assert.is(one.started(), 1);
  }
});

test("a container that is stopped while it waits does not start again", async () => {
  const one = container();
  await one.exit("exit code 0");
  one.stop();
  assert.equal([one.last().phase, one.asked()], ["stopped", false]);
  one.clock.increment(10_000);
  assert.is(one.started(), 1);
});

test("a probe that breaks makes its container unready", () => {
  const heard: ContainerChanged[] = [];
  const parent = createMachine({
    invoke: {
      id: "child",
      src: devContainerMachine.provide({
        actors: {
          process: fromPromise<string, ContainerRef>(() => new Promise(() => undefined)),
          probe: fromCallback<DevContainerEvent, ContainerRef>(() => {
            throw new Error("no socket");
          }),
        },
      }),
      input: { pod: "p", container: "haproxy", backoffMs: () => 0, settledMs: 1_000 },
    },
    on: { "CONTAINER.CHANGED": { actions: ({ event }) => heard.push(event as ContainerChanged) } },
  });
  createActor(parent, { clock: new SimulatedClock() }).start();
  assert.is(heard.at(-1)!.phase, "unready");
});

test.run();

modelTests({
  machine: devContainerMachine,
  child: true,
  callbacks: ["probe"],
  input: { pod: "p", container: "agent", backoffMs: (recent: number) => recent * 100, settledMs: 1_000 },
  events: [
    { type: "xstate.done.actor.process", output: "exit code 1" },
    { type: "xstate.error.actor.process", error: "no such file" },
    { type: "PROBE.PASSED" },
    { type: "PROBE.FAILED" },
    { type: "xstate.error.actor.probe", actorId: "probe", error: "no socket" },
    { type: "xstate.after.settled.devContainer.running" },
    { type: "xstate.after.backoff.devContainer.waiting" },
    { type: "CONTAINER.STOP" },
    { type: "xstate.done.actor.terminate" },
    { type: "xstate.error.actor.terminate", error: "would not" },
  ],
  key: ({ restarts, recent, lastExit }: Record<string, unknown>) => ({ restarts, recent, lastExit }),
  // More of the same is not tried.
  skip: ({ context }) => (context as { restarts: number }).restarts > 2,
});
