import { suite } from "uvu";
import * as assert from "uvu/assert";
import { YoungGeneration } from "../../../src/controller/young-generation.ts";

const MIB = 1024 * 1024;
const test = suite("the controller's young generation");

function begin(): { young: YoungGeneration; asked: string[]; world: { used: number; now: number } } {
  const asked: string[] = [];
  const world = { used: 2 * MIB, now: 0 };
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
  world.used = MIB / 2;
  young.tidy();
  assert.equal(asked, [], "not for half a MiB");
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

test("nothing is measured where V8 does not let us collect", () => {
  const fail = (): never => {
    throw new Error("measured");
  };
  new YoungGeneration({ collect: undefined, used: fail, monotonic: () => 0 }).tidy();
});

test.run();
