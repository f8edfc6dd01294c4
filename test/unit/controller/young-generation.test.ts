import { runInNewContext } from "node:vm";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { takeCollector, YoungGeneration, youngShare } from "../../../src/controller/young-generation.ts";

const test = suite("the controller's young generation");

function begin(): { young: YoungGeneration; asked: string[]; world: { used: number; now: number } } {
  const asked: string[] = [];
  const world = { used: 0.5, now: 0 };
  const young = new YoungGeneration({
    collect: ({ type }) => asked.push(type ?? ""),
    used: () => world.used,
    monotonic: () => world.now,
  });
  return { young, asked, world };
}

test("it is collected where much is in use", () => {
  const { young, asked, world } = begin();
  young.tidy();
  assert.equal(asked.splice(0), ["minor"]);
  world.now = 1_000;
  world.used = 0.2;
  young.tidy();
  assert.equal(asked, [], "not for a fifth of it");
});

test("not more often than every tenth of a second", () => {
  const { young, asked, world } = begin();
  young.tidy();
  world.now = 99;
  young.tidy();
  assert.equal(asked.splice(0), ["minor"]);
  world.now = 100;
  young.tidy();
  assert.equal(asked, ["minor"]);
});

test("V8's collector empties the young generation, and no realm that is made later has it", () => {
  const collect = takeCollector();
  collect({ type: "minor" });
  collect({ type: "minor" });
  const empty = youngShare();
  const garbage = Array.from({ length: 20_000 }, (_, index) => ({ index }));
  assert.ok(youngShare() > empty, `${youngShare()} > ${empty} with ${garbage.length} objects more`);
  assert.is(runInNewContext("typeof gc"), "undefined");
});

test.run();
