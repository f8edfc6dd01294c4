import { test } from "uvu";
import * as assert from "uvu/assert";
import { IDENTITY_VERSION, type Manifest } from "../../../src/agent/api.ts";
import { checkManifest } from "../../../src/agent/manifest.ts";
import { AgentRequestError } from "../../../src/errors.ts";

const digest = "ab".repeat(32);
const block = { digest, size: 6 };
const file = { path: "general/a.txt", kind: "general", digest, size: 6, reload_on_change: false };
const manifest = {
  identity_version: IDENTITY_VERSION,
  plan_schema_version: 1,
  plan_id: "p2",
  token: { leader_epoch: 1, render_seq: 2 },
  expected_prev_plan_id: "p1",
  changed: [],
  removed: [],
  ops: [],
  in_place_ops: [],
  mode: "auto",
};
const patch = (splices: unknown) => ({ changed: [{ ...file, patch: { base_digest: digest, splices } }] });
const splice = { index: 0, remove: 1, insert: [block] };

const check = (more: object): void => checkManifest({ ...manifest, ...more } as unknown as Manifest, new Set());

test("a manifest of the right form is taken, with blocks, with splices, with every optional field", () => {
  check({ changed: [{ ...file, blocks: [block] }] });
  check(patch([splice]));
  check({
    expected_prev_token: { leader_epoch: 1, render_seq: 1 },
    expected_worker_ops_plan_id: "p1",
    worker_ops_plan_id: "p2",
    validated_plan_id: "p1",
    ops: [{ kind: "map_del", path: "maps/a.map", key: "k" }],
  });
});

const wrong: Record<string, object> = {
  "blocks that are a number": { changed: [{ ...file, blocks: 5 }] },
  "blocks that are an object": { changed: [{ ...file, blocks: {} }] },
  "a block that is null": { changed: [{ ...file, blocks: [null] }] },
  "a block whose size does not fit its place in the root": {
    changed: [{ ...file, blocks: [{ digest, size: 2 ** 32 }] }],
  },
  "a patch without splices": { changed: [{ ...file, patch: {} }] },
  "a patch that is null": { changed: [{ ...file, patch: null }] },
  "a patch onto no digest": { changed: [{ ...file, patch: { base_digest: 7, splices: [splice] } }] },
  "splices that are a number": patch(7),
  "a splice that is null": patch([null]),
  "a splice that inserts no list": patch([{ ...splice, insert: block }]),
  "a splice at a negative index": patch([{ ...splice, index: -1 }]),
  "a splice that removes less than nothing": patch([{ ...splice, remove: -1 }]),
  "a splice at half an index": patch([{ ...splice, index: 0.5 }]),
  "a file that is a list": { changed: [[]] },
  "a path that is an object": { changed: [{ ...file, path: {} }] },
  "a removed path that is a number": { removed: [5] },
  "a removed path that is null": { removed: [null] },
  "an operation's path that is a number": { ops: [{ kind: "map_add", path: 5, key: "a", value: "b" }] },
  "files that are null": { changed: undefined, removed: undefined, files: null },
  "a path that is no Unicode": { removed: ["maps/\ud800"] },
  "a plan of two lines": { plan_id: "a\nb" },
  "no version of its plan": { plan_schema_version: undefined },
  "an operation without its server": { ops: [{ kind: "server_enable", backend: "b" }] },
  "an operation whose words are a number": {
    ops: [{ kind: "server_add", backend: "b", server: "s", address: "::1", keywords: 5 }],
  },
  "an operation whose weight is a text": {
    in_place_ops: [{ kind: "server_set_weight", backend: "b", server: "s", weight: "1" }],
  },
  "batches that are a number": { op_batches: 7 },
  "a batch that is an object": { op_batches: [{}] },
  "a batch of nothing": { op_batches: [[]] },
  "an operation in a batch that is null": { op_batches: [[null]] },
  "eight batches more": { op_batches: Array.from({ length: 8 }, () => [{ kind: "map_replace", path: "maps/a" }]) },
  "a proof that is a number": { plan_proof: 7 },
  "a proof that is no digest": { expected_prev_plan_proof: "abc" },
  "a worker's proof that is null": { expected_worker_ops_plan_proof: null },
  "a worker's next proof that is an object": { worker_ops_plan_proof: {} },
  "a validated proof that is a list": { validated_plan_proof: [] },
  "a previous token that is null": { expected_prev_token: null },
  "a previous token that is a text": { expected_prev_token: "1" },
  "a worker's plan that is a number": { expected_worker_ops_plan_id: 7 },
  "a worker's next plan that is a number": { worker_ops_plan_id: 7 },
  "a validated plan that is a number": { validated_plan_id: 7 },
};
for (const [name, more] of Object.entries(wrong)) {
  test(`a manifest with ${name} is a breach of the contract, not an error of the agent`, () => {
    assert.throws(
      () => check(more),
      (error: unknown) => error instanceof AgentRequestError && error.status === 400,
    );
  });
}

test.run();
