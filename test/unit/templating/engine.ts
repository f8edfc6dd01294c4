/** Renders small templates for the tests of this folder. */
import {
  createEngine,
  type EngineOptions,
  runSync,
  type GlobalDeclaration,
  type HostTypeDeclaration,
  type RunEnvironment,
  type TemplateSource,
} from "../../../src/templating/index.ts";

export interface Setup {
  /** Further templates of the set. */
  readonly files?: Readonly<Record<string, string>>;
  /** Values of `any` globals. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly globals?: Readonly<Record<string, GlobalDeclaration>>;
  readonly hostTypes?: Readonly<Record<string, HostTypeDeclaration>>;
  readonly incremental?: readonly string[];
  readonly resources?: EngineOptions["resources"];
  readonly environment?: Partial<RunEnvironment>;
  readonly origin?: TemplateSource["origin"];
}

export function compile(text: string, setup: Setup = {}): ReturnType<typeof createEngine> {
  const { files = {}, data = {}, globals = {}, hostTypes = {}, incremental = [], origin, resources } = setup;
  const declared = { ...Object.fromEntries(Object.keys(data).map((name) => [name, { type: "any" }])), ...globals };
  return createEngine({
    sources: [
      { name: "main", text, ...(origin === undefined ? {} : { origin }) },
      ...Object.entries(files).map(([name, body]) => ({ name, text: body })),
    ],
    entries: [{ template: "main", kind: "root" }],
    incremental: (name) => incremental.includes(name),
    globals: { root: declared, component: {} },
    hostTypes,
    ...(resources === undefined ? {} : { resources }),
  });
}

/** The output of a template; throws a compile problem's text, or the TemplateError of the run. */
export function render(text: string, setup: Setup = {}): string {
  const set = compile(text, setup);
  if (set.problems.length > 0) throw new Error(set.problems.map((problem) => problem.text).join("\n"));
  return run(set, setup);
}

/** The output of a compiled `main`. */
export function run(set: ReturnType<typeof createEngine>, setup: Setup = {}): string {
  let out = "";
  const sink = {
    text: (chunk: string) => {
      out += chunk;
    },
    mount: (name: string) => {
      out += `<${name}>`;
    },
  };
  runSync(set.start("main", { globals: { ...setup.data }, sink, due: () => false, ...setup.environment }));
  return out;
}

/** Messages of all problems, as `line:column: message`. */
export function problems(text: string, setup: Setup = {}): string[] {
  return compile(text, setup).problems.map(
    (p) => `${p.template === "main" ? "" : `${p.template}:`}${p.line}:${p.column}: ${p.message}`,
  );
}
