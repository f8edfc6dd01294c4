/** The syntax tree. Every node carries `at`, the offset that errors about it point to. */

export type TypeNode =
  | { readonly kind: "named"; readonly name: string; readonly at: number }
  | { readonly kind: "slice"; readonly element: TypeNode; readonly at: number }
  | { readonly kind: "map"; readonly key: TypeNode; readonly element: TypeNode; readonly at: number }
  | { readonly kind: "pointer"; readonly element: TypeNode; readonly at: number }
  /** `[3]T`; without a length `[...]T`, which takes it from the literal. */
  | {
      readonly kind: "array";
      readonly length: Expression | undefined;
      readonly element: TypeNode;
      readonly at: number;
    }
  | { readonly kind: "struct"; readonly fields: readonly Field[]; readonly at: number }
  | {
      readonly kind: "func";
      readonly params: readonly Param[];
      readonly results: readonly TypeNode[];
      readonly at: number;
    };

export interface Field {
  readonly name: string;
  readonly type: TypeNode;
  readonly at: number;
}

export interface Param {
  readonly name: string;
  readonly type: TypeNode | undefined;
  readonly variadic: boolean;
  readonly at: number;
}

export interface Element {
  readonly key: Expression | undefined;
  readonly value: Expression;
}

export type Expression =
  | { readonly kind: "string" | "int" | "float" | "rune"; readonly text: string; readonly at: number }
  | { readonly kind: "name"; readonly name: string; readonly at: number }
  | { readonly kind: "unary"; readonly op: string; readonly x: Expression; readonly at: number }
  | {
      readonly kind: "binary";
      readonly op: string;
      readonly left: Expression;
      readonly right: Expression;
      readonly at: number;
    }
  | {
      readonly kind: "call";
      readonly fn: Expression;
      readonly args: readonly Expression[];
      readonly spread: boolean;
      readonly piped: boolean;
      readonly at: number;
    }
  | { readonly kind: "selector"; readonly x: Expression; readonly name: string; readonly at: number }
  | { readonly kind: "index"; readonly x: Expression; readonly index: Expression; readonly at: number }
  | {
      readonly kind: "slice";
      readonly x: Expression;
      readonly low: Expression | undefined;
      readonly high: Expression | undefined;
      /** The bound of the capacity in `s[low:high:max]`. */
      readonly max?: Expression | undefined;
      readonly at: number;
    }
  | { readonly kind: "assert"; readonly x: Expression; readonly type: TypeNode | undefined; readonly at: number }
  | {
      readonly kind: "composite";
      readonly type: TypeNode | undefined;
      readonly elements: readonly Element[];
      readonly at: number;
    }
  | {
      readonly kind: "func";
      readonly params: readonly Param[];
      readonly results: readonly TypeNode[];
      /** Names of the results, when they have some: variables that a bare return gives. */
      readonly resultNames?: readonly Named[];
      readonly body: readonly Statement[];
      readonly at: number;
    }
  | { readonly kind: "lambda"; readonly param: string; readonly body: Expression; readonly at: number }
  | { readonly kind: "type"; readonly type: TypeNode; readonly at: number }
  | { readonly kind: "paren"; readonly x: Expression; readonly at: number }
  | RenderExpression
  | { readonly kind: "default"; readonly x: Expression; readonly otherwise: Expression; readonly at: number }
  /** Stands where an expression could not be read; the problem is recorded already. */
  | { readonly kind: "bad"; readonly at: number };

export interface RenderExpression {
  readonly kind: "render";
  readonly glob: boolean;
  /** The literal path or pattern; undefined when the name is computed. */
  readonly path: string | undefined;
  readonly dynamic: Expression | undefined;
  readonly inheritContext: boolean;
  readonly pathAt: number;
  readonly at: number;
}

export interface Case {
  /** undefined = default. In a type switch: types. */
  readonly values: readonly Expression[] | undefined;
  readonly types: readonly TypeNode[] | undefined;
  readonly body: readonly Statement[];
  readonly fallthrough: boolean;
  readonly at: number;
}

export interface MacroStatement {
  readonly kind: "macro";
  readonly name: string;
  readonly params: readonly Param[];
  readonly result: string | undefined;
  readonly body: readonly Statement[];
  readonly at: number;
}

export type Statement =
  | { readonly kind: "text"; readonly text: string; readonly at: number }
  | { readonly kind: "show"; readonly values: readonly Expression[]; readonly at: number }
  | { readonly kind: "expression"; readonly x: Expression; readonly at: number }
  | {
      readonly kind: "var";
      readonly constant: boolean;
      readonly names: readonly Named[];
      readonly type: TypeNode | undefined;
      readonly values: readonly Expression[];
      /** Row of a `const ( … )` group: the value of `iota`. */
      readonly iota?: number;
      readonly at: number;
    }
  | {
      readonly kind: "assign";
      readonly define: boolean;
      readonly left: readonly Expression[];
      readonly right: readonly Expression[];
      readonly at: number;
    }
  | {
      readonly kind: "update";
      readonly op: string;
      readonly x: Expression;
      readonly value: Expression | undefined;
      readonly at: number;
    }
  | {
      readonly kind: "if";
      readonly init: Statement | undefined;
      readonly condition: Expression;
      readonly body: readonly Statement[];
      readonly otherwise: readonly Statement[] | undefined;
      readonly at: number;
    }
  | {
      readonly kind: "for";
      readonly label: string | undefined;
      readonly init: Statement | undefined;
      readonly condition: Expression | undefined;
      readonly post: Statement | undefined;
      readonly body: readonly Statement[];
      readonly at: number;
    }
  | {
      readonly kind: "range";
      readonly label: string | undefined;
      readonly key: Expression | undefined;
      readonly value: Expression | undefined;
      readonly define: boolean;
      readonly subject: Expression;
      readonly body: readonly Statement[];
      readonly otherwise: readonly Statement[] | undefined;
      readonly at: number;
    }
  | {
      readonly kind: "switch";
      readonly label: string | undefined;
      readonly init: Statement | undefined;
      readonly tag: Expression | undefined;
      readonly binding: string | undefined;
      readonly ofType: boolean;
      readonly cases: readonly Case[];
      readonly at: number;
    }
  | {
      readonly kind: "jump";
      readonly word: "break" | "continue";
      readonly label: string | undefined;
      readonly at: number;
    }
  | { readonly kind: "return"; readonly values: readonly Expression[]; readonly at: number }
  | { readonly kind: "block"; readonly body: readonly Statement[]; readonly at: number }
  /** The statements of one `{%% %%}` tag: no scope of their own. */
  | { readonly kind: "sequence"; readonly body: readonly Statement[]; readonly at: number }
  | MacroStatement
  | {
      readonly kind: "import";
      readonly path: string;
      readonly alias: string | undefined;
      readonly names: readonly Named[];
      readonly pathAt: number;
      readonly at: number;
    }
  | { readonly kind: "extends"; readonly path: string; readonly pathAt: number; readonly at: number }
  /** `type Name T`, or with `alias` `type Name = T`. */
  | {
      readonly kind: "type";
      readonly name: string;
      readonly alias: boolean;
      readonly type: TypeNode;
      readonly at: number;
    }
  /** `{% statement; using %}body{% end %}`: in the statement `itea` is the body's text, or the macro of these parameters. */
  | {
      readonly kind: "using";
      readonly statement: Statement;
      readonly params: readonly Param[] | undefined;
      readonly body: readonly Statement[];
      readonly at: number;
    };

export interface Named {
  readonly name: string;
  readonly at: number;
}
