/** Client-side field selector of a watched resource: `path=value`, on any field. */
import { JsonPathError } from "../errors.ts";
import { allValues, parsePrefix, type JsonPath } from "./json-path.ts";

export interface FieldSelector {
  readonly text: string;
  matches(object: unknown): boolean;
}

const EVERYTHING: FieldSelector = { text: "", matches: () => true };

/**
 * Parses `path=value` (`path==value` means the same, as kubectl has it); "" selects everything. An object matches when any
 * selected value, written as text, equals `value`; a missing field equals the empty value. Throws JsonPathError.
 */
export function parseFieldSelector(text: string): FieldSelector {
  if (text.trim() === "") return EVERYTHING;
  const { segments, end } = parsePrefix(text);
  if (text[end] !== "=") throw new JsonPathError(text, end + 1, 'a field selector needs "=value"');
  const path: JsonPath = { text: text.slice(0, end), segments };
  const wanted = text.slice(text[end + 1] === "=" ? end + 2 : end + 1);
  return {
    text,
    matches(object) {
      const values = allValues(path, object).map(scalarText);
      return values.some((value) => value !== undefined) ? values.includes(wanted) : wanted === "";
    },
  };
}

/** A scalar as the text that keys and selectors compare; undefined for null, objects and lists. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return undefined;
}
