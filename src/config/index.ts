/** Specifications: defaults, libraries, checks, templates and watches. A pure library. */
import { type Assembled, assemble, type Held } from "./assemble.ts";
import type { ConfigProblem } from "./problems.ts";
import { objectName } from "./problems.ts";
import { checkStructure } from "./structure.ts";
import type { HAProxyTemplateConfig, HAProxyTemplateLibrary } from "./types.ts";
import { notBuiltYet } from "./unbuilt.ts";

export { type Assembled, assemble, type Held, type Origin, type Override, type TemplateField } from "./assemble.ts";
export {
  compressionThresholdOf,
  type Dataplane,
  dataplaneOf,
  dataplaneTimings,
  electionTimings,
  type LeaseTimes,
  leaseNameOf,
  logLevelOf,
} from "./defaults.ts";
export { parseDuration } from "./durations.ts";
export { type LoadedFiles, type LoadedObject, loadFiles, parseObjects } from "./files.ts";
export { loadSchemaFiles, type SchemaFiles } from "./schemas.ts";
export {
  assertUsable,
  type ConfigProblem,
  fieldPath,
  formatProblem,
  objectName,
  type SourcePosition,
} from "./problems.ts";
export { type ConfigTemplate, MAIN_TEMPLATE, NAME_PREFIX, toTemplateSources } from "./sources.ts";
export { checkStructure } from "./structure.ts";
export type * from "./types.ts";
export { notBuiltYet } from "./unbuilt.ts";
export { debounceMs, type WatchSpec, watchSpecs } from "./watches.ts";

export interface JudgedConfig {
  readonly assembled: Assembled;
  /** Anything that forbids the use: contradictions, broken rules, fields that are not built. Empty = usable. */
  readonly problems: readonly ConfigProblem[];
  /** What a user should be told although the configuration is usable. */
  readonly warnings: readonly ConfigProblem[];
}

/** Assembles a configuration and judges it: all checks that need neither templates nor a cluster. */
export function judge(
  config: HAProxyTemplateConfig,
  libraries: readonly HAProxyTemplateLibrary[] = [],
): JudgedConfig | Held {
  const assembled = assemble(config, libraries);
  if (assembled.state === "hold") return assembled;
  const all = [
    ...assembled.problems,
    ...checkStructure(config, assembled),
    ...notBuiltYet(assembled.spec, objectName(config)),
  ];
  return {
    assembled,
    problems: all.filter((problem) => problem.kind !== "ignored"),
    warnings: all.filter((problem) => problem.kind === "ignored"),
  };
}
