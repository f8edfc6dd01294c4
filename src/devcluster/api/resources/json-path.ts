/** The JSONPath of printer columns: fields, indexes, `[*]`, and filters `[?(@.type=="Ready")]`. */
import { isFields, own } from "../objects.ts";

type Step = (values: readonly unknown[]) => readonly unknown[];

const literal = (text: string): unknown => {
  const quoted = /^(['"])(.*)\1$/s.exec(text);
  if (quoted !== null) return quoted[2];
  if (text === "true" || text === "false") return text === "true";
  return Number(text);
};

const fieldStep =
  (name: string): Step =>
  (values) =>
    values.flatMap((value) => {
      const found = isFields(value) ? own(value, name) : undefined;
      return found === undefined ? [] : [found];
    });

function filterStep(expression: string): Step {
  const match = /^@((?:\.[\w-]+)*)\s*(==|!=)\s*(.+)$/.exec(expression.trim());
  if (match === null) return () => [];
  const path = evaluateJsonPath(match[1] ?? "");
  const wanted = literal((match[3] ?? "").trim());
  const equal = match[2] === "==";
  return (values) =>
    values.flatMap((value) =>
      Array.isArray(value) ? value.filter((item) => (path(item)[0] === wanted) === equal) : [],
    );
}

function bracketStep(body: string): Step {
  const filter = /^\?\((.*)\)$/s.exec(body);
  if (filter !== null) return filterStep(filter[1] ?? "");
  if (body === "*")
    return (values) =>
      values.flatMap((value) => (Array.isArray(value) ? value : isFields(value) ? Object.values(value) : []));
  if (/^-?\d+$/.test(body)) {
    return (values) =>
      values.flatMap((value) => {
        const found: unknown = Array.isArray(value) ? value.at(Number(body)) : undefined;
        return found === undefined ? [] : [found];
      });
  }
  return fieldStep(String(literal(body)));
}

/** A function that finds the path's values in an object. */
export function evaluateJsonPath(path: string): (value: unknown) => readonly unknown[] {
  const steps: Step[] = [];
  const token = /\.((?:\\.|[^.[\]])+)|\[((?:\?\((?:[^()]|\([^()]*\))*\))|'[^']*'|"[^"]*"|[^\]]*)\]/g;
  for (const match of path.matchAll(token)) {
    if (match[2] !== undefined) steps.push(bracketStep(match[2]));
    else if (match[1] === "*") steps.push(bracketStep("*"));
    else steps.push(fieldStep((match[1] ?? "").replaceAll("\\", "")));
  }
  return (value) => {
    let values: readonly unknown[] = [value];
    for (const step of steps) values = step(values);
    return values;
  };
}
