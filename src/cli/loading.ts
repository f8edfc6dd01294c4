/** A configuration, its libraries and other objects of files, assembled and judged as the controller does it. */
import {
  type HAProxyTemplateConfig,
  type HAProxyTemplateLibrary,
  judge,
  type ConfigTemplate,
  loadFiles,
  objectName,
  toTemplateSources,
  type WatchSpec,
} from "../config/index.ts";
import type { KubeObject } from "../stores/index.ts";
import { ofConfig, ofFile, type ReportedProblem } from "./problems.ts";

const CONFIG = "HAProxyTemplateConfig";
const LIBRARY = "HAProxyTemplateLibrary";
/** Alias of HAProxy's own pods; no alias of a specification has it. */
export const PODS = "haproxy-pods";

export interface Loaded {
  readonly config: HAProxyTemplateConfig;
  readonly sources: readonly ConfigTemplate[];
  readonly spec: HAProxyTemplateConfig["spec"];
  readonly objects: readonly KubeObject[];
  readonly warnings: readonly ReportedProblem[];
}

/** `libraries` are there beside those of the files, which come first. */
export function load(
  paths: readonly string[],
  resources: readonly string[] = [],
  libraries: readonly HAProxyTemplateLibrary[] = [],
): Loaded | readonly ReportedProblem[] {
  const loaded = loadFiles([...paths, ...resources]);
  if (loaded.problems.length > 0) return loaded.problems.map(ofConfig);
  const configs = loaded.objects.filter(({ object }) => object.kind === CONFIG);
  const [first, second] = configs;
  if (first === undefined) return [ofFile(paths.join(", "), `holds no ${CONFIG}`)];
  if (second !== undefined) {
    const { file, line } = second.position;
    return [ofFile(file, `a second ${CONFIG}: ${objectName(second.object)}`, line)];
  }
  const config = first.object as HAProxyTemplateConfig;
  const own = loaded.objects.filter(({ object }) => object.kind === LIBRARY).map(({ object }) => object);
  const names = new Set(own.map(({ metadata }) => metadata.name));
  const judged = judge(config, [
    ...(own as readonly KubeObject[] as readonly HAProxyTemplateLibrary[]),
    ...libraries.filter(({ metadata }) => !names.has(metadata.name)),
  ]);
  if (!("assembled" in judged)) return [ofFile(first.position.file, judged.message, first.position.line)];
  if (judged.problems.length > 0) {
    // Problems of the object as a whole have at least its place.
    return judged.problems.map((problem) => ofConfig({ position: first.position, ...problem }));
  }
  return {
    config,
    sources: toTemplateSources(judged.assembled, loaded.objects),
    spec: judged.assembled.spec,
    objects: loaded.objects.map(({ object }) => object).filter(({ kind }) => kind !== CONFIG && kind !== LIBRARY),
    warnings: judged.warnings.map(ofConfig),
  };
}

export function podsWatch(config: HAProxyTemplateConfig): WatchSpec {
  return {
    alias: PODS,
    target: { apiVersion: "v1", resource: "pods" },
    indexBy: ["metadata.namespace", "metadata.name"],
    ignoreFields: ["metadata.managedFields"],
    labelSelector: Object.entries(config.spec.podSelector?.matchLabels ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(","),
    fieldSelector: "",
    debounceMs: 0,
  };
}
