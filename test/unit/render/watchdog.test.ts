import { setImmediate } from "node:timers/promises";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createRenderServiceInSlices } from "../../../src/render/index.ts";
import { context, never, options, route, service, TEMPLATES, texts, world } from "./fixture.ts";

/** A clock that stands still: the run never learns that its slice is over, as in a function that does not come back. */
const STUCK = { now: () => 0, watchdogMs: 400 };

test("a root that does not come back is stopped, told, and nothing else is lost", async () => {
  const on = world();
  on.put("routes", route("ns", "a", "a.example", "web"));
  const made = service(
    { ...TEMPLATES, "haproxy.cfg": "{% for %}{% var pair = [2]int{1, 2} %}{% pair[0] = pair[1] %}{% end %}" },
    STUCK,
  );
  const { result, problems } = await made.render(context(on), never);
  assert.is(result, undefined);
  assert.equal(
    problems.map(({ code, template, message }) => `${code} ${template}: ${message}`),
    ["HAPTIC_E_TEMPLATE_LIMIT haproxy.cfg: stopped after 400 ms without a pause"],
  );
});

test("an object whose incremental snippet does not come back harms itself only", async () => {
  const on = world();
  on.put("routes", route("ns", "a", "a.example", "web"));
  on.put("routes", route("ns", "stuck", "stuck.example", "web"));
  on.put("routes", route("ns", "z", "z.example", "web"));
  const hosts = `{% if item.metadata.name == "stuck" %}{% for %}{% var pair = [2]int{1, 2} %}{% pair[0] = pair[1] %}{% end %}{% end %}${TEMPLATES["hosts"]}`;
  const { result, isolated } = await service({ ...TEMPLATES, hosts }, STUCK).render(context(on), never);
  assert.equal(
    isolated.map(({ id, problem }) => `${id}: ${problem.message}`),
    ["ns/stuck: stopped after 400 ms without a pause"],
  );
  const all = Object.values(texts(result!.plan)).join("\n");
  assert.match(all, "a.example");
  assert.match(all, "z.example");
});

for (const [what, stuck] of [
  ["a root", { "haproxy.cfg": `{% for i in seq(20000) %}{% end %}${TEMPLATES["haproxy.cfg"]}` }],
  ["an instance", { hosts: `{% for i in seq(20000) %}{% end %}${TEMPLATES["hosts"]}` }],
] as const) {
  test(`${what} that is killed because others have the processor is begun anew, and gives what it would have given`, async () => {
    const on = world();
    on.put("routes", route("ns", "a", "a.example", "web"));
    const wanted = await service({ ...TEMPLATES, ...stuck }, { nonce: "n" }).render(context(on), never);
    // The first look at the clock waits for longer than the watchdog does, as a process waits for its turn.
    let waits = 1;
    const now = (): number => {
      if (waits > 0 && looked++ > 2) {
        waits--;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      }
      return performance.now();
    };
    let looked = 0;
    const { result, problems, isolated } = await service(
      { ...TEMPLATES, ...stuck },
      { nonce: "n", watchdogMs: 100, now, processorMs: () => 0 },
    ).render(context(on), never);
    assert.is(waits, 0, "it was made to wait");
    assert.equal([problems, isolated], [[], []]);
    assert.equal(texts(result!.plan), texts(wanted.result!.plan));
  });
}

test("work that never has the processor is told as what it is, after three attempts", async () => {
  const on = world();
  on.put("routes", route("ns", "a", "a.example", "web"));
  const made = service(
    { ...TEMPLATES, "haproxy.cfg": "{% for %}{% var pair = [2]int{1, 2} %}{% pair[0] = pair[1] %}{% end %}" },
    { now: () => 0, watchdogMs: 30, processorMs: () => 0 },
  );
  let message = "";
  await made.render(context(on), never).catch((error: unknown) => (message = (error as Error).message));
  assert.is(message, "the render does not get the processor: other processes have it");
});

test("templates are compiled in slices, with the same result", async () => {
  const on = world();
  on.put("routes", route("ns", "a", "a.example", "web"));
  let pauses = 0;
  let time = 0;
  const { service: made, problems } = await createRenderServiceInSlices(
    options(undefined, {
      now: () => (time += 4),
      pause: async () => {
        pauses++;
        await setImmediate();
      },
      nonce: "n",
    }),
  );
  assert.equal(problems, []);
  assert.ok(pauses > 5, String(pauses));
  const sliced = await made.render(context(on), never);
  const whole = await service(undefined, { nonce: "n" }).render(context(on), never);
  assert.equal(texts(sliced.result!.plan), texts(whole.result!.plan));
});

test.run();
