/** Reloads that an agent asked for by itself, as the controller hears and tells of them. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { AgentState, ApplyResult, OwnReload } from "../../../src/agent/api.ts";
import type { AgentPort } from "../../../src/controller/agent-port.ts";
import { PlanShelf } from "../../../src/controller/plan-shelf.ts";
import { type ApplyRecord, PodSessions } from "../../../src/controller/pod-sessions.ts";
import { agentReasons } from "../../../src/controller/reload-ledger.ts";
import { Records } from "../../../src/controller/records.ts";
import { FaultRegistry } from "../../../src/observe/index.ts";
import { FakeAgent } from "../../simulation/world.ts";

const POD = { id: "p", namespace: "n", name: "pod", address: "127.0.0.1:1", version: "" };
const reload = (at: string, ok = true): OwnReload => ({
  at,
  plan_id: "plan",
  reason: "the worker was read back: map maps/host.map: a.example is absent",
  ok,
});
const TOLD =
  /^the agent makes the worker what it is to be: the worker was read back: map maps\/host.map: a.example is absent; to avoid it: /;

interface Site {
  readonly sessions: PodSessions;
  readonly records: ApplyRecord[];
  own: OwnReload | undefined;
}

function site(): Site {
  const fake = new FakeAgent().port();
  const made: { own: OwnReload | undefined; records: ApplyRecord[] } = { own: undefined, records: [] };
  const port: AgentPort = {
    ...fake,
    state: async (options, signal): Promise<AgentState> => ({
      ...(await fake.state(options, signal)),
      ...(made.own !== undefined && { own_reload: made.own }),
    }),
  };
  const sessions = new PodSessions({
    connect: () => port,
    shelf: new PlanShelf(),
    epoch: () => 1,
    seq: () => 1,
    now: () => 0,
    onApply: (record) => made.records.push(record),
    pause: () => Promise.resolve(),
  });
  sessions.follow([POD]);
  return Object.assign(made, { sessions });
}

const look = (on: Site): Promise<unknown> => on.sessions.readState("p", true, new AbortController().signal);

test("a reload that the agent asked for by itself is told once, with its reason", async () => {
  const on = site();
  await look(on);
  on.own = reload("2026-01-01T00:00:00.000Z");
  await look(on);
  await look(on);
  assert.is(on.records.length, 1);
  const [{ pod, planId, mode, ok, isOwn, reasons }] = on.records as [ApplyRecord];
  assert.equal([pod, planId, mode, ok, isOwn, reasons.length], ["p", "plan", "reload", true, true, 1]);
  assert.match(reasons[0]!, TOLD);
  on.own = reload("2026-01-01T00:01:00.000Z", false);
  await look(on);
  assert.equal([on.records[1]?.mode, on.records[1]?.ok], ["rejected", false]);
});

test("what happened before the controller came was another's to tell", async () => {
  const on = site();
  on.own = reload("2026-01-01T00:00:00.000Z");
  await look(on);
  assert.equal(on.records, []);
});

test("it is a reload in the books, and no apply; an Event says why", () => {
  const book = new Records({
    faults: new FaultRegistry(
      () => new Date(0),
      () => {},
    ),
    subject: () => ({ apiVersion: "v1", kind: "Config", namespace: "n", name: "c", uid: "u" }),
    configName: "Config n/c",
    observedGeneration: () => undefined,
    isWatched: () => true,
  });
  const record = { pod: "p", planId: "1", mode: "reload", reasons: ["why"], tookMs: 0, message: "", isOwn: true };
  book.noteApply({ ...record, ok: true });
  assert.equal([book.counters.reloads, book.counters.applies], [1, 0]);
  assert.is(book.ledger.next()?.message, "HAProxy is reloaded: why");
});

test("why the agent reloads what was to go without: an operation, a limit, a failure, what it owed before", () => {
  const reasons = (result: Partial<ApplyResult>): string =>
    agentReasons({ op_results: [], ...result } as ApplyResult, [], undefined)
      .map(({ rule, text }) => `${rule}: ${text}`)
      .join();
  assert.is(reasons({}), "");
  const refused = { kind: "map_add", ok: false, output: "no" } as const;
  assert.match(reasons({ op_results: [refused], limit: "too many" }), /^operation-refused: .*map_add.*no$/);
  assert.is(reasons({ limit: "101 backends would wait" }), "many-removals: 101 backends would wait");
  assert.match(reasons({ failure: "ENOSPC" }), /^operation-failed: .*ENOSPC$/);
  assert.match(reasons({ reload_owed: "the worker was read back" }), /^worker-other: .*the worker was read back$/);
});

test.run();
