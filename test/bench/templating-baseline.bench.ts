/**
 * The engine against the same work written by hand: a configuration of 10,000 routes, about 5 MB, rendered by one root of
 * suspendable code in slices, and by templating/baseline.mjs in one go. Rounds alternate, so that both see the same machine.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  createEngine,
  createEngineInSlices,
  drive,
  Profile,
  Provenance,
  sliceClock,
  type TemplateSource,
} from "../../src/templating/index.ts";
import { recordRow } from "../support/report.ts";
import { renderBaseline } from "./templating/baseline.mjs";
import { compile, engineOptions, globalsOf, makeData, templateSources } from "./templating/workload.ts";
import { largeSet, longTemplate } from "./templating/large-set.ts";

const ROUTES = 10_000;
const ROUNDS = 24;
/** Until V8 has both sides compiled with all it learns: some hundred milliseconds beside the first rounds. */
const WARM_UP = 16;
/** Rounds with a profile or with provenance, afterwards: both look at other code and would share its caches. */
const ASIDE = 10;
const SLICE_MS = 6;

const now = (): number => performance.now();
/** CPU of this thread, in ms: what others do on the machine does not count, nor do the garbage collector's helpers. */
const cpu = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
const pause = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

function median(samples: readonly number[]): number {
  return samples.toSorted((a, b) => a - b)[samples.length >> 1]!;
}

function row(name: string, objects: number, samples: readonly number[], floor?: readonly number[]): void {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!;
  const base = floor?.toSorted((a, b) => a - b);
  const middle = base?.[base.length >> 1];
  recordRow({
    name,
    objects,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    max: at(1),
    // Of samples that belong together, so that what the machine does meanwhile counts on both sides.
    ...(middle !== undefined &&
      floor !== undefined && {
        floor: middle,
        ratio: floor.length === samples.length ? median(samples.map((ms, i) => ms / floor[i]!)) : at(0.5) / middle,
      }),
  });
}

/** Compiles a set in slices some times: how long it took, its longest slice, and its longest step, which nothing can part. */
async function compiled(
  sources: readonly TemplateSource[],
  rounds: number,
): Promise<Record<"all" | "slice" | "step", number[]>> {
  const measured = { all: [] as number[], slice: [] as number[], step: [] as number[] };
  for (let round = 0; round < rounds; round++) {
    const clock = sliceClock(SLICE_MS, now);
    const started = now();
    let [began, step, longestSlice, longestStep] = [started, cpu(), 0, 0];
    const set = await createEngineInSlices(engineOptions(sources), {
      due: () => {
        const at = cpu();
        longestStep = Math.max(longestStep, at - step);
        step = at;
        return clock.due();
      },
      pause: async () => {
        longestSlice = Math.max(longestSlice, now() - began);
        await pause();
        clock.begin();
        began = now();
        step = cpu();
      },
    });
    measured.all.push(now() - started);
    measured.slice.push(Math.max(longestSlice, now() - began));
    measured.step.push(longestStep);
    assert.equal(
      set.problems.map((problem) => problem.text),
      [],
    );
  }
  return measured;
}

// First, so that nothing is warm yet.
test("compiling a set of 10,000 lines, cold and warm, in slices", async () => {
  const sources = largeSet();
  const lines = sources.reduce((sum, { text }) => sum + text.split("\n").length, 0);
  assert.ok(lines >= 10_000, `${lines} lines`);
  const { all, slice } = await compiled(sources, 6);
  row("T compile 10,000 lines, cold", lines, all.slice(0, 1));
  row("T compile 10,000 lines, warm", lines, all.slice(1));
  row("T compile 10,000 lines, longest slice, warm", lines, slice.slice(1));
});

test("compiling one template of 8,000 lines in slices", async () => {
  const sources = longTemplate();
  const lines = sources[0]!.text.split("\n").length;
  assert.ok(lines >= 8_000, `${lines} lines`);
  const { all, slice, step } = await compiled(sources, 6);
  row("T compile one template of 8,000 lines", lines, all);
  row("T compile one template of 8,000 lines, longest slice", lines, slice);
  row("T compile one template of 8,000 lines, longest step, CPU", lines, step);
});

test("10,000 routes: the engine against plain JavaScript", async () => {
  const data = makeData(ROUTES);
  const set = compile(templateSources());
  const globals = globalsOf(data);
  const explaining = createEngine({ ...engineOptions(templateSources()), provenance: true });
  const engine = async (
    profile?: Profile,
    used = set,
  ): Promise<{ ms: number; cpu: number; longest: number; out: Buffer[] }> => {
    const out: Buffer[] = [];
    const clock = sliceClock(SLICE_MS, now);
    let longest = 0;
    const started = now();
    const busy = cpu();
    const run = used.start("haproxy.cfg", {
      globals,
      sink: { text: (chunk) => void out.push(Buffer.from(chunk)), mount: () => undefined },
      due: clock.due,
      ...(profile !== undefined && { profile }),
      ...(used === explaining && { provenance: new Provenance(used.pieces) }),
    });
    await drive(run, {
      clock,
      yieldTo: pause,
      now,
      onSlice: (ms) => {
        longest = Math.max(longest, ms);
      },
    });
    return { ms: now() - started, cpu: cpu() - busy, longest, out };
  };
  const baseline = (): { ms: number; cpu: number; out: Buffer[] } => {
    const started = now();
    const busy = cpu();
    const out = renderBaseline(data as never);
    return { ms: now() - started, cpu: cpu() - busy, out };
  };
  const first = await engine();
  const text = Buffer.concat(first.out).toString("utf8");
  assert.is(text, Buffer.concat(baseline().out).toString("utf8"), "both make the same bytes");
  assert.ok(text.length > 4.5e6, `${text.length} characters`);
  assert.ok(first.out.every((chunk) => chunk.length < 3 * 16_384));

  const mine: number[] = [];
  const hand: number[] = [];
  const longest: number[] = [];
  const mineCpu: number[] = [];
  const handCpu: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    // Who comes second finds the other's garbage: they take turns.
    const first = round % 2 === 0 ? baseline() : undefined;
    await pause();
    const rendered = await engine();
    await pause();
    const written = first ?? baseline();
    await pause();
    if (round < 0) continue;
    mine.push(rendered.ms);
    mineCpu.push(rendered.cpu);
    handCpu.push(written.cpu);
    hand.push(written.ms);
    longest.push(rendered.longest);
  }
  const measured: number[] = [];
  const plain: number[] = [];
  const told: number[] = [];
  for (let round = -WARM_UP; round < ASIDE; round++) {
    const profiled = (await engine(new Profile(now))).cpu;
    await pause();
    const bare = (await engine()).cpu;
    await pause();
    if (round >= 0 && round < 3) told.push((await engine(undefined, explaining)).cpu);
    if (round < 0) continue;
    measured.push(profiled);
    plain.push(bare);
  }
  row("T render 5 MB: engine against plain JavaScript", ROUTES, mine, hand);
  row("T render 5 MB: the same, CPU", ROUTES, mineCpu, handCpu);
  row("T render 5 MB: longest slice", ROUTES, longest);
  row("T render 5 MB: profiled against not profiled, CPU", ROUTES, measured, plain);
  row("T render 5 MB: with provenance against without, CPU", ROUTES, told, plain);
  row("T render 5 MB: first", ROUTES, [first.ms]);
  row("T render 5 MB: longest slice of the first", ROUTES, [first.longest]);
});

test.run();
