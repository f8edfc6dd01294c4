// runner: beside
// runner: limit 600 s
import { appendFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { missingHaproxy, testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { makeIdentities, removeScratch, scratch } from "../agent/harness.ts";
import { Rig, startTargets } from "./rig.ts";
import { runSequence, tableOf } from "./sequences.ts";
import { makeMaterial, type Targets } from "./start.ts";

const CHANGES = Number(process.env["HAPTIC_CHANGES"] ?? 80);
const SEED = Number(process.env["HAPTIC_SEED"] ?? 20_261_130);
const ONLY = process.env["HAPTIC_VERSION"];
/** Of a run of a thousand: every fifty. */
const COMPARISONS = Math.max(2, Math.ceil(CHANGES / 50));
/** A file that hears how it goes: the runner shows the output of failures only. */
const report = process.env["HAPTIC_REPORT"];

const root = scratch("sequences");
const identities = await makeIdentities(root);
const material = await makeMaterial();
const VERSIONS = ["3.4", "3.2", "3.0"] as const;
/** Runs of one version each may be beside each other. */
const network = `127.113.${20 + VERSIONS.findIndex((version) => version === ONLY) + 1}`;
const targets: Targets = {
  addresses: [1, 2, 3, 4].map((host) => `${network}.${host}`),
  ports: [9001, 9002],
  dead: `${network}.99`,
};
const listening = await startTargets(targets.addresses, targets.ports);
const rigs: Rig[] = [];

test.after(async () => {
  for (const rig of rigs) await rig.close();
  listening.close();
  if (process.env["HAPTIC_KEEP"] === undefined) removeScratch(root);
});

for (const [i, version] of VERSIONS.entries()) {
  if (ONLY !== undefined && ONLY !== version) continue;
  const check = needing(test, missingHaproxy(version));

  check(`${CHANGES} random changes leave HAProxy ${version} as a fresh one that starts from the files`, async () => {
    const rig = await Rig.start({
      binary: testHaproxy(version)!,
      identities,
      name: `pod-${version}`,
      address: `127.113.1.${i + 1}`,
      freshAddress: `127.113.2.${i + 1}`,
      reloadIntervalMs: 30,
    });
    rigs.push(rig);
    const say = (line: string): void => {
      if (report !== undefined) appendFileSync(report, `${line}\n`);
    };
    const { modes, complaints } = await runSequence(rig, material, targets, {
      changes: CHANGES,
      seed: SEED,
      version: Number(version),
      comparisons: COMPARISONS,
      say,
    });
    say(`HAProxy ${version}, seed ${SEED}, ${CHANGES} changes:`);
    for (const row of tableOf(modes)) say(row);
    assert.equal(complaints, [], complaints.join("\n"));
  });
}

test.run();
