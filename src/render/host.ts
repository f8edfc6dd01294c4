/** The globals of one run: constants of the configuration, stores of the snapshot, and recorders for what the run declares. */
import {
  callFunction,
  hostObject,
  type HostMethod,
  setAtPath,
  type Suspension,
  TemplateFault,
} from "../templating/index.ts";
import { deriveCall, publishCall, referenceOf, statusPatchCall } from "./calls.ts";
import { storeTypeName } from "./declarations.ts";
import { checkUrl, httpRequest } from "./http.ts";
import type { PathResolver } from "./paths.ts";
import { settingsMapName } from "../plan/index.ts";
import { type PlanContext, type PlanRecorder, ProfileCache } from "./plan-registry.ts";
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
  /** Aliases whose objects have a type of their own. */
  readonly typed: ReadonlySet<string>;
  /** Groups of incremental snippets that publish values. */
  readonly groups: ReadonlySet<string>;
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
  #plans: PlanContext;
  readonly #common: Readonly<Record<string, unknown>>;
  readonly #forRoots: Readonly<Record<string, unknown>>;
  readonly #forComponents: Readonly<Record<string, unknown>>;
  #capabilities: Readonly<Record<string, boolean>> = {};
  #renderMode = "reconcile";
  #current: CurrentRun | undefined;

  constructor(constants: HostConstants, stores: ReadonlyMap<string, ViewHolder>, pods: ViewHolder, reads: ReadIndex) {
    this.#constants = constants;
    const mapPath = (setting: string): string => constants.paths.resolve(settingsMapName(setting), "map");
    this.#plans = { profiles: new ProfileCache(), mapPath, latest: false };
    const members: Record<string, unknown> = {};
    /** The same stores without types of their own, for resource(name). */
    const untyped = new Map<string, unknown>();
    for (const [alias, holder] of stores) {
      untyped.set(alias, storeObject(alias, `resources.${alias}`, holder, reads));
      members[alias] = constants.typed.has(alias)
        ? storeObject(alias, `resources.${alias}`, holder, reads, storeTypeName(alias))
        : untyped.get(alias);
    }
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
      resource: (name: string): unknown => {
        const store = untyped.get(name);
        if (store === undefined)
          throw new TemplateFault(
            `resource: there is no watched resource ${JSON.stringify(name)}`,
            `watchedResources has ${[...untyped.keys()].join(", ") || "no entry"}`,
          );
        return store;
      },
      deriveResource: (alias: string, item: unknown, path: string, value: unknown): unknown => {
        this.#run.permit("deriveResource", "deriveResource");
        if (!untyped.has(alias))
          throw new TemplateFault(`deriveResource: there is no watched resource ${JSON.stringify(alias)}`);
        const derived = setAtPath(item, path, value);
        this.#run.recorder.call(deriveCall(alias, item, path, derived));
        return derived;
      },
      statusPatch: (resource: unknown, variants: unknown): string => {
        this.#run.permit("statusPatch", "statusPatch");
        this.#run.recorder.call(statusPatchCall(resource, variants));
        return "";
      },
      incremental_values: (group: string, cell: string): readonly unknown[] => this.#values(group, cell),
      incremental_value_count: (group: string, cell: string): number => this.#values(group, cell).length,
      http: this.#httpObject(),
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
    this.#forComponents = {
      ...this.#common,
      shared: this.#componentShared(),
      planRegistry: this.#componentPlan(),
      props: {},
    };
  }

  /** What holds for one render. */
  begin(capabilities: Readonly<Record<string, boolean>>, renderMode: string): void {
    this.#capabilities = capabilities;
    this.#renderMode = renderMode;
    this.#plans = { ...this.#plans, latest: capabilities["supports_dynamic_backends"] === true };
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
    const recorder = new Recorder(this.#constants.nonce, this.#constants.paths, this.#plans, shared);
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
        CrtListMeta: (path: string, defaultFirst: boolean): null => (
          this.#run.recorder.plan.crtListMeta(path, defaultFirst),
          null
        ),
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
      BackendWhenAny: (_record: unknown, text: string, cell: string, keys: unknown): string => {
        this.#run.permit("backendPlan", "planRegistry.BackendWhenAny");
        if (!Array.isArray(keys)) throw new TemplateFault("planRegistry.BackendWhenAny: keys are no list");
        this.#run.recorder.call(publishCall("planRegistry.BackendWhenAny", cell, keys.map(String).join(" "), text));
        return "";
      },
    });
  }

  /** Values that a group published in a cell: none as long as publishing is only recorded. */
  #values(group: string, cell: string): readonly unknown[] {
    if (!this.#constants.groups.has(group))
      throw new TemplateFault(
        `no incremental snippet publishes values in a group ${JSON.stringify(group)}`,
        "give a snippet incremental.group and the effect publishValue",
      );
    if (cell === "") throw new TemplateFault("the cell has no name");
    return [];
  }

  #httpObject(): unknown {
    return hostObject("Http", {
      Fetch: (url: string, ...rest: readonly unknown[]): string => {
        const request = httpRequest(url, rest);
        this.#run.recorder.request(request);
        if (request.critical)
          throw new TemplateFault(
            `http.Fetch: ${url} is critical and has no content yet`,
            "without critical the content is empty until it is there",
          );
        return "";
      },
      Pending: (url: string): boolean => checkUrl(url, "http.Pending") !== "",
    });
  }

  #sharedObject(): unknown {
    return hostObject("Shared", this.#sharedMethods());
  }

  /** Components have methods beside: what they publish for others, and reading what others published. */
  #componentShared(): unknown {
    const publish = (call: "shared.Publish" | "shared.PublishRanked" | "shared.Unique") => {
      return (cell: string, key: string, value: unknown, rank = ""): string => {
        this.#run.permit("publishValue", call);
        if (call === "shared.PublishRanked" && rank === "")
          throw new TemplateFault(
            "shared.PublishRanked: the rank is empty",
            "use shared.Publish for values without rank",
          );
        this.#run.recorder.call(publishCall(call, cell, key, value, rank));
        return "";
      };
    };
    const ranked = publish("shared.PublishRanked");
    return hostObject("ComponentShared", {
      ...this.#sharedMethods(),
      Publish: publish("shared.Publish"),
      PublishRanked: (cell: string, key: string, rank: string, value: unknown): string =>
        ranked(cell, key, value, rank),
      Unique: publish("shared.Unique"),
      Select: (group: string, cell: string, _key: string): readonly [unknown, boolean] => [
        this.#values(group, cell)[0] ?? null,
        false,
      ],
      SelectValues: (group: string, cell: string): readonly unknown[] => this.#values(group, cell),
      Count: (group: string, cell: string): number => this.#values(group, cell).length,
    });
  }

  #sharedMethods(): Readonly<Record<string, HostMethod>> {
    const current = (): SharedValues => this.#run.recorder.shared;
    return {
      Get: (key: string): unknown => current().get(key),
      *ComputeIfAbsent(key: string, factory: unknown): Generator<Suspension, readonly [unknown, boolean], unknown> {
        const shared = current();
        if (shared.has(key)) return [shared.get(key), false];
        const value = yield* callFunction(factory);
        shared.set(key, value);
        return [value, true];
      },
    };
  }
}

/** Reasons are names in CamelCase (Event API); messages are cut at 1,024 bytes by the API server. */
function templateEvent(resource: unknown, reason: string, message: string): TemplateEvent {
  const { resourceVersion: _, ...object } = referenceOf(resource, "recordEvent");
  if (!/^[A-Z][A-Za-z0-9]{0,127}$/.test(reason))
    throw new TemplateFault(
      `recordEvent got the reason ${JSON.stringify(reason)}`,
      "a reason is one word in CamelCase",
    );
  return {
    object,
    reason,
    message: message.length > 1000 ? `${message.slice(0, 1000)}…` : message,
  };
}
