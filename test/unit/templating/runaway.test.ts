// runner: limit 240 s
import { test } from "uvu";
import * as assert from "uvu/assert";
import { TemplateError } from "../../../src/errors.ts";
import { drive, sliceClock } from "../../../src/templating/index.ts";
import { runawayFiles, runaways } from "../../support/runaways.ts";
import { compile } from "./engine.ts";

/**
 * Templates that would run for ever, or fill the memory. Each ends with an error that says why, within a bounded amount of
 * work, and pauses on its way. Times are not judged: the machine may be busy; a stretch without a pause is bounded by the
 * work it may do.
 */
for (const [name, template, message] of runaways) {
  test(`${name} is stopped`, async () => {
    const set = compile(template, { files: runawayFiles });
    assert.equal(
      set.problems.map((problem) => problem.text),
      [],
    );
    const clock = sliceClock(6, () => performance.now());
    const environment = {
      globals: {},
      sink: { text: () => undefined, mount: () => undefined },
      due: clock.due,
      limits: { fuel: 60_000_000 },
    };
    let served = 0;
    try {
      await drive(set.start("main", environment), {
        clock,
        yieldTo: () => new Promise((resolve) => setImmediate(resolve)),
        onSlice: () => served++,
        now: () => performance.now(),
        watchdogMs: 20_000,
      });
      assert.unreachable("it came to an end");
    } catch (error) {
      assert.instance(error, TemplateError, String(error));
      assert.is((error as TemplateError).code.replace("_RUN", "_LIMIT"), "HAPTIC_E_TEMPLATE_LIMIT");
      assert.match((error as TemplateError).message, message);
    }
    // What is stopped by its fuel has let others run all the time.
    if (message.source === "fuel limit") assert.ok(served > 3, String(served));
  });
}

test("a callback may do what fits into a slice", async () => {
  const set = compile("{{ len(map(seq(2000), func(x any) any { n := 0; for i in seq(50) { n += i }; return n })) }}");
  let out = "";
  const sink = { text: (chunk: string) => void (out += chunk), mount: () => undefined };
  const clock = sliceClock(6, () => performance.now());
  await drive(set.start("main", { globals: {}, sink, due: clock.due }), { clock, yieldTo: async () => undefined });
  assert.is(out, "2000");
});

test.run();
