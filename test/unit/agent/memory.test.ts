import { suite } from "uvu";
import * as assert from "uvu/assert";
import { Memory } from "../../../src/agent/memory.ts";

const MIB = 1024 * 1024;
const test = suite("the agent's memory");

function begin(): { memory: Memory; asked: string[]; world: { resident: number; now: number } } {
  const asked: string[] = [];
  const world = { resident: 70 * MIB, now: 0 };
  const memory = new Memory({
    collect: ({ type }) => {
      asked.push(type ?? "");
      if (type === "major") world.resident = 70 * MIB;
    },
    resident: () => world.resident,
    monotonic: () => world.now,
  });
  memory.tidy();
  assert.equal(asked.splice(0), ["minor", "major"], "what the start has left behind");
  return { memory, asked, world };
}

test("the young generation is collected each time, everything only where the process has grown", () => {
  const { memory, asked, world } = begin();
  world.now = 60_000;
  world.resident = 75 * MIB;
  memory.tidy();
  assert.equal(asked.splice(0), ["minor"]);
  world.resident = 77 * MIB;
  memory.tidy();
  assert.equal(asked.splice(0), ["minor", "major"]);
});

test("not more often than every ten seconds", () => {
  const { memory, asked, world } = begin();
  world.resident = 90 * MIB;
  world.now = 9_000;
  memory.tidy();
  assert.equal(asked.splice(0), ["minor"]);
  world.now = 10_001;
  memory.tidy();
  assert.equal(asked, ["minor", "major"]);
});

test("nothing is measured where V8 does not let us collect", () => {
  const fail = (): never => {
    throw new Error("measured");
  };
  new Memory({ collect: undefined, resident: fail, monotonic: fail }).tidy();
});

test.run();
