/** matchConditions of webhooks: CEL over the object, the old one and the request. */
import { Environment } from "@marcbachmann/cel-js";
import type { ParseResult } from "@marcbachmann/cel-js";
import { stringAt } from "../objects.ts";
import type { Fields } from "../objects.ts";
import { registerKubernetesFunctions } from "../schema/cel-functions.ts";
import { celFailure } from "../schema/cel-rules.ts";
import { celValue } from "../schema/cel-values.ts";

const environment = registerKubernetesFunctions(
  new Environment({ unlistedVariablesAreDyn: false, homogeneousAggregateLiterals: false, enableOptionalTypes: true })
    .registerVariable("object", "dyn")
    .registerVariable("oldObject", "dyn")
    .registerVariable("request", "dyn"),
);

const compiled = new Map<string, ParseResult | Error>();

function programOf(expression: string): ParseResult | Error {
  let program = compiled.get(expression);
  if (program === undefined) {
    try {
      program = environment.parse(expression);
    } catch (error) {
      program = error instanceof Error ? error : new Error(String(error));
    }
    compiled.set(expression, program);
  }
  return program;
}

function judge(expression: string, scope: Record<string, unknown>): boolean | Error {
  const program = programOf(expression);
  const failed = (why: string): Error => new Error(`expression '${expression}' resulted in error: ${why}`);
  if (program instanceof Error) return failed(celFailure(program));
  try {
    return program(scope) === true;
  } catch (error) {
    return failed(celFailure(error));
  }
}

/** Whether all conditions hold for a review's request; one that is false decides, also where another one fails. */
export function conditionsHold(conditions: readonly unknown[], request: Fields): boolean | Error {
  const { object, oldObject, ...rest } = request;
  const scope = {
    object: celValue(object ?? null, {}),
    oldObject: celValue(oldObject ?? null, {}),
    request: celValue(rest, {}),
  };
  const results = conditions.map((condition) => judge(stringAt(condition, "expression"), scope));
  if (results.includes(false)) return false;
  return results.find((result) => result instanceof Error) ?? true;
}
