/** HAProxy pods whose containers are started again when they end, as a kubelet does, and whose Pod objects tell so. */
import type { ContainerPhase } from "../../../machines/devContainer.ts";
import { type ContainerName, DevPod, type PodDeps, type PodSpec } from "../../../src/devcluster/pods.ts";
import { favour } from "./isolation.ts";

const CONTAINERS: readonly ContainerName[] = ["agent", "haproxy"];
const PROBE_MS = 50;
const RESTART_MS = 250;

export class PodKeeper {
  readonly pod: DevPod;
  readonly #states = new Map<ContainerName, { phase: ContainerPhase; restarts: number; lastExit: string }>();
  readonly #loops: Promise<void>[] = [];
  #stopping = false;
  #write: Promise<void> = Promise.resolve();
  #agentMay: Promise<void> = Promise.resolve();

  constructor(spec: PodSpec, deps: PodDeps) {
    this.pod = new DevPod(spec, deps);
    for (const name of CONTAINERS) this.#states.set(name, { phase: "starting", restarts: 0, lastExit: "" });
  }

  async start(): Promise<void> {
    await this.pod.createObject();
    for (const name of CONTAINERS) this.#loops.push(this.#keep(name), this.#probe(name));
  }

  ready(): boolean {
    return [...this.#states.values()].every(({ phase }) => phase === "ready");
  }

  restarts(name: ContainerName): number {
    return this.#states.get(name)!.restarts;
  }

  /** While something happens the agent is not there: ended, and not started again before it is over. */
  async withoutAgent(happens: () => Promise<void>): Promise<void> {
    let goOn = (): void => undefined;
    this.#agentMay = new Promise((done) => (goOn = done));
    await this.pod.terminate("agent");
    try {
      await happens();
    } finally {
      goOn();
    }
  }

  async close(): Promise<void> {
    this.#stopping = true;
    await Promise.all(CONTAINERS.map((name) => this.pod.terminate(name)));
    await Promise.all(this.#loops);
    await this.#write;
  }

  async #keep(name: ContainerName): Promise<void> {
    const state = this.#states.get(name)!;
    while (!this.#stopping) {
      const run = this.pod.run(name);
      favour(this.pod.pid(name) ?? 0);
      state.lastExit = await run;
      if (this.#stopping) return;
      state.phase = "starting";
      state.restarts += 1;
      this.#tell();
      if (state.restarts > 1) await new Promise((wake) => setTimeout(wake, RESTART_MS));
      if (name === "agent") await this.#agentMay;
    }
  }

  async #probe(name: ContainerName): Promise<void> {
    const state = this.#states.get(name)!;
    while (!this.#stopping) {
      const { restarts } = state;
      const ok = await this.pod.probe(name);
      const phase: ContainerPhase = ok ? "ready" : state.phase === "ready" ? "unready" : state.phase;
      if (phase !== state.phase && restarts === state.restarts) {
        state.phase = phase;
        this.#tell();
      }
      await new Promise((wake) => setTimeout(wake, PROBE_MS * (state.phase === "ready" ? 20 : 1)));
    }
  }

  /** Writes the object's status after what is being written; an API that is away is asked again. */
  #tell(): void {
    this.#write = this.#write.then(async () => {
      for (let tries = 0; !this.#stopping && tries < 200; tries++) {
        try {
          const states = [...this.#states].map(([container, state]) => [
            container,
            { pod: this.pod.spec.name, container, ...state },
          ]);
          return await this.pod.writeStatus(Object.fromEntries(states));
        } catch {
          await new Promise((wake) => setTimeout(wake, 100));
        }
      }
    });
  }
}
