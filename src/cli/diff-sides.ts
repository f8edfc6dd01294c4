/** The two sides of `haptic diff`: what files, a cluster or a pod say, as plans. */
import { readFileSync } from "node:fs";
import type { AgentState } from "../agent/api.ts";
import { type AgentClientOptions, createAgentClient } from "../agent/client.ts";
import {
  type HAProxyTemplateConfig,
  type HAProxyTemplateLibrary,
  judge,
  toTemplateSources,
  watchSpecs,
  type WatchSpec,
} from "../config/index.ts";
import { type PodState, podStateOf, readResourceSchemas } from "../controller/index.ts";
import { AgentClientError, KubeError, UsageError } from "../errors.ts";
import type { KubeClient } from "../kube/index.ts";
import { decodePlan } from "../plan/index.ts";
import { CONFIG_LABEL, PLAN_ANNOTATION } from "../publish/index.ts";
import { createStoreSet, type KubeObject, ObjectStore } from "../stores/index.ts";
import type { Schemas } from "../templating/index.ts";
import { RenderedSide, type Side, SideProblems } from "./diff-rendering.ts";
import { type Loaded, PODS, podsWatch } from "./loading.ts";
import { ofConfig } from "./problems.ts";
import { fillStores } from "./resources.ts";

const API_VERSION = "haproxy-haptic.org/v1alpha1";
const never = new AbortController().signal;

export function fileSide(name: string, loaded: Loaded, schemas?: Schemas): Side {
  const { config, spec, objects } = loaded;
  const namespace = config.metadata.namespace ?? "default";
  const watches = [...watchSpecs(spec), podsWatch(config)];
  const { stores, notes } = fillStores({ watches, objects, namespace });
  return new RenderedSide(name, {
    loaded,
    watches,
    stores,
    notes: notes.map((note) => `left out: ${note}`),
    schemas,
  });
}

/** The configuration of a cluster and the objects that it watches; each kind is listed once for both sides. */
export class ClusterSides {
  readonly #kube: KubeClient;
  readonly #namespace: string;
  readonly #lists = new Map<string, Promise<readonly KubeObject[]>>();

  constructor(kube: KubeClient, namespace: string) {
    this.#kube = kube;
    this.#namespace = namespace;
  }

  async libraries(): Promise<readonly HAProxyTemplateLibrary[]> {
    const { items } = await this.#kube.list(this.#target("haproxytemplatelibraries"));
    return items as readonly KubeObject[] as readonly HAProxyTemplateLibrary[];
  }

  /** What the live configuration comes to. */
  async live(name: string, libraries: readonly HAProxyTemplateLibrary[]): Promise<Side> {
    const config = (await this.#kube.get(this.#target("haproxytemplateconfigs"), name)) as HAProxyTemplateConfig;
    const judged = judge(config, libraries);
    if (!("assembled" in judged))
      throw new SideProblems([{ code: "HAPTIC_E_CONFIG_INVALID", message: judged.message, text: judged.message }]);
    if (judged.problems.length > 0) throw new SideProblems(judged.problems.map(ofConfig));
    const side = await this.edited(`HAProxyTemplateConfig ${this.#namespace}/${name}`, {
      config,
      spec: judged.assembled.spec,
      sources: toTemplateSources(judged.assembled),
    });
    // Its status says when the cluster serves something older: the comparison is with what the object says.
    const { validationStatus } = (config.status ?? {}) as { validationStatus?: string };
    if (validationStatus === "Invalid")
      side.notes.add(`${side.name} was refused: the cluster still serves the configuration before it`);
    const published = await this.#published(name);
    if (published !== undefined) side.published = published;
    return side;
  }

  /** Id of the plan that the HAProxyCfg of a configuration holds; undefined where there is none, or it may not be read. */
  async #published(name: string): Promise<string | undefined> {
    try {
      const { items } = await this.#kube.list(this.#target("haproxycfgs"), {
        labelSelector: `${CONFIG_LABEL}=${name}`,
      });
      return items[0]?.metadata.annotations?.[PLAN_ANNOTATION];
    } catch (error) {
      if (error instanceof KubeError && (error.status === 403 || error.status === 404)) return undefined;
      throw error;
    }
  }

  /** What a configuration would come to over the objects of the cluster. */
  async edited(name: string, loaded: Pick<Loaded, "config" | "spec" | "sources">): Promise<Side> {
    const stores = createStoreSet();
    const watches = [...watchSpecs(loaded.spec), podsWatch(loaded.config)];
    for (const watch of watches) {
      const store = new ObjectStore(watch, watch.target.apiVersion);
      stores.attach(watch.alias, store);
      for (const object of await this.#list(watch)) store.upsert(object);
    }
    const { schemas } = await readResourceSchemas(this.#kube, loaded.spec, never);
    return new RenderedSide(name, { loaded, watches, stores, schemas });
  }

  #list({ alias, target, labelSelector, fieldSelector }: WatchSpec): Promise<readonly KubeObject[]> {
    const where = alias === PODS ? { ...target, namespace: this.#namespace } : target;
    const key = JSON.stringify([where, labelSelector, fieldSelector]);
    let list = this.#lists.get(key);
    if (list === undefined) {
      const options = {
        ...(labelSelector !== "" && { labelSelector }),
        ...(fieldSelector !== "" && { fieldSelector }),
      };
      this.#lists.set(key, (list = this.#kube.list(where, options).then(({ items }) => items)));
    }
    return list;
  }

  #target(resource: string) {
    return { apiVersion: API_VERSION, resource, namespace: this.#namespace };
  }
}

/** A pod as its agent tells of it: the plan that it has applied, and what its worker can and holds. */
export interface PodSide extends Side {
  readonly state: PodState;
}

export async function agentSide(options: AgentClientOptions): Promise<PodSide> {
  const client = createAgentClient(options);
  try {
    return await podSide(`the pod at ${options.url}`, await client.state({ plan: true }));
  } catch (error) {
    if (error instanceof AgentClientError && error.status === 0 && error.hint === undefined)
      throw new AgentClientError(error.message, 0, {
        cause: error,
        hint: `${
          options.tls === undefined
            ? "over http:// an agent answers only where it was started with --no-tls"
            : "--agent-tls-dir holds tls.crt, tls.key and ca.crt of a controller"
        }; \`haptic agent state --plan\` in the pod needs none of it`,
      });
    throw error;
  } finally {
    await client.close();
  }
}

/** The output of `haptic agent state --plan`; `-` = standard input. */
export async function stateSide(file: string): Promise<PodSide> {
  let state: Partial<AgentState>;
  try {
    state = JSON.parse(readFileSync(file === "-" ? 0 : file, "utf8")) as Partial<AgentState>;
  } catch (error) {
    throw new UsageError(`--state: ${file} cannot be read: ${(error as Error).message}`);
  }
  if (typeof state.applied_plan_id !== "string" || !Array.isArray(state.agent_ops))
    throw new UsageError(`--state: ${file} is not what \`haptic agent state --plan\` prints`);
  return podSide(`the pod of ${file}`, { worker_ops_plan_id: state.applied_plan_id, ...state } as AgentState);
}

async function podSide(name: string, state: AgentState): Promise<PodSide> {
  const notes = new Set<string>();
  const blob = state.applied_plan;
  if (blob === undefined)
    notes.add(
      state.applied_plan_stored
        ? `${name}: its plan is not in the state; print it with \`haptic agent state --plan\``
        : `${name} has no stored plan: nothing is known of what it runs`,
    );
  const plan = blob === undefined ? undefined : await decodePlan(Buffer.from(blob, "base64"), async () => {});
  return { name, plan: async () => plan, notes, state: podStateOf(state) };
}
