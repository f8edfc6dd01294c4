/** `haptic render`: a whole configuration, rendered from files without a cluster. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { dataplaneOf, MAIN_TEMPLATE, watchSpecs } from "../config/index.ts";
import { HaproxyNotFoundError, UsageError } from "../errors.ts";
import {
  capabilitiesOf,
  type CheckVerdict,
  createChecker,
  createSpawner,
  type LocatedHaproxy,
  locateHaproxy,
} from "../haproxy/index.ts";
import { joinBlocks } from "../plan/index.ts";
import type { PlanFile } from "../plan/types.ts";
import {
  createRenderService,
  type RenderContext,
  type RenderOutcome,
  type RenderResult,
  type RenderServiceOptions,
} from "../render/index.ts";
import { Profile } from "../templating/index.ts";
import { explained, type ExplainedFile, explainedText } from "./explain-lines.ts";
import { readFlags } from "./flags.ts";
import { load, type Loaded, PODS, podsWatch } from "./loading.ts";
import { listing, ofTemplate, type OutputForm, outputForm, printJson, type ReportedProblem, say } from "./problems.ts";
import { fillStores } from "./resources.ts";
import { schemaPaths, schemasIn } from "./schemas.ts";
import type { Command } from "./types.ts";

const usage = `Usage: haptic render -f FILE [-f FILE…] [--resources PATH…] [flags]

Renders a HAProxyTemplateConfig (and the HAProxyTemplateLibrary objects it refers to) over objects of files, as the
controller renders it over a cluster's.

  -f, --file PATH         YAML: the configuration and its libraries, several documents a file or several files; other
                          objects in them are resources. A folder stands for its *.yaml, *.yml and *.json
      --resources PATH    more objects that templates see: a file or a folder. Repeatable
      --schema-dir PATH   schemas of resources: CustomResourceDefinitions, OpenAPI v3 documents, single schemas, in a file or
                          a folder (and below); fields of these resources are checked then. Repeatable (HAPTIC_SCHEMA_DIR)
      --namespace NAME    of objects that name none (the configuration's; default)
      --snippet NAME      render this snippet alone, in the place of haproxy.cfg
      --output-dir DIR    write all files there, by their paths; without it they are printed
      --haproxy PATH|VERSION  whose abilities templates see and which --check asks (HAPTIC_HAPROXY, PATH, the cache folder)
      --check             let haproxy -c judge the result; without an HAProxy on this machine a note says so
      --profile           how often and how long each template ran, on standard error
      --trace             each template's begin and end, on standard error
      --explain-lines     before each line that is printed: the place of the template that made it, and the object it was
                          made for
  -o, --output text|json  how files, notes and errors are told (text)

Exit codes: 0 = rendered (and accepted), 1 = something is wrong: the files, a template, one object, or HAProxy refuses;
2 = the command line is wrong.
`;

const flagTypes = {
  file: { type: "string", short: "f", multiple: true },
  resources: { type: "string", multiple: true },
  "schema-dir": { type: "string", multiple: true },
  namespace: { type: "string" },
  snippet: { type: "string" },
  "output-dir": { type: "string" },
  haproxy: { type: "string" },
  check: { type: "boolean" },
  profile: { type: "boolean" },
  trace: { type: "boolean" },
  "explain-lines": { type: "boolean" },
  output: { type: "string", short: "o" },
} as const;

/** Rows of a profile that are printed. */
const TOP = 20;
/** The configuration with one snippet in the place of haproxy.cfg, and nothing else to render. */
function onlySnippet({ spec, sources }: Loaded, name: string): Pick<Loaded, "spec" | "sources"> {
  const known = Object.keys(spec.templateSnippets ?? {});
  if (!known.includes(name)) {
    throw new UsageError(
      `--snippet: there is no snippet ${JSON.stringify(name)}`,
      `there are ${known.sort().join(", ")}`,
    );
  }
  // Profiles that the snippet declares need their place.
  const text = `{{ planRegistry.ProfileGroup() }}{{ render ${JSON.stringify(name)} }}`;
  const { maps: _, files: __, sslCertificates: ___, haproxyConfig: ____, ...rest } = spec;
  const main = sources.find((source) => source.name === MAIN_TEMPLATE);
  return {
    spec: rest,
    sources: sources.map((source) => (source === main ? { name: source.name, text, origin: source.origin } : source)),
  };
}

/** The HAProxy to ask; undefined (and a note) where none is there and none was named. */
async function findHaproxy(wanted: string | undefined): Promise<LocatedHaproxy | undefined> {
  try {
    return await locateHaproxy({ wanted, environment: process.env, say, install: wanted !== undefined });
  } catch (error) {
    if (wanted !== undefined || !(error instanceof HaproxyNotFoundError)) throw error;
    say(`not checked: ${error.message}`);
    return undefined;
  }
}

async function check(files: readonly PlanFile[], haproxy: LocatedHaproxy): Promise<CheckVerdict> {
  const spawner = createSpawner();
  const checker = createChecker({ binary: haproxy.path, spawner, nice: 0 });
  try {
    return await checker.check(files, new AbortController().signal);
  } finally {
    await checker.close();
    await spawner.close();
  }
}

function table(profile: Profile): string {
  const rows = profile.rows();
  const lines = rows
    .slice(0, TOP)
    .map(({ template, count, totalMs, selfMs, maxMs }) =>
      [
        String(count).padStart(8),
        ...[totalMs, selfMs, maxMs].map((ms) => ms.toFixed(3).padStart(11)),
        ` ${template}`,
      ].join(" "),
    );
  const head = `${"count".padStart(8)} ${["total ms", "self ms", "max ms"].map((title) => title.padStart(11)).join(" ")}  template`;
  const more = rows.length > TOP ? [`and ${rows.length - TOP} more`] : [];
  return [head, ...lines, ...more, ""].join("\n");
}

function write(files: readonly PlanFile[], directory: string): void {
  for (const { path, blocks, secret } of files) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, joinBlocks(blocks), secret ? { mode: 0o600 } : {});
  }
}

type Processing = { readonly postProcessing?: unknown };

function unprocessed<T extends Processing>(entry: T): Omit<T, "postProcessing"> {
  const { postProcessing: _, ...rest } = entry;
  return rest;
}

/** The specification without processors of what is rendered. */
function withoutProcessors(spec: Loaded["spec"]): Loaded["spec"] {
  const all = <T extends Processing>(entries: Readonly<Record<string, T>> | undefined): Record<string, T> =>
    Object.fromEntries(Object.entries(entries ?? {}).map(([name, entry]) => [name, unprocessed(entry) as T]));
  const { haproxyConfig, maps, files, sslCertificates } = spec;
  return {
    ...spec,
    ...(haproxyConfig !== undefined && { haproxyConfig: unprocessed(haproxyConfig) as typeof haproxyConfig }),
    ...(maps !== undefined && { maps: all(maps) }),
    ...(files !== undefined && { files: all(files) }),
    ...(sslCertificates !== undefined && { sslCertificates: all(sslCertificates) }),
  };
}

/** What made each line of the files that hold no keys: rendered once more, with marks and without processors. */
async function explain(
  files: readonly PlanFile[],
  options: RenderServiceOptions,
  context: RenderContext,
): Promise<ExplainedFile[]> {
  const { service, provenance } = createRenderService({ ...options, provenance: true });
  const outcome = await service.render(context, new AbortController().signal);
  const marked = new Map([...(outcome.result?.plan.files.entries() ?? [])].map(([, file]) => [file.path, file]));
  return files
    .filter(({ secret }) => !secret)
    .map(({ path, blocks }) => {
      const made = marked.get(path);
      const lines = made === undefined ? [] : provenance!.linesOf(joinBlocks(made.blocks).toString("utf8"));
      return { path, lines: explained(joinBlocks(blocks).toString("utf8"), lines) };
    });
}

function print(files: readonly PlanFile[], single: boolean, told: readonly ExplainedFile[] | undefined): void {
  for (const { path, blocks, secret, size } of files) {
    if (!single) process.stdout.write(`==> ${path} <==\n`);
    if (secret) process.stdout.write(`(${size} bytes that may hold a key: --output-dir writes them)\n`);
    else {
      const lines = told?.find((file) => file.path === path);
      process.stdout.write(lines === undefined ? joinBlocks(blocks) : explainedText(lines));
    }
    if (!single) process.stdout.write("\n");
  }
}

interface Report {
  readonly form: OutputForm;
  readonly outcome: RenderOutcome;
  readonly files: readonly PlanFile[];
  readonly warnings: readonly ReportedProblem[];
  readonly notes: readonly string[];
  readonly verdict: CheckVerdict | undefined;
  readonly profile: Profile | undefined;
  readonly directory: string | undefined;
  readonly single: boolean;
  readonly explained: readonly ExplainedFile[] | undefined;
}

function tell(report: Report): number {
  const { form, outcome, files, warnings, notes, verdict, profile, directory, single, explained: told } = report;
  const isolated = outcome.isolated.map(({ source, id, problem }) => ({ source, id, problem: ofTemplate(problem) }));
  const problems = outcome.problems.map(ofTemplate);
  const refused = verdict?.accepted === false;
  const ok = outcome.result !== undefined && isolated.length === 0 && !refused;
  const result: RenderResult | undefined = outcome.result;
  if (form === "json") {
    printJson({
      ok,
      problems,
      isolated,
      warnings,
      notes,
      files: files.map(({ path, kind, size, secret, blocks }) => ({
        path,
        kind,
        size,
        ...(directory === undefined && !secret && { text: joinBlocks(blocks).toString("utf8") }),
        ...(told !== undefined && { lines: told.find((file) => file.path === path)?.lines }),
      })),
      events: result?.events ?? [],
      notCarriedOut: result?.notCarriedOut ?? [],
      ...(verdict !== undefined && { check: { accepted: verdict.accepted, message: verdict.message } }),
      ...(profile !== undefined && { profile: profile.rows() }),
    });
    return ok ? 0 : 1;
  }
  if (directory === undefined || told !== undefined) print(files, single, told);
  process.stderr.write(listing([...warnings, ...problems]));
  for (const note of notes) say(`left out: ${note}`);
  for (const { source, id, problem } of isolated) say(`not rendered: ${source} ${id}\n${problem.text}\n`);
  for (const { object, reason, message } of result?.events ?? [])
    say(`event: ${reason} ${object.kind} ${object.namespace}/${object.name}: ${message}`);
  for (const { message } of result?.notCarriedOut ?? []) say(message);
  if (profile !== undefined) process.stderr.write(table(profile));
  if (verdict !== undefined && verdict.message !== "") say(verdict.message);
  if (verdict !== undefined) say(verdict.accepted ? "HAProxy accepts it" : "HAProxy refuses it");
  if (directory !== undefined && result !== undefined) say(`${files.length} files written to ${directory}`);
  return ok ? 0 : 1;
}

export const command: Command = {
  summary: "render a configuration from files, without a cluster",
  usage,
  async run(argv) {
    const flags = readFlags("render", argv, flagTypes);
    const form = outputForm(flags.output);
    const paths = flags.file ?? [];
    if (paths.length === 0)
      throw new UsageError("give the configuration with -f FILE", "`haptic help render` shows how");
    const fail = (problems: readonly ReportedProblem[]): number => {
      if (form === "json") printJson({ ok: false, problems });
      else process.stderr.write(listing(problems));
      return 1;
    };
    const loaded = load(paths, flags.resources ?? []);
    if (!("config" in loaded)) return fail(loaded);
    const { config } = loaded;
    const { spec, sources } = flags.snippet === undefined ? loaded : onlySnippet(loaded, flags.snippet);
    const haproxy = flags.check === true || flags.haproxy !== undefined ? await findHaproxy(flags.haproxy) : undefined;

    // oxlint-disable-next-line haptic/no-ambient-time -- handed on: what is rendered does not depend on it
    const profile =
      flags.profile === true || flags.trace === true
        ? new Profile(() => performance.now(), flags.trace === true ? say : undefined)
        : undefined;
    const folders = schemaPaths(flags["schema-dir"]);
    const typed = folders.length === 0 ? undefined : schemasIn(folders);
    if (typed !== undefined && typed.problems.length > 0) return fail(typed.problems);
    const options: RenderServiceOptions = {
      spec,
      ...(typed !== undefined && { schemas: typed.schemas }),
      sources,
      dataplane: dataplaneOf(config.spec),
    };
    const { service, problems } = createRenderService({ ...options, ...(profile !== undefined && { profile }) });
    if (problems.length > 0) return fail(problems.map(ofTemplate));
    const namespace = flags.namespace ?? config.metadata.namespace ?? "default";
    const watches = [...watchSpecs(spec), podsWatch(config)];
    const { stores, notes: leftOut } = fillStores({ watches, objects: loaded.objects, namespace });
    const notes = [...(typed?.notes ?? []), ...leftOut];
    const snapshot = stores.snapshot();
    const context: RenderContext = {
      snapshot,
      haproxyPods: snapshot.alias(PODS),
      capabilities: capabilitiesOf(haproxy?.version ?? "3.4"),
      renderMode: "reconcile",
    };
    const outcome = await service.render(context, new AbortController().signal);
    const files = [...(outcome.result?.plan.files.entries() ?? [])].map(([, file]) => file);
    const told =
      flags["explain-lines"] === true && outcome.result !== undefined
        ? await explain(files, { ...options, spec: withoutProcessors(spec) }, context)
        : undefined;
    const directory = flags["output-dir"];
    if (directory !== undefined) write(files, directory);
    const checked = flags.check === true && haproxy !== undefined && outcome.result !== undefined;
    const verdict = checked ? await check(files, haproxy) : undefined;
    const single = flags.snippet !== undefined && files.length === 1;
    const { warnings } = loaded;
    return tell({
      form,
      outcome,
      files,
      warnings,
      notes,
      verdict,
      profile: flags.profile === true ? profile : undefined,
      directory,
      single,
      explained: told,
    });
  },
};
