/**
 * Compiles everything that the entry points reach. Eta is the registry: it asks for the text of a unit, has it compiled by
 * our `compile`, and keeps the result by key. Units are `root:NAME` and `component:NAME` (rendered files, by what they may
 * see) and `root+NAME`, `component+NAME` (imported files).
 */
import { Eta } from "eta/core";
import type { Declarations } from "./check/declarations.ts";
import type { MacroInfo } from "./check/scope.ts";
import { Statements } from "./check/statements.ts";
import type { Kind, UnitHost } from "./check/unit.ts";
import { literal, type Code } from "./emit/code.ts";
import { analyse, print } from "./emit/print.ts";
import { natives } from "./functions/registry.ts";
import { compileInRealm } from "./runtime/realm.ts";
import type { Unit } from "./runtime/runtime.ts";
import { makeProblem, type Place } from "./syntax/problems.ts";
import { parseTemplate } from "./syntax/parser.ts";
import type { Statement } from "./syntax/tree.ts";
import type { EntryPoint, TemplateProblem, TemplateSource } from "./types.ts";

/** Where the parts of a unit's emitted text came from. */
export interface UnitMap {
  readonly key: string;
  readonly text: string;
  readonly offsets: readonly number[];
  readonly places: readonly Place[];
}

interface CheckedUnit {
  readonly includes: ReadonlySet<string>;
  readonly mounts: ReadonlySet<string>;
  readonly exports: ReadonlyMap<string, MacroInfo>;
  readonly imports: readonly string[];
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
}

export class Compiler extends Eta {
  readonly problems: TemplateProblem[] = [];
  /** Emitted units by number: `haptic-unit-N` is the file name that stacks show. */
  readonly maps: UnitMap[] = [];
  readonly #sources = new Map<string, TemplateSource>();
  readonly #trees = new Map<string, readonly Statement[]>();
  readonly #checked = new Map<string, CheckedUnit>();
  readonly #printed = new Map<string, { text: string; number: number }>();
  readonly #open: string[] = [];
  readonly #seen = new Set<string>();
  readonly #options: CompilerOptions;
  readonly #snippets: readonly string[];

  constructor(options: CompilerOptions) {
    super({ cache: true });
    this.#options = options;
    for (const source of options.sources) this.#sources.set(source.name, source);
    const roots = new Set(options.entries.filter((entry) => entry.kind === "root").map((entry) => entry.template));
    this.#snippets = [...this.#sources.keys()]
      .filter((name) => !roots.has(name))
      .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    Object.assign(this, {
      templatesSync: new UnitCache(),
      resolvePath: (key: string) => key,
      readFile: (key: string) => key,
      compileToString: (key: string) => this.#printed.get(key)!.text,
      compile: (key: string) => {
        const { number } = this.#printed.get(key)!;
        const unit = compileInRealm(this.compileToString(key), ["F"], `haptic-unit-${number}`)(natives.table) as Unit;
        // Eta calls templates with the data first; ours is the run.
        return (runtime: Parameters<Unit>[0]) => unit(runtime);
      },
    });
  }

  /** Starts (and on first use compiles) a unit: Eta finds it by its key and hands our generator through. */
  unit(key: string): Unit {
    return (runtime) => this.render(key, runtime) as unknown as ReturnType<Unit>;
  }

  checkEntry(entry: EntryPoint): void {
    const source = this.#sources.get(entry.template);
    if (source === undefined) throw new TypeError(`entry point ${entry.template} has no source`);
    try {
      this.#requireUnit(entry.template, entry.kind, undefined);
    } catch (error) {
      // The parser bounds nesting; many bounded things inside each other may still be too much for the stack.
      if (!(error instanceof RangeError)) throw error;
      this.#open.length = 0;
      this.#report(
        { source, offset: 0 },
        "the template is too complex to compile",
        "split it into snippets and macros",
      );
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

  #tree(source: TemplateSource): readonly Statement[] {
    let tree = this.#trees.get(source.name);
    if (tree === undefined) {
      const parsed = parseTemplate(source.text);
      for (const fault of parsed.faults) this.#report({ source, offset: fault.offset }, fault.message, fault.detail);
      tree = parsed.body;
      this.#trees.set(source.name, tree);
    }
    return tree;
  }

  #host(kind: Kind): UnitHost {
    return {
      declarations: this.#options.declarations,
      natives: natives.functions,
      source: (name) => this.#sources.get(name),
      tree: (source) => this.#tree(source),
      snippetNames: () => this.#snippets,
      isIncremental: this.#options.incremental,
      requireUnit: (name, from) => this.#requireUnit(name, kind, from),
      requireImport: (name, from) => this.#requireImport(name, kind, from),
      report: (place, message, hint) => this.#report(place, message, hint),
    };
  }

  #enter(key: string, what: string, from: Place | undefined): boolean {
    const cycle = this.#open.indexOf(key);
    if (cycle === -1) return true;
    const names = [...this.#open.slice(cycle), key].map((open) => open.slice(open.search(/[:+]/) + 1));
    this.#report(
      from!,
      `${what} cycle: ${names.join(" → ")}`,
      "a template cannot render itself; use a macro for recursion",
    );
    return false;
  }

  #requireUnit(name: string, kind: Kind, from: Place | undefined): string | undefined {
    const key = `${kind}:${name}`;
    if (!this.#enter(key, "render", from)) return undefined;
    if (this.#checked.has(key)) return key;
    const source = this.#sources.get(name)!;
    this.#open.push(key);
    const unit = new Statements(this.#host(kind), kind, source, { kind: "main", results: [] }, from);
    const body = unit.checkTemplate(this.#tree(source));
    this.#finish(key, unit, body, new Map());
    return key;
  }

  #requireImport(
    name: string,
    kind: Kind,
    from: Place,
  ): { key: string; exports: ReadonlyMap<string, MacroInfo> } | undefined {
    const key = `${kind}+${name}`;
    if (!this.#enter(key, "import", from)) return undefined;
    const known = this.#checked.get(key);
    if (known !== undefined) return { key, exports: known.exports };
    const source = this.#sources.get(name)!;
    this.#open.push(key);
    const unit = new Statements(this.#host(kind), kind, source, { kind: "import", results: [] }, from);
    const { code, exports } = unit.checkImported(this.#tree(source));
    this.#finish(key, unit, code, exports);
    return { key, exports };
  }

  #finish(key: string, unit: Statements, body: Code, exports: ReadonlyMap<string, MacroInfo>): void {
    this.#open.pop();
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
    const code: Code = ['"use strict";\nreturn function* ($) {\nlet $r;\n', globals, imports, body, "};\n"];
    analyse(code);
    const printed = print(code);
    this.#printed.set(key, { text: printed.text, number: this.maps.length });
    this.maps.push({ key, ...printed });
  }
}
