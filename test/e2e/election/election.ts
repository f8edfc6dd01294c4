/** The proof of the election with real parts, for any API server: however a leader goes, another one leads, and traffic notices nothing. */
import { join } from "node:path";
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import { createAgentClient } from "../../../src/agent/client.ts";
import { podStateOf, promotion } from "../../../src/controller/manifest.ts";
import { needing } from "../../support/skip.ts";
import { missingHaproxy } from "../../support/parts.ts";
import { Cluster, until } from "../harness/cluster.ts";
import { hostObjects, served } from "../harness/hosts.ts";
import type { Network } from "../harness/isolation.ts";
import { underLoad } from "../harness/load.ts";
import type { ApiChoice } from "../harness/planes.ts";
import { type Candidate, deleteLease, FirstCandidate, LEASE_TIMES, leaseOf, SecondCandidate } from "./candidates.ts";

const HOST = "app.example";
const NAME = "app";
/** A Lease that runs out takes 12 s at least. */
const HAND_OVER_MS = 10_000;

export function electionProof(base: Test, network: Network, api: ApiChoice): void {
  const missing = network.missing ?? api.missing ?? missingHaproxy("3.4");
  const test = needing(base, missing);
  let cluster: Cluster;
  let leader: Candidate;
  let follower: Candidate;
  test.before(async () => {
    cluster = new Cluster({ api, version: "3.4", pods: 2, prefix: network.prefix, environment: { LEASE_TIMES } });
    await cluster.start();
    await cluster.apply(...(await hostObjects(cluster, NAME, HOST, { tls: true })));
    leader = new FirstCandidate(cluster);
    follower = new SecondCandidate(cluster);
    await served(cluster, HOST, { limitMs: 40_000 });
    await served(cluster, HOST, { tls: true });
    await cluster.settled();
    follower.start();
    await follower.ready();
  });
  test.after(async () => {
    await Promise.all([leader, follower].map((one) => one.stop().catch(() => undefined)));
    await cluster.close();
  });

  /** The other one leads now: what a change of roles costs, and what changes after it. */
  const followed = async (limitMs: number): Promise<void> => {
    await until(`${follower.name} leads`, () => follower.leads(), limitMs).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${cluster.tail()}`, { cause: error });
    });
    [leader, follower] = [follower, leader];
  };

  /** The backend's only endpoint becomes another one; answers come from it. */
  const move = async (): Promise<string> => {
    const [moved] = await cluster.newEndpoints(NAME, 1);
    await cluster.setEndpoints(NAME, [...cluster.endpointsOf(NAME), moved!]);
    return moved!.pod;
  };
  const reloads = (): Promise<number[]> => Promise.all(cluster.pods.map((_, pod) => cluster.reloadsOf(pod)));

  /** `change` under load: no request fails, HAProxy is not reloaded. */
  const unnoticed = async (change: () => Promise<void>): Promise<void> => {
    const before = await reloads();
    const report = await underLoad(cluster, { host: HOST }, async (load) => {
      await change();
      await until("the load was one", () => load.requests() > 200);
    });
    assert.is(report.failed, 0, report.failures.join("\n"));
    assert.equal(await reloads(), before, "no reload");
  };

  test(`${api.name}: the second controller is ready, keeps warm and writes nothing`, async () => {
    assert.ok(await leader.leads());
    assert.not(await follower.leads());
    await unnoticed(async () => {
      await served(cluster, HOST, { by: await move() });
    });
    await until("it rendered what the leader rendered", async () => {
      const { events } = (await (await fetch(`http://127.0.0.1:${follower.port}/debug/events?limit=200`)).json()) as {
        events: { event: { type: string } }[];
      };
      return JSON.stringify(events).includes("GRAPH.WARMED");
    });
    const { apiWrites, applies } = await follower.variable<{ apiWrites: object; applies: number }>("counters");
    assert.equal(apiWrites, {});
    assert.is(applies, 0);
  });

  test(`${api.name}: a leader that is stopped hands over at once, under load`, async () => {
    await unnoticed(async () => {
      const { epoch } = await leaseOf(cluster);
      const stopped = performance.now();
      const ended = leader.stop();
      const former = leader;
      await followed(HAND_OVER_MS);
      const tookMs = Math.round(performance.now() - stopped);
      await ended;
      assert.equal(await leaseOf(cluster), { holder: leader.name, epoch: epoch + 1 });
      console.log(`  ${api.name}: ${leader.name} led ${tookMs} ms after ${former.name} had been asked to stop`);
      await served(cluster, HOST, { by: await move() });
    });
    follower.start();
    await follower.ready();
  });

  test(`${api.name}: a Lease that is deleted under the leader is the leader's again, and its term goes on`, async () => {
    await unnoticed(async () => {
      const before = await leaseOf(cluster);
      await deleteLease(cluster);
      await until("the Lease is there again", async () => (await leaseOf(cluster)).holder !== "");
      assert.equal(await leaseOf(cluster), before);
      assert.ok(await leader.leads());
      assert.not(await follower.leads());
      await served(cluster, HOST, { by: await move() });
    });
  });

  test(`${api.name}: the leader is killed under load: what changed meanwhile is in force when the other leads`, async () => {
    await unnoticed(async () => {
      leader.kill();
      const pod = await move();
      await followed(40_000);
      await served(cluster, HOST, { by: pod, limitMs: 20_000 });
    });
    follower.start();
    await follower.ready();
    assert.not(await follower.leads());
  });

  test(`${api.name}: a leader that was frozen for longer than its Lease finds another, and its epoch is refused by every agent`, async () => {
    const old = (await leaseOf(cluster)).epoch;
    const frozen = leader;
    await unnoticed(async () => {
      frozen.freeze();
      try {
        await followed(40_000);
        await served(cluster, HOST, { by: await move(), limitMs: 20_000 });
        const tls = {
          dir: join(cluster.folder, "controller-tls"),
          serverName: "haptic-agent.default.svc",
        };
        for (const [index] of cluster.pods.entries()) {
          const client = createAgentClient({ url: `https://${cluster.address(index)}:5555`, tls });
          const state = podStateOf(await client.state({ verify: false, plan: false }));
          const late = promotion(state.applied, state, { leader_epoch: old, render_seq: 1_000_000 });
          const answer = await client.apply(late, new Map());
          assert.is(answer.kind, "conflict");
          assert.is(answer.kind === "conflict" && answer.conflict.reason, "stale_epoch");
          await client.close();
        }
      } finally {
        frozen.wake();
      }
      await until("the frozen one follows", async () => !(await frozen.leads()));
      await served(cluster, HOST, { by: await move() });
    });
    assert.ok(await leader.leads());
    assert.is((await leaseOf(cluster)).holder, leader.name);
    assert.ok((await leaseOf(cluster)).epoch > old);
  });
}
