/**
 * Writes src/config/types.ts from the CRDs in crds/, so that the schema is the one place where a field is defined.
 * `--check` writes nothing and exits 1 when the file differs from what would be written.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

interface Schema {
  readonly type: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly string[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly format?: string;
  readonly "x-kubernetes-preserve-unknown-fields"?: boolean;
}

interface Crd {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly group: string;
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** Names of the shapes below a spec, by the path of their property; `*` is any key or element. */
const NAMES: Readonly<Record<string, string>> = {
  credentialsSecretRef: "SecretReference",
  podSelector: "PodSelector",
  "watchedResources.*": "WatchedResource",
  "libraryRefs.*": "LibraryReference",
  haproxyConfig: "HAProxyConfigTemplate",
  "haproxyConfig.postProcessing.*": "PostProcessor",
  "templateSnippets.*": "TemplateSnippet",
  "templateSnippets.*.incremental": "IncrementalSnippet",
  "maps.*": "MapTemplate",
  "maps.*.postProcessing.*": "PostProcessor",
  "files.*": "FileTemplate",
  "files.*.postProcessing.*": "PostProcessor",
  "sslCertificates.*": "CertificateTemplate",
  "sslCertificates.*.postProcessing.*": "PostProcessor",
  "k8sResources.*": "ResourceTemplate",
  "k8sResources.*.postProcessing.*": "PostProcessor",
  templatingSettings: "TemplatingSettings",
  "validationTests.*": "ValidationTest",
  "validationTests.*.assertions.*": "TestAssertion",
  "validationTests.*.httpResources.*": "TestHttpResource",
  "validationTests.*.currentServers.*.*": "TestServer",
  "validators.*": "Validator",
  controller: "ControllerSettings",
  "controller.leaderElection": "LeaderElectionSettings",
  "controller.configPublishing": "ConfigPublishingSettings",
  logging: "LoggingSettings",
  dataplane: "DataplaneSettings",
  "conditions.*": "Condition",
  auxiliaryFiles: "AuxiliaryFiles",
  "auxiliaryFiles.mapFiles.*": "FileReference",
  "auxiliaryFiles.generalFiles.*": "FileReference",
  "auxiliaryFiles.crtListFiles.*": "FileReference",
  "auxiliaryFiles.sslCertificates.*": "FileReference",
  "auxiliaryFiles.sslCaFiles.*": "FileReference",
  metadata: "PublishedFigures",
  "deployedToPods.*": "DeployedToPod",
};

/** The same for one kind alone. */
const NAMES_OF_KIND: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  HAProxyMapFile: { "deployedToPods.*": "FileOnPod" },
  HAProxyGeneralFile: { "deployedToPods.*": "FileOnPod" },
  HAProxyCRTListFile: { "deployedToPods.*": "FileOnPod" },
};

const FILES = [
  "crds/haproxytemplateconfigs.yaml",
  "crds/haproxytemplatelibraries.yaml",
  "crds/haproxycfgs.yaml",
  "crds/haproxymapfiles.yaml",
  "crds/haproxygeneralfiles.yaml",
  "crds/haproxycrtlistfiles.yaml",
];
const TARGET = "src/config/types.ts";
const WIDTH = 120;

const emitted = new Map<string, string>();
/** The names that hold for the kind at hand. */
let names = NAMES;

/** Breaks words into lines of a doc comment. */
function comment(text: string, indent: string): string {
  const clean = text.replaceAll("*/", "*\\/").trim();
  if (indent.length + clean.length + 8 <= WIDTH) return `${indent}/** ${clean} */\n`;
  const lines: string[] = [];
  let line = "";
  for (const word of clean.split(/\s+/)) {
    if (line !== "" && indent.length + 3 + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  lines.push(line);
  return `${indent}/**\n${lines.map((each) => `${indent} * ${each}\n`).join("")}${indent} */\n`;
}

function bounds(schema: Schema): string {
  const parts: string[] = [];
  const range = (low: number | undefined, high: number | undefined, unit: string): void => {
    if (low !== undefined && high !== undefined) parts.push(`${low}–${high}${unit}`);
    else if (low !== undefined) parts.push(`at least ${low}${unit}`);
    else if (high !== undefined) parts.push(`at most ${high}${unit}`);
  };
  range(schema.minimum, schema.maximum, "");
  range(schema.minLength, schema.maxLength, " characters");
  range(schema.minItems, schema.maxItems, " entries");
  range(schema.minProperties, schema.maxProperties, " keys");
  if (schema.format === "date-time") parts.push("RFC 3339");
  if (schema.default !== undefined) parts.push(`default ${JSON.stringify(schema.default)}`);
  return parts.length === 0 ? "" : ` (${parts.join("; ")})`;
}

/** Gives each alternative of a union a line of its own where the line is too long, as the formatter does. */
function breakUnion(line: string): string {
  if (line.length <= WIDTH + 1) return line;
  const list = /^(.*readonly )\((.*)\)\[\];\n$/.exec(line);
  const alternatives = (text: string): string =>
    text
      .split(" | ")
      .map((each) => `\n    | ${each}`)
      .join("");
  if (list !== null) return `${list[1]}(${alternatives(list[2] ?? "")}\n  )[];\n`;
  const [head = "", tail = ""] = line.split(/(?<=\??:) (.*)\n/);
  return `${head}${alternatives(tail)}\n`;
}

function typeOf(schema: Schema, path: string): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  switch (schema.type) {
    case "string":
      return "string";
    case "boolean":
      return "boolean";
    case "integer":
    case "number":
      return "number";
    case "array": {
      const inner = typeOf(schema.items ?? fail(`${path}: array without items`), `${path}.*`);
      return `readonly ${inner.includes(" | ") ? `(${inner})` : inner}[]`;
    }
    case "object":
      if (schema.properties !== undefined)
        return declare(names[path] ?? fail(`${path}: no name in NAMES`), schema, path);
      if (schema.additionalProperties !== undefined) {
        return `Readonly<Record<string, ${typeOf(schema.additionalProperties, `${path}.*`)}>>`;
      }
      return "Readonly<Record<string, unknown>>";
    default:
      return fail(`${path}: type ${schema.type} is not supported`);
  }
}

/** Emits one interface and returns its name. Equal names must mean equal shapes, also over both CRDs. */
function declare(name: string, schema: Schema, path: string): string {
  const required = new Set(schema.required ?? []);
  let body = "";
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const inner = typeOf(property, path === "" ? key : `${path}.${key}`);
    body += comment(`${property.description ?? fail(`${path}.${key}: no description`)}${bounds(property)}`, "  ");
    body += breakUnion(`  readonly ${key}${required.has(key) ? "" : "?"}: ${inner};\n`);
  }
  const text = `${comment(schema.description ?? fail(`${path}: no description`), "")}export interface ${name} {\n${body}}\n`;
  const before = emitted.get(name);
  if (before !== undefined && before !== text) fail(`${name} has two shapes: ${path} differs from an earlier one`);
  emitted.set(name, text);
  return name;
}

function fail(message: string): never {
  throw new Error(message);
}

function generate(): string {
  const roots: string[] = [];
  for (const file of FILES) {
    const crd = parse(readFileSync(file, "utf8")) as Crd;
    const kind = crd.spec.names.kind;
    names = { ...NAMES, ...NAMES_OF_KIND[kind] };
    const version = crd.spec.versions[0] ?? fail(`${file}: no version`);
    const { properties = {}, description = "" } = version.schema.openAPIV3Schema;
    declare(`${kind}Spec`, properties["spec"] ?? fail(`${file}: no spec`), "");
    declare(`${kind}Status`, properties["status"] ?? fail(`${file}: no status`), "");
    roots.push(
      `${comment(description, "")}export interface ${kind} extends KubeObject {\n` +
        `  readonly apiVersion: "${crd.spec.group}/${version.name}";\n  readonly kind: "${kind}";\n` +
        `  readonly spec: ${kind}Spec;\n  readonly status?: ${kind}Status;\n}\n`,
    );
  }
  return [
    `// Generated by .ci/generate-types.ts from the definitions in crds/. Do not edit.\n`,
    `import type { KubeObject } from "../stores/types.ts";\n\n`,
    [...roots, ...emitted.values()].join("\n"),
  ].join("");
}

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const text = generate();
if (process.argv.includes("--check")) {
  if (readFileSync(TARGET, "utf8") !== text) {
    process.stderr.write(`${TARGET} differs from the CRDs: run node .ci/generate-types.ts\n`);
    process.exitCode = 1;
  }
} else writeFileSync(TARGET, text);
