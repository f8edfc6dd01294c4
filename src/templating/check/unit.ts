/** What all parts of the checker share while one unit (a rendered or an imported file) is checked. */
import type { Code, FunctionNode } from "../emit/code.ts";
import { site } from "../emit/code.ts";
import { nearestName, type Place } from "../syntax/problems.ts";
import type { TemplateSource } from "../types.ts";
import type { Expression, Statement } from "../syntax/tree.ts";
import type { TemplateFunction } from "../functions/define.ts";
import type { Declarations } from "./declarations.ts";
import type { Constant } from "./constants.ts";
import { Scope, type MacroInfo, type Symbol_ } from "./scope.ts";
import { resolveType, typeName, type FunctionType, type Type } from "./types.ts";
import type { TypeNode } from "../syntax/tree.ts";

export type Kind = "root" | "component";

/** What a unit needs from the compiler that drives it. */
export interface UnitHost {
  readonly declarations: Declarations;
  readonly natives: ReadonlyMap<string, { readonly fn: TemplateFunction; readonly type: FunctionType }>;
  source(name: string): TemplateSource | undefined;
  tree(source: TemplateSource): Steps<readonly Statement[]>;
  /** Names that render_glob may match, sorted by bytes. */
  snippetNames(): readonly string[];
  isIncremental(name: string): boolean;
  incrementalNames(): readonly string[];
  /** Makes sure the file is compiled as a unit of its own; gives its key. Undefined: it closes a cycle. */
  requireUnit(name: string, from: Place): string | undefined;
  /** For a name that is only known while running: keys of all snippets. Those with problems fail when they are rendered. */
  requireAny(from: Place): readonly string[];
  /** Checks an imported file; gives its key and what it exports. Undefined: it closes a cycle. */
  requireImport(
    name: string,
    from: Place,
  ): Steps<{ readonly key: string; readonly exports: ReadonlyMap<string, Symbol_> } | undefined>;
  report(place: Place, message: string, hint?: string): void;
  /** Numbers the place of a piece of output, where the code is to tell of them. */
  readonly piece?: (place: Place) => number;
}

/** Thrown to leave an expression or statement whose problem is not recorded yet. */
export class CheckFault extends Error {
  readonly offset: number;
  readonly detail: string | undefined;

  constructor(offset: number, message: string, hint?: string) {
    super(message);
    this.offset = offset;
    this.detail = hint;
  }
}

/** Work that stops on the way, so that others can run meanwhile. */
export type Steps<T> = Generator<void, T, void>;

/** Does it to its end. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Where output goes and what `return`, `break` and the like mean. */
export interface FunctionFrame {
  readonly kind: "main" | "macro" | "literal" | "import" | "capture";
  readonly results: readonly Type[];
  /** Variables of named results. */
  readonly names?: readonly Symbol_[];
  /** Of a macro. */
  readonly macro?: FunctionNode;
}

export abstract class UnitContext {
  readonly host: UnitHost;
  readonly kind: Kind;
  /** The text being read: changes while a snippet is compiled in its caller's context. */
  protected source: TemplateSource;
  protected from: Place | undefined;
  protected scope = new Scope(undefined);
  protected frame: FunctionFrame;
  private counter = 0;
  /** Globals the unit uses, and how they are named in the code. */
  readonly globals = new Map<string, string>();
  /** Functions the unit calls: each becomes a constant, which V8 can inline. */
  readonly natives = new Set<string>();
  /** Methods of host objects that are the same all through a run, by what leads to them, and how they are named. */
  readonly bound = new Map<string, string>();
  /** Imported units by key, in order of first use. */
  readonly imports = new Map<string, string>();
  /** Incremental snippets whose output this unit mounts, in order. */
  readonly mounts = new Set<string>();
  /** Keys of units this one includes. */
  readonly includes = new Set<string>();

  constructor(host: UnitHost, kind: Kind, source: TemplateSource, frame: FunctionFrame, from: Place | undefined) {
    this.host = host;
    this.kind = kind;
    this.source = source;
    this.frame = frame;
    this.from = from;
  }

  protected place(offset: number): Place {
    return { source: this.source, offset, from: this.from };
  }

  protected site(offset: number): Code {
    return site(this.place(offset));
  }

  protected report(fault: CheckFault): void {
    this.host.report(this.place(fault.offset), fault.message, fault.detail);
  }

  protected fail(offset: number, message: string, hint?: string): never {
    throw new CheckFault(offset, message, hint);
  }

  protected fresh(prefix: string): string {
    return `${prefix}_${++this.counter}`;
  }

  // --- scopes ------------------------------------------------------------------------------------------------------

  /** A new scope; gives the one around it, which the caller has to bring back. */
  protected enterScope(): Scope {
    const outer = this.scope;
    this.scope = new Scope(outer);
    return outer;
  }

  protected inScope<T>(work: () => T): T {
    const outer = this.enterScope();
    try {
      return work();
    } finally {
      this.scope = outer;
    }
  }

  protected addName(
    name: string,
    type: Type,
    at: number,
    options: { kind?: Symbol_["kind"]; constant?: Constant; macro?: MacroInfo } = {},
  ): Symbol_ {
    const js = this.fresh(`v_${name.replace(/\W/gu, "$")}`);
    const symbol: Symbol_ = { name, kind: "var", js, type, appended: false, ...options };
    if (name === "_") return symbol;
    if (this.scope.names.has(name))
      this.host.report(this.place(at), `${name} redeclared in this block`, "assign with = or choose another name");
    this.scope.names.set(name, symbol);
    return symbol;
  }

  protected global(name: string): string {
    let js = this.globals.get(name);
    if (js === undefined) {
      js = this.fresh(`g_${name.replace(/\W/gu, "$")}`);
      this.globals.set(name, js);
    }
    return js;
  }

  /** The variable that holds a method of a host object once it was called. */
  protected boundMethod(path: string): string {
    let js = this.bound.get(path);
    if (js === undefined) {
      js = this.fresh("m");
      this.bound.set(path, js);
    }
    return js;
  }

  protected undefinedName(name: string, at: number): never {
    const known = new Set<string>([
      ...this.scope.all(),
      ...this.host.declarations.globals[this.kind].keys(),
      ...this.host.declarations.resources.keys(),
      ...this.host.natives.keys(),
      "len",
      "append",
    ]);
    const other = this.kind === "root" ? "component" : "root";
    let hint: string | undefined;
    const near = nearestName(name, known);
    if (near !== undefined) hint = `did you mean "${near}"?`;
    else if (this.host.declarations.globals[other].has(name)) {
      hint =
        this.kind === "component"
          ? `${name} is not available in an incremental snippet`
          : `${name} is available in incremental snippets only`;
    }
    this.fail(at, `undefined: ${name}`, hint);
  }

  protected abstract arrayLength(x: Expression): number;

  protected type(node: TypeNode): Type {
    return resolveType(node, {
      host: this.host.declarations.isHostType,
      declared: (name) => this.declaredType(name),
      resource: this.host.declarations.resource,
      unknown: (name, at) => this.host.report(this.place(at), `undefined: ${name}`, "this is not a type"),
      invalidKey: (key, at) =>
        this.host.report(this.place(at), `invalid map key type ${typeName(key)}`, "keys are strings, numbers or bools"),
      length: (x) => this.arrayLength(x),
    });
  }

  /** A type declared in the template, by its name or `module.Name`. */
  protected declaredType(name: string): Type | undefined {
    const dot = name.indexOf(".");
    const symbol =
      dot === -1 ? this.scope.lookup(name) : this.scope.lookup(name.slice(0, dot))?.exports?.get(name.slice(dot + 1));
    return symbol?.kind === "type" ? symbol.type : undefined;
  }
}
