/** The globals of one run: constants of the configuration, stores of the snapshot, and recorders for what the run declares. */
import { callFunction, hostObject, type Suspension, TemplateFault } from "../templating/index.ts";
import { Tokens } from "./output.ts";
import type { PathResolver } from "./paths.ts";
import { PlanRecorder } from "./plan-registry.ts";
import type { ReadIndex } from "./reads.ts";
import { FileRecorder } from "./registered-files.ts";
import { SharedValues } from "./shared.ts";
import { PODS, storeObject, type ViewHolder } from "./stores-host.ts";
import type { TemplateEvent } from "./types.ts";
import type { Instance, Root } from "./unit.ts";

/** What stays the same for all renders of a configuration. */
export interface HostConstants {
  readonly paths: PathResolver;
  readonly dataplane: Readonly<Record<string, unknown>>;
  readonly extraContext: Readonly<Record<string, unknown>>;
  readonly snippets: readonly string[];
  readonly nonce: string;
}

/** Recorders of one run; read when it has ended. */
export interface RunHost {
  readonly tokens: Tokens;
  readonly plan: PlanRecorder;
  readonly files: FileRecorder;
  readonly events: TemplateEvent[];
  readonly globals: Readonly<Record<string, unknown>>;
}

export class Host {
  readonly #constants: HostConstants;
  readonly #common: Readonly<Record<string, unknown>>;
  #perRender: Readonly<Record<string, unknown>> = {};
  #renderMode = "reconcile";

  constructor(constants: HostConstants, stores: ReadonlyMap<string, ViewHolder>, pods: ViewHolder, reads: ReadIndex) {
    this.#constants = constants;
    const members: Record<string, unknown> = {};
    for (const [alias, holder] of stores) members[alias] = storeObject(alias, `resources.${alias}`, holder, reads);
    this.#common = {
      resources: hostObject("Stores", {}, members),
      controller: hostObject("Controller", {}, { haproxy_pods: storeObject(PODS, "controller.haproxy_pods", pods, reads) }),
      pathResolver: hostObject("PathResolver", {
        GetPath: (name: string, kind: string): string => constants.paths.resolve(name, kind),
        GetBaseDir: (): string => constants.paths.baseDir,
      }),
      dataplane: constants.dataplane,
      templateSnippets: constants.snippets,
      extraContext: constants.extraContext,
      runtimeEnvironment: { GOMAXPROCS: 1 },
    };
  }

  /** What holds for one render. */
  begin(capabilities: Readonly<Record<string, boolean>>, renderMode: string): void {
    this.#renderMode = renderMode;
    this.#perRender = { ...this.#common, capabilities };
  }

  root(root: Root, shared: SharedValues): RunHost {
    const run = this.#run();
    const { plan } = run;
    const inMain = (method: string): void => {
      if (!root.main) throw new TemplateFault(`planRegistry.${method} can be used in haproxy.cfg only`, "other roots may use MapMeta");
    };
    const globals = {
      ...this.#perRender,
      ...effects(run),
      ...sharing(shared),
      fileRegistry: hostObject("FileRegistry", {
        Register: (kind: string, name: string, content: string, reload?: boolean): string => run.files.register(kind, name, content, reload),
      }),
      planRegistry: hostObject("PlanRegistry", {
        Profile: (record: unknown): string => (inMain("Profile"), plan.profile(record)),
        Section: (kind: string, name: string, text: string): string => (inMain("Section"), plan.section(kind, name, text)),
        Fragment: (_name: string, text: string): string => text,
        Backend: (record: unknown, text: string): string => (inMain("Backend"), plan.backend(record, text)),
        ProfileGroup: (): string => (inMain("ProfileGroup"), plan.profileGroup()),
        MapMeta: (path: string, ordered: boolean): null => (plan.mapMeta(path, ordered), null),
      }),
      currentConfig: null,
      currentFiles: {},
      renderMode: this.#renderMode,
      admissionSubject: { namespace: "", name: "", stores: {} },
    };
    return { ...run, globals };
  }

  component(instance: Instance, effectsOf: ReadonlySet<string>): RunHost {
    const run = this.#run();
    const { item } = instance;
    const may = (effect: string, what: string): void => {
      if (!effectsOf.has(effect)) throw new TemplateFault(`snippet ${instance.snippet} uses ${what} without declaring it`, `add ${effect} to incremental.effects`);
    };
    const { recordEvent } = effects(run);
    const globals = {
      ...this.#perRender,
      ...sharing(new SharedValues()),
      recordEvent: (resource: unknown, reason: string, message: string): string => (may("recordEvent", "recordEvent"), recordEvent(resource, reason, message)),
      planRegistry: hostObject("ComponentPlanRegistry", {
        Profile: (record: unknown): string => (may("backendPlan", "planRegistry.Profile"), run.plan.profile(record)),
        Backend: (record: unknown, text: string): string => (may("backendPlan", "planRegistry.Backend"), run.plan.backend(record, text)),
      }),
      source: instance.source,
      item,
      props: {},
      renderSubject: { mode: this.#renderMode, source: instance.source, namespace: item.metadata.namespace ?? "", name: item.metadata.name },
    };
    return { ...run, globals };
  }

  #run(): Omit<RunHost, "globals"> {
    const tokens = new Tokens(this.#constants.nonce);
    return { tokens, plan: new PlanRecorder(tokens), files: new FileRecorder(this.#constants.paths), events: [] };
  }
}

function sharing(shared: SharedValues): Readonly<Record<string, unknown>> {
  return {
    first_seen: (...parts: readonly unknown[]): boolean => shared.firstSeen(parts),
    shared: hostObject("Shared", {
      Get: (key: string): unknown => shared.get(key),
      *ComputeIfAbsent(key: string, factory: unknown): Generator<Suspension, readonly [unknown, boolean], unknown> {
        if (shared.has(key)) return [shared.get(key), false];
        const value = yield* callFunction(factory);
        shared.set(key, value);
        return [value, true];
      },
    }),
  };
}

function effects(run: Pick<RunHost, "events">): { recordEvent: (resource: unknown, reason: string, message: string) => string } {
  return {
    recordEvent: (resource, reason, message) => {
      run.events.push(templateEvent(resource, reason, message));
      return "";
    },
  };
}

/** Reasons are names in CamelCase (Event API); messages are cut at 1,024 bytes by the API server. */
function templateEvent(resource: unknown, reason: string, message: string): TemplateEvent {
  const object = resource as { readonly apiVersion?: unknown; readonly kind?: unknown; readonly metadata?: Readonly<Record<string, unknown>> } | null;
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  if (text(object?.kind) === "" || text(object?.metadata?.["name"]) === "") {
    throw new TemplateFault("recordEvent wants a resource for its first argument", "give an object as the store returned it");
  }
  if (!/^[A-Z][A-Za-z0-9]{0,127}$/.test(reason)) throw new TemplateFault(`recordEvent got the reason ${JSON.stringify(reason)}`, "a reason is one word in CamelCase");
  return {
    object: {
      apiVersion: text(object?.apiVersion),
      kind: text(object?.kind),
      namespace: text(object?.metadata?.["namespace"]),
      name: text(object?.metadata?.["name"]),
      uid: text(object?.metadata?.["uid"]),
    },
    reason,
    message: message.length > 1000 ? `${message.slice(0, 1000)}…` : message,
  };
}
