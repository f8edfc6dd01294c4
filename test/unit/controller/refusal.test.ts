/** What is told of an apply that an agent refused. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { ApplyResult } from "../../../src/agent/api.ts";
import { refusalOf } from "../../../src/controller/refusal.ts";

const OUTPUT = `[NOTICE]   (31107) : Initializing new worker (31998)
[NOTICE]   (31998) : haproxy version is 3.4.7-1
[ALERT]    (31998) : config : parsing [/etc/haproxy/current/haproxy.cfg:10]: unmatched quote at position 30:
  user admin insecure-password hunter2 "
                                       ^
[ALERT]    (31998) : config : Error(s) found in configuration file : /etc/haproxy/current/haproxy.cfg
[ALERT]    (31998) : config : Fatal errors found in configuration.
[WARNING]  (31107) : Failed to load worker (31998) exited with code 1 (Exit)`;
const WORDS = `[ALERT] config : parsing [/etc/haproxy/current/haproxy.cfg:10]: unmatched quote at position 30:
  user admin insecure-password *** "
                                       ^`;

const refused = (performed: boolean, output = OUTPUT): Pick<ApplyResult, "op_results" | "reload"> => ({
  op_results: [],
  reload: { performed, ok: false, worker_pid: 1, took_ms: 0, output },
});

test("a reload that HAProxy refuses is told by its alerts alone, without the password of a line that they quote", () => {
  const error = { stage: "reload", message: OUTPUT } as const;
  assert.is(refusalOf({ ...refused(true), error }), `reload: ${WORDS}`);
});

test("a set that HAProxy refused before is told in the same words, behind when it was", () => {
  const error = { stage: "known_bad", message: `HAProxy refused this set at noon: ${OUTPUT}` } as const;
  assert.is(refusalOf({ ...refused(false), error }), `known_bad: HAProxy refused this set at noon: ${WORDS}`);
});

test("a worker that ends without an alert is told by all that HAProxy said", () => {
  const output =
    "[NOTICE]   (1) : Initializing new worker (2)\n[WARNING]  (1) : Failed to load worker (2) exited with code 139";
  const error = { stage: "reload", message: output } as const;
  assert.is(
    refusalOf({ ...refused(true, output), error }),
    "reload: [NOTICE] Initializing new worker (2)\n[WARNING] Failed to load worker (2) exited with code 139",
  );
});

test("what has nothing to do with a reload is told as the agent said it", () => {
  const error = { stage: "files", message: "ENOSPC" };
  assert.is(refusalOf({ op_results: [], error }), "files: ENOSPC");
  const failed = { kind: "map_add", ok: false, output: "no such map" } as const;
  assert.is(refusalOf({ op_results: [failed] }), "map_add: no such map");
  assert.is(refusalOf({ op_results: [] }), "the agent refused the apply");
});

test.run();
