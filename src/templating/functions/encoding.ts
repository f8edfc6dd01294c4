/** Encodings, hashes, JSON, YAML and random bytes. */
import { createHash, createHmac } from "node:crypto";
import { parseDocument, stringify, visit } from "yaml";
import { bytesOfText, textOfBytes } from "../runtime/bytes.ts";
import { TemplateFault } from "../runtime/faults.ts";
import { setMember } from "../runtime/guards.ts";
import { ErrorValue } from "../runtime/host.ts";
import { short } from "../runtime/numbers.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { define, type TemplateFunction } from "./define.ts";
import { isMap } from "./maps.ts";
import { jsonText, scalarText } from "./values.ts";

const hash = (name: string) => (runtime: Runtime, s: string) => (
  runtime.charge(8 + (s.length >> 4)),
  createHash(name).update(bytesOfText(s)).digest("hex")
);

/** A text's bytes, or the bytes of a []byte. */
function bytesGiven(v: unknown, fn: string): Buffer {
  if (!Array.isArray(v)) return bytesOfText(scalarText(v, fn));
  for (const byte of v as unknown[])
    if (typeof byte !== "number" || !Number.isInteger(byte) || byte < 0 || byte > 255)
      throw new TemplateFault(`${fn}: the list is no []byte`, "use toJSON() or join()");
  return Buffer.from(v as number[]);
}

const keyed = (name: string) => (runtime: Runtime, message: string, key: string) => {
  runtime.charge(16 + (message.length >> 4));
  return createHmac(name, bytesOfText(key)).update(bytesOfText(message)).digest("base64");
};

const MOST_RANDOM = 65_536;

export const encodingFunctions: readonly TemplateFunction[] = [
  define({
    name: "b64decode",
    signature: "func(text any) (string, error)",
    doc: "Decodes standard base64 with padding; line ends are ignored. Anything else is an error. The bytes may be any. Lenient.",
    examples: [
      ['{{ b64decode("aMOpbGxv") }}', "héllo"],
      ['{% var v, err = b64decode("?") %}{{ err }}', "b64decode: illegal base64 data"],
    ],
    run: (runtime: Runtime, text: unknown) => {
      const encoded = scalarText(text, "b64decode").replace(/[\r\n]/g, "");
      runtime.charge(encoded.length >> 4);
      if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded))
        throw new TemplateFault("b64decode: illegal base64 data");
      return textOfBytes(Buffer.from(encoded, "base64"));
    },
  }),
  define({
    name: "b64encode",
    signature: "func(text any) string",
    doc: "Standard base64 with padding of the text's bytes, or of a []byte. Lenient.",
    examples: [['{{ b64encode("héllo") }} {{ b64encode([]byte{255, 0}) }}', "aMOpbGxv /wA="]],
    run: (r: Runtime, text: unknown) => {
      const bytes = bytesGiven(text, "b64encode");
      r.chargeText(bytes.length * 2);
      return bytes.toString("base64");
    },
  }),
  define({
    name: "base64",
    signature: "func(text any) string",
    doc: "Another name of b64encode.",
    examples: [['{{ base64("a") }}', "YQ=="]],
    run: (r: Runtime, text: unknown) => {
      const bytes = bytesGiven(text, "base64");
      r.chargeText(bytes.length * 2);
      return bytes.toString("base64");
    },
  }),
  define({
    name: "queryEscape",
    signature: "func(text string) string",
    doc: "Escapes the text for a URL's query: a blank becomes +.",
    examples: [["{{ queryEscape(\"a b&c='é'\") }}", "a+b%26c%3D%27%C3%A9%27"]],
    run: (_: Runtime, s: string) =>
      // A part of a character is the byte that it is.
      s
        .replace(/[^\ud800-\udfff]+|[\ud800-\udfff]/gu, (part) =>
          /^[\udc80-\udcff]$/u.test(part)
            ? `%${(part.charCodeAt(0) & 0xff).toString(16).toUpperCase()}`
            : encodeURIComponent(part.toWellFormed()),
        )
        .replaceAll("%20", "+")
        .replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`),
  }),
  define({
    name: "htmlEscape",
    signature: "func(text string) string",
    doc: "Escapes & < > and quotes for HTML.",
    examples: [['{{ htmlEscape("<a href=\\"x\\">") }}', "&lt;a href=&#34;x&#34;&gt;"]],
    run: (_: Runtime, s: string) =>
      s.replace(/[&<>"']/g, (c) =>
        c === "&" ? "&amp;" : c === "<" ? "&lt;" : c === ">" ? "&gt;" : `&#${c.charCodeAt(0)};`,
      ),
  }),
  define({
    name: "hex",
    signature: "func(text any) string",
    doc: "Hexadecimal digits of the text's bytes, or of a []byte. Lenient.",
    examples: [['{{ hex("AZ") }}', "415a"]],
    run: (r: Runtime, text: unknown) => {
      const bytes = bytesGiven(text, "hex");
      r.chargeText(bytes.length * 2);
      return bytes.toString("hex");
    },
  }),
  define({
    name: "hmacSHA1",
    signature: "func(message string, key string) string",
    doc: "HMAC of the message with SHA-1, in base64.",
    examples: [['{{ hmacSHA1("a", "k") }}', "QOfUQcrbF7B/BQNBqiOmgg7YHIs="]],
    run: keyed("sha1"),
  }),
  define({
    name: "hmacSHA256",
    signature: "func(message string, key string) string",
    doc: "HMAC of the message with SHA-256, in base64.",
    examples: [['{{ hmacSHA256("a", "k") }}', "eNqRUR5nVYf1ud94vt669VYNoqu4gWLuh13N90SVHZ4="]],
    run: keyed("sha256"),
  }),
  define({
    name: "md5",
    signature: "func(text string) string",
    doc: "MD5 digest in hexadecimal digits. Not for secrets.",
    examples: [['{{ md5("a") }}', "0cc175b9c0f1b6a831c399e269772661"]],
    run: hash("md5"),
  }),
  define({
    name: "sha1",
    signature: "func(text string) string",
    doc: "SHA-1 digest in hexadecimal digits.",
    examples: [['{{ sha1("a") }}', "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"]],
    run: hash("sha1"),
  }),
  define({
    name: "sha256",
    signature: "func(text string) string",
    doc: "SHA-256 digest in hexadecimal digits.",
    examples: [['{{ sha256("a") }}', "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"]],
    run: hash("sha256"),
  }),
  define({
    name: "parse_yaml",
    signature: "func(text string) (any, error)",
    doc: "Reads one YAML document (JSON too). Duplicate keys, several documents and wrong syntax are errors.",
    examples: [
      ['{{ parse_yaml("a: [1, two]") | toJSON() }}', '{"a":[1,"two"]}'],
      ['{% var v, err = parse_yaml("a: 1\\na: 2") %}{{ err != nil }}', "true"],
    ],
    run: (runtime: Runtime, text: string) => {
      runtime.charge(8 + text.length);
      return yamlValue(text, "parse_yaml");
    },
  }),
  define({
    name: "marshalJSON",
    signature: "func(value any) (string, error)",
    doc: "JSON text with sorted keys and no blanks, as toJSON; < > and & are written as \\u003c, \\u003e and \\u0026.",
    examples: [['{{ marshalJSON(map[string]any{"b": "<", "a": 1}) }}', '{"a":1,"b":"\\u003c"}']],
    run: (runtime: Runtime, value: unknown) => forWeb(jsonText(runtime, value)),
  }),
  define({
    name: "marshalJSONIndent",
    signature: "func(value any, prefix string, indent string) (string, error)",
    doc: "As marshalJSON, over several lines: each begins with prefix, then one indent a level. Both hold only blanks and tabs.",
    examples: [['{{ marshalJSONIndent(map[string]any{"a": []any{1}}, "", " ") }}', '{\n "a": [\n  1\n ]\n}']],
    run: (runtime: Runtime, value: unknown, prefix: string, indent: string) => {
      if (!/^[ \t]*$/.test(prefix + indent))
        throw new TemplateFault("marshalJSONIndent: prefix and indent may hold blanks and tabs only");
      const text = forWeb(jsonText(runtime, value, indent === "" ? "\u0000" : indent));
      return text.replaceAll("\u0000", "").replaceAll("\n", `\n${prefix}`);
    },
  }),
  define({
    name: "marshalYAML",
    signature: "func(value any) (string, error)",
    doc: "YAML text with sorted keys. Functions fail.",
    examples: [['{{ marshalYAML(map[string]any{"b": []any{1, "x"}, "a": nil}) }}', "a: null\nb:\n  - 1\n  - x\n"]],
    run: (runtime: Runtime, value: unknown) => {
      return stringify(exactJson(jsonText(runtime, value)), { lineWidth: 0, aliasDuplicateObjects: false });
    },
  }),
  define({
    name: "unmarshalJSON",
    signature: "func(text string, target map[string]any) error",
    doc: "Reads a JSON object into the map. The error is nil when it went well; use parse_yaml for other values, it reads JSON too.",
    examples: [
      [
        '{% var m = map[string]any{} %}{% var err = unmarshalJSON(`{"a": [1]}`, m) %}{{ toJSON(m) }}{{ err }}',
        '{"a":[1]}',
      ],
      ['{% var m = map[string]any{} %}{{ unmarshalJSON("{", m) }}', "unmarshalJSON: this is no JSON object"],
    ],
    effect: true,
    run: (runtime: Runtime, text: string, target: unknown) => {
      runtime.charge(8 + text.length);
      return filled(target, "unmarshalJSON: this is no JSON object", () => exactJson(text));
    },
  }),
  define({
    name: "unmarshalYAML",
    signature: "func(text string, target map[string]any) error",
    doc: "Reads a YAML document that is a map into the map, as unmarshalJSON.",
    examples: [
      ['{% var m = map[string]any{} %}{% var err = unmarshalYAML("a: 1", m) %}{{ toJSON(m) }}{{ err }}', '{"a":1}'],
    ],
    effect: true,
    run: (runtime: Runtime, text: string, target: unknown) => {
      runtime.charge(8 + text.length);
      return filled(target, "unmarshalYAML: this is no YAML map", () => yamlValue(text, "unmarshalYAML"));
    },
  }),
  define({
    name: "randBytes",
    signature: "func(n int) []byte",
    doc: `Random bytes, n of them and at most ${MOST_RANDOM}, fit for keys; b64encode, base64 and hex make text of them. Each render of the template gives others, so keep what is published: take it from currentFiles where it is there. Not available in incremental snippets.`,
    examples: [["{{ len(randBytes(16)) }} {{ len(b64encode(randBytes(48))) }}", "16 64"]],
    clock: true,
    run: (runtime: Runtime, n: number) => {
      if (n < 0 || n > MOST_RANDOM)
        throw new TemplateFault(`randBytes: ${n} bytes are ${n < 0 ? "too few" : "too many"}`);
      runtime.charge(n);
      return [...runtime.random(n)];
    },
  }),
];

/** What JSON writes so that it may stand in HTML, as Go's encoder does. */
const forWeb = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** A whole number: an int where 64 bits hold it, else a float. */
const exactly = (v: bigint): number | bigint => (BigInt.asIntN(64, v) === v ? short(v) : Number(v));

/** JSON whose whole numbers are exact. */
function exactJson(text: string): unknown {
  const revive = (_: string, v: unknown, { source }: { source?: string }): unknown =>
    typeof v === "number" && source !== undefined && /^-?\d{16,}$/.test(source) ? exactly(BigInt(source)) : v;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

function yamlValue(text: string, fn: string): unknown {
  const document = parseDocument(text, {
    schema: "core",
    uniqueKeys: true,
    prettyErrors: false,
    logLevel: "error",
    intAsBigInt: true,
  });
  const error = document.errors[0];
  if (error !== undefined)
    throw new TemplateFault(`${fn}: ${error.code === "MULTIPLE_DOCS" ? "more than one document" : error.message}`);
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "bigint") node.value = exactly(node.value);
    },
  });
  try {
    return (document.toJS({ maxAliasCount: 50 }) as unknown) ?? null;
  } catch (cause) {
    throw new TemplateFault(`${fn}: ${(cause as Error).message}`);
  }
}

/** Puts the entries of what `read` gives into a map; gives the error as a value. */
function filled(target: unknown, refusal: string, read: () => unknown): ErrorValue | null {
  let value: unknown;
  try {
    value = read();
  } catch (error) {
    return new ErrorValue(error instanceof TemplateFault ? error.message : refusal);
  }
  if (!isMap(value)) return new ErrorValue(refusal);
  if (!isMap(target)) throw new TemplateFault("assignment to entry in nil map", "make one first: map[string]any{}");
  for (const [key, entry] of Object.entries(value)) setMember(target, key, entry);
  return null;
}
