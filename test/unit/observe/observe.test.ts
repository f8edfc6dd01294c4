import { test } from "uvu";
import * as assert from "uvu/assert";
import { EventHistory, FaultRegistry, startDebugServer } from "../../../src/observe/index.ts";

test("a fault keeps the time of its beginning while it lasts, and is gone when its source does not name it", () => {
  let now = 0;
  const changes: string[] = [];
  const faults = new FaultRegistry(
    () => new Date(now),
    (fault, state) => changes.push(`${fault.object} ${fault.reason} ${state}`),
  );
  faults.state("render", [{ object: "Thing a", reason: "Bad", message: "1" }]);
  now = 5_000;
  faults.state("render", [{ object: "Thing a", reason: "Bad", message: "2" }]);
  assert.equal(faults.list(), [{ object: "Thing a", reason: "Bad", message: "2", since: new Date(0).toISOString() }]);
  faults.state("gate", [{ object: "Thing b", reason: "Refused", message: "" }]);
  assert.equal(
    faults.list().map(({ object }) => object),
    ["Thing a", "Thing b"],
  );
  faults.state("render", []);
  assert.equal(
    faults.list().map(({ object }) => object),
    ["Thing b"],
  );
  assert.equal(changes, ["Thing a Bad began", "Thing a Bad began", "Thing b Refused began", "Thing a Bad ended"]);
});

test("the history gives the newest events first and forgets the oldest", () => {
  const history = new EventHistory(3);
  for (let number = 1; number <= 5; number += 1) {
    history.add(number, { type: "TERM.BEGAN", epoch: number, pods: [{ secret: "x" }], reasons: ["a"] } as {
      type: string;
    });
  }
  assert.equal(
    history.last(10).map((event) => event["epoch"]),
    [5, 4, 3],
  );
  assert.equal(history.last(1)[0], {
    type: "TERM.BEGAN",
    epoch: 5,
    pods: 1,
    reasons: ["a"],
    at: new Date(5).toISOString(),
    source: "",
    correlation_id: "",
  });
});

test("the debug server lists its variables, gives each, tells health, and knows nothing else", async () => {
  let ready = false;
  const server = await startDebugServer({
    host: "127.93.0.1",
    port: 0,
    variables: {
      counters: () => ({ applies: 2 }),
      broken: () => {
        throw new Error("no");
      },
    },
    health: () => ({ renderGate: ready ? "" : "failed" }),
    ready: () => ready,
  });
  const ask = async (path: string, method = "GET"): Promise<[number, unknown]> => {
    const answer = await fetch(`http://127.93.0.1:${server.port}${path}`, { method });
    return [answer.status, await answer.json()];
  };
  try {
    assert.equal(await ask("/debug/vars"), [200, { paths: ["broken", "counters"], count: 2 }]);
    assert.equal(await ask("/debug/vars/counters"), [200, { applies: 2 }]);
    assert.is((await ask("/debug/vars/constructor"))[0], 404);
    assert.is((await ask("/debug/vars/broken"))[0], 500);
    assert.is((await ask("/debug/vars", "POST"))[0], 405);
    assert.is((await ask("/readyz"))[0], 503);
    assert.is((await ask("/healthz"))[0], 503);
    assert.is((await ask("/livez"))[0], 200);
    ready = true;
    assert.is((await ask("/readyz"))[0], 200);
    assert.equal(await ask("/healthz"), [200, { healthy: true, components: { renderGate: "" } }]);
  } finally {
    await server.close();
  }
});

test.run();
