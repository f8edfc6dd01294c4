import { test } from "uvu";
import * as assert from "uvu/assert";
import { takeAddresses } from "../../../src/devcluster/addresses.ts";

test("two clusters at once have no address in common, and a block that was released is taken again", async () => {
  const [one, two] = [await takeAddresses(), await takeAddresses()];
  assert.is.not(one.api, two.api);
  assert.is.not(one.pod(0), two.pod(0));
  assert.is.not(one.take(), two.take());
  one.release();
  const three = await takeAddresses();
  assert.is(three.api, one.api);
  two.release();
  three.release();
});

test("an address that was given back is the last to be used again", async () => {
  const block = await takeAddresses();
  const first = block.take();
  block.give(first);
  const others = Array.from({ length: 149 }, () => block.take());
  assert.is(new Set(others).size, 149);
  assert.not(others.includes(first));
  assert.is(block.take(), first);
  assert.throws(() => block.take(), /no address is left/);
  block.release();
});

test.run();
