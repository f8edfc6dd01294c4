import { test } from "uvu";
import * as assert from "uvu/assert";
import { Records } from "../../../src/controller/records.ts";
import { FaultRegistry } from "../../../src/observe/index.ts";

test("a configuration object that is gone is a fault that says how it comes back, and ends when one is accepted", () => {
  const ended: string[] = [];
  const faults = new FaultRegistry(
    () => new Date(0),
    ({ reason }, state) => void (state === "ended" && ended.push(reason)),
  );
  const configName = "HAProxyTemplateConfig default/main";
  const records = new Records({
    faults,
    configName,
    subject: () => ({ apiVersion: "v1", kind: "HAProxyTemplateConfig", name: "main", namespace: "default", uid: "u" }),
    observedGeneration: () => 1,
    isWatched: () => false,
  });
  records.note({ type: "CONFIG.MISSING" });
  const fault = faults.list()[0]!;
  assert.is(fault.object, configName);
  assert.is(fault.reason, "ConfigMissing");
  assert.match(fault.message, "kubectl apply of it");
  assert.match(fault.message, "haptic dev: saving its file again");
  assert.equal(ended, []);
  const accepted = { iteration: 2, version: "2", generation: 2, planId: "p", driftIntervalMs: 1_000 };
  records.note({ type: "ITERATION.ACCEPTED", ...accepted });
  assert.equal(ended, ["ConfigMissing"]);
});

test.run();
