/** One accepted configuration, or one that is being tried: its watches, its stores and its warm render service. */
import type { RefusalReason, TrialReply } from "../../machines/controller.ts";
import { dataplaneOf, dataplaneTimings, watchSpecs } from "../config/index.ts";
import type { Assembled } from "../config/index.ts";
import { ControllerError } from "../errors.ts";
import type { RenderContext, RenderOutcome, RenderProfile, RenderService } from "../render/types.ts";
import { createStoreSet } from "../stores/index.ts";
import type { StoreSet } from "../stores/index.ts";
import type { AliasView, StoreSnapshot } from "../stores/types.ts";
import type { TemplateProblem } from "../templating/types.ts";
import type { LoadedConfig } from "./config-source.ts";
import type { PlanShelf } from "./plan-shelf.ts";
import type { ResourceTyping } from "./resource-schemas.ts";
import type { Verdicts } from "./verdicts.ts";
import type { Acquired, Watch, WatchPool, WatchRequest } from "./watch-pool.ts";

/** Alias of the watch on HAProxy's own pods; not one that templates read as `resources.…`. */
export const PODS_ALIAS = "haproxy-pods";

export interface CompiledConfig {
  /** Absent when there are problems. */
  readonly service: RenderService | undefined;
  readonly problems: readonly TemplateProblem[];
  /** What templates know of each watched resource; absent = not looked for. */
  readonly typings?: readonly ResourceTyping[];
}

/** Compiles every template; never throws for what a template's author may write. Rejects when aborted. */
export type CompileConfig = (assembled: Assembled, signal: AbortSignal) => CompiledConfig | Promise<CompiledConfig>;

export interface IterationDeps {
  readonly pool: WatchPool;
  readonly namespace: string;
  /** Name of the configuration object, for messages. */
  readonly configName: string;
  readonly compile: CompileConfig;
  /** Hears what templates know of the watched resources, of each configuration that is tried. */
  readonly onTypings: (typings: readonly ResourceTyping[]) => void;
  readonly capabilities: () => Readonly<Record<string, boolean>>;
  readonly verdicts: Verdicts;
  readonly shelf: PlanShelf;
}

export class Iteration {
  readonly config: LoadedConfig;
  readonly agentPort: number;
  readonly #service: RenderService;
  readonly #watches: readonly Acquired[];
  readonly #stores: StoreSet;
  readonly #pods: StoreSet;
  #rendering: Promise<void> | undefined;
  readonly #capabilities: () => Readonly<Record<string, boolean>>;

  constructor(config: LoadedConfig, service: RenderService, watches: readonly Acquired[], deps: IterationDeps) {
    this.config = config;
    this.agentPort = dataplaneOf(config.assembled.spec).port;
    this.#service = service;
    this.#watches = watches;
    this.#capabilities = deps.capabilities;
    const stores = watches.flatMap(({ watch: { value }, requests: asked }) =>
      asked.map((request) => [request.alias, value.store(request)] as const),
    );
    this.#stores = createStoreSet(stores.filter(([alias]) => alias !== PODS_ALIAS));
    this.#pods = createStoreSet(stores.filter(([alias]) => alias === PODS_ALIAS));
  }

  /** Ids of the watches whose changes ask for a render. */
  get watchIds(): readonly string[] {
    return this.#watches.filter(({ watch }) => watch.value.alias !== PODS_ALIAS).map(({ watch }) => watch.value.id);
  }

  get driftIntervalMs(): number {
    return dataplaneTimings(this.config.assembled.spec).driftPreventionInterval;
  }

  pods(): AliasView | undefined {
    return this.#pods.snapshot().alias(PODS_ALIAS);
  }

  snapshot(): StoreSnapshot {
    return this.#stores.snapshot();
  }

  /** One at a time: a render that was given up may still be at what it must bring to its end. */
  async render(signal: AbortSignal): Promise<RenderOutcome> {
    while (this.#rendering !== undefined) await this.#rendering;
    signal.throwIfAborted();
    const context: RenderContext = {
      snapshot: this.snapshot(),
      haproxyPods: this.pods(),
      capabilities: this.#capabilities(),
      renderMode: "reconcile",
    };
    const outcome = this.#service.render(context, signal);
    const end = (): void => {
      this.#rendering = undefined;
    };
    this.#rendering = outcome.then(end, end);
    return outcome;
  }

  /** What is known of how long templates take; asking begins to measure them. */
  profile(): RenderProfile {
    return this.#service.profile();
  }

  release(): void {
    for (const { watch } of this.#watches) watch.release();
  }
}

function requests({ assembled: { spec } }: LoadedConfig, namespace: string): readonly WatchRequest[] {
  const labels = Object.entries(spec.podSelector?.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort();
  return [
    ...watchSpecs(spec).map(({ alias, target, indexBy, ignoreFields, labelSelector, fieldSelector, debounceMs }) => ({
      alias,
      apiVersion: target.apiVersion,
      resource: target.resource,
      indexBy,
      ignoreFields,
      labelSelector,
      fieldSelector,
      windowMs: debounceMs,
    })),
    {
      alias: PODS_ALIAS,
      apiVersion: "v1",
      resource: "pods",
      namespace,
      labelSelector: labels.join(","),
      fieldSelector: "",
      indexBy: ["metadata.namespace", "metadata.name"],
      ignoreFields: ["metadata.managedFields"],
      windowMs: 0,
    },
  ];
}

/** What a trial leaves: the reply for the chart, and the iteration (kept also when refused, so that its watches go on). */
export interface Trial {
  readonly reply: TrialReply;
  readonly iteration: Iteration | undefined;
}

const refused = (reason: RefusalReason, message: string, dependsOnInputs: boolean): TrialReply => ({
  kind: "refused",
  reason,
  message,
  dependsOnInputs,
});

/**
 * Compiles, syncs, renders and has HAProxy judge. Rejects when that could not be done (aborted, a watched resource that the API server
 * does not serve, no HAProxy to ask); nothing is held then.
 */
export async function tryConfig(config: LoadedConfig, deps: IterationDeps, signal: AbortSignal): Promise<Trial> {
  const { service, problems, typings } = await deps.compile(config.assembled, signal);
  if (typings !== undefined) deps.onTypings(typings);
  if (service === undefined) {
    return { reply: refused("ConfigInvalid", describe(problems), false), iteration: undefined };
  }
  const watches = deps.pool.acquire(requests(config, deps.namespace));
  const iteration = new Iteration(config, service, watches, deps);
  try {
    await allSynced(
      watches.map(({ watch, requests: [first] }) => ({ watch: watch.value, resource: first! })),
      `HAProxyTemplateConfig ${deps.namespace}/${deps.configName}`,
      signal,
    );
    const outcome = await iteration.render(signal);
    if (outcome.result === undefined) {
      return { reply: refused("ConfigInvalid", describe(outcome.problems), true), iteration };
    }
    const { plan } = outcome.result;
    deps.shelf.put(plan);
    const verdict = await deps.verdicts.judgePlan(plan, signal);
    if (!verdict.passed) return { reply: refused("HAProxyValidationFailed", verdict.message, true), iteration };
    return {
      reply: {
        kind: "accepted",
        planId: plan.id,
        watches: iteration.watchIds,
        driftIntervalMs: iteration.driftIntervalMs,
      },
      iteration,
    };
  } catch (error) {
    iteration.release();
    throw error;
  }
}

const describe = (problems: readonly TemplateProblem[]): string =>
  problems.length === 0 ? "the templates cannot be used" : problems.map((problem) => problem.text).join("\n");

/** What the API server's refusal of a watch means for who wrote the configuration; undefined = a fault that passes by itself. */
function refusedWatch({ alias, apiVersion, resource }: WatchRequest, error: Error): string | undefined {
  const field = alias === PODS_ALIAS ? "spec.podSelector" : `spec.watchedResources.${alias}`;
  const what = `${resource} of ${apiVersion}`;
  switch ((error as { status?: number }).status) {
    case 404:
      return `${field}: the API server serves no ${what} (${error.message}); install its definition, or correct apiVersion and resources`;
    case 403:
      return `${field}: the controller may not list and watch ${what} (${error.message}); grant it to the controller's service account`;
    case 400:
    case 422:
      return `${field}: the API server refuses the request for ${what} (${error.message}); correct its selectors`;
    default:
      return undefined;
  }
}

/**
 * Resolves when every watch has its first list. A refusal that only a person can end is an error of the configuration, as far as
 * anybody can tell now; other faults pass by themselves.
 */
async function allSynced(
  watches: readonly { readonly watch: Watch; readonly resource: WatchRequest }[],
  object: string,
  signal: AbortSignal,
): Promise<void> {
  const ends: (() => void)[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      const abort = (): void => {
        reject(signal.reason instanceof Error ? signal.reason : new ControllerError("the trial was given up"));
      };
      signal.addEventListener("abort", abort);
      ends.push(() => {
        signal.removeEventListener("abort", abort);
      });
      if (signal.aborted) abort();
      for (const { watch, resource } of watches) {
        const judge = (error: Error): void => {
          const message = watch.isSynced() ? undefined : refusedWatch(resource, error);
          if (message !== undefined) reject(new ControllerError(`${object}: ${message}`, { cause: error }));
        };
        const fault = watch.fault();
        if (fault !== undefined) judge(fault);
        ends.push(watch.onFault(judge));
      }
      Promise.all(watches.map(({ watch }) => watch.synced)).then(() => {
        resolve();
      }, reject);
    });
  } finally {
    for (const end of ends) end();
  }
}
