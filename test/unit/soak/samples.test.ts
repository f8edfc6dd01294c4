import { test } from "uvu";
import * as assert from "uvu/assert";
import { blame, complaints, trends } from "../../e2e/soak/samples.ts";

test("growth is told from medians after the warm-up, so one odd sample is no growth", () => {
  const rss = [50, 90, 100, 100, 300, 100, 101, 100, 102, 110, 110, 110];
  const samples = rss.map((value, at) => ({ at, memory: { controller: { rss: value, heapUsed: 1 } } }));
  const [trend] = trends(samples, 3, (memory) => memory.rss);
  assert.is(trend!.first, 100);
  assert.is(trend!.last, 110);
  assert.is(trend!.most, 300);
  assert.is(trend!.growth.toFixed(3), "0.100");
});

test("failures are the machine's only in and shortly after its pauses", () => {
  const failures = ["a: +500 ms: status 502", "b: +2400 ms: status 502", "c: +5000 ms: status 502"];
  assert.equal(blame(failures, [{ at: 2_000, ms: 200 }]), {
    product: [failures[0], failures[2]],
    machine: [failures[1]],
  });
});

test("complaints are counted by source and message; what is well is none", () => {
  const lines = [
    '1 controller {"level":30,"msg":"Applied"}',
    '2 controller {"level":40,"msg":"Fault","reason":"WatchFailed"}',
    '3 controller {"level":40,"msg":"Fault","reason":"WatchFailed"}',
    '4 haproxy-1/agent {"level":50,"msg":"step failed","what":"fold","err":{"message":"ENOSPC"}}',
    "5 haproxy-1/haproxy [NOTICE]   (12) : New server registered.",
    "6 haproxy-1/haproxy [ALERT]    (12) : no server",
  ];
  assert.equal(Object.fromEntries(complaints(lines)), {
    "controller warn Fault: WatchFailed": 2,
    "haproxy-1/agent error step failed: fold: ENOSPC": 1,
    "haproxy-1/haproxy [ALERT]    (N) : no server": 1,
  });
});

test.run();
