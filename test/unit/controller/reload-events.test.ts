import { test } from "uvu";
import * as assert from "uvu/assert";
import type { ApplyRecord } from "../../../src/controller/pod-sessions.ts";
import { Records } from "../../../src/controller/records.ts";
import { FaultRegistry } from "../../../src/observe/index.ts";

const subject = { apiVersion: "v1", kind: "Config", namespace: "n", name: "c", uid: "u" };
const records = (): Records =>
  new Records({
    faults: new FaultRegistry(
      () => new Date(0),
      () => {},
    ),
    subject: () => subject,
    configName: "Config n/c",
    observedGeneration: () => undefined,
    isWatched: () => true,
  });
const apply = (more: Partial<ApplyRecord>): ApplyRecord => ({
  pod: "p",
  planId: "1",
  mode: "reload",
  ok: true,
  reasons: ["frontend http changed", "profile p is new"],
  tookMs: 1,
  message: "",
  ...more,
});
const told = (book: Records): string[] => {
  const texts: string[] = [];
  for (let write = book.ledger.next(); write !== undefined; write = book.ledger.next()) {
    texts.push(`${write.type} ${write.reason}: ${write.message}`);
    assert.equal(write.object, subject);
    book.ledger.done(write);
  }
  return texts;
};

test("a plan that reloads pods leaves one Event with its reasons, whichever pods and however late", () => {
  const book = records();
  book.noteApply(apply({ mode: "scheduled" }));
  book.noteApply(apply({ pod: "q" }));
  assert.equal(told(book), ["Normal HAProxyReloaded: HAProxy is reloaded: frontend http changed | profile p is new"]);
  book.noteApply(apply({ planId: "2" }));
  book.noteApply(apply({ planId: "2", pod: "q", reasons: ["no plan is known of what this pod runs"] }));
  assert.is(told(book).length, 2);
});

test("an Event holds as many whole reasons as there is room for, and says how many more there are", () => {
  const book = records();
  const reason = (i: number): string => `backend shop_${i} changed its balance${" and so on".repeat(20)}`;
  book.noteApply(apply({ reasons: [...Array.from({ length: 7 }, (_, i) => reason(i)), "and 13 more"] }));
  const [message = ""] = told(book);
  assert.ok(message.length < 1024, String(message.length));
  assert.ok(message.endsWith("| and 16 more"), message);
  assert.is(message.split(" | ").length, 5);
  book.noteApply(apply({ planId: "2", reasons: ["x".repeat(3000)] }));
  assert.ok(told(book)[0]!.length < 1024);
});

test("what needed no reload, and what was refused, leaves none", () => {
  const book = records();
  book.noteApply(apply({ mode: "runtime", reasons: [] }));
  book.noteApply(apply({ mode: "file_only", reasons: [] }));
  book.noteApply(apply({ ok: false }));
  assert.equal(told(book), []);
});

test.run();
