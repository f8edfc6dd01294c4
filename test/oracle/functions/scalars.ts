/** What many functions of the oracle do with their arguments. */
import { Failure, fromJson, Func, Host, keyText, settle, show, Slice, Stop, Table, type Value } from "../values.ts";

/** Text of a scalar; slices and maps fail. */
export function scalar(v: Value): string {
  if (v instanceof Slice || v instanceof Table || v instanceof Func || v instanceof Host)
    throw new Stop("native", "cannot make text of a composite");
  return show(settle(v));
}

export const failing = (message: string): never => {
  throw new Stop("native", message);
};

export const itemsOf = (v: Value): Value[] => (v instanceof Slice ? v.items : []);
export const listOf = (items: readonly Value[]): Slice => new Slice([...items]);

/** Member of a map, else nil. */
export function member(v: Value, key: string): Value {
  if (!(v instanceof Table)) return null;
  return v.find(key)?.value ?? v.keys.filter((own) => keyText(own) === key).map((own) => v.find(own)!.value)[0] ?? null;
}

/** `a.b.[0]`, with or without `$.`. */
export function along(v: Value, path: string): Value {
  const steps = path
    .replace(/^\$/, "")
    .split(".")
    .filter((step, i) => step !== "" || i > 0);
  let at = v;
  for (const step of steps) {
    const element = /^\[(\d+)\]$/.exec(step)?.[1];
    if (element !== undefined) at = itemsOf(at)[Number(element)] ?? null;
    else at = member(at, step);
  }
  return at;
}

/** JSON as the language reads it: whole numbers are exact. Throws on wrong syntax. */
export function parsed(text: string): Value {
  const exact = (_: string, v: unknown, { source }: { source?: string }): unknown =>
    typeof v === "number" && /^-?\d+$/.test(source ?? "") ? BigInt(source!) : v;
  return fromJson(JSON.parse(text, exact as (key: string, value: unknown) => unknown), false);
}

/** JSON text; `pad` indents it. */
export function json(given: Value, pad = "", margin = ""): string {
  const v = settle(given);
  if (v === null) return "null";
  if (v instanceof Failure) return JSON.stringify(v.message);
  if (typeof v === "string") return JSON.stringify(v);
  if (typeof v === "number" && !Number.isFinite(v)) return failing("toJSON: infinite");
  if (v instanceof Func || v instanceof Host) return failing("toJSON: function");
  if (!(v instanceof Slice) && !(v instanceof Table)) return show(v);
  const inner = margin + pad;
  const parts =
    v instanceof Slice
      ? v.items.map((item) => json(item, pad, inner))
      : v.keys.map(
          (key) => `${JSON.stringify(keyText(key))}:${pad === "" ? "" : " "}${json(v.find(key)!.value, pad, inner)}`,
        );
  const [open, close] = v instanceof Slice ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return open + close;
  if (pad === "") return open + parts.join(",") + close;
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${margin}${close}`;
}
