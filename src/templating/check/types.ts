/** The light static types. `any` accepts everything; a type is only trusted where a value was checked on its way in. */
import { StatementParser } from "../syntax/statements.ts";
import { scanCode } from "../syntax/tokens.ts";
import type { Param, TypeNode } from "../syntax/tree.ts";

export type Type =
  | { readonly kind: "any" | "error" | "void" }
  | { readonly kind: "basic"; readonly name: string }
  | { readonly kind: "untyped"; readonly name: "int" | "float" | "rune" | "string" | "bool" | "nil" }
  | { readonly kind: "slice"; readonly element: Type }
  | { readonly kind: "map"; readonly key: Type; readonly element: Type }
  | FunctionType
  | { readonly kind: "host"; readonly name: string };

export interface FunctionType {
  readonly kind: "func";
  readonly params: readonly Type[];
  /** Whether the last parameter takes any number of values; its type is then the element's. */
  readonly variadic: boolean;
  readonly results: readonly Type[];
}

export const ANY: Type = { kind: "any" };
export const ERROR: Type = { kind: "error" };
export const VOID: Type = { kind: "void" };
export const STRING: Type = { kind: "basic", name: "string" };
export const BOOL: Type = { kind: "basic", name: "bool" };
export const INT: Type = { kind: "basic", name: "int" };
export const FLOAT: Type = { kind: "basic", name: "float64" };
export const UINT8: Type = { kind: "basic", name: "uint8" };
export const RUNE: Type = { kind: "basic", name: "int32" };
export const ANY_SLICE: Type = { kind: "slice", element: ANY };

const INTEGERS = new Map<string, string>([
  ["int", "int"],
  ["int8", "int8"],
  ["int16", "int16"],
  ["int32", "int32"],
  ["int64", "int64"],
  ["rune", "int32"],
  ["uint", "uint"],
  ["uint8", "uint8"],
  ["uint16", "uint16"],
  ["uint32", "uint32"],
  ["uint64", "uint64"],
  ["byte", "uint8"],
]);
const FLOATS: ReadonlySet<string> = new Set(["float64", "float32"]);
/** The formatted string types of the language; here they are all plain text. */
const TEXTS: ReadonlySet<string> = new Set(["string", "html", "css", "js", "json", "markdown"]);

/** The type a predeclared name stands for. */
export function basicType(name: string): Type | undefined {
  const integer = INTEGERS.get(name);
  if (integer !== undefined) return { kind: "basic", name: integer };
  if (FLOATS.has(name)) return { kind: "basic", name };
  if (TEXTS.has(name)) return STRING;
  if (name === "bool") return BOOL;
  if (name === "any") return ANY;
  if (name === "error") return ERROR;
  return undefined;
}

export const isString = (t: Type): boolean =>
  (t.kind === "basic" && t.name === "string") || (t.kind === "untyped" && t.name === "string");
export const isBool = (t: Type): boolean => (t.kind === "basic" || t.kind === "untyped") && t.name === "bool";
export const isNil = (t: Type): boolean => t.kind === "untyped" && t.name === "nil";
export const isFloat = (t: Type): boolean =>
  (t.kind === "basic" && FLOATS.has(t.name)) || (t.kind === "untyped" && t.name === "float");
export const isInteger = (t: Type): boolean =>
  (t.kind === "basic" && INTEGERS.has(t.name)) || (t.kind === "untyped" && (t.name === "int" || t.name === "rune"));
export const isNumber = (t: Type): boolean => isInteger(t) || isFloat(t);

export function typeName(t: Type): string {
  switch (t.kind) {
    case "any":
      return "any";
    case "error":
      return "error";
    case "void":
      return "no value";
    case "basic":
      return t.name;
    case "untyped":
      return t.name === "nil" ? "nil" : `untyped ${t.name}`;
    case "slice":
      return `[]${typeName(t.element)}`;
    case "map":
      return `map[${typeName(t.key)}]${typeName(t.element)}`;
    case "host":
      return t.name;
    case "func": {
      const params = t.params
        .map((p, i) => (t.variadic && i === t.params.length - 1 ? `...${typeName(p)}` : typeName(p)))
        .join(", ");
      const results =
        t.results.length > 1
          ? ` (${t.results.map(typeName).join(", ")})`
          : t.results.length === 1
            ? ` ${typeName(t.results[0]!)}`
            : "";
      return `func(${params})${results}`;
    }
  }
}

/** The type a variable takes from an untyped constant. */
export function defaultType(t: Type): Type {
  if (t.kind !== "untyped") return t.kind === "void" ? ANY : t;
  switch (t.name) {
    case "int":
      return INT;
    case "float":
      return FLOAT;
    case "rune":
      return RUNE;
    case "string":
      return STRING;
    case "bool":
      return BOOL;
    case "nil":
      return ANY;
  }
}

export function sameType(a: Type, b: Type): boolean {
  return a === b || typeName(a) === typeName(b);
}

/** JavaScript text of a type's zero value. */
export function zeroOf(t: Type): string {
  if (isString(t)) return '""';
  if (isNumber(t)) return "0";
  if (isBool(t)) return "false";
  return "null";
}

/** How a value of one type may be used where another is wanted: as it is, after a check while running, or never. */
export function assignable(from: Type, to: Type): "yes" | "check" | "no" {
  if (to.kind === "any") return from.kind === "void" || from.kind === "host" ? "no" : "yes";
  if (from.kind === "any") return "check";
  if (isNil(from)) return to.kind === "basic" ? "no" : "yes";
  if (from.kind === "untyped") {
    if (isString(from)) return isString(to) ? "yes" : "no";
    if (isBool(from)) return isBool(to) ? "yes" : "no";
    return isNumber(to) ? "yes" : "no";
  }
  if (isNumber(from) && isNumber(to)) return sameType(from, to) || (isInteger(from) && isInteger(to)) ? "yes" : "no";
  if (from.kind === "slice" && to.kind === "slice") return "yes";
  if (from.kind === "map" && to.kind === "map")
    return sameType(from.key, to.key) || from.key.kind === "any" || to.key.kind === "any" ? "yes" : "no";
  if (from.kind === "func" && to.kind === "func") return "yes";
  return sameType(from, to) ? "yes" : "no";
}

/** Resolves a written type; `host` knows the names of host types. Undefined = unknown name (given to `unknown`). */
export function resolveType(
  node: TypeNode,
  host: (name: string) => boolean,
  unknown: (name: string, at: number) => void,
): Type {
  switch (node.kind) {
    case "named": {
      const basic = basicType(node.name);
      if (basic !== undefined) return basic;
      if (host(node.name)) return { kind: "host", name: node.name };
      // Types of watched resources (`resources.ingresses.T`) are objects of unknown shape.
      if (/^resources\.\w+(\.T)?$/.test(node.name)) return ANY;
      unknown(node.name, node.at);
      return ANY;
    }
    case "slice":
      return { kind: "slice", element: resolveType(node.element, host, unknown) };
    case "map":
      return {
        kind: "map",
        key: resolveType(node.key, host, unknown),
        element: resolveType(node.element, host, unknown),
      };
    case "pointer":
      return resolveType(node.element, host, unknown);
    case "func":
      return functionType(node.params, node.results, (t) => resolveType(t, host, unknown));
  }
}

export function functionType(
  params: readonly Param[],
  results: readonly TypeNode[],
  resolve: (node: TypeNode) => Type,
): FunctionType {
  return {
    kind: "func",
    params: params.map((p) => (p.type === undefined ? ANY : resolve(p.type))),
    variadic: params.at(-1)?.variadic ?? false,
    results: results.map(resolve),
  };
}

/** Reads a type or signature written as text in a declaration, e.g. `func(key any, make func() any) (any, bool)`. */
export function parseType(text: string, host: (name: string) => boolean = () => false): Type {
  const { tokens } = scanCode(`${text} %}`, 0, "%}", 0);
  const parser = new StatementParser(tokens, text.length);
  const node = parser.type();
  parser.finish();
  return resolveType(node, host, (name) => {
    throw new TypeError(`unknown type ${name} in declaration "${text}"`);
  });
}
