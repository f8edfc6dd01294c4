/** All template functions, as the checker and the emitted code see them. */
import { parseType, type FunctionType } from "../check/types.ts";
import { TemplateFault } from "../runtime/faults.ts";
import { FunctionValue } from "../runtime/host.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { TemplateFunction } from "./define.ts";
import { archiveFunctions } from "./archives.ts";
import { certificateFunctions } from "./certificates.ts";
import { conditionFunctions } from "./conditions.ts";
import { encodingFunctions } from "./encoding.ts";
import { jsonPathFunctions } from "./jsonpath.ts";
import { listFunctions } from "./lists.ts";
import { mapFunctions } from "./maps.ts";
import { networkFunctions } from "./networks.ts";
import { numberFunctions } from "./numbers.ts";
import { valueTypes } from "./objects.ts";
import { regexFunctions } from "./regex.ts";
import { stringFunctions } from "./strings.ts";
import { timeFunctions } from "./times.ts";
import { valueFunctions } from "./values.ts";

/** Families in the order of the documentation. */
export const families: readonly { readonly title: string; readonly functions: readonly TemplateFunction[] }[] = [
  { title: "Values", functions: valueFunctions },
  { title: "Strings", functions: stringFunctions },
  { title: "Regular expressions and versions", functions: regexFunctions },
  { title: "Lists", functions: listFunctions },
  { title: "Maps", functions: mapFunctions },
  { title: "Numbers", functions: numberFunctions },
  { title: "Encodings and random bytes", functions: encodingFunctions },
  { title: "JSONPath", functions: jsonPathFunctions },
  { title: "Archives", functions: archiveFunctions },
  { title: "Dates and times", functions: timeFunctions },
  { title: "Networks", functions: networkFunctions },
  { title: "Certificates and keys", functions: certificateFunctions },
  { title: "Conditions", functions: conditionFunctions },
];

const functions = new Map<string, { fn: TemplateFunction; type: FunctionType }>();
const table: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
for (const { functions: family } of families) {
  for (const fn of family) {
    const type = parseType(fn.signature, (name) => Object.hasOwn(valueTypes, name));
    if (type.kind !== "func") throw new TypeError(`${fn.name}: signature "${fn.signature}" is not a function's`);
    if (functions.has(fn.name)) throw new TypeError(`function ${fn.name} is defined twice`);
    functions.set(fn.name, { fn, type });
    table[fn.name] = fn.run;
  }
}
Object.freeze(table);

export const natives = {
  functions: functions as ReadonlyMap<string, { readonly fn: TemplateFunction; readonly type: FunctionType }>,
  /** Implementations by name, for emitted code: null prototype, frozen. */
  table,
  /** A native as a value, e.g. in `map(items, toLower)`. Arity and types are checked when it is called. */
  value(name: string): (runtime: Runtime) => FunctionValue {
    const { fn, type } = functions.get(name)!;
    return (runtime) =>
      new FunctionValue((...args) => {
        const fixed = type.variadic ? type.params.length - 1 : type.params.length;
        if (args.length < fixed || (!type.variadic && args.length > fixed))
          throw new TemplateFault(`${name} takes ${fixed} arguments, not ${args.length}`);
        const checked = args.map((arg, i) => runtime.checkType(arg, type.params[Math.min(i, type.params.length - 1)]!));
        return (fn.run as (runtime: Runtime, ...args: unknown[]) => unknown)(runtime, ...checked);
      }, false);
  },
};
