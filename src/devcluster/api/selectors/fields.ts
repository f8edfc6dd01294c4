/** Field selectors: `metadata.name=a,status.phase!=Running`, over the fields that a resource knows. */
import type { ApiObject } from "../objects.ts";
import { badRequest } from "../status.ts";

export type FieldReader = (object: ApiObject) => string;
export type FieldReaders = ReadonlyMap<string, FieldReader>;

export interface FieldSelector {
  matches(object: ApiObject): boolean;
  /** The name that `metadata.name=` demands: such a read need not walk the list. */
  readonly name: string | undefined;
}

export const metadataFields: FieldReaders = new Map([
  ["metadata.name", (object) => object.metadata.name],
  ["metadata.namespace", (object) => object.metadata.namespace ?? ""],
]);

/** Splits at commas; `\,`, `\=` and `\\` are literal. */
function split(text: string): string[] {
  return (text.match(/(?:\\.|[^,\\])+/g) ?? []).filter((term) => term !== "");
}

/** Undefined when the selector selects everything. `unknown` words the refusal of an unknown field. */
export function parseFieldSelector(
  text: string,
  readers: FieldReaders,
  unknown: (field: string) => string,
): FieldSelector | undefined {
  if (text.trim() === "") return undefined;
  let name: string | undefined;
  const tests: ((object: ApiObject) => boolean)[] = [];
  for (const term of split(text)) {
    const match = /^([^=!]+?)(==|!=|=)(.*)$/s.exec(term.trim());
    if (match === null) throw badRequest(`invalid field selector: "${term}"; can't understand "${term}"`);
    const [, field = "", operator, escaped = ""] = match;
    const value = escaped.replaceAll(/\\(.)/g, "$1");
    const reader = readers.get(field);
    if (reader === undefined) throw badRequest(unknown(field));
    if (operator === "!=") tests.push((object) => reader(object) !== value);
    else {
      tests.push((object) => reader(object) === value);
      if (field === "metadata.name") name = value;
    }
  }
  return { matches: (object) => tests.every((test) => test(object)), name };
}
