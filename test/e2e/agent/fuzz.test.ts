// runner: beside
import { test } from "uvu";
import * as assert from "uvu/assert";
import { missingHaproxy, testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { fuzz } from "./fuzz/campaign.ts";

const check = needing(test, missingHaproxy("3.4"));

// Another seed each day; `npm run fuzz:agent -- --seed N` does it again.
const seed = Number(process.env["HAPTIC_FUZZ_SEED"] ?? Math.floor(Date.now() / 86_400_000));

check(
  `requests that break the contract are refused by name, change nothing, and end nothing (seed ${seed})`,
  async () => {
    const report = await fuzz({ binary: testHaproxy("3.4")!, count: 500, seed, network: "127.121.2" });
    assert.equal(report.violations, []);
    assert.is(report.requests, 500);
    assert.is(report.goodApplies, 20);
    assert.ok((report.answers["400"] ?? 0) > 250, JSON.stringify(report.answers));
  },
);

test.run();
