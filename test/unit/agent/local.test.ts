import { mkdtempSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { askAgent, LocalLock } from "../../../src/agent/local.ts";

const dir = mkdtempSync(join(tmpdir(), "haptic-local-"));
test.after(() => rmSync(dir, { recursive: true, force: true }));

test("An agent that starts while a start wrapper prepares waits until that is done", async () => {
  const path = join(dir, "wrapper.sock");
  const wrapper = (await LocalLock.tryTake(path))!;
  let taken = false;
  const agent = LocalLock.takeAfterWrapper(path).then((lock) => {
    taken = true;
    return lock;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.is(taken, false);
  await wrapper.release();
  await (await agent).release();
});

test("An agent that starts beside a living agent is refused", async () => {
  const path = join(dir, "agent.sock");
  const living = (await LocalLock.tryTake(path))!;
  living.serve(async () => ({ status: 200, body: {} }));
  await LocalLock.takeAfterWrapper(path).then(
    () => assert.unreachable("two agents would own one tree"),
    (error: Error) => assert.match(error.message, "another agent owns"),
  );
  await living.release();
});

test("Of ten that start in the same moment one holds the lock, and it can be asked", async () => {
  const path = join(dir, "race.sock");
  for (let round = 0; round < 20; round++) {
    const locks = await Promise.all(Array.from({ length: 10 }, () => LocalLock.tryTake(path)));
    const held = locks.filter((lock) => lock !== undefined);
    assert.is(held.length, 1);
    held[0]!.serve(async () => ({ status: 200, body: { round } }));
    assert.equal(await askAgent(path, "GET", "/health"), { round });
    await held[0]!.release();
  }
});

test("A request whose address cannot be read is answered 400, and the agent lives on", async () => {
  const path = join(dir, "address.sock");
  const lock = (await LocalLock.tryTake(path))!;
  lock.serve(async () => ({ status: 200, body: {} }));
  const ask = (address: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      get({ socketPath: path, path: address, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).on("error", reject);
    });
  assert.is(await ask("//["), 400);
  assert.is(await ask("/health"), 200);
  await lock.release();
});

test.run();
