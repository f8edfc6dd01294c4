/**
 * The template engine: the language of docs/template-language.md, compiled to suspendable JavaScript in a bare realm.
 *
 *     const set = createEngine({ sources, entries, incremental, globals, hostTypes });
 *     if (set.problems.length > 0) …                       // every problem of everything the entry points reach
 *     const run = set.start("haproxy.cfg", { globals, sink, due: clock.due });
 *     await drive(run, { clock, yieldTo, answer, signal }); // or runSync(run)
 *
 * Hosts: `hostObject` makes the values of host types; methods declared `reads` may answer `pendingRead(request)`, those
 * declared `suspends` are generator functions and call template functions with `yield* callFunction(fn, args)`; an error
 * for the template's author is a `TemplateFault`. A run throws `TemplateError` (src/errors.ts), or `RestartNeeded` when a
 * read stands where it cannot wait.
 */
export { createEngine, createEngineInSlices, type EngineOptions } from "./engine.ts";
export { isWatchdogTimeout, watched } from "./runtime/watchdog.ts";
export { drive, runSync, sliceClock, type DriveOptions, type SliceClock } from "./driver.ts";
export { callFunction, hostObject, HostObject, pendingRead, PendingRead, type HostMethod } from "./runtime/host.ts";
export { Provenance, type ExplainedLine, type LineOrigin, type ObjectName } from "./provenance.ts";
export { Profile, type ProfileRow } from "./profile.ts";
export { LimitFault, RestartNeeded, TemplateFault } from "./runtime/faults.ts";
export { DEFAULT_DEPTH, DEFAULT_FUEL, DEFAULT_OUTPUT } from "./runtime/limits.ts";
export { plainJson } from "./functions/values.ts";
export { setAtPath } from "./functions/jsonpath.ts";
export { durationOf } from "./functions/durations.ts";
export { bytesOfText } from "./runtime/bytes.ts";
export { families } from "./functions/registry.ts";
export { functionsPage, type FunctionPageEntry, type FunctionPageFamily } from "./functions/reference.ts";
export { valueMethods } from "./functions/objects.ts";
export type { TemplateFunction } from "./functions/define.ts";
export { readSchemas, type ObjectType, type Schemas } from "./schema/index.ts";
export type { GlobalDeclaration, HostTypeDeclaration, MethodDeclaration } from "./check/declarations.ts";
export type {
  CompiledSet,
  EntryKind,
  EntryPoint,
  RunEnvironment,
  Sink,
  Suspension,
  TemplateProblem,
  TemplateRun,
  TemplateSource,
} from "./types.ts";
