/** The oracle's functions, written from the reference page, one small body each. */
import { ANY, BOOL, ERROR, FLOAT, INT, STRING, type Type, type Value } from "../values.ts";
import { encodingFunctions } from "./encodings.ts";
import { listFunctions } from "./lists.ts";
import { moreFunctions } from "./more.ts";
import { stringFunctions } from "./strings.ts";
import { valueFunctions } from "./values.ts";

export interface Native {
  readonly params: readonly Type[];
  readonly variadic: boolean;
  readonly results: readonly Type[];
  /** A result type that follows those of the arguments. */
  readonly typed?: (args: readonly Type[]) => Type;
  readonly run: (run: { readonly seen: Set<string> }, ...args: Value[]) => Value;
}

/** `"string, ...any -> int"` with its body. */
export type Row = readonly [
  signature: string,
  run: (run: { readonly seen: Set<string> }, ...args: never[]) => Value,
  typed?: (args: readonly Type[]) => Type,
];

const FUNCTION: Type = { k: "func", params: [ANY], variadic: false, results: [ANY] };
const TYPES: Readonly<Record<string, Type>> = {
  any: ANY,
  string: STRING,
  int: INT,
  float64: FLOAT,
  bool: BOOL,
  error: ERROR,
  func: FUNCTION,
  host: { k: "host" },
  "[]any": { k: "slice", e: ANY },
  "[]string": { k: "slice", e: STRING },
  "[]int": { k: "slice", e: INT },
  "map[string]any": { k: "map", key: STRING, e: ANY },
  "map[string]string": { k: "map", key: STRING, e: STRING },
};

function native([signature, run, typed]: Row): Native {
  const [from = "", to = ""] = signature.split("->").map((part) => part.trim());
  const list = (text: string): string[] => (text === "" ? [] : text.split(",").map((part) => part.trim()));
  const params = list(from);
  return {
    params: params.map((name) => TYPES[name.replace("...", "")]!),
    variadic: params.at(-1)?.startsWith("...") ?? false,
    results: list(to).map((name) => TYPES[name]!),
    run: run as Native["run"],
    ...(typed === undefined ? {} : { typed }),
  };
}

export const functionTable: ReadonlyMap<string, Native> = new Map(
  Object.entries({
    ...valueFunctions,
    ...stringFunctions,
    ...listFunctions,
    ...encodingFunctions,
    ...moreFunctions,
  }).map(([name, row]) => [name, native(row)]),
);
