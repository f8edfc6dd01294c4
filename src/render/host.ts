/** The globals of one run: constants of the configuration, stores of the snapshot, and recorders for what the run declares. */
import { callFunction, hostObject, type Suspension, TemplateFault } from "../templating/index.ts";
import type { PathResolver } from "./paths.ts";
import { type PlanRecorder, ProfileCache } from "./plan-registry.ts";
import type { ReadIndex } from "./reads.ts";
import { Recorder } from "./recorder.ts";
import type { SharedValues } from "./shared.ts";
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

/** What one run gets, and where it leaves what it declares. */
export interface RunHost {
  readonly recorder: Recorder;
  readonly globals: Readonly<Record<string, unknown>>;
}

/** What a run of a component may not do by its declared effects: said when it does. */
type Permit = (effect: string, what: string) => void;

interface CurrentRun {
  readonly recorder: Recorder;
  readonly permit: Permit;
  readonly main: boolean;
}

/** Runs do not overlap, so host objects are made once and speak of the present run. */
export class Host {
  readonly #constants: HostConstants;
  readonly #profiles = new ProfileCache();
  readonly #common: Readonly<Record<string, unknown>>;
  readonly #forRoots: Readonly<Record<string, unknown>>;
  readonly #forComponents: Readonly<Record<string, unknown>>;
  #capabilities: Readonly<Record<string, boolean>> = {};
  #renderMode = "reconcile";
  #current: CurrentRun | undefined;

  constructor(constants: HostConstants, stores: ReadonlyMap<string, ViewHolder>, pods: ViewHolder, reads: ReadIndex) {
    this.#constants = constants;
    const members: Record<string, unknown> = {};
    for (const [alias, holder] of stores) members[alias] = storeObject(alias, `resources.${alias}`, holder, reads);
    this.#common = {
      resources: hostObject("Stores", {}, members),
      controller: hostObject(
        "Controller",
        {},
        { haproxy_pods: storeObject(PODS, "controller.haproxy_pods", pods, reads) },
      ),
      pathResolver: hostObject("PathResolver", {
        GetPath: (name: string, kind: string): string => constants.paths.resolve(name, kind),
        GetBaseDir: (): string => constants.paths.baseDir,
      }),
      dataplane: constants.dataplane,
      templateSnippets: constants.snippets,
      extraContext: constants.extraContext,
      runtimeEnvironment: { GOMAXPROCS: 1 },
      shared: this.#sharedObject(),
      first_seen: (...parts: readonly unknown[]): boolean => this.#run.recorder.shared.firstSeen(parts),
      recordEvent: (resource: unknown, reason: string, message: string): string => {
        this.#run.permit("recordEvent", "recordEvent");
        this.#run.recorder.events.push(templateEvent(resource, reason, message));
        return "";
      },
    };
    this.#forRoots = {
      ...this.#common,
      ...this.#rootObjects(),
      currentConfig: null,
      currentFiles: {},
      admissionSubject: { namespace: "", name: "", stores: {} },
    };
    this.#forComponents = { ...this.#common, planRegistry: this.#componentPlan(), props: {} };
  }

  /** What holds for one render. */
  begin(capabilities: Readonly<Record<string, boolean>>, renderMode: string): void {
    this.#capabilities = capabilities;
    this.#renderMode = renderMode;
  }

  root(root: Root, shared: SharedValues): RunHost {
    const recorder = this.#start(() => {}, root.main, shared);
    return {
      recorder,
      globals: { ...this.#forRoots, capabilities: this.#capabilities, renderMode: this.#renderMode },
    };
  }

  component(instance: Instance, effects: ReadonlySet<string>): RunHost {
    const permit: Permit = (effect, what) => {
      if (!effects.has(effect))
        throw new TemplateFault(
          `snippet ${instance.snippet} uses ${what} without declaring it`,
          `add ${effect} to incremental.effects`,
        );
    };
    const recorder = this.#start(permit, true);
    const { item, source } = instance;
    const renderSubject = {
      mode: this.#renderMode,
      source,
      namespace: item.metadata.namespace ?? "",
      name: item.metadata.name,
    };
    return {
      recorder,
      globals: { ...this.#forComponents, capabilities: this.#capabilities, source, item, renderSubject },
    };
  }

  #start(permit: Permit, main: boolean, shared?: SharedValues): Recorder {
    const recorder = new Recorder(this.#constants.nonce, this.#constants.paths, this.#profiles, shared);
    this.#current = { recorder, permit, main };
    return recorder;
  }

  get #run(): CurrentRun {
    return this.#current as CurrentRun;
  }

  /** The recorder, where the present root may use it. */
  #plan(method: string): PlanRecorder {
    if (!this.#run.main)
      throw new TemplateFault(`planRegistry.${method} can be used in haproxy.cfg only`, "other roots may use MapMeta");
    return this.#run.recorder.plan;
  }

  #rootObjects(): Readonly<Record<string, unknown>> {
    return {
      fileRegistry: hostObject("FileRegistry", {
        Register: (kind: string, name: string, content: string, reload?: boolean): string =>
          this.#run.recorder.files.register(kind, name, content, reload),
      }),
      planRegistry: hostObject("PlanRegistry", {
        Profile: (record: unknown): string => this.#plan("Profile").profile(record),
        Section: (kind: string, name: string, text: string): string => this.#plan("Section").section(kind, name, text),
        Fragment: (_name: string, text: string): string => text,
        Backend: (record: unknown, text: string): string => this.#plan("Backend").backend(record, text),
        ProfileGroup: (): string => this.#plan("ProfileGroup").profileGroup(),
        MapMeta: (path: string, ordered: boolean): null => (this.#run.recorder.plan.mapMeta(path, ordered), null),
      }),
    };
  }

  #componentPlan(): unknown {
    return hostObject("ComponentPlanRegistry", {
      Profile: (record: unknown): string => {
        this.#run.permit("backendPlan", "planRegistry.Profile");
        return this.#run.recorder.plan.profile(record);
      },
      Backend: (record: unknown, text: string): string => {
        this.#run.permit("backendPlan", "planRegistry.Backend");
        return this.#run.recorder.plan.backend(record, text);
      },
    });
  }

  #sharedObject(): unknown {
    const current = (): SharedValues => this.#run.recorder.shared;
    return hostObject("Shared", {
      Get: (key: string): unknown => current().get(key),
      *ComputeIfAbsent(key: string, factory: unknown): Generator<Suspension, readonly [unknown, boolean], unknown> {
        const shared = current();
        if (shared.has(key)) return [shared.get(key), false];
        const value = yield* callFunction(factory);
        shared.set(key, value);
        return [value, true];
      },
    });
  }
}

/** Reasons are names in CamelCase (Event API); messages are cut at 1,024 bytes by the API server. */
function templateEvent(resource: unknown, reason: string, message: string): TemplateEvent {
  const object = resource as {
    readonly apiVersion?: unknown;
    readonly kind?: unknown;
    readonly metadata?: Readonly<Record<string, unknown>>;
  } | null;
  const text = (value: unknown): string => (typeof value === "string" ? value : "");
  if (text(object?.kind) === "" || text(object?.metadata?.["name"]) === "") {
    throw new TemplateFault(
      "recordEvent wants a resource for its first argument",
      "give an object as the store returned it",
    );
  }
  if (!/^[A-Z][A-Za-z0-9]{0,127}$/.test(reason))
    throw new TemplateFault(
      `recordEvent got the reason ${JSON.stringify(reason)}`,
      "a reason is one word in CamelCase",
    );
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
