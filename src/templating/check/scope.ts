/** Names of a template and what is known of them. Tables are Maps: `constructor` is a name like any other. */
import type { Code, FunctionNode } from "../emit/code.ts";
import type { Constant } from "./constants.ts";
import type { InPlace } from "./in-place.ts";
import type { Type } from "./types.ts";

export interface MacroParam {
  readonly name: string;
  readonly type: Type;
  readonly variadic: boolean;
}

export interface MacroInfo {
  readonly node: FunctionNode;
  readonly params: readonly MacroParam[];
  /** How the emitted code names it: `M_3` or, imported, `i_1.M_3`. */
  readonly target: Code;
  /** Set once its body was checked, where calls of it may be compiled in place. */
  inPlace?: InPlace | undefined;
}

export interface Symbol_ {
  readonly name: string;
  readonly kind: "var" | "const" | "macro" | "module" | "type";
  /** How the emitted code names it: `v_x_3` or, imported, `i_1.v_x_3`. */
  readonly js: string;
  readonly type: Type;
  readonly constant?: Constant;
  readonly macro?: MacroInfo;
  readonly exports?: ReadonlyMap<string, Symbol_>;
  /** Declared in another file: it has no ownership flag. */
  readonly imported?: boolean;
  /** Set once an `x = append(x, …)` was seen: the variable then carries an ownership flag `js$o`. */
  appended: boolean;
}

export class Scope {
  readonly names = new Map<string, Symbol_>();
  readonly parent: Scope | undefined;

  constructor(parent: Scope | undefined) {
    this.parent = parent;
  }

  lookup(name: string): Symbol_ | undefined {
    return this.names.get(name) ?? this.parent?.lookup(name);
  }

  *all(): Generator<string> {
    yield* this.names.keys();
    if (this.parent !== undefined) yield* this.parent.all();
  }
}

/** A checked expression. */
export interface Value {
  readonly code: Code;
  readonly type: Type;
  readonly constant?: Constant;
  /** Types of all results when the code yields an array of several. */
  readonly results?: readonly Type[];
  /** Of host objects that are the same all through a run: what leads to them. */
  readonly path?: string;
}
