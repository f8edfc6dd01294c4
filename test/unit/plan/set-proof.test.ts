import { test } from "uvu";
import * as assert from "uvu/assert";
import { type ProvenFile, setProof } from "../../../src/plan/index.ts";

const file = (more: Partial<ProvenFile & { reloads: boolean }> = {}) => ({
  path: "maps/a.map",
  kind: "map" as const,
  digest: "1".repeat(64),
  size: 5,
  reloads: false,
  ...more,
});
const proof = (...files: ReturnType<typeof file>[]): string => setProof(files, ({ reloads }) => reloads);

test("a proof is of the set, not of its order", () => {
  const [a, b] = [file(), file({ path: "maps/b.map" })];
  assert.match(proof(a, b), /^[0-9a-f]{64}$/);
  assert.is(proof(a, b), proof(b, a));
  assert.is.not(proof(a, b), proof(a));
  assert.is(proof(), "0".repeat(64));
});

for (const more of [
  { path: "maps/b.map" },
  { kind: "general" as const },
  { digest: "2".repeat(64) },
  { size: 6 },
  { reloads: true },
]) {
  test(`another ${Object.keys(more)[0]} of a file is another proof`, () => {
    assert.is.not(proof(file(more)), proof(file()));
    assert.is(proof(file(more)), proof(file(more)), "of equal files it is the same");
  });
}

test.run();
