/**
 * Types of API objects, as far as merging them needs to know: built-in kinds (compact-types.ts) and custom resources
 * (structural.ts) both give such a tree; server-side apply, strategic merge, decoding and managed fields walk it.
 */

export type ScalarType =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "double"
  | "bytes"
  | "time"
  | "microTime"
  | "quantity"
  | "intOrString";

export interface ScalarNode {
  readonly kind: "scalar";
  readonly type: ScalarType;
}

export interface FieldNode {
  readonly type: TypeNode;
  /** Protobuf field number; 0 where there is none. */
  readonly number: number;
  /** How Go writes the field: always, unless it is empty, or when its pointer is set. */
  readonly presence: "always" | "omitEmpty" | "pointer";
  /** Strategic merge: a patch that sets a field clears the others (`$retainKeys`). */
  readonly retainKeys: boolean;
  /** The default of the schema, used for the keys of list maps. */
  readonly default?: unknown;
}

export interface StructNode {
  readonly kind: "struct";
  readonly name: string;
  readonly fields: Map<string, FieldNode>;
  readonly atomic: boolean;
  /** Unknown fields are kept (x-kubernetes-preserve-unknown-fields). */
  readonly open: boolean;
  /** Protobuf numbers of inlined structs: their fields are found one level deeper on the wire. */
  readonly inlined: ReadonlyMap<number, StructNode>;
  readonly nullable?: boolean;
}

export interface MapNode {
  readonly kind: "map";
  readonly values: TypeNode;
  readonly atomic: boolean;
}

export interface ListNode {
  readonly kind: "list";
  readonly items: TypeNode;
  readonly list: "atomic" | "set" | "map";
  readonly keys: readonly string[];
  /** Strategic merge: merged by this key; "" = merged as a set; undefined = replaced. */
  readonly mergeKey: string | undefined;
}

/** Anything: maps are merged key by key, lists are atomic. */
export interface AnyNode {
  readonly kind: "any";
}

export type TypeNode = ScalarNode | StructNode | MapNode | ListNode | AnyNode;

export const anyNode: AnyNode = { kind: "any" };
const untypedList: ListNode = { kind: "list", items: anyNode, list: "atomic", keys: [], mergeKey: undefined };
const untypedMap: MapNode = { kind: "map", values: anyNode, atomic: false };

/** What an untyped value is taken for. */
export function deduce(node: TypeNode, value: unknown): TypeNode {
  if (node.kind !== "any") return node;
  if (Array.isArray(value)) return untypedList;
  if (typeof value === "object" && value !== null) return untypedMap;
  return node;
}

/** The type of the field `name` of a struct or map; unknown fields of an open struct are untyped. */
export function fieldType(node: TypeNode, name: string): TypeNode | undefined {
  if (node.kind === "map") return node.values;
  if (node.kind === "any") return anyNode;
  if (node.kind !== "struct") return undefined;
  return node.fields.get(name)?.type ?? (node.open ? anyNode : undefined);
}
