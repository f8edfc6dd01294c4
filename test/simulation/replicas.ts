/** Several controllers of one simulated world, each of which can be cut off, frozen (as by SIGSTOP), killed and started again. */
import { Observable, Subject } from "rxjs";
import { SimulatedClock } from "xstate";
import { createController } from "../../src/controller/index.ts";
import type { AgentPort, ControllerCore } from "../../src/controller/index.ts";
import { KubeError } from "../../src/errors.ts";
import type { KubeClient, PatchOptions, ResourceTarget, WatchSignal } from "../../src/kube/types.ts";
import type { KubeObject } from "../../src/stores/types.ts";
import type { FakeAgent, World } from "./world.ts";
import { settle } from "./world.ts";

/** An apply that an agent took. */
export interface Accepted {
  readonly replica: string;
  readonly address: string;
  readonly epoch: number;
  readonly plan: string;
}

/** Holds back whatever a frozen process would do. */
class Gate {
  #frozen: Promise<void> | undefined;
  #thaw: () => void = () => {};

  get frozen(): boolean {
    return this.#frozen !== undefined;
  }

  freeze(): void {
    this.#frozen ??= new Promise((resolve) => {
      this.#thaw = resolve;
    });
  }

  thaw(): void {
    this.#frozen = undefined;
    this.#thaw();
  }

  async #open(): Promise<void> {
    for (let frozen = this.#frozen; frozen !== undefined; frozen = this.#frozen) await frozen;
  }

  async pass<T>(request: () => Promise<T>): Promise<T> {
    await this.#open();
    try {
      return await request();
    } finally {
      // The answer waits in the socket.
      await this.#open();
    }
  }
}

/** One replica's way to the API server. */
class ReplicaApi implements KubeClient {
  readonly counters = { requests: {} as Record<string, number>, writes: {} as Record<string, number> };
  readonly #api: World["api"];
  readonly #gate: Gate;
  readonly #restored = new Subject<void>();
  #cut = false;
  /** So many writes are carried out, and their answers lost. */
  losesAnswers = 0;

  constructor(api: World["api"], gate: Gate) {
    this.#api = api;
    this.#gate = gate;
  }

  get cut(): boolean {
    return this.#cut;
  }

  set cut(cut: boolean) {
    this.#cut = cut;
    this.#restored.next();
  }

  readonly get: KubeClient["get"] = (target, name) => this.#ask(() => this.#api.get(target, name));
  readonly list: KubeClient["list"] = (target) => this.#ask(() => this.#api.list(target));
  readonly discover: KubeClient["discover"] = () => this.#ask(() => this.#api.discover());
  readonly openApi = (): Promise<ReadonlyMap<string, never>> => Promise.resolve(new Map<string, never>());

  create(target: ResourceTarget, object: KubeObject): Promise<KubeObject> {
    return this.#write(target, async () => {
      if (this.#api.at(target.resource, object.metadata.name, target.namespace) !== undefined)
        throw new KubeError("HAPTIC_E_KUBE_CONFLICT", "it is there already", { status: 409 });
      return this.#api.create(target, object);
    });
  }

  replace(target: ResourceTarget, object: KubeObject): Promise<KubeObject> {
    return this.#write(target, () => this.#api.replace(target, object));
  }

  mergePatch(target: ResourceTarget, name: string, patch: unknown): Promise<KubeObject> {
    return this.#write(target, () => this.#api.mergePatch(target, name, patch));
  }

  apply(target: ResourceTarget, object: KubeObject, options?: PatchOptions): Promise<KubeObject> {
    return this.#write(target, () =>
      this.#api.apply(target, object, options?.subresource === undefined ? {} : { subresource: options.subresource }),
    );
  }

  delete(target: ResourceTarget, name: string): Promise<void> {
    return this.#write(target, () => this.#api.delete(target, name));
  }

  listWatch(target: ResourceTarget): Observable<WatchSignal> {
    return new Observable((subscriber) => {
      let held: WatchSignal[] = [];
      const tell = (signal: WatchSignal): void => {
        if (!this.#gate.frozen && held.length === 0) subscriber.next(signal);
        else {
          held.push(signal);
          if (held.length > 1) return;
          void this.#gate
            .pass(() => Promise.resolve())
            .then(() => {
              const late = held;
              held = [];
              for (const each of late) subscriber.next(each);
            });
        }
      };
      const follow = () =>
        this.#cut
          ? undefined
          : this.#api.listWatch(target).subscribe({
              next: tell,
              error: (error: unknown) => {
                subscriber.error(error);
              },
            });
      let inner = follow();
      const restored = this.#restored.subscribe({
        next: () => {
          inner?.unsubscribe();
          inner = follow();
        },
        error: (error: unknown) => {
          subscriber.error(error);
        },
      });
      return () => {
        restored.unsubscribe();
        inner?.unsubscribe();
      };
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #ask<T>(request: () => Promise<T>): Promise<T> {
    return this.#gate.pass(async () => {
      if (this.#cut) throw new KubeError("HAPTIC_E_KUBE_UNREACHABLE", "connection refused", { status: 0 });
      return request();
    });
  }

  #write<T>(target: ResourceTarget, request: () => Promise<T>): Promise<T> {
    return this.#ask(async () => {
      const written = await request();
      this.counters.writes[target.resource] = (this.counters.writes[target.resource] ?? 0) + 1;
      if (this.losesAnswers === 0) return written;
      this.losesAnswers -= 1;
      throw new KubeError("HAPTIC_E_KUBE_UNREACHABLE", "connection reset", { status: 0 });
    });
  }
}

export class Replica {
  readonly name: string;
  readonly #world: World;
  /** Of the present life, as is the clock: those of a killed one lead nowhere. */
  kube: ReplicaApi;
  #gate = new Gate();
  readonly #accepted: Accepted[];
  #clock = new SimulatedClock();
  #core: ControllerCore | undefined;
  /** Time that passed while it was frozen. */
  #missedMs = 0;

  constructor(name: string, world: World, accepted: Accepted[]) {
    this.name = name;
    this.#world = world;
    this.#accepted = accepted;
    this.kube = new ReplicaApi(world.api, this.#gate);
  }

  get core(): ControllerCore {
    if (this.#core === undefined) throw new Error(`${this.name} does not run`);
    return this.#core;
  }

  get runs(): boolean {
    return this.#core !== undefined;
  }

  get frozen(): boolean {
    return this.#gate.frozen;
  }

  get leads(): boolean {
    return this.#core?.states()["deployer"] !== undefined;
  }

  writes(): Record<string, number> {
    return this.kube.counters.writes;
  }

  start(): void {
    const clock = new SimulatedClock();
    const gate = new Gate();
    this.#clock = clock;
    this.#gate = gate;
    this.#missedMs = 0;
    this.kube = new ReplicaApi(this.#world.api, gate);
    const { connect } = this.#world.ports({});
    const own = {
      kube: this.kube,
      identity: this.name,
      clock: {
        now: () => clock.now(),
        setTimeout: (callback: () => void, ms: number) => clock.setTimeout(callback, ms),
        clearTimeout: (timer: unknown) => {
          clock.clearTimeout(timer as number);
        },
      },
      connect: (address: string): AgentPort => {
        const port = connect(address);
        return {
          state: (asked, signal) => gate.pass(() => port.state(asked, signal)),
          storePlan: (plan, blob, signal) => gate.pass(() => port.storePlan(plan, blob, signal)),
          apply: (manifest, parts, signal) =>
            gate.pass(async () => {
              signal.throwIfAborted();
              const answer = await port.apply(manifest, parts, signal);
              const { leader_epoch: epoch } = manifest.token;
              if (answer.kind === "result" && answer.result.ok)
                this.#accepted.push({ replica: this.name, address, epoch, plan: manifest.plan_id });
              return answer;
            }),
          close: () => port.close(),
        };
      },
    };
    this.#core = createController(this.#world.ports(own));
  }

  /** As by SIGKILL: nothing is said to anybody. */
  kill(): void {
    this.#core = undefined;
    this.#gate.freeze();
    this.#clock = new SimulatedClock();
  }

  stop(): Promise<void> {
    const { core } = this;
    this.#core = undefined;
    return core.close();
  }

  freeze(): void {
    this.#gate.freeze();
  }

  /** Wakes with every timer that is due. */
  thaw(): void {
    this.#gate.thaw();
    this.#clock.increment(this.#missedMs);
    this.#missedMs = 0;
  }

  pass(ms: number): void {
    if (this.frozen) this.#missedMs += ms;
    else this.#clock.increment(ms);
  }
}

export interface Replicas {
  readonly world: World;
  readonly all: readonly Replica[];
  readonly accepted: Accepted[];
  leaders(): readonly Replica[];
  advance(ms: number, look?: () => void): Promise<void>;
  close(): Promise<void>;
  agent(): FakeAgent;
}

/** Starts `count` replicas, in the order of their names. */
export async function startReplicas(world: World, count: number): Promise<Replicas> {
  const accepted: Accepted[] = [];
  const all = ["a", "b", "c"].slice(0, count).map((name) => new Replica(name, world, accepted));
  const replicas: Replicas = {
    world,
    all,
    accepted,
    leaders: () => all.filter((replica) => replica.leads),
    advance: async (ms, look = () => {}) => {
      await settle();
      for (let passed = 0; passed < ms;) {
        const step = Math.min(50, ms - passed);
        world.clock.increment(step);
        for (const replica of all) replica.pass(step);
        passed += step;
        await settle();
        look();
      }
    },
    close: async () => {
      for (const replica of all) {
        replica.kube.cut = false;
        if (replica.frozen) replica.thaw();
        if (replica.runs) await replica.stop();
      }
    },
    agent: () => [...world.agents.values()][0] as FakeAgent,
  };
  for (const replica of all) {
    replica.start();
    await settle();
  }
  return replicas;
}
