/** A whole controller in a simulated world: its real wiring and charts, with an API server, agents, a renderer and a judge made up here. */
import { Subject } from "rxjs";
import { Observable } from "rxjs";
import { SimulatedClock } from "xstate";
import type { AgentState, ApplyResult, Manifest } from "../../src/agent/api.ts";
import { createController } from "../../src/controller/index.ts";
import type { AgentPort, ApplyAnswer, ControllerCore, ControllerPorts } from "../../src/controller/index.ts";
import { KubeError } from "../../src/errors.ts";
import type { KubeClient, OpenApiAnswer, ResourceTarget, WatchSignal } from "../../src/kube/types.ts";
import { assemblePlan, ChunkedTree, cutBlocks, emptyTrees, fileDigest, planFile } from "../../src/plan/index.ts";
import type { RenderPlan } from "../../src/plan/types.ts";
import type { RenderContext, RenderOutcome } from "../../src/render/types.ts";
import type { KubeObject } from "../../src/stores/types.ts";

export const NAMESPACE = "haptic";
const CONFIG = "main";

/** Numbers that are the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 12; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Objects by resource and name, as an API server holds them. */
export class FakeApi implements KubeClient {
  readonly counters = { requests: {} as Record<string, number>, writes: {} as Record<string, number> };
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #changes = new Subject<{ readonly resource: string; readonly signal: WatchSignal }>();
  #version = 1;
  down = false;
  /** Refuses a write with the status that this gives; undefined = it is carried out. */
  refuses: (verb: string, resource: string) => number | undefined = () => undefined;
  /** Resources that it does not give out, with the status of its answer. */
  readonly unserved = new Map<string, number>();

  put(resource: string, object: KubeObject, subresource = ""): KubeObject {
    const held = this.#of(resource);
    const key = `${object.metadata.namespace ?? ""}/${object.metadata.name}`;
    const before = held.get(key);
    const generation = before?.metadata.generation ?? 0;
    const same =
      subresource === "status" ||
      (before !== undefined && JSON.stringify(before["spec"]) === JSON.stringify(object["spec"]));
    this.#version += 1;
    const stored: KubeObject = {
      ...object,
      metadata: {
        ...object.metadata,
        uid: before?.metadata.uid ?? `uid-${this.#version}`,
        resourceVersion: String(this.#version),
        generation: same ? Math.max(1, generation) : generation + 1,
      },
    };
    held.set(key, stored);
    this.#changes.next({ resource, signal: { type: before === undefined ? "ADDED" : "MODIFIED", object: stored } });
    return stored;
  }

  remove(resource: string, name: string, namespace = NAMESPACE): void {
    const object = this.#of(resource).get(`${namespace}/${name}`);
    if (object === undefined) return;
    this.#of(resource).delete(`${namespace}/${name}`);
    this.#changes.next({ resource, signal: { type: "DELETED", object } });
  }

  at(resource: string, name: string, namespace = NAMESPACE): KubeObject | undefined {
    return this.#of(resource).get(`${namespace}/${name}`);
  }

  /** Every watch of the resource hears that it may not go on. */
  refuse(resource: string, status: number): void {
    const error = new KubeError("HAPTIC_E_KUBE_FORBIDDEN", `watch ${resource}: ${status}`, { status });
    this.#changes.next({ resource, signal: { type: "FAULT", error, retryInMs: 1_000 } });
  }

  /** Every watch lists anew. */
  relist(): void {
    for (const resource of this.#objects.keys()) {
      for (const signal of this.#listing(resource, "expired")) this.#changes.next({ resource, signal });
    }
  }

  get(target: ResourceTarget, name: string): Promise<KubeObject> {
    this.#refuseWhenDown();
    const object = this.at(target.resource, name, target.namespace);
    if (object === undefined)
      return Promise.reject(new KubeError("HAPTIC_E_KUBE_NOT_FOUND", "not there", { status: 404 }));
    return Promise.resolve(object);
  }

  async list(
    target: ResourceTarget,
    { labelSelector = "" }: { labelSelector?: string } = {},
  ): Promise<{ items: KubeObject[]; resourceVersion: string }> {
    this.#refuseWhenDown();
    const [label = "", value] = labelSelector.split("=");
    const items = [...this.#of(target.resource).values()].filter(
      ({ metadata }) => label === "" || metadata.labels?.[label] === value,
    );
    return { items, resourceVersion: String(this.#version) };
  }

  async create(target: ResourceTarget, object: KubeObject): Promise<KubeObject> {
    this.#refuse("create", target.resource);
    if (this.at(target.resource, object.metadata.name, target.namespace) !== undefined)
      throw new KubeError("HAPTIC_E_KUBE_CONFLICT", "it is there", { status: 409, reason: "AlreadyExists" });
    return this.#write(target, object);
  }

  async replace(target: ResourceTarget, object: KubeObject): Promise<KubeObject> {
    this.#refuseWhenDown();
    const held = this.at(target.resource, object.metadata.name, target.namespace);
    if (held?.metadata.resourceVersion !== object.metadata.resourceVersion) {
      throw new KubeError("HAPTIC_E_KUBE_CONFLICT", "written meanwhile", { status: 409 });
    }
    return this.#write(target, object);
  }

  mergePatch(target: ResourceTarget, name: string, patch: unknown): Promise<KubeObject> {
    return this.#write(target, {
      ...(this.at(target.resource, name, target.namespace) as KubeObject),
      ...(patch as object),
    });
  }

  async apply(target: ResourceTarget, object: KubeObject, options: { subresource?: string } = {}): Promise<KubeObject> {
    const { subresource = "" } = options;
    this.#refuse("apply", `${target.resource}${subresource === "" ? "" : `/${subresource}`}`);
    const held = this.at(target.resource, object.metadata.name, target.namespace);
    const { resourceVersion } = object.metadata;
    if (resourceVersion !== undefined && resourceVersion !== held?.metadata.resourceVersion)
      throw new KubeError("HAPTIC_E_KUBE_CONFLICT", "written meanwhile", { status: 409 });
    return this.#write(
      target,
      { ...held, ...object, metadata: { ...held?.metadata, ...object.metadata } },
      options.subresource,
    );
  }

  async delete(target: ResourceTarget, name: string, { uid }: { uid?: string } = {}): Promise<void> {
    this.#refuse("delete", target.resource);
    this.#refuseWhenDown();
    const held = this.at(target.resource, name, target.namespace);
    if (held === undefined) throw new KubeError("HAPTIC_E_KUBE_NOT_FOUND", "not there", { status: 404 });
    if (uid !== undefined && uid !== held.metadata.uid)
      throw new KubeError("HAPTIC_E_KUBE_CONFLICT", "another one", { status: 409 });
    this.counters.writes[target.resource] = (this.counters.writes[target.resource] ?? 0) + 1;
    this.remove(target.resource, name, target.namespace);
  }

  /** Every object of a resource. */
  all(resource: string): readonly KubeObject[] {
    return [...this.#of(resource).values()];
  }

  listWatch(target: ResourceTarget): Observable<WatchSignal> {
    return new Observable((subscriber) => {
      const status = this.unserved.get(target.resource);
      if (status !== undefined) {
        const error = new KubeError("HAPTIC_E_KUBE_NOT_FOUND", `list ${target.resource}: ${status}`, { status });
        subscriber.next({ type: "FAULT", error, retryInMs: 1_000_000 });
      } else {
        for (const signal of this.#listing(target.resource, "start")) subscriber.next(signal);
      }
      const changes = this.#changes.subscribe({
        next: ({ resource, signal }) => {
          if (resource === target.resource && !this.unserved.has(resource)) subscriber.next(signal);
        },
        error: (error: unknown) => {
          subscriber.error(error);
        },
      });
      return () => {
        changes.unsubscribe();
      };
    });
  }

  discover(): Promise<readonly []> {
    return Promise.resolve([]);
  }

  openApi(apiVersions: readonly string[]): Promise<ReadonlyMap<string, OpenApiAnswer>> {
    return Promise.resolve(
      new Map(apiVersions.map((apiVersion) => [apiVersion, { missing: "a simulation has none" }])),
    );
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #listing(resource: string, reason: "start" | "expired"): WatchSignal[] {
    return [
      { type: "RELIST", reason },
      { type: "PAGE", objects: [...this.#of(resource).values()] },
      { type: "SYNCED", resourceVersion: String(this.#version) },
    ];
  }

  async #write(target: ResourceTarget, object: KubeObject, subresource = ""): Promise<KubeObject> {
    this.#refuseWhenDown();
    const name = subresource === "" ? target.resource : `${target.resource}/${subresource}`;
    this.counters.writes[name] = (this.counters.writes[name] ?? 0) + 1;
    return this.put(
      target.resource,
      {
        ...object,
        metadata: { ...object.metadata, ...(target.namespace !== undefined && { namespace: target.namespace }) },
      },
      subresource,
    );
  }

  #refuse(verb: string, resource: string): void {
    const status = this.refuses(verb, resource);
    if (status !== undefined)
      throw new KubeError("HAPTIC_E_KUBE_INVALID", `${verb} ${resource}: ${status}`, { status });
  }

  #refuseWhenDown(): void {
    if (this.down) throw new KubeError("HAPTIC_E_KUBE_UNREACHABLE", "no answer", { status: 0 });
  }

  #of(resource: string): Map<string, KubeObject> {
    const held = this.#objects.get(resource) ?? new Map<string, KubeObject>();
    this.#objects.set(resource, held);
    return held;
  }
}

/** One pod's agent: the fence and the plan ids of the contract, no files but their digests. */
export class FakeAgent {
  applied = "";
  running = "";
  lastGood = "";
  maxEpoch = 0;
  token = { leader_epoch: 0, render_seq: 0 };
  blob: Buffer | undefined;
  blobOf = "";
  files: Record<string, { digest: string; size: number }> = {};
  /** Applies that changed or reloaded something. */
  changes = 0;
  posts = 0;
  reloads = 0;
  /** Next requests that find nobody. */
  silent = 0;
  /** Answers the next apply after it was carried out with a broken connection. */
  loseAnswer = false;
  /** The next set comes into force by a reload, as this operation could not be done. */
  refusedOp: ApplyResult["op_results"][number] | undefined;
  /** HAProxy refuses a reload of this text. */
  refuses: (planId: string) => boolean = () => false;

  port(): AgentPort {
    return {
      state: async ({ plan }) => {
        this.#answer();
        return this.#state(plan);
      },
      apply: async (manifest) => {
        this.#answer();
        this.posts += 1;
        const answer = this.#apply(manifest);
        if (this.loseAnswer) {
          this.loseAnswer = false;
          throw new Error("connection reset");
        }
        return answer;
      },
      storePlan: async (planId, blob) => {
        this.#answer();
        if (planId !== this.applied) return false;
        this.blob = Buffer.from(blob);
        this.blobOf = planId;
        return true;
      },
      close: () => Promise.resolve(),
    };
  }

  #answer(): void {
    if (this.silent === 0) return;
    this.silent -= 1;
    throw new Error("connection refused");
  }

  #state(withPlan: boolean): AgentState {
    const stored = this.blobOf === this.applied && this.blob !== undefined;
    return {
      api_version: 1,
      agent_version: "test",
      plan_schema_version: 1,
      agent_ops: [],
      features: ["file_patch", "worker_fence"],
      haproxy: { version: "3.4.7", full_version: "3.4.7", worker_pid: 1, worker_start_time_unix_micros: 1 },
      generation: this.changes,
      applied_plan_id: this.applied,
      running_plan_id: this.running,
      worker_ops_plan_id: this.applied,
      lkg_plan_id: this.lastGood,
      applied_token: this.token,
      ...(withPlan && stored && { applied_plan: (this.blob as Buffer).toString("base64") }),
      applied_plan_stored: stored,
      files: this.files,
      pending_deletes: { servers: [], backends: [] },
    };
  }

  #apply(manifest: Manifest): ApplyAnswer {
    const conflict = (reason: "prev_mismatch" | "stale_epoch" | "unknown_baseline"): ApplyAnswer => ({
      kind: "conflict",
      conflict: {
        reason,
        message: reason,
        applied_plan_id: this.applied,
        running_plan_id: this.running,
        worker_ops_plan_id: this.applied,
        lkg_plan_id: this.lastGood,
        applied_token: reason === "stale_epoch" ? { leader_epoch: this.maxEpoch, render_seq: 0 } : this.token,
      },
    });
    if (manifest.token.leader_epoch < this.maxEpoch) return conflict("stale_epoch");
    this.maxEpoch = manifest.token.leader_epoch;
    if (manifest.validated_plan_id !== undefined && manifest.validated_plan_id === this.applied)
      this.lastGood = this.applied;
    if (manifest.mode === "revert_lkg") {
      if (this.lastGood === "") return conflict("unknown_baseline");
      this.applied = this.lastGood;
      this.running = this.lastGood;
      this.changes += 1;
      return this.#result(manifest, "file_only");
    }
    if (manifest.plan_id === this.applied && manifest.mode === "auto") return this.#result(manifest, "noop");
    const { leader_epoch: epoch, render_seq: seq } = manifest.token;
    if (epoch === this.token.leader_epoch && seq < this.token.render_seq) return conflict("prev_mismatch");
    if (this.applied === "" && (manifest.files === undefined || manifest.mode !== "reload"))
      return conflict("unknown_baseline");
    if (manifest.expected_prev_plan_id !== this.applied) return conflict("prev_mismatch");
    if (manifest.mode === "reload" && this.refuses(manifest.plan_id)) {
      return this.#result(manifest, "rejected", "[ALERT] the new worker did not start");
    }
    const files = manifest.files === undefined ? { ...this.files } : {};
    for (const { path, digest, size } of manifest.files ?? manifest.changed ?? []) files[path] = { digest, size };
    for (const path of manifest.removed ?? []) delete files[path];
    this.files = files;
    this.applied = manifest.plan_id;
    this.token = manifest.token;
    this.changes += 1;
    this.running = this.applied;
    if (manifest.mode === "reload") {
      this.reloads += 1;
      this.lastGood = this.applied;
    }
    return this.#result(manifest, manifest.mode === "reload" || this.refusedOp !== undefined ? "reload" : "file_only");
  }

  #result(manifest: Manifest, mode: ApplyResult["mode"], error?: string): ApplyAnswer {
    return {
      kind: "result",
      result: {
        plan_id: manifest.plan_id,
        ok: error === undefined,
        mode,
        applied_plan_id: this.applied,
        running_plan_id: this.running,
        worker_ops_plan_id: this.applied,
        lkg_plan_id: this.lastGood,
        applied_token: this.token,
        op_results: this.refusedOp === undefined ? [] : [this.refusedOp],
        ...(error !== undefined && { error: { stage: "reload", message: error } }),
        at: "",
        timing: { stage_ms: 0, admit_ms: 0, write_ms: 0, ops_ms: 0, finish_ms: 0, total_ms: 0 },
      },
    };
  }
}

/** What a configuration with this template makes of these objects; a general file that needs no reload. */
export function planOf(template: string, objects: readonly KubeObject[]): RenderPlan {
  const text = `# ${template}\n${objects.map((object) => `${object.metadata.name}=${JSON.stringify(object["spec"])}\n`).join("")}`;
  const file = planFile("general/all.txt", "general", cutBlocks(text), { reloadOnChange: false });
  const main = planFile("haproxy.cfg", "config", cutBlocks("global\n"));
  const files = ChunkedTree.from(
    [file, main].map((each) => [each.path, each] as const),
    fileDigest,
  );
  return assemblePlan({ ...emptyTrees(), files });
}

export interface World {
  readonly api: FakeApi;
  readonly clock: SimulatedClock;
  readonly agents: Map<string, FakeAgent>;
  readonly random: () => number;
  readonly checked: string[];
  readonly lines: string[];
  controller: ControllerCore;
  addPod(name: string): FakeAgent;
  removePod(name: string): void;
  setObject(name: string, value: unknown): void;
  /** `also`: a second resource that the configuration watches. */
  setConfig(template: string, drift?: string, also?: string): void;
  /** The plan that the present objects and configuration ask for. */
  wanted(): RenderPlan;
  advance(ms: number): Promise<void>;
  restart(): Promise<void>;
  /** What a further controller of this world talks to. */
  ports(own: Partial<ControllerPorts>): ControllerPorts;
  counters(): { readonly applies: number; readonly checks: number; readonly reloads: number };
  /** But for those of the Lease. */
  writes(): number;
  close(): Promise<void>;
}

/** HAProxy refuses every text that holds `poison`; a template that holds `fails` does not render, one with `typo` does not compile. */
export async function startWorld(seed: number, prepare: (world: World) => void = () => {}): Promise<World> {
  const world = makeWorld(seed);
  prepare(world);
  await world.restart();
  return world;
}

/** The same without a controller. */
export function makeWorld(seed: number): World {
  const api = new FakeApi();
  const clock = new SimulatedClock();
  const random = seeded(seed);
  const agents = new Map<string, FakeAgent>();
  const checked: string[] = [];
  const lines: string[] = [];
  const texts = new Map<string, string>();
  const address = new Map<string, FakeAgent>();

  const render = (template: string, { snapshot }: RenderContext): RenderOutcome => {
    if (template.includes("fails"))
      return { result: undefined, problems: [problem("the template failed")], isolated: [] };
    const objects = snapshot.alias("things")?.list() ?? [];
    const plan = planOf(template, objects);
    texts.set(plan.id, `${template} ${JSON.stringify(objects.map((object) => object["spec"]))}`);
    const stats = { components: 1, executed: 1, durationMs: 1, longestSliceMs: 1 };
    return { result: { plan, events: [], cacheState: "warm", stats }, problems: [], isolated: [] };
  };
  const problem = (message: string) => ({
    code: "HAPTIC_E_TEMPLATE_RUN",
    template: "haproxy.cfg",
    line: 1,
    column: 1,
    message,
    chain: [],
    text: message,
  });
  const portsOf = (own: Partial<ControllerPorts>): ControllerPorts => ({
    kube: api,
    namespace: NAMESPACE,
    configName: CONFIG,
    identity: "standalone",
    clock: {
      now: () => clock.now(),
      setTimeout: (callback, ms) => clock.setTimeout(callback, ms),
      clearTimeout: (timer) => {
        clock.clearTimeout(timer as number);
      },
    },
    random,
    wallClock: () => 1_700_000_000_000 + clock.now(),
    log: {
      debug: () => {},
      info: (fields, message) => lines.push(`${message} ${JSON.stringify(fields)}`),
      warn: (fields, message) => lines.push(`${message} ${JSON.stringify(fields)}`),
      error: (fields, message) => lines.push(`${message} ${JSON.stringify(fields)}`),
    },
    connect: (where) => (address.get(where) ?? new FakeAgent()).port(),
    compile: (assembled) => {
      const template = assembled.spec.haproxyConfig?.template ?? "";
      if (template.includes("typo")) return { service: undefined, problems: [problem("unknown name")] };
      const profile = () => ({ forMs: 0, rows: [] });
      return { service: { render: (context) => Promise.resolve(render(template, context)), profile }, problems: [] };
    },
    check: async (files, signal) => {
      await new Promise<void>((resolve, reject) => {
        const timer = clock.setTimeout(resolve, 40);
        signal.addEventListener("abort", () => {
          clock.clearTimeout(timer);
          reject(new Error("killed"));
        });
      });
      const text = Buffer.concat(
        [...files].flatMap((file) => file.blocks.map((block) => Buffer.from(block.bytes))),
      ).toString();
      checked.push(text);
      const accepted = !text.includes("poison");
      return { accepted, message: accepted ? "" : "[ALERT] poison", tookMs: 40 };
    },
    haproxyVersion: "3.4.7",
    pause: () => Promise.resolve(),
    ...own,
  });

  const world: World = {
    api,
    clock,
    agents,
    random,
    checked,
    lines,
    ports: portsOf,
    controller: undefined as unknown as ControllerCore,
    addPod: (name) => {
      const agent = new FakeAgent();
      agent.refuses = (planId) => texts.get(planId)?.includes("poison") === true;
      const ip = `10.0.0.${address.size + 1}`;
      agents.set(name, agent);
      address.set(`${ip}:5555`, agent);
      api.put("pods", {
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: NAMESPACE, labels: { app: "haproxy" } },
        spec: { containers: [] },
        status: { phase: "Running", podIP: ip },
      });
      return agent;
    },
    removePod: (name) => {
      agents.delete(name);
      api.remove("pods", name);
    },
    setObject: (name, value) => {
      if (value === undefined) api.remove("things", name);
      else
        api.put("things", {
          apiVersion: "example.com/v1",
          kind: "Thing",
          metadata: { name, namespace: NAMESPACE },
          spec: { value },
        });
    },
    setConfig: (template, drift = "60s", also = "") => {
      api.put("haproxytemplateconfigs", {
        ...api.at("haproxytemplateconfigs", CONFIG),
        apiVersion: "haproxy-haptic.org/v1alpha1",
        kind: "HAProxyTemplateConfig",
        metadata: { name: CONFIG, namespace: NAMESPACE },
        spec: {
          podSelector: { matchLabels: { app: "haproxy" } },
          watchedResources: {
            things: {
              apiVersion: "example.com/v1",
              resources: "things",
              indexBy: ["metadata.namespace", "metadata.name"],
              ignoreFields: ["metadata.managedFields"],
            },
            ...(also !== "" && {
              [also]: { apiVersion: "example.com/v1", resources: also, indexBy: ["metadata.name"] },
            }),
          },
          haproxyConfig: { template },
          dataplane: { driftPreventionInterval: drift },
        },
      });
    },
    wanted: () => {
      const config = api.at("haproxytemplateconfigs", CONFIG) as unknown as {
        spec: { haproxyConfig: { template: string } };
      };
      const things = ["a", "b", "c", "d"].map((name) => api.at("things", name)).filter((thing) => thing !== undefined);
      return planOf(config.spec.haproxyConfig.template, things);
    },
    advance: async (ms) => {
      await settle();
      for (let passed = 0; passed < ms;) {
        const step = Math.min(50, ms - passed);
        clock.increment(step);
        passed += step;
        await settle();
      }
    },
    restart: async () => {
      // oxlint-disable-next-line typescript/no-unnecessary-condition -- not there before the first start
      await world.controller?.close();
      world.controller = createController(portsOf({}));
      await settle();
    },
    counters: () => world.controller.variables["counters"]?.() as ReturnType<World["counters"]>,
    writes: () =>
      Object.entries(api.counters.writes)
        .filter(([resource]) => resource !== "leases")
        .reduce((sum, [, count]) => sum + count, 0),
    close: () => world.controller.close(),
  };
  world.setConfig("one");
  return world;
}
