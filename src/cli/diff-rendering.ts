/**
 * Sides of `haptic diff` that are rendered. Where both have the same configuration, the second one is rendered as a controller
 * would: its objects replace those of the first, so that reasons name the objects that changed.
 */
import { dataplaneOf, type WatchSpec } from "../config/index.ts";
import { capabilitiesOf } from "../haproxy/index.ts";
import { canonicalJson, type RenderPlan } from "../plan/index.ts";
import { createRenderService, type RenderService } from "../render/index.ts";
import { createStoreSet, type KubeObject, ObjectStore, type StoreSet } from "../stores/index.ts";
import type { Schemas } from "../templating/index.ts";
import type { Loaded } from "./loading.ts";
import { PODS } from "./loading.ts";
import { ofTemplate, type ReportedProblem } from "./problems.ts";

/** One side: how it is called, and what it comes to for a version of HAProxy. */
export interface Side {
  readonly name: string;
  /** `former` is the other side, whose plan for this version was asked for before. */
  readonly plan: (haproxy: string, former?: Side) => Promise<RenderPlan | undefined>;
  /** What a reader should know of it. */
  readonly notes: Set<string>;
  /** The plan that a cluster has published as the one in force. */
  published?: string;
}

/** What is wrong with a side: it has no plan. */
export class SideProblems extends Error {
  readonly problems: readonly ReportedProblem[];

  constructor(problems: readonly ReportedProblem[]) {
    super("a side cannot be rendered");
    this.problems = problems;
  }
}

export interface SideContent {
  readonly loaded: Pick<Loaded, "config" | "spec" | "sources">;
  readonly watches: readonly WatchSpec[];
  /** Filled. */
  readonly stores: StoreSet;
  readonly notes?: readonly string[];
  readonly schemas?: Schemas | undefined;
}

const never = new AbortController().signal;
const idOf = ({ metadata: { namespace = "", name } }: KubeObject): string => `${namespace}/${name}`;

/** A service that has rendered one side, and stores that can become the other's. */
interface Rendering {
  readonly haproxy: string;
  readonly service: RenderService;
  readonly set: StoreSet;
  readonly stores: ReadonlyMap<string, ObjectStore>;
}

export class RenderedSide implements Side {
  readonly name: string;
  readonly notes: Set<string>;
  published?: string;
  readonly #content: SideContent;
  readonly #configuration: string;
  #rendering: Rendering | undefined;

  constructor(name: string, content: SideContent) {
    this.name = name;
    this.notes = new Set(content.notes);
    this.#content = content;
    const { config, spec, sources } = content.loaded;
    this.#configuration = canonicalJson([
      spec,
      dataplaneOf(config.spec),
      sources.map((source) => [source.name, source.text]),
    ]);
  }

  readonly plan = async (haproxy: string, former?: Side): Promise<RenderPlan | undefined> => {
    const shared = former instanceof RenderedSide ? former.#begun(haproxy, this.#configuration) : undefined;
    const rendering = shared ?? this.#begin(haproxy);
    if (shared === undefined) this.#rendering = rendering;
    for (const [alias, store] of rendering.stores) this.#fill(alias, store, rendering.set);
    const snapshot = rendering.set.snapshot();
    const outcome = await rendering.service.render(
      { snapshot, haproxyPods: snapshot.alias(PODS), capabilities: capabilitiesOf(haproxy), renderMode: "reconcile" },
      never,
    );
    for (const { source, id, problem } of outcome.isolated)
      this.notes.add(`not rendered: ${source} ${id}: ${problem.message}`);
    if (outcome.result === undefined) throw new SideProblems(outcome.problems.map(ofTemplate));
    return outcome.result.plan;
  };

  /** What this side was rendered with last, where the other's configuration is the same. */
  #begun(haproxy: string, configuration: string): Rendering | undefined {
    return this.#configuration === configuration && this.#rendering?.haproxy === haproxy ? this.#rendering : undefined;
  }

  #begin(haproxy: string): Rendering {
    const { loaded, watches, schemas } = this.#content;
    const { service, problems } = createRenderService({
      spec: loaded.spec,
      sources: loaded.sources,
      dataplane: dataplaneOf(loaded.config.spec),
      ...(schemas !== undefined && { schemas }),
    });
    if (problems.length > 0) throw new SideProblems(problems.map(ofTemplate));
    const stores = new Map(watches.map((watch) => [watch.alias, new ObjectStore(watch, watch.target.apiVersion)]));
    return { haproxy, service, set: createStoreSet(stores), stores };
  }

  /** Gives a store the objects of this side; those that are the same stay. */
  #fill(alias: string, store: ObjectStore, set: StoreSet): void {
    const wanted = this.#content.stores.snapshot().alias(alias)?.list() ?? [];
    const held = set.snapshot().alias(alias);
    const ids = new Set(wanted.map(idOf));
    for (const object of held?.list() ?? []) if (!ids.has(idOf(object))) store.remove(object);
    for (const object of wanted) {
      const known = held?.get(idOf(object));
      if (known !== object && JSON.stringify(known) !== JSON.stringify(object)) store.upsert(object);
    }
  }
}
