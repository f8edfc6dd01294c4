/** Validation of a value against a structural schema, in the words of the API server. */
import { RE2JS } from "re2js";
import { canonicalJson, deepEqual, isFields, own } from "../objects.ts";
import type { Fields } from "../objects.ts";
import {
  fieldDuplicate,
  fieldInvalid,
  fieldNotSupported,
  fieldRequired,
  fieldTooLong,
  fieldTooMany,
  fieldTypeInvalid,
} from "../status.ts";
import type { FieldError } from "../status.ts";
import { hasFormat } from "./formats.ts";
import type { StructuralSchema } from "./structural.ts";

const patterns = new Map<string, RE2JS>();

/** Patterns are RE2: no look-around, no back reference, linear time. */
export function compiledPattern(pattern: string): RE2JS {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) patterns.set(pattern, (compiled = RE2JS.compile(pattern)));
  return compiled;
}

const typeName = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "object" ? "object" : typeof value;
};

function typeFits(value: unknown, schema: StructuralSchema): boolean {
  if (schema["x-kubernetes-int-or-string"] === true) return typeof value === "string" || Number.isInteger(value);
  const { type } = schema;
  if (type === undefined || type === "") return true;
  const actual = typeName(value);
  return actual === type || (type === "number" && actual === "integer");
}

const child = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

class Validation {
  readonly errors: FieldError[] = [];

  /** `old`: the stored value, if any; where it is equal, what a newer schema refuses stays allowed. */
  value(value: unknown, old: unknown, schema: StructuralSchema, path: string): void {
    if (old !== undefined && deepEqual(value, old)) return;
    if (value === null && schema.nullable === true) return;
    if (!typeFits(value, schema)) {
      const wanted = schema["x-kubernetes-int-or-string"] === true ? "integer,string" : schema.type;
      const actual = typeName(value);
      const detail = `${path} in body must be of type ${wanted}: ${JSON.stringify(actual)}`;
      this.errors.push(fieldTypeInvalid(path, actual, detail));
    }
    this.#combined(value, schema, path);
    if (typeof value === "string") this.#string(value, schema, path);
    else if (typeof value === "number") this.#number(value, schema, path);
    else if (Array.isArray(value)) this.#list(value, old, schema, path);
    this.#enum(value, schema, path);
    if (isFields(value)) this.#object(value, old, schema, path);
  }

  #enum(value: unknown, schema: StructuralSchema, path: string): void {
    if (schema.enum === undefined || schema.enum.some((allowed) => deepEqual(allowed, value))) return;
    this.errors.push(fieldNotSupported(path, value, schema.enum));
  }

  #string(value: string, schema: StructuralSchema, path: string): void {
    const length = [...value].length;
    // only the first of these is told
    if (schema.maxLength !== undefined && length > schema.maxLength)
      this.errors.push(fieldTooLong(path, schema.maxLength));
    else if (schema.minLength !== undefined && length < schema.minLength) {
      this.#refuse(path, value, `should be at least ${schema.minLength} chars long`);
    } else if (
      schema.pattern !== undefined &&
      schema.pattern !== "" &&
      !compiledPattern(schema.pattern).matcher(value).find()
    ) {
      this.#refuse(path, value, `should match '${schema.pattern}'`);
    }
    if (schema.format !== undefined && hasFormat(value, schema.format) === false) {
      const detail = `${path} in body must be of type ${schema.format}: ${JSON.stringify(value)}`;
      this.errors.push(fieldTypeInvalid(path, value, detail));
    }
  }

  #number(value: number, schema: StructuralSchema, path: string): void {
    const { minimum, maximum, multipleOf } = schema;
    if (multipleOf !== undefined && !Number.isInteger(value / multipleOf)) {
      this.#refuse(path, value, `should be a multiple of ${multipleOf}`);
    }
    if (maximum !== undefined && (schema.exclusiveMaximum === true ? value >= maximum : value > maximum)) {
      this.#refuse(
        path,
        value,
        `should be less than ${schema.exclusiveMaximum === true ? "" : "or equal to "}${maximum}`,
      );
    }
    if (minimum !== undefined && (schema.exclusiveMinimum === true ? value <= minimum : value < minimum)) {
      this.#refuse(
        path,
        value,
        `should be greater than ${schema.exclusiveMinimum === true ? "" : "or equal to "}${minimum}`,
      );
    }
    if (schema.format === "int32" && schema.type === "integer" && Math.abs(value) > 2 ** 31 - 1) {
      this.errors.push(fieldInvalid("", "", `Checked value must be of type integer with format int32 in ${path}`));
    }
  }

  #list(value: readonly unknown[], old: unknown, schema: StructuralSchema, path: string): void {
    if (schema.maxItems !== undefined && value.length > schema.maxItems) {
      this.errors.push(fieldTooMany(path, value.length, schema.maxItems));
    }
    if (schema.minItems !== undefined && value.length < schema.minItems) {
      this.#refuse(path, value.length, `should have at least ${schema.minItems} items`);
    }
    this.#duplicates(value, schema, path);
    if (schema.items === undefined) return;
    const before = oldItems(old, schema);
    for (const [i, item] of value.entries()) this.value(item, before(item), schema.items, `${path}[${i}]`);
  }

  #duplicates(value: readonly unknown[], schema: StructuralSchema, path: string): void {
    const type = schema["x-kubernetes-list-type"];
    if (type !== "set" && type !== "map") return;
    const keys = schema["x-kubernetes-list-map-keys"] ?? [];
    const seen = new Set<string>();
    for (const [i, item] of value.entries()) {
      const id = type === "set" ? item : keysOf(item, keys);
      const text = canonicalJson(id);
      if (seen.has(text)) this.errors.push(fieldDuplicate(`${path}[${i}]`, id));
      seen.add(text);
    }
  }

  #object(value: Fields, old: unknown, schema: StructuralSchema, path: string): void {
    const before = isFields(old) ? old : {};
    const properties = (schema.properties ?? {}) as Fields;
    const count = Object.keys(value).length;
    if (schema.maxProperties !== undefined && count > schema.maxProperties) {
      this.errors.push(fieldTooMany(path, count, schema.maxProperties));
    }
    if (schema.minProperties !== undefined && count < schema.minProperties) {
      this.#refuse(path, count, `should have at least ${schema.minProperties} properties`);
    }
    const extra = schema.additionalProperties;
    for (const key of Object.keys(value)) {
      if (path === "" && (key === "metadata" || key === "apiVersion" || key === "kind")) continue;
      const property = own(properties, key) ?? (isFields(extra) ? extra : undefined);
      if (property !== undefined) this.value(value[key], own(before, key), property, child(path, key));
    }
    for (const key of schema.required ?? []) {
      if (own(value, key) === undefined) this.errors.push(fieldRequired(child(path, key)));
    }
  }

  #combined(value: unknown, schema: StructuralSchema, path: string): void {
    const fits = (part: StructuralSchema): boolean => judge(value, part, path).length === 0;
    const whole = (text: string): void => {
      this.errors.push(fieldInvalid("", "", `${JSON.stringify(path)} ${text}`));
    };
    for (const part of schema.allOf ?? []) this.errors.push(...judge(value, part, path));
    if (schema.anyOf !== undefined && schema.anyOf.length > 0 && !schema.anyOf.some(fits)) {
      whole("must validate at least one schema (anyOf)");
      this.errors.push(...bestErrors(value, schema.anyOf, path));
    }
    if (schema.oneOf !== undefined && schema.oneOf.length > 0) {
      const count = schema.oneOf.filter(fits).length;
      if (count !== 1) {
        const found = count === 0 ? "Found none valid" : `Found ${count} valid alternatives`;
        whole(`must validate one and only one schema (oneOf). ${found}`);
        if (count === 0) this.errors.push(...bestErrors(value, schema.oneOf, path));
      }
    }
    if (schema.not !== undefined && fits(schema.not)) whole("must not validate the schema (not)");
  }

  #refuse(path: string, value: unknown, detail: string): void {
    this.errors.push(fieldInvalid(path, value, `${path} in body ${detail}`));
  }
}

const keysOf = (item: unknown, keys: readonly string[]): Fields => {
  const found: Fields = {};
  if (isFields(item)) for (const key of keys) if (own(item, key) !== undefined) found[key] = own(item, key);
  return found;
};

/** The findings of the alternative that came closest. */
function bestErrors(value: unknown, parts: readonly StructuralSchema[], path: string): readonly FieldError[] {
  const all = parts.map((part) => judge(value, part, path));
  return all.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

/** Finds an item's old version: by key for map lists; other lists are compared as a whole only. */
function oldItems(old: unknown, schema: StructuralSchema): (item: unknown) => unknown {
  const keys = schema["x-kubernetes-list-map-keys"];
  if (!Array.isArray(old) || schema["x-kubernetes-list-type"] !== "map" || keys === undefined) return () => undefined;
  const byKey = new Map(old.map((item) => [canonicalJson(keysOf(item, keys)), item]));
  return (item) => byKey.get(canonicalJson(keysOf(item, keys)));
}

function judge(value: unknown, schema: StructuralSchema, path: string): readonly FieldError[] {
  const validation = new Validation();
  validation.value(value, undefined, schema, path);
  return validation.errors;
}

/** Everything that is wrong with a value; `old` is what it replaces. */
export function schemaErrors(value: unknown, old: unknown, schema: StructuralSchema, path = ""): readonly FieldError[] {
  const validation = new Validation();
  validation.value(value, old, schema, path);
  return validation.errors;
}
