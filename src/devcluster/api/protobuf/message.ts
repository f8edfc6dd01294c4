/** Messages of the built-in types, read by the field numbers of their type tree into the JSON form. */
import { setOwn } from "../objects.ts";
import type { Fields } from "../objects.ts";
import type { ScalarType, StructNode, TypeNode } from "../schema/type-node.ts";
import { bytesField, readFields } from "./wire.ts";
import type { WireValue } from "./wire.ts";

const asText = (value: WireValue): string => (Buffer.isBuffer(value) ? value.toString("utf8") : String(value));
const asNumber = (value: WireValue): number => (Buffer.isBuffer(value) ? 0 : Number(BigInt.asIntN(64, value)));

/** Time{1 seconds, 2 nanos}; an empty message is no time. */
function timeOf(value: WireValue, micro: boolean): string | undefined {
  if (!Buffer.isBuffer(value) || value.length === 0) return undefined;
  const fields = readFields(value);
  const number = (n: number): number => asNumber(fields.find((field) => field.number === n)?.value ?? 0n);
  const seconds = number(1);
  if (seconds === 0 || seconds === -62_135_596_800) return undefined;
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return micro ? `${whole}.${String(Math.floor(number(2) / 1000)).padStart(6, "0")}Z` : `${whole}Z`;
}

/** IntOrString{1 type, 2 intVal, 3 strVal}. */
function intOrString(value: WireValue): unknown {
  if (!Buffer.isBuffer(value)) return asNumber(value);
  const fields = readFields(value);
  const find = (n: number): WireValue => fields.find((field) => field.number === n)?.value ?? 0n;
  return asNumber(find(1)) === 1 ? asText(find(3)) : asNumber(find(2));
}

function readScalar(value: WireValue, type: ScalarType): unknown {
  switch (type) {
    case "string":
      return asText(value);
    case "bool":
      return asNumber(value) !== 0;
    case "int32":
    case "int64":
      return asNumber(value);
    case "double":
      return Buffer.isBuffer(value) ? value.readDoubleLE(0) : Number(value);
    case "bytes":
      return Buffer.isBuffer(value) ? value.toString("base64") : "";
    case "time":
    case "microTime":
      return timeOf(value, type === "microTime");
    case "quantity":
      return Buffer.isBuffer(value) ? (bytesField(readFields(value), 1)?.toString("utf8") ?? "0") : "0";
    case "intOrString":
      return intOrString(value);
  }
}

function readValue(value: WireValue, node: TypeNode): unknown {
  if (node.kind === "scalar") return readScalar(value, node.type);
  if (!Buffer.isBuffer(value)) return undefined;
  if (node.kind === "struct") return readMessage(value, node);
  // a raw extension: {1 raw}
  const raw = bytesField(readFields(value), 1);
  return raw === undefined ? undefined : (JSON.parse(raw.toString("utf8")) as unknown);
}

function readEntry(value: WireValue, values: TypeNode, into: Fields): void {
  if (!Buffer.isBuffer(value)) return;
  const fields = readFields(value);
  const key = bytesField(fields, 1)?.toString("utf8") ?? "";
  const item = fields.find((field) => field.number === 2)?.value ?? Buffer.alloc(0);
  setOwn(into, key, readValue(item, values));
}

interface OwnField {
  readonly name: string;
  readonly type: TypeNode;
}

const ownFields = new WeakMap<StructNode, ReadonlyMap<number, OwnField>>();

/** The struct's fields by number, without those of inlined structs (whose numbers are their own). */
function fieldsByNumber(node: StructNode): ReadonlyMap<number, OwnField> {
  let known = ownFields.get(node);
  if (known === undefined) {
    const inlined = new Set([...node.inlined.values()].flatMap((inner) => Array.from(inner.fields.keys())));
    const own = [...node.fields].filter(([name]) => !inlined.has(name));
    known = new Map(own.map(([name, field]) => [field.number, { name, type: field.type }]));
    ownFields.set(node, known);
  }
  return known;
}

/** A message as the JSON object that it stands for. */
export function readMessage(bytes: Buffer, node: StructNode): Fields {
  const byNumber = fieldsByNumber(node);
  const result: Fields = {};
  for (const { number, value } of readFields(bytes)) {
    const inner = node.inlined.get(number);
    const field = byNumber.get(number);
    if (inner !== undefined) {
      if (Buffer.isBuffer(value)) Object.assign(result, readMessage(value, inner));
    } else if (field?.type.kind === "list") {
      const list = (result[field.name] ??= []) as unknown[];
      list.push(readValue(value, field.type.items));
    } else if (field?.type.kind === "map") {
      readEntry(value, field.type.values, (result[field.name] ??= {}) as Fields);
    } else if (field !== undefined) {
      const read = readValue(value, field.type);
      if (read !== undefined) result[field.name] = read;
    }
  }
  return result;
}
