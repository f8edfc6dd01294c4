// runner: beside
// runner: limit 600 s
import { test } from "uvu";
import * as assert from "uvu/assert";
import { missingHaproxy, testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { makeIdentities, removeScratch, scratch, until } from "../agent/harness.ts";
import { Rig, startTargets } from "./rig.ts";
import { missing, modeOf, readable, reasonsOf, ROW_PROFILES, ROWS, VERSIONS, type Parts } from "./rows.ts";
import { makeMaterial, startModel } from "./start.ts";

const root = scratch("verdicts");
const identities = await makeIdentities(root);
const parts: Parts = {
  material: await makeMaterial(),
  targets: {
    addresses: ["127.113.5.1", "127.113.5.2", "127.113.5.3", "127.113.5.4"],
    ports: [9001, 9002],
    dead: "127.113.5.99",
  },
};
const listening = await startTargets(parts.targets.addresses, parts.targets.ports);
const rigs: Rig[] = [];
/** Of the three; all of them where it is not given. */
const ONLY = process.env["HAPTIC_VERSION"];

const beginning = () => {
  const model = startModel(parts.material, parts.targets);
  return { ...model, profiles: { ...ROW_PROFILES } };
};

test.after(async () => {
  for (const rig of rigs) await rig.close();
  listening.close();
  removeScratch(root);
});

for (const [i, version] of VERSIONS.entries()) {
  if (ONLY !== undefined && ONLY !== version) continue;
  const check = needing(test, missingHaproxy(version));
  const pod = (name: string, at: number, reloadIntervalMs: number): Promise<Rig> =>
    Rig.start({
      binary: testHaproxy(version)!,
      identities,
      name: `${name}-${version}`,
      address: `127.113.${at}.${i + 1}`,
      freshAddress: `127.113.${at}.${i + 11}`,
      reloadIntervalMs,
    });
  let rig: Rig | undefined;

  check(`HAProxy ${version}: the first set is loaded by a reload`, async () => {
    rig = await pod("pod", 6, 0);
    rigs.push(rig);
    const { mode, reasons } = await rig.apply(beginning());
    assert.is(mode, "reload");
    assert.match(reasons.join(), "no plan is known of what this pod runs");
  });

  for (const row of ROWS) {
    const mode = modeOf(row, version);
    check(`HAProxy ${version}: ${row.change}: ${mode}`, async () => {
      const on = rig!;
      const model = beginning();
      row.before?.(model, parts);
      const prepared = await on.apply(model);
      assert.is.not(prepared.mode, "rejected", prepared.message);
      await on.settle();
      row.make(model, parts);
      const done = await on.apply(model);
      assert.is(done.mode, mode, `${done.reasons.join("; ")} ${done.message}`);
      const wanted = mode === "reload" ? reasonsOf(row, version) : [];
      if (mode === "reload") assert.ok(wanted.length > 0, "the row says no reason");
      if (mode !== "rejected") assert.equal(done.reasons.map(readable), wanted);
      else assert.ok(done.reasons.length > 0);
      await until("nothing waits to be removed", async () => (await on.state()).pending_deletes.servers.length === 0);
      let wrong: string[] = [];
      await until("the worker holds it", async () => {
        wrong = missing(await on.worker(), row.holds(parts));
        return wrong.length === 0;
      }).catch((error: unknown) => {
        throw new Error(`${String(error)}:\n${wrong.join("\n")}`);
      });
    });
  }

  check(`HAProxy ${version}: after all of it the worker is what a fresh one is`, async () => {
    const model = beginning();
    await rig!.apply(model);
    assert.equal(await rig!.differences([]), []);
  });

  check(
    `HAProxy ${version}: a server that was taken away behind the agent's back: the operation fails, a reload heals`,
    async () => {
      const on = rig!;
      const model = beginning();
      await on.apply(model);
      await on.settle();
      await on.ask("disable server web/b");
      assert.match(await on.ask("del server web/b"), "Server deleted.");
      model.backends["web"]!.servers["b"]!.weight = 55;
      const { mode, reasons } = await on.apply(model);
      assert.is(mode, "reload");
      assert.match(
        reasons.join(),
        "the operation server_set_weight could not be done at run time: No such server. (from Backend web, server_set_weight); to avoid it: let nobody",
      );
      assert.is((await on.worker()).get("server web/b")?.["srv_uweight"], "55");
    },
  );

  check(`HAProxy ${version}: a reload inside the interval is scheduled; endpoints do not wait for it`, async () => {
    const on = await pod("paced", 7, 3_000);
    rigs.push(on);
    const model = beginning();
    assert.is((await on.apply(model)).mode, "reload");
    model.lines["a"] = "maxconn 77";
    model.backends["web"]!.servers["b"]!.weight = 44;
    const { mode } = await on.apply(model);
    assert.is(mode, "scheduled");
    const meanwhile = await on.worker();
    assert.is(meanwhile.get("frontend http")?.["stat slim"], "2000");
    assert.is(meanwhile.get("server web/b")?.["srv_uweight"], "44");
    await on.settle();
    assert.is((await on.worker()).get("frontend http")?.["stat slim"], "77");
    assert.equal(await on.differences([]), []);
  });
}

test.run();
