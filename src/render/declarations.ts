/** What templates may use besides the language's own functions: types of host objects, and globals by kind of entry point. */
import type { GlobalDeclaration, HostTypeDeclaration, ObjectType } from "../templating/index.ts";

/** Name of the host type of a store whose objects have a type of their own. */
export const storeTypeName = (alias: string): string => `Store_${alias}`;

/** Host types for a configuration that watches these resources; without a type a resource's objects are any. */
export function hostTypes(
  resources: ReadonlyMap<string, ObjectType | undefined>,
): Readonly<Record<string, HostTypeDeclaration>> {
  const aliases = [...resources.keys()];
  const typed = aliases.filter((alias) => resources.get(alias) !== undefined);
  const typedStore = (alias: string): HostTypeDeclaration => ({
    methods: {
      List: `func() []resources.${alias}.T`,
      Fetch: `func(keys ...any) []resources.${alias}.T`,
      GetSingle: `func(keys ...any) resources.${alias}.T`,
      APIVersion: "func() string",
    },
  });
  return {
    ...Object.fromEntries(typed.map((alias) => [storeTypeName(alias), typedStore(alias)])),
    Stores: {
      members: Object.fromEntries(
        aliases.map((alias) => [alias, resources.get(alias) === undefined ? "Store" : storeTypeName(alias)]),
      ),
      unknownHint: `watchedResources has ${aliases.length === 0 ? "no entry" : aliases.join(", ")}`,
    },
    Store: {
      methods: {
        List: "func() []any",
        Fetch: "func(keys ...any) []any",
        GetSingle: "func(keys ...any) any",
        APIVersion: "func() string",
      },
    },
    Controller: { members: { haproxy_pods: "Store" }, unknownHint: "controller has haproxy_pods" },
    PathResolver: { methods: { GetPath: "func(name string, kind string) string", GetBaseDir: "func() string" } },
    FileRegistry: {
      methods: { Register: "func(kind string, name string, content string, reloadOnPush ...bool) (string, error)" },
    },
    PlanRegistry: {
      methods: {
        Profile: "func(record any) (string, error)",
        Section: "func(kind string, name string, text string) (string, error)",
        Fragment: "func(name string, text string) string",
        Backend: "func(record any, text string) (string, error)",
        ProfileGroup: "func() string",
        MapMeta: "func(path string, ordered bool) any",
        CrtListMeta: "func(path string, defaultFirst bool) any",
      },
    },
    ComponentPlanRegistry: {
      methods: {
        Profile: "func(record any) (string, error)",
        Backend: "func(record any, text string) (string, error)",
        BackendWhenAny: "func(record any, text string, cell string, keys any) (string, error)",
      },
      unknownHint: "incremental snippets have Profile, Backend and BackendWhenAny",
    },
    Http: {
      methods: {
        Fetch: "func(url string, optionsAndAuth ...any) (string, error)",
        Pending: "func(url string) bool",
      },
    },
    Shared: { methods: SHARED },
    ComponentShared: {
      methods: {
        ...SHARED,
        Publish: "func(cell string, key string, value any) string",
        PublishRanked: "func(cell string, key string, rank string, value any) string",
        Unique: "func(cell string, key string, text string) string",
        Select: "func(group string, cell string, key string) (any, bool)",
        SelectValues: "func(group string, cell string) []any",
        Count: "func(group string, cell string) int",
      },
    },
  };
}

const SHARED: NonNullable<HostTypeDeclaration["methods"]> = {
  ComputeIfAbsent: { signature: "func(key string, factory any) (any, bool)", suspends: true },
  Get: "func(key string) any",
};

const COMMON: Readonly<Record<string, GlobalDeclaration>> = {
  resources: { type: "Stores" },
  controller: { type: "Controller" },
  pathResolver: { type: "PathResolver" },
  shared: { type: "Shared" },
  capabilities: { type: "map[string]bool" },
  dataplane: { type: "map[string]any" },
  templateSnippets: { type: "[]string" },
  extraContext: { type: "map[string]any" },
  runtimeEnvironment: { type: "map[string]any" },
  http: { type: "Http" },
  resource: { type: "func(name string) Store", effect: false },
  deriveResource: { type: "func(name string, item any, path string, value any) any" },
  statusPatch: { type: "func(resource any, variants any) string" },
  incremental_values: { type: "func(group string, cell string) []any", effect: false },
  incremental_value_count: { type: "func(group string, cell string) int", effect: false },
  recordEvent: { type: "func(resource any, reason string, message string) string" },
  first_seen: { type: "func(parts ...any) bool", effect: false },
};

export const GLOBALS: {
  readonly root: Readonly<Record<string, GlobalDeclaration>>;
  readonly component: Readonly<Record<string, GlobalDeclaration>>;
} = {
  root: {
    ...COMMON,
    fileRegistry: { type: "FileRegistry" },
    planRegistry: { type: "PlanRegistry" },
    currentConfig: { type: "any" },
    currentFiles: { type: "map[string]string" },
    renderMode: { type: "string" },
    admissionSubject: { type: "map[string]any" },
  },
  component: {
    ...COMMON,
    shared: { type: "ComponentShared" },
    planRegistry: { type: "ComponentPlanRegistry" },
    source: { type: "string" },
    item: { type: "any" },
    props: { type: "map[string]any" },
    renderSubject: { type: "map[string]any" },
  },
};
