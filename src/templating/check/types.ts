/** The light static types. `any` accepts everything; a type is only trusted where a value was checked on its way in. */
import { literal } from "../emit/code.ts";
import { StatementParser } from "../syntax/statements.ts";
import { scanCode } from "../syntax/tokens.ts";
import type { Expression, Param, TypeNode } from "../syntax/tree.ts";

export type Type =
  | { readonly kind: "any" | "error" | "void" }
  | { readonly kind: "basic"; readonly name: string }
  | { readonly kind: "untyped"; readonly name: "int" | "float" | "rune" | "string" | "bool" | "nil" }
  | { readonly kind: "slice"; readonly element: Type }
  | { readonly kind: "map"; readonly key: Type; readonly element: Type }
  | { readonly kind: "array"; readonly length: number; readonly element: Type }
  | { readonly kind: "pointer"; readonly element: Type }
  | StructType
  | ObjectType
  | FunctionType
  | { readonly kind: "host"; readonly name: string };

/** A struct that a template declares. Its fields are filled in after its name is known, so that it can point to itself. */
export interface StructType {
  readonly kind: "struct";
  readonly name: string;
  /** Distinguishes types of equal names. */
  readonly id: string;
  readonly fields: Map<string, Type>;
}

/** A watched resource or an object in one, known from a schema: plain JSON with known fields, a reference like Go's pointers. */
export interface ObjectType {
  readonly kind: "object";
  /** How templates name it: `resources.gateways.T`, `resources.gateways.SpecListeners`. */
  readonly name: string;
  /** Of a whole resource, for type assertions. */
  readonly resource: { readonly apiVersion: string; readonly kind: string } | undefined;
  /** Other fields than the known ones may be there. */
  readonly open: boolean;
  /** By JSON name or Go-style name. */
  field(name: string): ObjectField | undefined;
  /** JSON names, for hints. */
  names(): readonly string[];
  /** The type of a nested name: `SpecListeners` is the type of an entry of `spec.listeners`. */
  nested(name: string): ObjectType | undefined;
}

export interface ObjectField {
  /** Name in the JSON. */
  readonly json: string;
  readonly type: Type;
  /** Not among the required ones: its zero value counts as absent for dig. */
  readonly optional: boolean;
}

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
/** Structs and arrays are values: storing one copies it. */
export const isValueType = (t: Type): boolean => t.kind === "struct" || t.kind === "array";
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
    case "array":
      return `[${t.length}]${typeName(t.element)}`;
    case "pointer":
      return `*${typeName(t.element)}`;
    case "struct":
    case "object":
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

/** What the runtime compares values of an `any` with: like the name, but structs by their identity, `<T@place>`. */
export function typeKey(t: Type): string {
  switch (t.kind) {
    case "struct":
      return `<${t.id}>`;
    case "object":
      return t.resource === undefined ? "{}" : `{${t.resource.apiVersion}/${t.resource.kind}}`;
    case "slice":
      return `[]${typeKey(t.element)}`;
    case "array":
      return `[${t.length}]${typeKey(t.element)}`;
    case "pointer":
      return `*${typeKey(t.element)}`;
    case "map":
      return `map[${typeKey(t.key)}]${typeKey(t.element)}`;
    default:
      return typeName(t);
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
  return a === b || typeKey(a) === typeKey(b);
}

/** JavaScript text of a type's zero value. */
export function zeroOf(t: Type): string {
  if (isString(t)) return '""';
  if (isNumber(t)) return "0";
  if (isBool(t)) return "false";
  if (t.kind === "struct") {
    const fields = [...t.fields].map(([name, type]) => `[${literal(name)}]: ${zeroOf(type)}`);
    return `$.struct(${literal(t.id)}, {${fields.join(", ")}})`;
  }
  if (t.kind === "array") return `$.array(${t.length}, () => (${zeroOf(t.element)}))`;
  return "null";
}

/** How a value of one type may be used where another is wanted: as it is, after a check while running, or never. */
export function assignable(from: Type, to: Type): "yes" | "check" | "no" {
  if (to.kind === "any") return from.kind === "void" || from.kind === "host" ? "no" : "yes";
  if (from.kind === "any") return "check";
  if (isNil(from)) return to.kind === "basic" || isValueType(to) ? "no" : "yes";
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
  // Objects of resources are plain maps, which a template may pass on as such.
  if (from.kind === "object" && to.kind === "map") return isString(to.key) ? "yes" : "no";
  if (from.kind === "map" && to.kind === "object") return isString(from.key) ? "yes" : "no";
  return sameType(from, to) ? "yes" : "no";
}

/** What names in types mean. */
export interface TypeNames {
  readonly host: (name: string) => boolean;
  /** A type that the template declared. */
  readonly declared?: (name: string) => Type | undefined;
  /** Type of a watched resource, or of an object in it: `resources.gateways.T`, `resources.gateways.SpecListeners`. */
  readonly resource?: (alias: string, nested: string) => Type | undefined;
  readonly unknown: (name: string, at: number) => void;
  readonly invalidKey?: (key: Type, at: number) => void;
  /** Length of an array: a constant. */
  readonly length?: (x: Expression) => number;
}

/** Resolves a written type. Unknown names are given to `unknown` and taken as any. */
export function resolveType(node: TypeNode, names: TypeNames): Type {
  switch (node.kind) {
    case "named": {
      const declared = names.declared?.(node.name);
      if (declared !== undefined) return declared;
      const basic = basicType(node.name);
      if (basic !== undefined) return basic;
      if (names.host(node.name)) return { kind: "host", name: node.name };
      const [base, alias, nested = "T", further] = node.name.split(".");
      if (base === "resources" && alias !== undefined && further === undefined) {
        const type = names.resource === undefined ? ANY : names.resource(alias, nested);
        if (type !== undefined) return type;
      }
      names.unknown(node.name, node.at);
      return ANY;
    }
    case "slice":
      return { kind: "slice", element: resolveType(node.element, names) };
    case "array":
      if (node.length === undefined) {
        names.unknown("[...]", node.at);
        return ANY;
      }
      return { kind: "array", length: names.length?.(node.length) ?? 0, element: resolveType(node.element, names) };
    case "map": {
      const key = resolveType(node.key, names);
      if (key.kind !== "any" && key.kind !== "basic" && key.kind !== "pointer") names.invalidKey?.(key, node.key.at);
      return { kind: "map", key, element: resolveType(node.element, names) };
    }
    case "pointer": {
      const element = resolveType(node.element, names);
      // Objects of resources and of the host are references already.
      return element.kind === "any" || element.kind === "host" || element.kind === "object"
        ? element
        : { kind: "pointer", element };
    }
    case "struct": {
      const fields = new Map(node.fields.map((field) => [field.name, resolveType(field.type, names)]));
      const text = [...fields].map(([name, type]) => `${name} ${typeName(type)}`).join("; ");
      const id = [...fields].map(([name, type]) => `${name} ${typeKey(type)}`).join("; ");
      return { kind: "struct", name: `struct { ${text} }`, id: `struct { ${id} }`, fields };
    }
    case "func":
      return functionType(node.params, node.results, (t) => resolveType(t, names));
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
export function parseType(
  text: string,
  host: (name: string) => boolean = () => false,
  resource?: (alias: string, nested: string) => Type | undefined,
): Type {
  const { tokens } = scanCode(`${text} %}`, 0, "%}", 0);
  const parser = new StatementParser(tokens, text.length);
  const node = parser.type();
  parser.finish();
  return resolveType(node, {
    host,
    ...(resource === undefined ? {} : { resource }),
    unknown: (name) => {
      throw new TypeError(`unknown type ${name} in declaration "${text}"`);
    },
  });
}
