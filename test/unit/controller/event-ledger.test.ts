import { test } from "uvu";
import * as assert from "uvu/assert";
import { EventLedger } from "../../../src/controller/event-ledger.ts";

const object = { apiVersion: "example.com/v1", kind: "Thing", namespace: "shop", name: "a", uid: "u1" };
const bad = { object, reason: "BadPort", message: "port 0" };
const drain = (ledger: EventLedger): string[] => {
  const said: string[] = [];
  for (let write = ledger.next(); write !== undefined; write = ledger.next()) {
    said.push(`${write.type} ${write.reason}: ${write.message}`);
    ledger.done(write);
  }
  return said;
};

test("identical warnings are told once, however often they are stated", () => {
  const ledger = new EventLedger();
  ledger.state("objects", [bad, { ...bad }]);
  ledger.state("objects", [bad]);
  assert.equal(drain(ledger), ["Warning BadPort: port 0"]);
  assert.is(ledger.hasWork, false);
});

test("a warning that is not stated any more is answered, once", () => {
  const ledger = new EventLedger();
  ledger.state("objects", [bad]);
  drain(ledger);
  ledger.state("objects", []);
  ledger.state("objects", []);
  assert.equal(drain(ledger), ["Normal Resolved: BadPort is mended: port 0"]);
});

test("another text of the same reason on the same object takes its place: nothing is mended", () => {
  const ledger = new EventLedger();
  ledger.state("objects", [bad]);
  ledger.state("objects", [{ ...bad, message: "port 70000" }]);
  assert.equal(drain(ledger), ["Warning BadPort: port 0", "Warning BadPort: port 70000"]);
});

test("sources do not answer each other's warnings", () => {
  const ledger = new EventLedger();
  ledger.state("objects", [bad]);
  ledger.state("gate", []);
  assert.equal(drain(ledger), ["Warning BadPort: port 0"]);
  assert.is(ledger.stands("objects"), true);
  assert.is(ledger.stands("gate"), false);
});

test("what cannot wait any more is dropped and counted", () => {
  const ledger = new EventLedger();
  for (let count = 0; count < 1_002; count += 1) ledger.note({ ...bad, message: String(count) });
  assert.is(ledger.dropped, 2);
  assert.is(drain(ledger).length, 1_000);
});

test.run();
