import { test } from "uvu";
import * as assert from "uvu/assert";
import { anonymousMemory, Pacer, reloadInterval } from "../../../src/agent/pacing.ts";

const MIB = 1024 * 1024;
const rules = { leastMs: 5_000, mostMs: 600_000, memoryBytes: 512 * MIB };

test("each old worker doubles the time between reloads, up to the most", () => {
  const seconds = [0, 1, 2, 3, 4, 7, 50].map((count) => reloadInterval(rules, { count, bytes: undefined }) / 1_000);
  assert.equal(seconds, [5, 10, 20, 40, 80, 600, 600]);
});

test("where their memory is seen, small old workers count less; where no further one fits, they stretch to the most at once", () => {
  assert.is(reloadInterval(rules, { count: 8, bytes: 0 }), 5_000);
  assert.is(reloadInterval(rules, { count: 8, bytes: 128 * MIB }), 10_000);
  assert.is(reloadInterval(rules, { count: 8, bytes: 256 * MIB }), 20_000);
  assert.is(reloadInterval(rules, { count: 1, bytes: 256 * MIB }), 10_000, "one worker doubles once");
  assert.is(reloadInterval(rules, { count: 3, bytes: 384 * MIB }), 40_000, "a fourth of 128 MiB still fits");
  assert.is(reloadInterval(rules, { count: 3, bytes: 385 * MIB }), 600_000);
  assert.is(reloadInterval(rules, { count: 1, bytes: 257 * MIB }), 600_000);
  assert.is(reloadInterval(rules, { count: 0, bytes: 0 }), 5_000, "the first one is always left behind");
});

test("no interval is none, whatever lives; a most below the least is the least", () => {
  assert.is(reloadInterval({ ...rules, leastMs: 0 }, { count: 9, bytes: 900 * MIB }), 0);
  assert.is(reloadInterval({ ...rules, mostMs: 1_000 }, { count: 9, bytes: 900 * MIB }), 5_000);
});

test("the rest counts from the beginning of the last reload, and the next reload begins with the least again", () => {
  let now = 1_000_000;
  const pacer = new Pacer(rules, () => now);
  assert.is(pacer.restMs, 0, "the first one is immediate");
  pacer.reloadBegins();
  assert.is(pacer.restMs, 5_000);
  now += 6_000;
  assert.is(pacer.weigh({ count: 2, bytes: undefined }), 14_000);
  assert.is(pacer.intervalMs, 20_000);
  now += 1_000;
  assert.is(pacer.weigh({ count: 0, bytes: 0 }), 0, "they have ended");
  assert.is(pacer.weigh({ count: 2, bytes: undefined }), 13_000);
  pacer.reloadBegins();
  assert.is(pacer.restMs, 5_000);
});

test("only what a HAProxy process has for itself alone counts", () => {
  const status = (name: string): string =>
    `Name:\t${name}\nVmRSS:\t  173800 kB\nRssAnon:\t  162136 kB\nRssFile:\t 11664 kB\n`;
  assert.is(anonymousMemory(status("haproxy")), 162_136 * 1024);
  assert.is(anonymousMemory(status("node")), undefined, "the number of another process in this container");
  assert.is(anonymousMemory(""), undefined, "no process of that number is seen");
});

test.run();
