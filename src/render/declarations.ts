/** What templates may use besides the language's own functions: types of host objects, and globals by kind of entry point. */
import type { GlobalDeclaration, HostTypeDeclaration } from "../templating/index.ts";

/** Host types for a configuration that watches these aliases. */
export function hostTypes(aliases: readonly string[]): Readonly<Record<string, HostTypeDeclaration>> {
  return {
    Stores: {
      members: Object.fromEntries(aliases.map((alias) => [alias, "Store"])),
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
      },
    },
    ComponentPlanRegistry: {
      methods: {
        Profile: "func(record any) (string, error)",
        Backend: "func(record any, text string) (string, error)",
      },
      unknownHint: "incremental snippets have Profile and Backend",
    },
    Shared: {
      methods: {
        ComputeIfAbsent: { signature: "func(key string, factory any) (any, bool)", suspends: true },
        Get: "func(key string) any",
      },
    },
  };
}

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
    planRegistry: { type: "ComponentPlanRegistry" },
    source: { type: "string" },
    item: { type: "any" },
    props: { type: "map[string]any" },
    renderSubject: { type: "map[string]any" },
  },
};
