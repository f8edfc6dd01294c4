/** The template engine: sources in, a compiled set out. */
import { TemplateError } from "../errors.ts";
import { Declarations, type GlobalDeclaration, type HostTypeDeclaration } from "./check/declarations.ts";
import type { ObjectType } from "./check/types.ts";
import { Compiler } from "./compiler.ts";
import { natives } from "./functions/registry.ts";
import { FailFault, LimitFault, RestartNeeded, TemplateFault } from "./runtime/faults.ts";
import { Runtime } from "./runtime/runtime.ts";
import { makeProblem, stepOf, type Place } from "./syntax/problems.ts";
import type {
  CompiledSet,
  EntryKind,
  EntryPoint,
  RunEnvironment,
  TemplateProblem,
  TemplateRun,
  TemplateSource,
} from "./types.ts";

export interface EngineOptions {
  readonly sources: readonly TemplateSource[];
  /** What is rendered on its own. Snippets are checked only where an entry point reaches them. */
  readonly entries: readonly EntryPoint[];
  /** Whether a snippet is incremental: roots mount its output instead of running it. */
  readonly incremental: (name: string) => boolean;
  /** Names the two kinds of entry points see, with their types. */
  readonly globals: {
    readonly root: Readonly<Record<string, GlobalDeclaration>>;
    readonly component: Readonly<Record<string, GlobalDeclaration>>;
  };
  /** Types of host objects, by the name `hostObject` is given. */
  readonly hostTypes: Readonly<Record<string, HostTypeDeclaration>>;
  /**
   * Watched resources by alias, with their types where schemas are known (see schema/). `resources.ALIAS.T` is then a type,
   * and the bare alias the list `resources.ALIAS.List()`. Without this option every such type is `any`.
   */
  readonly resources?: ReadonlyMap<string, ObjectType | undefined>;
  /** Compiles code that tells where each piece of output comes from (provenance.ts). It is slower. */
  readonly provenance?: boolean;
}

/** Checks and compiles a set. Never throws for what is in the templates: see `problems`. */
export function createEngine(options: EngineOptions): CompiledSet {
  const compiler = compilerOf(options);
  for (const _ of compiler.compileAll());
  return engineOf(compiler, options);
}

/**
 * Like createEngine, in slices: `due` says when one is over, `pause` lets others run. A set of 10,000 lines takes some
 * 100 ms, which would be a stall.
 */
export async function createEngineInSlices(
  options: EngineOptions,
  slices: { readonly due: () => boolean; readonly pause: () => Promise<void> },
): Promise<CompiledSet> {
  const compiler = compilerOf(options);
  for (const _ of compiler.compileAll()) if (slices.due()) await slices.pause();
  for (const _ of compiler.loadAll()) if (slices.due()) await slices.pause();
  return engineOf(compiler, options);
}

function compilerOf(options: EngineOptions): Compiler {
  const declarations = new Declarations(options.hostTypes, options.globals, options.resources);
  return new Compiler({ ...options, declarations });
}

function engineOf(compiler: Compiler, options: EngineOptions): CompiledSet {
  const kinds = new Map<string, EntryKind>(options.entries.map((entry) => [entry.template, entry.kind]));
  return new Engine(compiler, kinds);
}

class Engine implements CompiledSet {
  readonly #compiler: Compiler;
  readonly #kinds: ReadonlyMap<string, EntryKind>;

  constructor(compiler: Compiler, kinds: ReadonlyMap<string, EntryKind>) {
    this.#compiler = compiler;
    this.#kinds = kinds;
  }

  get problems(): readonly TemplateProblem[] {
    return this.#compiler.problems;
  }

  get pieces(): readonly Place[] {
    return this.#compiler.pieces;
  }

  emitted(): readonly { readonly key: string; readonly text: string }[] {
    return this.#compiler.maps.map(({ key, text }) => ({ key, text }));
  }

  #key(template: string): string {
    const kind = this.#kinds.get(template);
    if (kind === undefined) throw new TypeError(`${template} is not an entry point`);
    return `${kind}:${template}`;
  }

  mounts(template: string): readonly string[] {
    return [...this.#compiler.mounts(this.#key(template))];
  }

  start(template: string, environment: RunEnvironment): TemplateRun {
    const key = this.#key(template);
    const first = this.problems[0];
    if (first !== undefined) throw new TemplateError("HAPTIC_E_TEMPLATE_COMPILE", first);
    return this.#run(key, environment);
  }

  *#run(key: string, environment: RunEnvironment): TemplateRun {
    const compiler = this.#compiler;
    const runtime = new Runtime(environment, {
      unit: (name) => compiler.unit(name),
      named: (path, directory, kind, glob) => compiler.named(path, directory, kind, glob),
      native: (name) => natives.value(name),
    });
    try {
      yield* environment.profile === undefined ? runtime.include(key) : environment.profile.run(runtime.include(key));
    } catch (error) {
      throw this.#explain(error, key);
    }
  }

  /** Gives an error of a run its place: the frames of emitted code in its stack, innermost first. */
  #explain(error: unknown, key: string): unknown {
    if (error instanceof RestartNeeded || error instanceof TemplateError) return error;
    const raised = error as Error;
    const places: Place[] = [];
    for (const [, number, line, column] of String(raised?.stack).matchAll(/haptic-unit-(\d+):(\d+):(\d+)/g)) {
      const place = this.#place(Number(number), Number(line), Number(column));
      if (place !== undefined) places.push(place);
    }
    const known = error instanceof TemplateFault || error instanceof LimitFault;
    // Errors of the realm are not instances of ours; these two are the template's doing.
    const tooDeep = raised?.name === "RangeError";
    if (!known && !tooDeep) return error;
    const name = key.slice(key.indexOf(":") + 1);
    const [place, ...callers] = places;
    const message = tooDeep
      ? raised.message.includes("string length")
        ? "the template makes too much text"
        : "calls are nested too deeply"
      : raised.message;
    const limit = error instanceof LimitFault || tooDeep;
    const problem = makeProblem(
      limit ? "HAPTIC_E_TEMPLATE_LIMIT" : "HAPTIC_E_TEMPLATE_RUN",
      place ?? { source: { name, text: "" }, offset: 0 },
      message,
      // What fail() says is for whoever reads it as it is.
      error instanceof FailFault ? null : error instanceof TemplateFault ? error.hint : undefined,
      chain(place, callers),
    );
    return new TemplateError(limit ? "HAPTIC_E_TEMPLATE_LIMIT" : "HAPTIC_E_TEMPLATE_RUN", problem, error);
  }

  #place(number: number, line: number, column: number): Place | undefined {
    const map = this.#compiler.maps[number];
    if (map === undefined) return undefined;
    let start = 0;
    for (let i = 1; i < line; i++) start = map.text.indexOf("\n", start) + 1;
    const offset = start + column - 1;
    let low = 0;
    let high = map.offsets.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (map.offsets[middle]! <= offset) low = middle + 1;
      else high = middle;
    }
    return map.places[low - 1];
  }
}

/**
 * The call chain: calls in whose place the innermost was compiled, the frames around it; where there are none, the contexts it
 * was compiled in.
 */
function chain(place: Place | undefined, callers: readonly Place[]): string[] {
  const steps: string[] = [];
  const add = (at: Place): void => {
    const line = stepOf(at);
    if (steps.at(-1) !== line && steps.length < 16) steps.push(line);
  };
  let within = place?.from;
  for (; within?.called === true; within = within.from) add(within);
  for (const at of callers) add(at);
  if (callers.length === 0) for (; within !== undefined; within = within.from) add(within);
  return steps;
}
