/**
 * Compiles everything that the entry points reach. Eta is the registry: it asks for the text of a unit, has it compiled by
 * our `compile`, and keeps the result by key. Units are `root:NAME` and `component:NAME` (rendered files, by what they may
 * see) and `root+NAME`, `component+NAME` (imported files).
 */
import { Eta } from "eta/core";
import type { Declarations } from "./check/declarations.ts";
import type { Symbol_ } from "./check/scope.ts";
import { Statements } from "./check/statements.ts";
import { finish, type Kind, type Steps, type UnitHost } from "./check/unit.ts";
import { literal, type Code } from "./emit/code.ts";
import { analyse, print, unitEntry } from "./emit/print.ts";
import { natives } from "./functions/registry.ts";
import { TemplateFault } from "./runtime/faults.ts";
import { globMatches } from "./runtime/glob.ts";
import { compileInRealm } from "./runtime/realm.ts";
import type { Unit } from "./runtime/runtime.ts";
import { makeProblem, type Place } from "./syntax/problems.ts";
import { parseInSteps } from "./syntax/parser.ts";
import type { Statement } from "./syntax/tree.ts";
import type { EntryPoint, TemplateProblem, TemplateSource } from "./types.ts";

/** Where the parts of a unit's emitted text came from. */
export interface UnitMap {
  readonly key: string;
  readonly text: string;
  readonly offsets: readonly number[];
  readonly places: readonly (Place | undefined)[];
}

interface CheckedUnit {
  readonly includes: ReadonlySet<string>;
  readonly mounts: ReadonlySet<string>;
  readonly exports: ReadonlyMap<string, Symbol_>;
  readonly imports: readonly string[];
}

/** A rendered file that waits for its turn. */
interface Waiting {
  readonly key: string;
  readonly name: string;
  readonly kind: Kind;
  readonly from: Place | undefined;
}

/** A render from one unit to another, for finding cycles. */
interface Edge {
  readonly from: string;
  readonly to: string;
  readonly place: Place;
}

/** Eta's own cache is a plain object, in which "constructor" would be found. */
class UnitCache {
  readonly #units = new Map<string, unknown>();

  define(key: string, unit: unknown): void {
    this.#units.set(key, unit);
  }

  get(key: string): unknown {
    return this.#units.get(key);
  }

  remove(key: string): void {
    this.#units.delete(key);
  }

  reset(): void {
    this.#units.clear();
  }
}

export interface CompilerOptions {
  readonly sources: readonly TemplateSource[];
  readonly entries: readonly EntryPoint[];
  readonly incremental: (name: string) => boolean;
  readonly declarations: Declarations;
  readonly provenance?: boolean;
}

export class Compiler extends Eta {
  readonly problems: TemplateProblem[] = [];
  /** Emitted units by number: `haptic-unit-N` is the file name that stacks show. */
  readonly maps: UnitMap[] = [];
  /** Places of pieces of output, by the numbers that emitted code has for them. */
  readonly pieces: Place[] = [];
  readonly #sources = new Map<string, TemplateSource>();
  readonly #trees = new Map<string, readonly Statement[]>();
  readonly #checked = new Map<string, CheckedUnit>();
  readonly #printed = new Map<string, { text: string; number: number }>();
  /** Units asked for whose turn has not come, last first; problems come in the order of the text. */
  readonly #waiting: Waiting[] = [];
  readonly #asked = new Set<string>();
  readonly #edges: Edge[] = [];
  /** Units that were only reached by a computed name and have problems: they fail when they are rendered. */
  readonly #broken = new Map<string, TemplateProblem>();
  #current = "";
  #trial = false;
  readonly #open: string[] = [];
  readonly #seen = new Set<string>();
  readonly #options: CompilerOptions;
  readonly #snippets: readonly string[];
  readonly #snippetSet: ReadonlySet<string>;

  constructor(options: CompilerOptions) {
    super({ cache: true });
    this.#options = options;
    for (const source of options.sources) this.#sources.set(source.name, source);
    const roots = new Set(options.entries.filter((entry) => entry.kind === "root").map((entry) => entry.template));
    this.#snippets = [...this.#sources.keys()]
      .filter((name) => !roots.has(name))
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    this.#snippetSet = new Set(this.#snippets);
    Object.assign(this, {
      templatesSync: new UnitCache(),
      resolvePath: (key: string) => key,
      readFile: (key: string) => key,
      compileToString: (key: string) => this.#printed.get(key)!.text,
      compile: (key: string) => {
        const { number } = this.#printed.get(key)!;
        const unit = compileInRealm(this.compileToString(key), natives.table, `haptic-unit-${number}`) as Unit;
        // Eta calls templates with the data first; ours is the run.
        return (runtime: Parameters<Unit>[0]) => unit(runtime);
      },
    });
  }

  /** Starts (and on first use compiles) a unit: Eta finds it by its key and hands our generator through. */
  unit(key: string): Unit {
    const problem = this.#broken.get(key);
    if (problem !== undefined && !this.#printed.has(key))
      throw new TemplateFault(
        `${problem.template}:${problem.line}:${problem.column}: ${problem.message}`,
        problem.hint,
      );
    return (runtime) => this.render(key, runtime) as unknown as ReturnType<Unit>;
  }

  /** Compiles what the entry points reach. Stops after each unit and in long ones, so that others can run meanwhile. */
  *compileAll(): Generator<void, void, void> {
    for (const entry of this.#options.entries) {
      const source = this.#sources.get(entry.template);
      if (source === undefined) throw new TypeError(`entry point ${entry.template} has no source`);
      this.#ask(entry.template, entry.kind, undefined);
      yield* this.#work();
    }
    this.#reportCycles();
  }

  *#work(): Generator<void, void, void> {
    for (let unit = this.#waiting.pop(); unit !== undefined; unit = this.#waiting.pop()) {
      const source = this.#sources.get(unit.name)!;
      const waited = this.#waiting.length;
      try {
        yield* this.#checkUnit(unit, source);
      } catch (error) {
        // The parser bounds nesting; many bounded things inside each other may still be too much for the stack.
        if (!(error instanceof RangeError)) throw error;
        this.#open.length = 0;
        this.#report(
          { source, offset: 0, from: unit.from },
          "the template is too complex to compile",
          "split it into snippets and macros",
        );
      }
      // What this unit asked for comes in the order it was asked.
      this.#waiting.push(...this.#waiting.splice(waited).reverse());
      yield;
    }
  }

  *#checkUnit({ key, kind, from }: Waiting, source: TemplateSource): Generator<void, void, void> {
    const tree = yield* this.#tree(source);
    const unit = new Statements(this.#host(kind), kind, source, { kind: "main", results: [] }, from);
    const steps = unit.checkTemplate(tree);
    let step: IteratorResult<void, Code>;
    for (;;) {
      this.#current = key;
      step = steps.next();
      if (step.done === true) break;
      yield;
    }
    yield;
    yield* this.#finish(key, unit, step.value, new Map());
  }

  /** Units that render each other in a circle: told once, where the circle closes. */
  #reportCycles(): void {
    const edges = new Map<string, Edge[]>();
    for (const edge of this.#edges) {
      const known = edges.get(edge.from);
      if (known === undefined) edges.set(edge.from, [edge]);
      else known.push(edge);
    }
    const done = new Set<string>();
    const path: string[] = [];
    const visit = (key: string): void => {
      done.add(key);
      path.push(key);
      for (const { to, place } of edges.get(key) ?? []) {
        const at = path.indexOf(to);
        if (at !== -1) this.#reportCycle("render", [...path.slice(at), to], place);
        else if (!done.has(to)) visit(to);
      }
      path.pop();
    };
    for (const entry of this.#options.entries) {
      const key = `${entry.kind}:${entry.template}`;
      if (!done.has(key)) visit(key);
    }
  }

  #reportCycle(what: string, keys: readonly string[], place: Place): void {
    const names = keys.map((key) => key.slice(key.search(/[:+]/) + 1));
    this.#report(
      place,
      `${what} cycle: ${names.join(" → ")}`,
      "a template cannot render itself; use a macro for recursion",
    );
  }

  /** Keys (or, for incremental snippets, names) that a name computed while running stands for; undefined: no such snippet. */
  named(
    path: string,
    directory: string,
    kind: string,
    glob: boolean,
  ): readonly { readonly key: string | undefined; readonly incremental: string | undefined }[] | undefined {
    const units = (name: string): { key: string | undefined; incremental: string | undefined } =>
      this.#options.incremental(name)
        ? { key: undefined, incremental: name }
        : { key: `${kind}:${name}`, incremental: undefined };
    if (glob) return globMatches(path, this.#snippets)?.map(units);
    const rooted = path.startsWith("/") ? path.slice(1) : undefined;
    const candidates = rooted === undefined ? [directory + path, path] : [rooted];
    const name = candidates.find((candidate) => this.#snippetSet.has(candidate));
    return name === undefined ? undefined : [units(name)];
  }

  /** Hands all emitted texts to JavaScript, one a step. Without it each is when it is first run. */
  *loadAll(): Generator<void, void, void> {
    if (this.problems.length > 0) return;
    for (const key of this.#printed.keys()) {
      this.loadTemplate(key, this.compile(key));
      yield;
    }
  }

  has(template: string, kind: Kind): boolean {
    return this.#printed.has(`${kind}:${template}`);
  }

  /** Incremental snippets that a unit and what it includes mount, in order of first use. */
  mounts(key: string, into = new Set<string>(), seen = new Set<string>()): Set<string> {
    if (seen.has(key)) return into;
    seen.add(key);
    const unit = this.#checked.get(key);
    for (const name of unit?.mounts ?? []) into.add(name);
    for (const used of [...(unit?.includes ?? []), ...(unit?.imports ?? [])]) this.mounts(used, into, seen);
    return into;
  }

  #report(place: Place, message: string, hint?: string): void {
    // A snippet may be compiled in several contexts; the same fault is told once.
    const id = `${place.source.name}\0${place.offset}\0${message}`;
    if (this.#seen.has(id)) return;
    this.#seen.add(id);
    this.problems.push(makeProblem("HAPTIC_E_TEMPLATE_COMPILE", place, message, hint));
  }

  *#tree(source: TemplateSource): Steps<readonly Statement[]> {
    const known = this.#trees.get(source.name);
    if (known !== undefined) return known;
    const parsed = yield* parseInSteps(source.text);
    for (const fault of parsed.faults) this.#report({ source, offset: fault.offset }, fault.message, fault.detail);
    this.#trees.set(source.name, parsed.body);
    return parsed.body;
  }

  #host(kind: Kind): UnitHost {
    return {
      declarations: this.#options.declarations,
      natives: natives.functions,
      source: (name) => this.#sources.get(name),
      tree: (source) => this.#tree(source),
      snippetNames: () => this.#snippets,
      isIncremental: this.#options.incremental,
      incrementalNames: () => this.#snippets.filter(this.#options.incremental),
      requireAny: (from) => this.#requireAny(kind, from),
      requireUnit: (name, from) => this.#requireUnit(name, kind, from),
      requireImport: (name, from) => this.#requireImport(name, kind, from),
      ...(this.#options.provenance === true && { piece: (place: Place) => this.pieces.push(place) - 1 }),
      report: (place, message, hint) => this.#report(place, message, hint),
    };
  }

  /** Puts a rendered file on the list of what is compiled, once. */
  #ask(name: string, kind: Kind, from: Place | undefined): string {
    const key = `${kind}:${name}`;
    if (!this.#asked.has(key)) {
      this.#asked.add(key);
      this.#waiting.push({ key, name, kind, from });
    }
    return key;
  }

  #requireUnit(name: string, kind: Kind, from: Place): string {
    const key = this.#ask(name, kind, from);
    // An imported file's macros render on behalf of whoever calls them; a circle through them ends at the depth limit.
    if (this.#open.length === 0) this.#edges.push({ from: this.#current, to: key, place: from });
    return key;
  }

  /** Compiles all snippets on trial: one with problems fails when it is rendered, for it may not be meant at all. */
  #requireAny(kind: Kind, from: Place): string[] {
    const names = this.#snippets.filter((name) => !this.#options.incremental(name));
    if (this.#trial) return names.map((name) => `${kind}:${name}`);
    this.#trial = true;
    const outer = [this.#current, [...this.#open], [...this.#waiting]] as const;
    for (const name of names) {
      const key = `${kind}:${name}`;
      if (this.#asked.has(key)) continue;
      const before = { problems: this.problems.length, asked: new Set(this.#asked), seen: new Set(this.#seen) };
      this.#open.length = 0;
      this.#waiting.length = 0;
      this.#ask(name, kind, from);
      finish(this.#work());
      const [problem] = this.problems.splice(before.problems);
      if (problem === undefined) continue;
      this.#broken.set(key, problem);
      // Reached by its name elsewhere, it is compiled again and its problems count.
      for (const asked of this.#asked) if (!before.asked.has(asked)) this.#forget(asked);
      for (const seen of this.#seen) if (!before.seen.has(seen)) this.#seen.delete(seen);
      this.#trees.clear();
    }
    this.#current = outer[0];
    this.#open.push(...outer[1]);
    this.#waiting.push(...outer[2]);
    this.#trial = false;
    return names.map((name) => `${kind}:${name}`);
  }

  #forget(key: string): void {
    this.#asked.delete(key);
    this.#checked.delete(key);
    this.#printed.delete(key);
  }

  *#requireImport(
    name: string,
    kind: Kind,
    from: Place,
  ): Steps<{ key: string; exports: ReadonlyMap<string, Symbol_> } | undefined> {
    const key = `${kind}+${name}`;
    const cycle = this.#open.indexOf(key);
    if (cycle !== -1) {
      this.#reportCycle("import", [...this.#open.slice(cycle), key], from);
      return undefined;
    }
    this.#asked.add(key);
    const known = this.#checked.get(key);
    if (known !== undefined) return { key, exports: known.exports };
    const source = this.#sources.get(name)!;
    this.#open.push(key);
    const unit = new Statements(this.#host(kind), kind, source, { kind: "import", results: [] }, from);
    const { code, exports } = yield* unit.checkImported(yield* this.#tree(source));
    this.#open.pop();
    yield* this.#finish(key, unit, code, exports);
    return { key, exports };
  }

  *#finish(
    key: string,
    unit: Statements,
    body: Code,
    exports: ReadonlyMap<string, Symbol_>,
  ): Generator<void, void, void> {
    this.#checked.set(key, {
      includes: unit.includes,
      mounts: unit.mounts,
      exports,
      imports: [...unit.imports.keys()],
    });
    const globals = [...unit.globals].map(([name, js]) => `const ${js} = $.global(${literal(name)});\n`);
    const imports = [...unit.imports].map(([imported, js]): Code => [
      `const ${js} = `,
      { node: "delegate", code: `$.module(${literal(imported)})` },
      ";\n",
    ]);
    const functions = [...unit.natives].map((name) => `var F_${name} = F.${name};\n`);
    const bound = unit.bound.size === 0 ? "" : `let ${[...unit.bound.values()].join(", ")};\n`;
    // In parentheses V8 compiles it at once, when the set is loaded, and not in the first slice of the first render.
    const head: Code = ['"use strict";\n', functions, "return (function* ($) {\nlet $r;\n"];
    const code: Code = [head, globals, bound, unitEntry(body), imports, body, "});\n"];
    yield* analyse(code);
    const printed = yield* print(code);
    this.#printed.set(key, { text: printed.text, number: this.maps.length });
    this.maps.push({ key, ...printed });
  }
}
