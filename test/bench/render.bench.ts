/** Render and plan on the ingress example: cold, one changed endpoint, one new host; and what a plan's blob costs. */
import { setImmediate } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { decodePlan, diffPlans, encodePlan, type OpKind, type RenderPlan, splices } from "../../src/plan/index.ts";
import { recordRow } from "../support/report.ts";
import { ingress, service, slice } from "../unit/examples/objects.ts";
import { Example, objectsOf } from "../unit/examples/rendering.ts";

const ROUNDS = 300;
const OPS = new Set<OpKind>([
  "backend_add",
  "backend_publish",
  "server_add",
  "server_enable",
  "server_set_addr",
  "map_add",
]);

function row(name: string, objects: number, samples: readonly number[]): void {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] as number;
  recordRow({ name, objects, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) });
}

function filled(objects: number): Example {
  const example = new Example("ingress/config.yaml").put(...objectsOf("ingress/demo.yaml"));
  for (let i = 0; i < objects; i++) {
    example.put(
      ingress(`ing-${i}`, `host-${i}.example.com`, [
        { path: "/", service: `svc-${i}` },
        { path: "/api", service: `svc-${i}` },
      ]),
      service(`svc-${i}`),
      slice(
        `svc-${i}`,
        [1, 2, 3].map((pod) => ({ address: `10.1.${pod}.${i % 250}`, pod: `svc-${i}-${pod}` })),
      ),
    );
  }
  return example;
}

async function render(example: Example): Promise<{ plan: RenderPlan; ms: number; longest: number }> {
  const started = performance.now();
  const { result, problems } = await example.renderOutcome();
  if (result === undefined) throw new Error(problems.map((problem) => problem.text).join("\n"));
  return { plan: result.plan, ms: performance.now() - started, longest: result.stats.longestSliceMs };
}

for (const objects of [100, 1000, 5000]) {
  test(`Render and plan are measured with ${objects} Ingresses`, async () => {
    const cold: number[] = [];
    const stalls: number[] = [];
    let example = filled(objects);
    for (let i = 0; i < 3; i++) {
      if (i > 0) example = filled(objects);
      const { ms, longest } = await render(example);
      cold.push(ms);
      stalls.push(longest);
    }
    row("G5 cold render", objects, cold);
    row("G5 longest slice of a cold render", objects, stalls);

    let { plan } = await render(example);
    const change = async (name: string, apply: (round: number) => void): Promise<void> => {
      const samples: number[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        apply(round);
        const started = performance.now();
        const next = await render(example);
        const diff = diffPlans(next.plan, plan, { haproxyVersion: "3.4.7", agentOps: OPS });
        for (const file of diff.changed) splices(plan.files.get(file.path)?.blocks ?? [], file.blocks);
        samples.push(performance.now() - started);
        assert.is(diff.verdict, "runtime", diff.reasons.join());
        plan = next.plan;
        await setImmediate();
      }
      row(name, objects, samples);
    };
    await change("G6 one changed endpoint, render and difference", (round) => {
      const of = `svc-${(round * 37) % objects}`;
      example.put(
        slice(
          of,
          [1, 2, 3].map((pod) => ({
            address: pod === 2 ? `10.9.${round % 250}.${round % 99}` : `10.1.${pod}.${round % 250}`,
            pod: `${of}-${pod}`,
          })),
        ),
      );
    });
    await change("G6 one new host with a new backend, render and difference", (round) => {
      const name = `new-${round}`;
      example.put(
        ingress(name, `${name}.example.com`, [{ service: name }]),
        service(name),
        slice(name, [{ address: "10.2.0.1", pod: name }]),
      );
    });

    const started = performance.now();
    const blob = await encodePlan(plan, setImmediate);
    row("plan: first encoding", objects, [performance.now() - started]);
    const read = performance.now();
    assert.is((await decodePlan(blob as Buffer, setImmediate)).id, plan.id);
    row("plan: reading back", objects, [performance.now() - read]);
    row("plan: size of the blob, kB", objects, [(blob as Buffer).length / 1000]);
  });
}

test.run();
