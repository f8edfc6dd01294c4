/** Encodings, hashes, YAML and JSONPath. */
import { createHash } from "node:crypto";
import { parseDocument } from "yaml";
import { TemplateFault } from "../runtime/faults.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { define, type TemplateFunction } from "./define.ts";
import { memberOf } from "./paths.ts";
import { scalarText } from "./values.ts";

const hash = (name: string) => (runtime: Runtime, s: string) => (
  runtime.charge(8 + (s.length >> 4)),
  createHash(name).update(s).digest("hex")
);

/** Steps of a JSONPath of keys, elements and `[*]`. */
function jsonPath(path: string): (string | number | undefined)[] {
  let rest = path
    .trim()
    .replace(/^\{(.*)\}$/s, "$1")
    .replace(/^\$/, "");
  const steps: (string | number | undefined)[] = [];
  while (rest !== "") {
    const step = /^\.((?:\\.|[^.[\]\\])+)|^\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|(\d+)|(\*))\]|^\.?(\*)/s.exec(
      steps.length === 0 && !/^[.[]/.test(rest) ? `.${rest}` : rest,
    );
    if (step === null)
      throw new TemplateFault(
        `jsonpathGet: cannot read path ${JSON.stringify(path)} at ${JSON.stringify(rest)}`,
        "use dotted keys, ['key'], [0] and [*]",
      );
    const consumed = steps.length === 0 && !/^[.[]/.test(rest) ? step[0].length - 1 : step[0].length;
    rest = rest.slice(consumed);
    const key = step[1] ?? step[2] ?? step[3];
    steps.push(key !== undefined ? key.replace(/\\(.)/gs, "$1") : step[4] !== undefined ? Number(step[4]) : undefined);
  }
  return steps;
}

function follow(runtime: Runtime, value: unknown, steps: readonly (string | number | undefined)[]): unknown {
  let at = value;
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i];
    runtime.charge(1);
    if (step === undefined) {
      const items: unknown[] = Array.isArray(at)
        ? at
        : typeof at === "object" && at !== null
          ? Object.keys(at)
              .sort()
              .map((key) => memberOf(at, key))
          : [];
      return items.map((item) => follow(runtime, item, steps.slice(i + 1))).filter((item) => item !== null);
    }
    at = typeof step === "number" ? (Array.isArray(at) ? ((at[step] as unknown) ?? null) : null) : memberOf(at, step);
    if (at === null) return null;
  }
  return at;
}

export const encodingFunctions: readonly TemplateFunction[] = [
  define({
    name: "b64decode",
    signature: "func(text any) (string, error)",
    doc: "Decodes standard base64 with padding; line ends are ignored. Anything else is an error. Lenient.",
    examples: [
      ['{{ b64decode("aMOpbGxv") }}', "héllo"],
      ['{% var v, err = b64decode("?") %}{{ err }}', "b64decode: illegal base64 data"],
    ],
    run: (runtime: Runtime, text: unknown) => {
      const encoded = scalarText(text, "b64decode").replace(/[\r\n]/g, "");
      runtime.charge(encoded.length >> 4);
      if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded))
        throw new TemplateFault("b64decode: illegal base64 data");
      return Buffer.from(encoded, "base64").toString("utf8");
    },
  }),
  define({
    name: "b64encode",
    signature: "func(text any) string",
    doc: "Standard base64 with padding of the text's UTF-8 bytes. Lenient.",
    examples: [['{{ b64encode("héllo") }}', "aMOpbGxv"]],
    run: (r: Runtime, text: unknown) => {
      const s = scalarText(text, "b64encode");
      r.chargeText(s.length);
      return Buffer.from(s).toString("base64");
    },
  }),
  define({
    name: "queryEscape",
    signature: "func(text string) string",
    doc: "Escapes the text for a URL's query: a blank becomes +.",
    examples: [["{{ queryEscape(\"a b&c='é'\") }}", "a+b%26c%3D%27%C3%A9%27"]],
    run: (_: Runtime, s: string) =>
      encodeURIComponent(s.toWellFormed())
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
    signature: "func(text string) string",
    doc: "Hexadecimal digits of the text's bytes.",
    examples: [['{{ hex("AZ") }}', "415a"]],
    run: (_: Runtime, s: string) => Buffer.from(s).toString("hex"),
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
      const document = parseDocument(text, {
        schema: "core",
        uniqueKeys: true,
        prettyErrors: false,
        logLevel: "error",
      });
      const error = document.errors[0];
      if (error !== undefined)
        throw new TemplateFault(
          `parse_yaml: ${error.code === "MULTIPLE_DOCS" ? "more than one document" : error.message}`,
        );
      try {
        return (document.toJS({ maxAliasCount: 50 }) as unknown) ?? null;
      } catch (cause) {
        throw new TemplateFault(`parse_yaml: ${(cause as Error).message}`);
      }
    },
  }),
  define({
    name: "jsonpathGet",
    signature: "func(item any, path string) any",
    doc: "Value at a JSONPath of keys, elements and [*] (which gives a list); nil when a link is missing.",
    examples: [
      ['{{ map[string]any{"a": []any{map[string]any{"b.c": 5}}} | jsonpathGet("$.a[0][\'b.c\']") }}', "5"],
      [
        '{{ map[string]any{"a": []any{map[string]any{"n": 1}, map[string]any{"n": 2}}} | jsonpathGet("{.a[*].n}") | join(",") }}',
        "1,2",
      ],
    ],
    run: (runtime: Runtime, item: unknown, path: string) => follow(runtime, item, jsonPath(path)),
  }),
];
