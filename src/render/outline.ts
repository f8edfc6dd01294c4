/** What is compiled of a configuration: its roots, the snippets that they mount, what is done to their text, and what templates know. */
import type { CompiledSet, EngineOptions, Schemas, TemplateSource } from "../templating/index.ts";
import { GLOBALS, hostTypes } from "./declarations.ts";
import type { IncrementalSource } from "./graph.ts";
import { type Folders, PathResolver } from "./paths.ts";
import { PostProcessing, type ProcessorSpec } from "./post-processing.ts";
import { resourceTypes } from "./resource-types.ts";
import { Root, type RootSpec } from "./unit.ts";

/** An entry whose rendered text may be processed. */
export interface Processed {
  readonly postProcessing?: readonly ProcessorSpec[];
}

/** A template, with the places of its processors in the file that it came from. */
export interface RenderSource extends TemplateSource {
  /** By processor: its parameters' file and line. */
  readonly processors?: readonly Readonly<Record<string, { readonly file: string; readonly line: number }>>[];
}

/** What render needs of a HAProxyTemplateConfig's (merged) specification. */
export interface RenderSpec {
  readonly watchedResources?: Readonly<
    Record<string, { readonly indexBy?: readonly string[]; readonly apiVersion?: string; readonly resources?: string }>
  >;
  readonly templateSnippets?: Readonly<
    Record<
      string,
      {
        readonly incremental?: {
          readonly source?: string;
          readonly group?: string;
          readonly effects?: readonly string[];
        };
      }
    >
  >;
  readonly haproxyConfig?: Processed;
  readonly maps?: Readonly<Record<string, Processed & { readonly ordered?: boolean }>>;
  readonly files?: Readonly<Record<string, Processed & { readonly reloadOnPush?: boolean }>>;
  readonly sslCertificates?: Readonly<Record<string, Processed>>;
  readonly templatingSettings?: { readonly extraContext?: Readonly<Record<string, unknown>> };
}

/** What of a render service's options the templates depend on. */
export interface OutlineOptions {
  readonly spec: RenderSpec;
  /** Every template of the specification, by registry name (see the configuration library's toTemplateSources). */
  readonly sources: readonly RenderSource[];
  /** The `dataplane` block with its defaults. */
  readonly dataplane: Folders & Readonly<Record<string, unknown>>;
  /** Schemas of resources: objects of those that are watched have types then. */
  readonly schemas?: Schemas;
  /** Marks all output with where it comes from (see Provenance): files then hold marks. For explaining, not for serving. */
  readonly provenance?: boolean;
}

/** What a specification says of the templates before they are compiled. */
export interface Outline {
  readonly paths: PathResolver;
  readonly roots: readonly Root[];
  readonly incremental: ReadonlyMap<string, IncrementalSource>;
  readonly types: ReturnType<typeof resourceTypes>;
  readonly engine: (components: readonly string[]) => EngineOptions;
}

export function outlineOf(options: OutlineOptions): Outline {
  const { spec } = options;
  const paths = new PathResolver(options.dataplane);
  const roots = rootSpecs(spec, paths).map((root) => new Root(root));
  const incremental = new Map<string, IncrementalSource>();
  for (const [snippet, { incremental: settings }] of Object.entries(spec.templateSnippets ?? {})) {
    if (settings?.source !== undefined)
      incremental.set(snippet, { snippet, source: settings.source, effects: new Set(settings.effects ?? []) });
  }
  const types = resourceTypes(spec, options.schemas);
  const engine = (components: readonly string[]): EngineOptions => ({
    sources: options.sources,
    entries: [
      ...roots.map((root) => ({ template: root.spec.template, kind: "root" as const })),
      ...components.map((template) => ({ template, kind: "component" as const })),
    ],
    incremental: (name) => incremental.has(name),
    globals: GLOBALS,
    hostTypes: hostTypes(types),
    resources: types,
    ...(options.provenance === true && { provenance: true }),
  });
  return { paths, roots, incremental, types, engine };
}

/** Incremental snippets that a root mounts: only those count; mostly all are mounted somewhere. */
export function mountedIn(set: CompiledSet, { roots, incremental }: Outline): string[] {
  const mounted = new Set(roots.flatMap((root) => set.mounts(root.spec.template)));
  return [...incremental.keys()].filter((name) => mounted.has(name)).sort();
}

/** haproxy.cfg first, then maps, files and certificates by name. */
function rootSpecs(spec: RenderSpec, paths: PathResolver): RootSpec[] {
  const named = <T>(entries: Readonly<Record<string, T>> | undefined): [string, T][] =>
    Object.entries(entries ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return [
    { template: "haproxy.cfg", path: "haproxy.cfg", kind: "config", reloadOnPush: true, ordered: true },
    ...named(spec.maps).map(([name, map]): RootSpec => ({
      template: `map:${name}`,
      path: paths.resolve(name, "map"),
      kind: "map",
      reloadOnPush: true,
      ordered: map.ordered ?? true,
    })),
    ...named(spec.files).map(([name, file]): RootSpec => ({
      template: `file:${name}`,
      path: paths.resolve(name, "file"),
      kind: "general",
      reloadOnPush: file.reloadOnPush ?? true,
      ordered: true,
    })),
    ...named(spec.sslCertificates).map(([name]): RootSpec => ({
      template: `cert:${name}`,
      path: paths.resolve(name, "cert"),
      kind: "cert",
      reloadOnPush: true,
      ordered: true,
    })),
  ];
}

/** What is done to the text of each root that asks for it. */
export function processings(
  spec: RenderSpec,
  roots: readonly Root[],
  sources: readonly RenderSource[],
): ReadonlyMap<Root, PostProcessing> {
  const all = new Map<Root, PostProcessing>();
  for (const root of roots) {
    const { template } = root.spec;
    const name = template.slice(template.indexOf(":") + 1);
    const entry = root.main
      ? spec.haproxyConfig
      : { map: spec.maps, general: spec.files, cert: spec.sslCertificates }[root.spec.kind as "map"]?.[name];
    const processors = entry?.postProcessing ?? [];
    if (processors.length === 0) continue;
    const { origin, processors: places } = sources.find((source) => source.name === template) ?? {};
    all.set(
      root,
      new PostProcessing(processors, root.main, (index, parameter) => ({
        name: `${template} postProcessing[${index}]`,
        text: "",
        ...(origin !== undefined && {
          origin: {
            object: origin.object,
            field: `${origin.field.replace(/\.template$/, "")}.postProcessing[${index}]${parameter === undefined ? "" : `.params.${parameter}`}`,
            ...places?.[index]?.[parameter ?? ""],
          },
        }),
      })),
    );
  }
  return all;
}
