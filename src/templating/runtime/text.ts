/** Strings as the language sees them: bytes of UTF-8; and how values are written as text. */
import { bytesOfText, textOfBytes } from "./bytes.ts";
import { TemplateFault } from "./faults.ts";
import { ownMember } from "./guards.ts";
import { ErrorValue, FunctionValue, HostObject } from "./host.ts";
import { FloatValue, isFixedArray, PointerValue, StructValue } from "./values.ts";

/** Order of two strings by their UTF-8 bytes, which is the order of their code points. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const n = a.length < b.length ? a.length : b.length;
  for (let i = 0; i < n; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    // Only surrogates sort differently by code unit than by code point.
    const xHigh = x >= 0xd800 && x <= 0xdfff;
    const yHigh = y >= 0xd800 && y <= 0xdfff;
    if (xHigh !== yHigh) return xHigh ? 1 : -1;
    return x < y ? -1 : 1;
  }
  return a.length < b.length ? -1 : 1;
}

/** A number in decimal, never with an exponent. */
export function formatNumber(v: number): string {
  if (Number.isInteger(v) && v < 1e21 && v > -1e21) return String(v === 0 ? 0 : v);
  const s = String(v);
  if (!s.includes("e")) return s === "Infinity" ? "+Inf" : s === "-Infinity" ? "-Inf" : s;
  const [mantissa, exponent] = s.split("e") as [string, string];
  const sign = mantissa.startsWith("-") ? "-" : "";
  const [whole, fraction = ""] = mantissa.replace("-", "").split(".") as [string, string?];
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (digits.length <= point) return sign + digits + "0".repeat(point - digits.length);
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** Keys of a map in byte order (numbers by value). */
export function sortedKeys(map: object): unknown[] {
  if (map instanceof Map) {
    const numeric = (v: unknown): v is number | bigint => typeof v === "number" || typeof v === "bigint";
    return [...(map as Map<unknown, unknown>).keys()].sort((a, b) =>
      numeric(a) && numeric(b) ? (a < b ? -1 : a > b ? 1 : 0) : compareText(String(a), String(b)),
    );
  }
  return Object.keys(map).sort(compareText);
}

export function entryOf(map: object, key: unknown): unknown {
  const value = map instanceof Map ? (map as Map<unknown, unknown>).get(key) : ownMember(map, String(key));
  return value ?? null;
}

/** Go's name of a value's type, for messages. */
export function kindOf(v: unknown): string {
  if (v === null || v === undefined) return "nil";
  if (typeof v === "string") return "string";
  if (typeof v === "boolean") return "bool";
  if (typeof v === "number") return Number.isSafeInteger(v) ? "int" : "float64";
  if (typeof v === "bigint") return "int";
  if (FloatValue.is(v)) return "float64";
  if (Array.isArray(v)) return isFixedArray(v) ? `[${v.length}]any` : "[]any";
  if (StructValue.is(v)) return StructValue.typeName(v);
  if (PointerValue.is(v)) return `*${kindOf(PointerValue.target(v))}`;
  if (FunctionValue.is(v)) return "func";
  if (HostObject.is(v)) return "host object";
  if (ErrorValue.is(v)) return "error";
  return "map[string]any";
}

/** What `{{ v }}` writes. Nil writes nothing; slices, maps and functions cannot be shown. */
export function show(v: unknown): string {
  if (typeof v === "string") return v;
  if (typeof v === "number") return formatNumber(v);
  if (typeof v === "boolean" || typeof v === "bigint") return String(v);
  if (v === null || v === undefined) return "";
  if (ErrorValue.is(v)) return ErrorValue.message(v);
  if (FloatValue.is(v)) return formatNumber(FloatValue.number(v));
  if (HostObject.is(v)) {
    const text = HostObject.text(v);
    if (text !== undefined) return text;
  }
  throw new TemplateFault(
    `cannot show value of type ${kindOf(v)}`,
    Array.isArray(v) ? "use join() or a for loop" : "use toJSON() or show its members",
  );
}

/** Go's `%v`: `[a b]`, `map[a:1 b:2]`, `<nil>`. */
export function format(v: unknown, depth = 0): string {
  if (v === null || v === undefined) return "<nil>";
  if (depth > 100) throw new TemplateFault("value is nested too deeply to be written");
  if (Array.isArray(v)) return `[${v.map((item) => format(item, depth + 1)).join(" ")}]`;
  if (typeof v === "number" && !Number.isSafeInteger(v)) return floatText(v);
  if (typeof v !== "object" || ErrorValue.is(v)) return show(v);
  if (FloatValue.is(v)) return floatText(FloatValue.number(v));
  if (StructValue.is(v)) {
    const fields = Object.values(v).map((field) => format(field, depth + 1));
    return `{${fields.join(" ")}}`;
  }
  if (PointerValue.is(v)) return `&${format(PointerValue.target(v), depth + 1)}`;
  if (HostObject.is(v) || FunctionValue.is(v)) throw new TemplateFault(`cannot write a ${kindOf(v)} as text`);
  return `map[${sortedKeys(v)
    .map((key) => `${String(key)}:${format(entryOf(v, key), depth + 1)}`)
    .join(" ")}]`;
}

function floatText(v: number): string {
  const exponent = v === 0 || !Number.isFinite(v) ? 0 : Math.floor(Math.log10(Math.abs(v)));
  if (exponent >= -4 && exponent < 21) return formatNumber(v);
  return v.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
}

/** Text of a value inside a concatenation: nil is empty, composites are written like `%v`. */
export function textOf(v: unknown): string {
  if (typeof v === "string") return v;
  if (v === null || v === undefined) return "";
  return typeof v === "object" && !ErrorValue.is(v) && !FloatValue.is(v) ? format(v) : show(v);
}

let lastText = "";
let lastBytes: Uint8Array | undefined;

/** Bytes of a string, or undefined when it is ASCII and code units are bytes. Remembers the last string asked for. */
function bytesOf(s: string): Uint8Array | undefined {
  if (s === lastText) return lastBytes;
  lastBytes = Buffer.byteLength(s) === s.length ? undefined : bytesOfText(s);
  lastText = s;
  return lastBytes;
}

export function byteLength(s: string): number {
  if (s.length >= 24) return longLength(s);
  for (let i = 0; i < s.length; i++) if (s.charCodeAt(i) > 127) return longLength(s);
  return s.length;
}

function longLength(s: string): number {
  return s.isWellFormed() ? Buffer.byteLength(s) : bytesOfText(s).length;
}

export function byteAt(s: string, i: unknown): number {
  const bytes = bytesOf(s);
  const length = bytes === undefined ? s.length : bytes.length;
  if (typeof i !== "number" && typeof i !== "bigint")
    throw new TemplateFault(`invalid index: ${kindOf(i)} is not an integer`);
  if (typeof i === "bigint" || !Number.isInteger(i) || i < 0 || i >= length)
    throw new TemplateFault(`index out of range [${i}] with length ${length}`);
  return bytes === undefined ? s.charCodeAt(i) : bytes[i]!;
}

/** `s[low:high]` by bytes. A cut inside a character leaves its bytes (see bytes.ts). */
export function sliceBytes(s: string, low: number, high: number | null): string {
  const bytes = bytesOf(s);
  const length = bytes === undefined ? s.length : bytes.length;
  const end = high ?? length;
  checkBounds(low, end, length);
  return bytes === undefined ? s.slice(low, end) : textOfBytes(bytes.subarray(low, end));
}

export function checkBounds(low: number, high: number, length: number): void {
  if (!Number.isInteger(low) || !Number.isInteger(high) || low < 0 || high > length || low > high)
    throw new TemplateFault(`slice bounds out of range [${low}:${high}] with length ${length}`);
}

/** Whether a text begins with a byte that is no character. */
export const startsWithByte = (s: string): boolean => {
  const unit = s.charCodeAt(0);
  return unit >= 0xdc80 && unit <= 0xdcff;
};

/** Whether a text holds bytes that are no characters. */
export const hasBytes = (s: string): boolean => /[\udc80-\udcff]/u.test(s);

/** A text whose parts were put together: bytes that form a character are one. */
export function joinedBytes(s: string): string {
  return textOfBytes(bytesOfText(s));
}
