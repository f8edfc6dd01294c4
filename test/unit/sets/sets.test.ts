/**
 * The template sets of test/sets: configurations in the style of real libraries, each over objects of its own. They compile,
 * render what their golden files and assertions say, render the same whatever the order of their objects' arrival, and an
 * HAProxy accepts the result. `UPDATE_GOLDEN=1` writes the golden files anew.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { fillStores } from "../../../src/cli/resources.ts";
import {
  assertUsable,
  dataplaneOf,
  type HAProxyTemplateConfig,
  type HAProxyTemplateLibrary,
  judge,
  loadFiles,
  toTemplateSources,
  watchSpecs,
} from "../../../src/config/index.ts";
import { capabilitiesOf, createChecker, createSpawner } from "../../../src/haproxy/index.ts";
import { joinBlocks } from "../../../src/plan/index.ts";
import type { PlanFile } from "../../../src/plan/types.ts";
import { createRenderService, type RenderOutcome, type RenderService } from "../../../src/render/index.ts";
import type { KubeObject, StoreSet } from "../../../src/stores/index.ts";
import { testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";

const FOLDER = resolve(import.meta.dirname, "../../sets");
const names = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

/** One line of an asserts.yaml. */
interface Assertion {
  /** A rendered file; the texts and patterns below are looked for in it. */
  readonly file?: string;
  readonly has?: readonly string[];
  readonly lacks?: readonly string[];
  readonly order?: readonly string[];
  readonly equals?: string;
  /** Pattern (by line) → number of matches. */
  readonly count?: Readonly<Record<string, number>>;
  /** Each is the beginning of an event, `REASON KIND NAMESPACE/NAME: MESSAGE`. */
  readonly events?: readonly string[];
  /** Each is the beginning of an isolated fault, `SOURCE ID MESSAGE`. */
  readonly faults?: readonly string[];
}

class TemplateSet {
  readonly folder: string;
  readonly objects: readonly KubeObject[];
  readonly lines: number;
  readonly #config: HAProxyTemplateConfig;
  readonly #service: () => RenderService;

  constructor(name: string) {
    this.folder = join(FOLDER, name);
    const loaded = loadFiles([join(this.folder, "set.yaml"), join(this.folder, "resources.yaml")]);
    assertUsable(loaded.problems);
    const all = loaded.objects.map(({ object }) => object);
    this.objects = all.filter(({ kind }) => !kind.startsWith("HAProxyTemplate"));
    this.#config = all.find(({ kind }) => kind === "HAProxyTemplateConfig") as HAProxyTemplateConfig;
    const libraries = all.filter(({ kind }) => kind === "HAProxyTemplateLibrary");
    const judged = judge(this.#config, libraries as readonly KubeObject[] as readonly HAProxyTemplateLibrary[]);
    if (!("assembled" in judged)) throw new Error(judged.message);
    assertUsable(judged.problems);
    this.lines = readFileSync(join(this.folder, "set.yaml"), "utf8").split("\n").length;
    const { assembled } = judged;
    this.#service = () => {
      const { service, problems } = createRenderService({
        spec: assembled.spec,
        sources: toTemplateSources(assembled, loaded.objects),
        dataplane: dataplaneOf(assembled.spec),
        nonce: "fixed",
      });
      if (problems.length > 0) throw new Error(problems.map((problem) => problem.text).join("\n"));
      return service;
    };
  }

  stores(objects: readonly KubeObject[]): StoreSet {
    return fillStores({ watches: watchSpecs(this.#config.spec), objects, namespace: "default" }).stores;
  }

  service(): RenderService {
    return this.#service();
  }
}

async function render(service: RenderService, stores: StoreSet): Promise<RenderOutcome> {
  const outcome = await service.render(
    {
      snapshot: stores.snapshot(),
      haproxyPods: undefined,
      capabilities: capabilitiesOf("3.4"),
      renderMode: "reconcile",
    },
    new AbortController().signal,
  );
  if (outcome.result === undefined) throw new Error(outcome.problems.map((problem) => problem.text).join("\n"));
  return outcome;
}

const filesOf = (outcome: RenderOutcome): PlanFile[] => [...outcome.result!.plan.files.values()];
const textsOf = (outcome: RenderOutcome): Record<string, string> =>
  Object.fromEntries(filesOf(outcome).map(({ path, blocks }) => [path, joinBlocks(blocks).toString("utf8")]));
const eventsOf = (outcome: RenderOutcome): string[] =>
  outcome.result!.events.map(
    ({ object, reason, message }) => `${reason} ${object.kind} ${object.namespace}/${object.name}: ${message}`,
  );

/** Compares with the golden files; keys are not kept there. */
function golden(folder: string, files: readonly PlanFile[]): void {
  const out = join(folder, "out");
  const texts = new Map(
    files.filter(({ secret }) => !secret).map(({ path, blocks }) => [path, joinBlocks(blocks).toString("utf8")]),
  );
  if (process.env["UPDATE_GOLDEN"] === "1") {
    rmSync(out, { recursive: true, force: true });
    for (const [path, text] of texts) {
      mkdirSync(dirname(join(out, path)), { recursive: true });
      writeFileSync(join(out, path), text);
    }
  }
  const kept = existsSync(out)
    ? readdirSync(out, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(out.length + 1))
    : [];
  assert.equal(kept.sort(), [...texts.keys()].sort(), "the golden files are those that were rendered");
  for (const [path, text] of texts) assert.fixture(text, readFileSync(join(out, path), "utf8"), path);
}

function judgeAssertion(expected: Assertion, outcome: RenderOutcome): void {
  const starts = (found: readonly string[], wanted: readonly string[]): void => {
    for (const text of wanted)
      assert.ok(
        found.some((each) => each.startsWith(text)),
        `${text}\namong\n${found.join("\n")}`,
      );
    assert.is(found.length, wanted.length, found.join("\n"));
  };
  if (expected.events !== undefined) starts(eventsOf(outcome), expected.events);
  if (expected.faults !== undefined)
    starts(
      outcome.isolated.map(({ source, id, problem }) => `${source} ${id} ${problem.message}`),
      expected.faults,
    );
  if (expected.file === undefined) return;
  const text = textsOf(outcome)[expected.file];
  assert.ok(text !== undefined, `${expected.file} is rendered`);
  for (const part of expected.has ?? []) assert.ok(text.includes(part), `${expected.file} has ${part}\n${text}`);
  for (const part of expected.lacks ?? []) assert.not.ok(text.includes(part), `${expected.file} lacks ${part}`);
  let from = 0;
  for (const part of expected.order ?? []) {
    const at = text.indexOf(part, from);
    assert.ok(at >= 0, `${expected.file} has ${part} after what the list names before it\n${text}`);
    from = at + part.length;
  }
  if (expected.equals !== undefined) assert.is(text, expected.equals);
  for (const [pattern, times] of Object.entries(expected.count ?? {}))
    assert.is([...text.matchAll(new RegExp(pattern, "gm"))].length, times, `${pattern} in ${expected.file}`);
}

/** The same objects in another order. */
const turned = (objects: readonly KubeObject[], by: number): KubeObject[] => [
  ...objects.slice(by).toReversed(),
  ...objects.slice(0, by),
];

const haproxy = testHaproxy("3.4");
const checked = needing(
  base,
  haproxy === undefined ? "needs HAProxy 3.4, which could not be installed here" : undefined,
);
const spawner = createSpawner();
base.after(() => spawner.close());

base("there are ten sets, each of a hundred lines and more", () => {
  assert.ok(names.length >= 10, names.join());
  for (const name of names) {
    const { lines } = new TemplateSet(name);
    assert.ok(lines >= 100 && lines <= 600, `${name} has ${lines} lines`);
  }
});

for (const name of names) {
  base(`the set ${name} renders as asserted`, async () => {
    const set = new TemplateSet(name);
    const outcome = await render(set.service(), set.stores(set.objects));
    golden(set.folder, filesOf(outcome));
    const asserts = parse(readFileSync(join(set.folder, "asserts.yaml"), "utf8")) as readonly Assertion[];
    assert.ok(asserts.length > 0);
    for (const expected of asserts) judgeAssertion(expected, outcome);
  });

  base(`the set ${name} renders the same bytes whatever came first, also when one object comes later`, async () => {
    const set = new TemplateSet(name);
    const wanted = textsOf(await render(set.service(), set.stores(set.objects)));
    const mixed = await render(set.service(), set.stores(turned(set.objects, 2)));
    assert.equal(textsOf(mixed), wanted);
    const stores = set.stores(set.objects.slice(1));
    const service = set.service();
    await service.render(
      {
        snapshot: stores.snapshot(),
        haproxyPods: undefined,
        capabilities: capabilitiesOf("3.4"),
        renderMode: "reconcile",
      },
      new AbortController().signal,
    );
    const late = set.objects[0]!;
    for (const alias of stores.snapshot().aliases()) {
      // Only the stores that would have held it take it.
      const alone = set.stores([late]).store(alias);
      if (alone !== undefined && alone.size > 0) stores.store(alias)!.upsert(late);
    }
    assert.equal(textsOf(await render(service, stores)), wanted);
  });

  checked(`HAProxy accepts what the set ${name} renders`, async () => {
    const set = new TemplateSet(name);
    const outcome = await render(set.service(), set.stores(set.objects));
    const checker = createChecker({ binary: haproxy!, spawner, nice: 0 });
    try {
      const { accepted, message } = await checker.check(filesOf(outcome), new AbortController().signal);
      assert.ok(accepted, message);
    } finally {
      await checker.close();
    }
  });
}

base.run();
