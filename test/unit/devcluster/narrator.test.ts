/** What `haptic dev` tells of the lines that its parts print. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { Narrator } from "../../../src/devcluster/narrator.ts";

function site(): { readonly narrator: Narrator; readonly told: string[]; readonly logs: (entry: object) => void } {
  const told: string[] = [];
  const narrator = new Narrator({
    pods: 1,
    controllers: 1,
    outlet: { line: (text) => told.push(text) },
    now: () => 0,
    verbose: false,
  });
  return { narrator, told, logs: (entry) => narrator.output("controller", JSON.stringify(entry)) };
}

const fault = { msg: "Fault", object: "Pod default/p", reason: "ApplyFailed" };

test("the first set is told by the live traffic; what changes after it is told as it is in force", () => {
  const { narrator, told, logs } = site();
  const reached: number[] = [];
  narrator.onInForce(({ pods }) => reached.push(pods));
  narrator.changed("Ingress default/one");
  logs({ msg: "Applied", pod: "p", plan: "1", mode: "reload" });
  assert.equal([told, reached], [[], [1]]);
  narrator.changed("Ingress default/two");
  logs({ msg: "Applied", pod: "p", plan: "2", mode: "runtime" });
  assert.equal([told, reached], [["Ingress default/two: in force on 1 pod after 0.0 ms, no reload"], [1, 1]]);
});

test("a set that HAProxy refuses is told once, not again while the agent repeats what HAProxy said", () => {
  const { told, logs } = site();
  logs({ msg: "Apply refused", pod: "p", message: "reload: [ALERT] no" });
  logs({ ...fault, message: "reload: [ALERT] no" });
  logs({ ...fault, message: "known_bad: HAProxy refused this set at noon: [ALERT] no" });
  assert.equal(told, ["fault: Pod default/p: ApplyFailed: reload: [ALERT] no"]);
  logs({ ...fault, message: "reload: [ALERT] something else" });
  logs({ ...fault, msg: "Fault mended" });
  assert.equal(told.slice(1), [
    "fault: Pod default/p: ApplyFailed: reload: [ALERT] something else",
    "mended: Pod default/p: ApplyFailed",
  ]);
  logs({ ...fault, message: "known_bad: HAProxy refused this set at noon: [ALERT] no" });
  assert.is(told.length, 4, "after it was mended it is news");
});

test("of HAProxy's own words those are told that say what is wrong, without its closing remarks", () => {
  const { narrator, told } = site();
  for (const line of [
    "[NOTICE]   (1) : haproxy version is 3.4.7",
    "[ALERT]    (1) : config : parsing [haproxy.cfg:10]: unknown keyword",
    "[ALERT]    (1) : config : Error(s) found in configuration file : haproxy.cfg",
    "[ALERT]    (1) : config : Fatal errors found in configuration.",
  ])
    narrator.output("haproxy-1/haproxy", line);
  assert.equal(told, ["haproxy-1/haproxy: [ALERT]    (1) : config : parsing [haproxy.cfg:10]: unknown keyword"]);
});

test.run();
