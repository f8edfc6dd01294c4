/** `haptic template`: one expression or file of the template language, with values from YAML. For authors and for tests. */
import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import { TemplateError, UsageError } from "../errors.ts";
import {
  type CompiledSet,
  createEngine,
  type GlobalDeclaration,
  type ObjectType,
  runSync,
  type Schemas,
  type TemplateSource,
} from "../templating/index.ts";
import { readFlags } from "./flags.ts";
import { schemaPaths, schemasIn } from "./schemas.ts";
import {
  listing,
  ofFile,
  ofTemplate,
  type OutputForm,
  outputForm,
  printJson,
  type ReportedProblem,
} from "./problems.ts";
import type { Command } from "./types.ts";

const usage = `Usage: haptic template -e EXPRESSION [flags]
       haptic template -f FILE [-f FILE…] [flags]

Evaluates the template language without a cluster: an expression, or a file whose output it prints.

  -e, --expression EXPR   what would stand between {{ and }}
  -f, --file FILE         a template; - reads standard input. The first is rendered, the others are there for render,
                          render_glob and import, by their paths from the first one's folder
      --values FILE       YAML or JSON: each key of its map is a name in the template. Repeatable; later files win
      --schema-dir PATH   schemas of resources, as \`haptic render\` takes them: a value that is an object with apiVersion and
                          kind, or a list of such objects, has its fields checked then. Repeatable (HAPTIC_SCHEMA_DIR)
      --check             only say what is wrong
      --emit              print the JavaScript that the templates become
  -o, --output text|json  how output and errors are told (text)

Templates of a configuration see more (resources, pathResolver, …): \`haptic render --snippet NAME\` renders those.

Exit codes: 0 = done, 1 = the template or the values are wrong, 2 = the command line is wrong.
`;

const flagTypes = {
  expression: { type: "string", short: "e" },
  file: { type: "string", short: "f", multiple: true },
  values: { type: "string", multiple: true },
  "schema-dir": { type: "string", multiple: true },
  check: { type: "boolean" },
  emit: { type: "boolean" },
  output: { type: "string", short: "o" },
} as const;

/** Templates cannot call a value by another name than this. */
const NAME = /^[\p{L}_][\p{L}\p{Nd}_]*$/u;

interface Input {
  readonly sources: readonly TemplateSource[];
  readonly values: Readonly<Record<string, unknown>>;
  /** Of the values that are resources, or lists of them. */
  readonly types: ReadonlyMap<string, { readonly type: ObjectType; readonly list: boolean }>;
}

function read(path: string, problems: ReportedProblem[]): string {
  try {
    return readFileSync(path === "-" ? 0 : path, "utf8");
  } catch (error) {
    problems.push(ofFile(path, `cannot be read: ${error instanceof Error ? error.message : String(error)}`));
    return "";
  }
}

function sourcesOf(
  expression: string | undefined,
  files: readonly string[],
  problems: ReportedProblem[],
): readonly TemplateSource[] {
  if (expression !== undefined) return [{ name: "expression", text: `{{ ${expression} }}` }];
  const folder = files[0] === "-" ? "." : dirname(files[0]!);
  return files.map((file) => ({
    name: file === "-" ? "stdin" : relative(resolve(folder), resolve(file)),
    text: read(file, problems),
    origin: { object: "the file", field: "", file: file === "-" ? "stdin" : file, line: 1 },
  }));
}

/** The maps of all files, laid over each other. */
function valuesOf(paths: readonly string[], problems: ReportedProblem[]): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = {};
  for (const path of paths) {
    const lines = new LineCounter();
    const document = parseDocument(read(path, problems), { lineCounter: lines, merge: true, prettyErrors: false });
    for (const { message, pos } of document.errors)
      problems.push(ofFile(path, `YAML: ${message}`, lines.linePos(pos[0]).line));
    if (document.errors.length > 0 || document.contents === null) continue;
    const value: unknown = document.toJS();
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      problems.push(ofFile(path, "holds no map: each of its keys would be a name in the template", 1));
      continue;
    }
    for (const [name, of] of Object.entries(value)) {
      if (!NAME.test(name))
        problems.push(ofFile(path, `the key ${JSON.stringify(name)} cannot be a name in a template`));
      else Object.defineProperty(values, name, { value: of, enumerable: true, configurable: true, writable: true });
    }
  }
  return values;
}

/** Types of values that say what they are, where a schema knows it. */
function typesOf(values: Readonly<Record<string, unknown>>, schemas: Schemas): Input["types"] {
  const types = new Map<string, { readonly type: ObjectType; readonly list: boolean }>();
  for (const [name, value] of Object.entries(values)) {
    const list = Array.isArray(value);
    const said = (list ? (value as readonly unknown[]) : [value]).map((object) => {
      const { apiVersion, kind } = (object ?? {}) as { apiVersion?: unknown; kind?: unknown };
      return `${String(apiVersion)} ${String(kind)}`;
    });
    const [apiVersion = "", kind = ""] = new Set(said).size === 1 ? said[0]!.split(" ") : [];
    const type = schemas.resource(apiVersion, kind, name);
    if (type !== undefined) types.set(name, { type, list });
  }
  return types;
}

function compile({ sources, values, types }: Input): CompiledSet {
  const declared = (name: string): string => {
    const typed = types.get(name);
    return typed === undefined ? "any" : `${typed.list ? "[]" : ""}resources.${name}.T`;
  };
  const root = Object.fromEntries(
    Object.keys(values).map((name): [string, GlobalDeclaration] => [name, { type: declared(name) }]),
  );
  return createEngine({
    sources,
    entries: [{ template: sources[0]!.name, kind: "root" }],
    incremental: () => false,
    globals: { root, component: {} },
    hostTypes: {},
    resources: new Map([...types].map(([name, { type }]) => [name, type])),
  });
}

function report(form: OutputForm, problems: readonly ReportedProblem[]): number {
  if (form === "json") printJson({ ok: false, problems });
  else process.stderr.write(listing(problems));
  return 1;
}

function render(set: CompiledSet, { sources, values }: Input): string {
  let out = "";
  const sink = { text: (chunk: string) => (out += chunk), mount: () => undefined };
  runSync(set.start(sources[0]!.name, { globals: values, sink, due: () => false, now: Date.now() }));
  return out;
}

export const command: Command = {
  summary: "evaluate an expression or a file of the template language",
  usage,
  run(argv) {
    const flags = readFlags("template", argv, flagTypes);
    const form = outputForm(flags.output);
    const files = flags.file ?? [];
    if ((flags.expression === undefined) === (files.length === 0))
      throw new UsageError("give either -e EXPRESSION or -f FILE", "`haptic help template` shows both");
    const problems: ReportedProblem[] = [];
    const values = valuesOf(flags.values ?? [], problems);
    const typed = schemasIn(schemaPaths(flags["schema-dir"]));
    problems.push(...typed.problems);
    const input: Input = {
      sources: sourcesOf(flags.expression, files, problems),
      values,
      types: typesOf(values, typed.schemas),
    };
    if (problems.length > 0) return Promise.resolve(report(form, problems));
    const set = compile(input);
    if (set.problems.length > 0) return Promise.resolve(report(form, set.problems.map(ofTemplate)));
    if (flags.emit === true) {
      const units = set.emitted();
      if (form === "json") printJson({ ok: true, emitted: units });
      else for (const { key, text } of units) process.stdout.write(`// ${key}\n${text}`);
      return Promise.resolve(0);
    }
    if (flags.check === true) {
      if (form === "json") printJson({ ok: true });
      return Promise.resolve(0);
    }
    try {
      const output = render(set, input);
      if (form === "json") printJson({ ok: true, output });
      // An expression has no line end of its own; a file's output is what it is.
      else process.stdout.write(flags.expression === undefined || output.endsWith("\n") ? output : `${output}\n`);
      return Promise.resolve(0);
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      return Promise.resolve(report(form, [ofTemplate(error.problem)]));
    }
  },
};
