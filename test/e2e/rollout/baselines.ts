/** Two pods that hold different plans each get the least that brings them to the newest one. */
import { join } from "node:path";
import * as assert from "uvu/assert";
import type { AgentState } from "../../../src/agent/api.ts";
import { askAgent } from "../../../src/agent/index.ts";
import { until } from "../harness/cluster.ts";
import { served } from "../harness/hosts.ts";
import { HOST, NAME, OTHER_HOST } from "../harness/site.ts";
import type { Stage } from "./stage.ts";

/** The pod that is always there, and the one whose agent is away for a while. */
const [PROMPT, LATE] = [0, 1] as const;
const PODS = { apiVersion: "v1", resource: "pods", namespace: "default" } as const;

export async function differentBaselines(stage: Stage): Promise<string[]> {
  const { cluster, site } = stage;
  const late = cluster.pods[LATE]!;
  const uids = await Promise.all(
    cluster.pods.map(async ({ pod }) => (await cluster.client.get(PODS, pod.spec.name)).metadata.uid ?? ""),
  );
  let from = 0;
  /** How each pod took what it got since the last call; a plan that it has already is no work. */
  const work = (): string[] => {
    const lines = cluster.lines.slice(from).filter((line) => line.includes('"msg":"Applied"'));
    from = cluster.lines.length;
    return uids.map((uid) =>
      lines
        .filter((line) => line.includes(`"pod":"${uid}`))
        .map((line) => /"mode":"(\w+)"/.exec(line)?.[1] ?? "")
        .filter((mode) => mode !== "noop")
        .join(" "),
    );
  };
  /** As its agent says: a reload that was put off is over, and what it loaded is promoted, so the controller has told of it. */
  const podSettled = (pod: number): Promise<unknown> =>
    until(`pod ${pod} has it all`, async () => {
      const socket = join(cluster.pods[pod]!.pod.baseDir, ".haptic/agent.sock");
      const state = (await askAgent(socket, "GET", "/state")) as AgentState;
      const { applied_plan_id: applied, running_plan_id: running, lkg_plan_id: lastGood } = state;
      return applied !== "" && applied === running && applied === lastGood && state.reload_pending_at === undefined;
    });
  const mark = await stage.edit();
  await stage.loaded(mark);
  await cluster.settled();
  await podSettled(LATE);
  const before = await stage.reloads();
  const reloads = async (): Promise<number[]> => (await stage.reloads()).map((count, pod) => count - before[pod]!);

  // An edit and its undoing are two reloads for the pod that was there, and none for the one that was not.
  let by = "";
  await late.withoutAgent(async () => {
    await stage.loaded(await stage.edit(), [PROMPT]);
    by = await site.moveOther();
    await served(cluster, OTHER_HOST, { by, pods: [PROMPT] });
    await stage.loaded(await stage.edit(mark), [PROMPT]);
    await podSettled(PROMPT);
    assert.equal(await reloads(), [2, 0]);
    work();
  });
  await served(cluster, OTHER_HOST, { by, pods: [LATE] });
  await cluster.settled();
  const undone = work();
  // One gets nothing, the other the moved endpoint alone.
  assert.equal(undone, ["", "runtime"]);
  assert.equal(await reloads(), [2, 0], "what was undone meanwhile is no reload");

  // What is one reload and operations on the one is one reload on the other.
  await podSettled(LATE);
  let host = "";
  await late.withoutAgent(async () => {
    await stage.loaded(await stage.edit(), [PROMPT]);
    host = await site.newHost();
    await served(cluster, host, { tls: true, pods: [PROMPT] });
    await podSettled(PROMPT);
    assert.equal(await reloads(), [3, 0]);
    work();
  });
  await served(cluster, host, { tls: true, pods: [LATE] });
  await cluster.settled();
  const caughtUp = work();
  // One gets nothing, the other all by one reload.
  assert.equal(caughtUp, ["", "reload"]);
  assert.equal(await reloads(), [3, 1]);

  // And both go on alike.
  const [added] = await cluster.newEndpoints(NAME, 1);
  await cluster.setEndpoints(NAME, [...cluster.endpointsOf(NAME), added!]);
  await served(cluster, HOST, { by: added!.pod });
  await cluster.settled();
  assert.equal(work(), ["runtime", "runtime"]);
  assert.equal(await reloads(), [3, 1]);
  assert.equal(await cluster.faults(), []);
  return [
    "different baselines: a pod that missed an edit, a moved endpoint and the edit's undoing took 1 runtime apply and no reload where the other had 2 reloads",
    "different baselines: a pod that missed an edit and a new host took both by 1 reload where the other had 1 reload and operations",
  ];
}
