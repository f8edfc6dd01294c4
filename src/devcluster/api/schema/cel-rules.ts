/** x-kubernetes-validations: rules in CEL on any node of a schema. */
import { Environment } from "@marcbachmann/cel-js";
import type { ParseResult } from "@marcbachmann/cel-js";
import { deepEqual, isFields, own, canonicalJson } from "../objects.ts";
import type { Fields } from "../objects.ts";
import { fieldDuplicate, fieldForbidden, fieldInvalid, fieldInvalidUnshown, fieldRequired } from "../status.ts";
import type { FieldError } from "../status.ts";
import { celValue } from "./cel-values.ts";
import { registerKubernetesFunctions } from "./cel-functions.ts";
import type { CelRule, StructuralSchema } from "./structural.ts";

const environment = registerKubernetesFunctions(
  new Environment({
    unlistedVariablesAreDyn: false,
    homogeneousAggregateLiterals: false,
    enableOptionalTypes: true,
  })
    .registerVariable("self", "dyn")
    .registerVariable("oldSelf", "dyn"),
);

const compiled = new Map<string, ParseResult | Error>();

/** The parsed expression, or what is wrong with it. */
export function compileRule(expression: string): ParseResult | Error {
  let result = compiled.get(expression);
  if (result !== undefined) return result;
  try {
    result = environment.parse(expression);
    const checked = result.check();
    if (!checked.valid) result = checked.error ?? new Error("does not type-check");
  } catch (error) {
    result = error instanceof Error ? error : new Error(String(error));
  }
  compiled.set(expression, result);
  return result;
}

const withRules = new WeakMap<object, boolean>();

/** Whether the schema holds a rule at any depth. */
export function hasRules(schema: StructuralSchema): boolean {
  let known = withRules.get(schema);
  if (known === undefined) {
    const below = [
      ...Object.values(schema.properties ?? {}),
      ...(schema.items === undefined ? [] : [schema.items]),
      ...(isFields(schema.additionalProperties) ? [schema.additionalProperties as StructuralSchema] : []),
    ];
    known = (schema["x-kubernetes-validations"]?.length ?? 0) > 0 || below.some(hasRules);
    withRules.set(schema, known);
  }
  return known;
}

const usesOldSelf = (rule: CelRule): boolean => /\boldSelf\b/.test(rule.rule);

function errorOf(rule: CelRule, path: string, message: string, shown: unknown): FieldError {
  const field = rule.fieldPath === undefined ? path : `${path}${rule.fieldPath}`.replace(/^\./, "");
  switch (rule.reason) {
    case "FieldValueForbidden":
      return fieldForbidden(field, message);
    case "FieldValueRequired":
      return fieldRequired(field, message);
    case "FieldValueDuplicate":
      return fieldDuplicate(field, shown);
    default:
      return ruleInvalid(field, shown, message);
  }
}

/** Scalars are told, objects and lists are not. */
const ruleInvalid = (field: string, value: unknown, detail: string): FieldError =>
  typeof value === "object" ? fieldInvalidUnshown(field, detail) : fieldInvalid(field, value, detail);

class Rules {
  readonly errors: FieldError[] = [];

  visit(value: unknown, old: unknown, schema: StructuralSchema, path: string): void {
    if (!hasRules(schema) || value === null || value === undefined) return;
    for (const rule of schema["x-kubernetes-validations"] ?? []) this.#judge(rule, value, old, schema, path);
    if (Array.isArray(value) && schema.items !== undefined) {
      const before = oldItems(old, schema);
      for (const [i, item] of value.entries()) this.visit(item, before(item), schema.items, `${path}[${i}]`);
    } else if (isFields(value)) this.#properties(value, old, schema, path);
  }

  #properties(value: Fields, old: unknown, schema: StructuralSchema, path: string): void {
    const before = isFields(old) ? old : {};
    for (const key of Object.keys(value)) {
      const property = own(schema.properties ?? {}, key);
      const below = property ?? (isFields(schema.additionalProperties) ? schema.additionalProperties : undefined);
      if (below === undefined) continue;
      const at = property === undefined ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
      this.visit(value[key], own(before, key), below, at);
    }
  }

  #judge(rule: CelRule, value: unknown, old: unknown, schema: StructuralSchema, path: string): void {
    if (usesOldSelf(rule) && old === undefined && rule.optionalOldSelf !== true) return;
    // an unchanged value that an added rule would refuse stays allowed
    if (!usesOldSelf(rule) && old !== undefined && deepEqual(value, old)) return;
    const program = compileRule(rule.rule);
    if (program instanceof Error) {
      this.errors.push(
        fieldInvalid(path, schema.type ?? "object", `${program.message} evaluating rule: ${ruleName(rule)}`),
      );
      return;
    }
    const scope = { self: celValue(value, schema), oldSelf: old === undefined ? null : celValue(old, schema) };
    try {
      if (program(scope) === true) return;
    } catch (error) {
      this.errors.push(
        fieldInvalid(path, schema.type ?? "object", `${celFailure(error)} evaluating rule: ${ruleName(rule)}`),
      );
      return;
    }
    this.errors.push(errorOf(rule, path, messageOf(rule, scope), value));
  }
}

const ruleName = (rule: CelRule): string => rule.message ?? rule.rule;

/** What went wrong when an expression ran, as the API server puts it. */
export function celFailure(error: unknown): string {
  const text =
    error instanceof Error
      ? ((error as { summary?: string }).summary ?? error.message.split("\n")[0] ?? "")
      : String(error);
  const missing = /^No such key: (.+)$/i.exec(text);
  return missing === null ? text : `no such key: ${missing[1]}`;
}

function messageOf(rule: CelRule, scope: Record<string, unknown>): string {
  if (rule.messageExpression !== undefined) {
    const program = compileRule(rule.messageExpression);
    if (!(program instanceof Error)) {
      try {
        const text: unknown = program(scope);
        if (typeof text === "string" && text.trim() !== "" && !text.includes("\n")) return text;
      } catch {
        // the rule's own message stands in for an expression that fails
      }
    }
  }
  return rule.message?.trim() ?? `failed rule: ${rule.rule.trim()}`;
}

function oldItems(old: unknown, schema: StructuralSchema): (item: unknown) => unknown {
  const keys = schema["x-kubernetes-list-map-keys"];
  if (!Array.isArray(old) || schema["x-kubernetes-list-type"] !== "map" || keys === undefined) return () => undefined;
  const id = (item: unknown): string =>
    canonicalJson(isFields(item) ? keys.map((key) => own(item, key) ?? null) : item);
  const byKey = new Map(old.map((item) => [id(item), item]));
  return (item) => byKey.get(id(item));
}

/** Findings of all rules of a schema on a value; `old` is what it replaces. */
export function celErrors(value: unknown, old: unknown, schema: StructuralSchema): readonly FieldError[] {
  const rules = new Rules();
  rules.visit(value, old, schema, "");
  return rules.errors;
}
