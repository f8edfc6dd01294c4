import { test } from "uvu";
import * as assert from "uvu/assert";
import { InForceLedger } from "../../../src/devcluster/in-force.ts";
import { sentence } from "../../../src/devcluster/narrator.ts";

test("a change is in force when the last pod has the plan that followed it", () => {
  const ledger = new InForceLedger(2);
  ledger.changed("Ingress a/x", 1_000);
  ledger.changed("Ingress a/x", 1_001);
  ledger.changed("Service a/y", 1_002);
  assert.is(ledger.applied({ pod: "1", plan: "p1", mode: "runtime" }, 1_010), undefined);
  assert.equal(ledger.applied({ pod: "2", plan: "p1", mode: "runtime" }, 1_015), {
    objects: ["Ingress a/x", "Service a/y"],
    tookMs: 15,
    mode: "runtime",
    pods: 2,
  });
});

test("a change during a deployment counts for the next plan", () => {
  const ledger = new InForceLedger(2);
  ledger.changed("Service a", 0);
  ledger.applied({ pod: "1", plan: "p1", mode: "runtime" }, 5);
  ledger.changed("Service b", 6);
  assert.equal(ledger.applied({ pod: "2", plan: "p1", mode: "runtime" }, 8)!.objects, ["Service a"]);
  ledger.applied({ pod: "1", plan: "p2", mode: "runtime" }, 9);
  assert.equal(ledger.applied({ pod: "2", plan: "p2", mode: "runtime" }, 10), {
    objects: ["Service b"],
    tookMs: 4,
    mode: "runtime",
    pods: 2,
  });
});

test("a plan that another one overtakes leaves its changes to that one, with their time", () => {
  const ledger = new InForceLedger(2);
  ledger.changed("Service a", 0);
  ledger.applied({ pod: "1", plan: "p1", mode: "runtime" }, 5);
  ledger.changed("Service b", 6);
  ledger.applied({ pod: "1", plan: "p2", mode: "runtime" }, 9);
  const reached = ledger.applied({ pod: "2", plan: "p2", mode: "reload" }, 20)!;
  assert.equal([reached.objects, reached.tookMs, reached.mode], [["Service a", "Service b"], 20, "reload"]);
});

test("promotions, plans without a change and changes that nothing followed from are not told", () => {
  const ledger = new InForceLedger(1);
  assert.is(ledger.applied({ pod: "1", plan: "p1", mode: "reload" }, 5), undefined);
  ledger.changed("Pod a", 10);
  assert.is(ledger.applied({ pod: "1", plan: "p1", mode: "noop" }, 12), undefined);
  ledger.changed("Service b", 5_000);
  assert.equal(ledger.applied({ pod: "1", plan: "p2", mode: "runtime" }, 5_003)!.objects, ["Service b"]);
});

test("a change of the configuration counts for the first plan after it was accepted, however long that took", () => {
  const ledger = new InForceLedger(1);
  ledger.configurationChanged("HAProxyTemplateConfig a", 0);
  ledger.changed("Route b", 1);
  assert.equal(ledger.applied({ pod: "1", plan: "p1", mode: "runtime" }, 4)!.objects, ["Route b"]);
  ledger.configurationAccepted("p2", 3_000);
  ledger.changed("Route c", 3_001);
  assert.equal(ledger.applied({ pod: "1", plan: "p2", mode: "reload" }, 3_010), {
    objects: ["HAProxyTemplateConfig a", "Route c"],
    tookMs: 3_010,
    mode: "reload",
    pods: 1,
  });
});

test("a plan of the configuration before, still on its way, does not count for the accepted one; one that overtook it does", () => {
  const ledger = new InForceLedger(1);
  ledger.configurationChanged("HAProxyTemplateConfig a", 0);
  ledger.changed("Route b", 1);
  ledger.configurationAccepted("p2", 10);
  assert.equal(ledger.applied({ pod: "1", plan: "p1", mode: "runtime" }, 12)!.objects, ["Route b"]);
  ledger.changed("Route c", 2_000);
  const overtaking = ledger.applied({ pod: "1", plan: "p3", mode: "reload" }, 2_005)!;
  assert.equal(overtaking.objects, ["HAProxyTemplateConfig a", "Route c"]);
});

test("a change of the configuration that alters no plan is told as it is accepted, and not again with a later plan", () => {
  const ledger = new InForceLedger(2);
  ledger.applied({ pod: "1", plan: "p1", mode: "reload" }, 0);
  ledger.applied({ pod: "2", plan: "p1", mode: "reload" }, 1);
  ledger.configurationChanged("HAProxyTemplateConfig a", 100);
  const reached = ledger.configurationAccepted("p1", 130)!;
  assert.equal(reached, { objects: ["HAProxyTemplateConfig a"], tookMs: 30, mode: "noop", pods: 2 });
  assert.match(sentence(reached), /in force on 2 pods after 30 ms, no reload$/);
  ledger.changed("Route b", 30_000);
  ledger.applied({ pod: "1", plan: "p2", mode: "runtime" }, 30_002);
  assert.equal(ledger.applied({ pod: "2", plan: "p2", mode: "runtime" }, 30_003)!.objects, ["Route b"]);
});

test("a change of the configuration that alters no plan waits for the pod that does not have that plan yet", () => {
  const ledger = new InForceLedger(2);
  ledger.changed("Route b", 0);
  ledger.applied({ pod: "1", plan: "p1", mode: "runtime" }, 2);
  ledger.configurationChanged("HAProxyTemplateConfig a", 3);
  assert.is(ledger.configurationAccepted("p1", 4), undefined);
  assert.equal(ledger.applied({ pod: "2", plan: "p1", mode: "runtime" }, 9)!.objects, [
    "Route b",
    "HAProxyTemplateConfig a",
  ]);
});

test("an acceptance that no change came before is not told", () => {
  const ledger = new InForceLedger(1);
  ledger.applied({ pod: "1", plan: "p1", mode: "reload" }, 0);
  assert.is(ledger.configurationAccepted("p1", 5), undefined);
});

test("a change of the configuration that was refused is never told to be in force", () => {
  const ledger = new InForceLedger(1);
  ledger.configurationChanged("HAProxyTemplateConfig a", 0);
  ledger.configurationRefused();
  ledger.configurationChanged("HAProxyTemplateConfig a", 100);
  ledger.configurationAccepted("p1", 110);
  assert.is(ledger.applied({ pod: "1", plan: "p1", mode: "reload" }, 120)!.tookMs, 20);
});

test("a reload that one pod has put off is told before one that another has done", () => {
  const ledger = new InForceLedger(2);
  ledger.changed("Service a", 0);
  ledger.applied({ pod: "1", plan: "p1", mode: "scheduled" }, 5);
  const reached = ledger.applied({ pod: "2", plan: "p1", mode: "reload" }, 6)!;
  assert.is(reached.mode, "scheduled");
  assert.match(sentence(reached), /^Service a: ready on 2 pods after 6\.0 ms, in force with the next reload/);
});

test.run();
