/** Go's verbs for formatting. */
import type { Runtime } from "../runtime/runtime.ts";
import { bytesOfText } from "../runtime/bytes.ts";
import { format, kindOf } from "../runtime/text.ts";

const VERB = /%([-+# 0]*)(\d+)?(?:\.(\d+)?)?([a-zA-Z%])/g;

/** Formats values by Go's rules; a wrong verb or a missing value shows as `%!d(string=x)` and `%!d(MISSING)`. */
export function sprintf(runtime: Runtime, text: string, values: readonly unknown[]): string {
  let next = 0;
  const out = text.replace(
    VERB,
    (all: string, flags: string, width: string | undefined, precision: string | undefined, verb: string) => {
      if (verb === "%") return "%";
      if (next >= values.length) return `%!${verb}(MISSING)`;
      const hasPrecision = /\.\d*[a-zA-Z]$/.test(all);
      const body = one(verb, values[next++], flags, hasPrecision ? Number(precision ?? 0) : undefined);
      return padded(runtime, body, flags, width === undefined ? 0 : Number(width), "dfegxXob".includes(verb));
    },
  );
  const extra = values.slice(next);
  return extra.length === 0 ? out : `${out}%!(EXTRA ${extra.map((v) => `${kindOf(v)}=${format(v)}`).join(", ")})`;
}

function padded(runtime: Runtime, body: string, flags: string, width: number, numeric: boolean): string {
  const missing = width - Array.from(body).length;
  if (missing <= 0) return body;
  runtime.chargeText(missing);
  if (flags.includes("-")) return body + " ".repeat(missing);
  if (flags.includes("0") && numeric) {
    const sign = /^[+-]/.exec(body)?.[0] ?? "";
    return sign + "0".repeat(missing) + body.slice(sign.length);
  }
  return " ".repeat(missing) + body;
}

function one(verb: string, v: unknown, flags: string, precision: number | undefined): string {
  const plus = (text: string): string =>
    flags.includes("+") && !text.startsWith("-")
      ? `+${text}`
      : flags.includes(" ") && !text.startsWith("-")
        ? ` ${text}`
        : text;
  const integer = typeof v === "bigint" || Number.isInteger(v) ? (v as bigint | number) : undefined;
  // Functions get whole floats as plain numbers: the verbs of floats take every number.
  const float = typeof v === "number" || typeof v === "bigint" ? Number(v) : undefined;
  const wrong = (): string => `%!${verb}(${kindOf(v)}=${format(v)})`;
  switch (verb) {
    case "v":
      return format(v);
    case "s":
      if (typeof v !== "string" && typeof v !== "object") return wrong();
      return precision === undefined ? format(v) : Array.from(format(v)).slice(0, precision).join("");
    case "T":
      return kindOf(v);
    case "t":
      return typeof v === "boolean" ? String(v) : wrong();
    case "q":
      return typeof v === "string" ? JSON.stringify(v) : integer !== undefined ? `'${character(integer)}'` : wrong();
    case "c":
      return integer !== undefined ? character(integer) : wrong();
    case "d":
      return integer !== undefined ? plus(String(integer)) : wrong();
    case "x":
    case "X": {
      const hex =
        typeof v === "string"
          ? bytesOfText(v).toString("hex")
          : integer !== undefined
            ? plus(integer.toString(16))
            : undefined;
      if (hex === undefined) return wrong();
      const text = flags.includes("#") ? `0x${hex}` : hex;
      return verb === "X" ? text.toUpperCase() : text;
    }
    case "o":
    case "b":
      return integer !== undefined ? plus(integer.toString(verb === "o" ? 8 : 2)) : wrong();
    case "f":
    case "F":
      return float !== undefined ? plus(float.toFixed(Math.min(precision ?? 6, 100))) : wrong();
    case "e":
      return float !== undefined
        ? plus(float.toExponential(Math.min(precision ?? 6, 100)).replace(/e([+-])(\d)$/, "e$10$2"))
        : wrong();
    case "g":
      return float !== undefined
        ? plus(
            precision === undefined
              ? format(v)
              : String(Number(float.toPrecision(Math.max(1, Math.min(precision, 100))))),
          )
        : wrong();
    default:
      return wrong();
  }
}

/** The character of a code point; U+FFFD where there is none. */
function character(point: bigint | number): string {
  const valid = point >= 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
  return valid ? String.fromCodePoint(Number(point)) : "\uFFFD";
}
