/**
 * Reads the JSON of a built-in kind the way Go's decoder and encoder do together: unknown fields are told and dropped,
 * empty fields vanish or appear according to their declaration, a wrong type is an error.
 */
import { isFields, own, setOwn } from "../objects.ts";
import type { Fields } from "../objects.ts";
import type { FieldNode, ScalarType, StructNode, TypeNode } from "./type-node.ts";

/** A value that does not fit; `message` as Go's decoder words it. */
export class DecodeError extends Error {}

export interface DecodeReport {
  /** Paths of fields that the type does not have. */
  readonly unknown: string[];
}

const goType: Readonly<Record<ScalarType, string>> = {
  string: "string",
  bool: "bool",
  int32: "int32",
  int64: "int64",
  double: "float64",
  bytes: "[]uint8",
  time: "string",
  microTime: "string",
  quantity: "string",
  intOrString: "int32",
};

const jsonKind = (value: unknown): string => {
  if (Array.isArray(value)) return "array";
  if (value === null) return "null";
  return typeof value === "boolean" ? "bool" : typeof value;
};

const mismatch = (value: unknown, owner: string, path: string, type: string): DecodeError => {
  const place = `${owner}${path === "" ? "" : `.${path.replaceAll(/\[\d+\]/g, "")}`}`;
  return new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go struct field ${place} of type ${type}`);
};

const MICRO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}(Z|[+-]\d\d:\d\d)$/;
const SECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decodeTime(text: string, micro: boolean): string {
  const layout = micro ? "2006-01-02T15:04:05.000000Z07:00" : "2006-01-02T15:04:05Z07:00";
  const matched = (micro ? MICRO : SECONDS).test(text);
  const ms = Date.parse(text);
  if (!matched || Number.isNaN(ms)) {
    const head = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.exec(text)?.[0] ?? "";
    const [rest, wanted] = head === "" ? [text, "2006"] : [text.slice(head.length), micro ? ".000000" : "Z07:00"];
    throw new DecodeError(
      `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(wanted)}`,
    );
  }
  if (text.endsWith("Z") && (micro || !text.includes("."))) return text;
  const utc = new Date(ms).toISOString();
  return micro ? `${utc.slice(0, 20)}${text.slice(20, 26)}Z` : `${utc.slice(0, 19)}Z`;
}

function decodeScalar(value: unknown, type: ScalarType, owner: string, path: string): unknown {
  switch (type) {
    case "string":
      if (typeof value === "string") return value;
      break;
    case "bool":
      if (typeof value === "boolean") return value;
      break;
    case "int32":
    case "int64":
      if (typeof value === "number") {
        if (Number.isInteger(value) && (type === "int64" || Math.abs(value) < 2 ** 31)) return value;
        throw new DecodeError(
          `json: cannot unmarshal number ${value} into Go struct field ${owner}.${path} of type ${goType[type]}`,
        );
      }
      break;
    case "double":
      if (typeof value === "number") return value;
      break;
    case "bytes":
      if (typeof value === "string") {
        const compact = value.replaceAll(/[\r\n]/g, "");
        if (BASE64.test(compact)) return compact;
        const bad = compact.search(/[^A-Za-z0-9+/]/);
        throw new DecodeError(`illegal base64 data at input byte ${bad === -1 ? compact.length : bad}`);
      }
      break;
    case "time":
    case "microTime":
      if (typeof value === "string") return decodeTime(value, type === "microTime");
      break;
    case "quantity":
      if (typeof value === "string" || typeof value === "number") return String(value);
      break;
    case "intOrString":
      if (typeof value === "string" || Number.isInteger(value)) return value;
      break;
  }
  throw mismatch(value, owner, path, goType[type]);
}

/** What an absent field is written as when Go always writes it. */
export function zeroOf(node: TypeNode): unknown {
  if (node.kind === "struct") return decodeStruct({}, node, "", { unknown: [] });
  if (node.kind !== "scalar") return null;
  if (node.type === "string") return "";
  if (node.type === "bool") return false;
  if (node.type === "time" || node.type === "microTime" || node.type === "bytes") return null;
  return node.type === "quantity" ? "0" : 0;
}

function empty(value: unknown): boolean {
  if (value === null || value === undefined || value === "" || value === false || value === 0) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isFields(value) && Object.keys(value).length === 0;
}

const join = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

function setField(result: Fields, name: string, field: FieldNode, value: unknown): void {
  const known = value !== undefined && value !== null;
  if (known && (field.presence !== "omitEmpty" || !empty(value))) setOwn(result, name, value);
  else if (field.presence === "always") setOwn(result, name, zeroOf(field.type));
}

function decodeStruct(value: Fields, node: StructNode, path: string, report: DecodeReport): Fields {
  const result: Fields = {};
  for (const [name, field] of node.fields) {
    const given = own(value, name);
    const decoded =
      given === undefined || given === null
        ? undefined
        : decodeValue(given, field.type, node.name, join(path, name), report);
    setField(result, name, field, decoded);
  }
  for (const name of Object.keys(value)) if (!node.fields.has(name)) report.unknown.push(join(path, name));
  return result;
}

function decodeValue(value: unknown, node: TypeNode, owner: string, path: string, report: DecodeReport): unknown {
  switch (node.kind) {
    case "any":
      return value;
    case "scalar":
      return decodeScalar(value, node.type, owner, path);
    case "struct":
      if (!isFields(value)) throw mismatch(value, owner, path, node.name);
      return decodeStruct(value, node, path, report);
    case "map": {
      if (!isFields(value)) throw mismatch(value, owner, path, "map[string]string");
      const result: Fields = {};
      for (const key of Object.keys(value)) {
        const item = value[key];
        const decoded =
          item === null ? zeroOf(node.values) : decodeValue(item, node.values, owner, join(path, key), report);
        setOwn(result, key, decoded ?? "");
      }
      return result;
    }
    case "list":
      if (!Array.isArray(value)) throw mismatch(value, owner, path, "[]");
      return value.map((item, i) =>
        item === null ? zeroOf(node.items) : decodeValue(item, node.items, owner, `${path}[${i}]`, report),
      );
  }
}

/** Decodes a whole object: apiVersion and kind stay, the rest becomes what the API server would store. */
export function decodeObject(value: Fields, node: StructNode, report: DecodeReport): Fields {
  const { apiVersion, kind, ...rest } = value;
  const head: Fields = {};
  if (kind !== undefined) head["kind"] = kind;
  if (apiVersion !== undefined) head["apiVersion"] = apiVersion;
  return { ...head, ...decodeStruct(rest, node, "", report) };
}
