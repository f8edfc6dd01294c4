/** Renders a configuration of examples/ over objects held in real stores, and lets real HAProxies judge the result. */
import { fileURLToPath } from "node:url";
import {
  assertUsable,
  dataplaneOf,
  type HAProxyTemplateConfig,
  judge,
  loadFiles,
  toTemplateSources,
  watchSpecs,
} from "../../../src/config/index.ts";
import { capabilitiesOf, type Checker, createChecker, createSpawner } from "../../../src/haproxy/index.ts";
import { joinBlocks } from "../../../src/plan/index.ts";
import { createRenderService, type RenderOutcome, type RenderService } from "../../../src/render/index.ts";
import { createStoreSet, type KubeObject, ObjectStore, type StoreSet } from "../../../src/stores/index.ts";
import { installableVersions } from "../../../src/haproxy/locate.ts";
import { type HaproxyVersion, testHaproxy } from "../../support/parts.ts";

export const examplePath = (name: string): string =>
  fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url));

/** Plural of each kind that the examples watch. */
const RESOURCES: Readonly<Record<string, string>> = {
  Ingress: "ingresses",
  IngressClass: "ingressclasses",
  Service: "services",
  EndpointSlice: "endpointslices",
  Secret: "secrets",
  Route: "routes",
};

/** Objects of a YAML file that an example watches; others (Deployments) are left out. */
export function objectsOf(name: string): KubeObject[] {
  return loadFiles([examplePath(name)])
    .objects.map(({ object }) => object)
    .filter((object) => object.kind in RESOURCES);
}

/** What one render gave, as texts. */
export interface Rendered {
  readonly cfg: string;
  readonly files: ReadonlyMap<string, string>;
  /** `REASON KIND NAMESPACE/NAME: MESSAGE`. */
  readonly events: readonly string[];
  readonly outcome: RenderOutcome;
  /** Lines of a map without its comments. */
  map(name: string): string[];
  /** Lines of one backend's section; undefined when there is no such backend. */
  backend(name: string): string[] | undefined;
}

/** An example with stores of its own, which a test fills and changes. */
export class Example {
  readonly config: HAProxyTemplateConfig;
  readonly stores: StoreSet;
  readonly #service: RenderService;
  readonly #byResource = new Map<string, ObjectStore[]>();

  /** `extraContext`: values over those of the example. */
  constructor(name: string, extraContext: Readonly<Record<string, unknown>> = {}) {
    const loaded = loadFiles([examplePath(name)]);
    assertUsable(loaded.problems);
    this.config = loaded.objects[0]!.object as HAProxyTemplateConfig;
    const judged = judge(this.config);
    if (!("assembled" in judged)) throw new Error(judged.message);
    assertUsable(judged.problems);
    const { spec } = judged.assembled;
    const settings = spec.templatingSettings;
    this.stores = createStoreSet();
    for (const watch of watchSpecs(spec)) {
      const store = new ObjectStore(watch, watch.target.apiVersion);
      this.stores.attach(watch.alias, store);
      const same = this.#byResource.get(watch.target.resource) ?? [];
      this.#byResource.set(watch.target.resource, [...same, store]);
    }
    const { service, problems } = createRenderService({
      spec: {
        ...spec,
        templatingSettings: { ...settings, extraContext: { ...settings?.extraContext, ...extraContext } },
      },
      sources: toTemplateSources(judged.assembled, loaded.objects),
      dataplane: dataplaneOf(spec),
      nonce: "fixed",
    });
    if (problems.length > 0) throw new Error(problems.map((problem) => problem.text).join("\n"));
    this.#service = service;
  }

  put(...objects: readonly object[]): this {
    for (const object of objects as readonly KubeObject[]) {
      for (const store of this.#storesOf(object)) store.upsert(object);
    }
    return this;
  }

  remove(object: object): this {
    for (const store of this.#storesOf(object as KubeObject)) store.remove(object as KubeObject);
    return this;
  }

  #storesOf(object: KubeObject): readonly ObjectStore[] {
    const stores = this.#byResource.get(RESOURCES[object.kind] ?? "");
    if (stores === undefined) throw new Error(`the example does not watch ${object.kind}`);
    return stores;
  }

  /** One render as the service gives it. */
  renderOutcome(): Promise<RenderOutcome> {
    return this.#service.render(
      {
        snapshot: this.stores.snapshot(),
        haproxyPods: undefined,
        capabilities: capabilitiesOf("3.4"),
        renderMode: "reconcile",
      },
      new AbortController().signal,
    );
  }

  async render(): Promise<Rendered> {
    const outcome = await this.renderOutcome();
    if (outcome.result === undefined) throw new Error(outcome.problems.map((problem) => problem.text).join("\n"));
    const files = new Map<string, string>();
    for (const [path, file] of outcome.result.plan.files.entries())
      files.set(path, joinBlocks(file.blocks).toString("utf8"));
    const cfg = files.get("haproxy.cfg") ?? "";
    return {
      cfg,
      files,
      outcome,
      events: outcome.result.events.map(
        ({ object, reason, message }) => `${reason} ${object.kind} ${object.namespace}/${object.name}: ${message}`,
      ),
      map: (name) =>
        (files.get(`maps/${name}`) ?? "").split("\n").filter((line) => line !== "" && !line.startsWith("#")),
      backend: (name) => {
        const section = new RegExp(`^backend ${name.replaceAll(".", "\\.")} .*\n((?: .*\n)*)`, "m").exec(cfg);
        return section?.[1]?.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
      },
    };
  }
}

/** The HAProxy versions that are installed here. */
export const installedVersions = installableVersions.filter((version) => testHaproxy(version) !== undefined);

const spawner = createSpawner();
const checkers = new Map<string, Checker>();

/** What `haproxy -c` of a version says: "" when it accepts without a word. */
export async function verdict(rendered: Rendered, version: HaproxyVersion): Promise<string> {
  const binary = testHaproxy(version);
  if (binary === undefined) throw new Error(`HAProxy ${version} is not installed`);
  const checker = checkers.get(version) ?? createChecker({ binary, spawner, nice: 0 });
  checkers.set(version, checker);
  const files = [...rendered.outcome.result!.plan.files.values()];
  const { accepted, message } = await checker.check(files, new AbortController().signal);
  return accepted ? message : `refused: ${message}`;
}

/** Ends what `verdict` started. */
export async function closeCheckers(): Promise<void> {
  for (const checker of checkers.values()) await checker.close();
  await spawner.close();
}
