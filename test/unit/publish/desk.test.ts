/** The publisher's desk before an API server made up here: what is written when, and what is not. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { KubeError } from "../../../src/errors.ts";
import { assemblePlan, ChunkedTree, cutBlocks, emptyTrees, fileDigest, planFile } from "../../../src/plan/index.ts";
import type { FileKind, PlanFile, RenderPlan } from "../../../src/plan/index.ts";
import { PublishDesk } from "../../../src/publish/index.ts";
import type { HAProxyCfg, HAProxyMapFile } from "../../../src/config/index.ts";
import type { KubeObject } from "../../../src/stores/types.ts";
import { FakeApi, NAMESPACE } from "../../simulation/world.ts";

const KINDS = ["haproxymapfiles", "haproxygeneralfiles", "haproxycrtlistfiles", "secrets"];
const planOf = (files: readonly PlanFile[]): RenderPlan =>
  assemblePlan({
    ...emptyTrees(),
    files: ChunkedTree.from(
      files.map((file) => [file.path, file] as const),
      fileDigest,
    ),
  });
const file = (path: string, kind: FileKind, content: string): PlanFile => planFile(path, kind, cutBlocks(content));
const plan = (cfg: string, more: readonly PlanFile[] = [file("maps/host.map", "map", "a b\n")]): RenderPlan =>
  planOf([file("haproxy.cfg", "config", cfg), ...more]);
const KEY = "-----BEGIN PRIVATE KEY----- planted";
const WHOLE = [
  file("maps/host.map", "map", "a b\n"),
  file("general/503.http", "general", "HTTP/1.0 503\r\n"),
  file("general/all.list", "crtlist", "ssl/a.pem a.example\n"),
  file("ssl/a.pem", "cert", `${KEY}\n`),
  file("ssl/ca.pem", "ca", "-----BEGIN CERTIFICATE-----\n"),
];

interface Scene {
  readonly api: FakeApi;
  desk: PublishDesk;
  readonly plans: Map<string, RenderPlan>;
  threshold: number;
  /** HAProxy accepts this plan, and a pod runs it. */
  accept(plan: RenderPlan): void;
  pass(): Promise<number>;
  /** Another leader's desk. */
  takeOver(): Promise<void>;
  cfg(): HAProxyCfg;
  names(): string[];
  writes(): Record<string, number>;
}

const signal = new AbortController().signal;
async function scene(): Promise<Scene> {
  const api = new FakeApi();
  const plans = new Map<string, RenderPlan>();
  let runs = "";
  let time = 1_767_322_800_000;
  const open = (): PublishDesk => {
    const desk = new PublishDesk({
      kube: api,
      namespace: NAMESPACE,
      configName: "main",
      configUid: () => "config-uid",
      threshold: () => made.threshold,
      plan: (planId) => plans.get(planId),
      podPlans: () => ({ applied: runs, running: runs }),
      wallClock: () => (time += 1_000),
      now: () => time,
      pause: () => Promise.resolve(),
    });
    const pod = { id: "u1@c1", namespace: NAMESPACE, name: "one", address: "10.0.0.1:5555", version: "3.4.7" };
    desk.note({ type: "TERM.BEGAN" });
    desk.note({ type: "PODS.LISTED", candidates: [pod] });
    desk.note({ type: "PODS.CHANGED", pods: [pod] });
    return desk;
  };
  const made: Scene = {
    api,
    desk: undefined as unknown as PublishDesk,
    plans,
    threshold: 1_048_576,
    accept: (accepted) => {
      const planId = accepted.id;
      plans.set(planId, accepted);
      runs = planId;
      made.desk.note({ type: "PLAN.RENDERED", planId, seq: 1, iteration: 1, reasons: [] });
      made.desk.note({ type: "POD.APPLIED", pod: "u1@c1", planId, mode: "noop" });
      made.desk.note({ type: "PLAN.PASSED", planId });
    },
    pass: async () => (made.desk.differs() ? (await made.desk.publish(signal)).writes : 0),
    takeOver: async () => {
      made.desk = open();
      await made.desk.read(signal);
    },
    cfg: () => api.at("haproxycfgs", "main-haproxycfg") as HAProxyCfg,
    names: () => KINDS.flatMap((kind) => api.all(kind).map(({ metadata }) => `${kind}/${metadata.name}`)).sort(),
    writes: () => ({ ...api.counters.writes }),
  };
  await made.takeOver();
  return made;
}
const condition = (cfg: HAProxyCfg, type: string): string | undefined => {
  const found = cfg.status?.conditions?.find((each) => each.type === type);
  return found === undefined ? undefined : `${found.status} ${found.reason}`;
};
const failing = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
};

test("nothing is published before HAProxy has accepted something", async () => {
  const { desk, api, plans } = await scene();
  const refused = plan("bad");
  plans.set(refused.id, refused);
  desk.note({ type: "PLAN.RENDERED", planId: refused.id, seq: 1, iteration: 1, reasons: [] });
  assert.is(desk.differs(), false);
  desk.note({ type: "PLAN.REFUSED", planId: refused.id, iteration: 1, message: "no" });
  assert.is(desk.differs(), false);
  assert.equal(api.counters.writes, {});
});

test("every kind of file has its object, owned and named; keys are in Secrets alone", async () => {
  const it = await scene();
  const { api } = it;
  it.accept(plan("global\n", WHOLE));
  await it.pass();
  const { metadata, spec, status } = it.cfg();
  assert.is(spec.content, "global\n");
  assert.match(spec.checksum, /^sha256:[0-9a-f]{64}$/);
  assert.equal(metadata["ownerReferences"], [
    {
      apiVersion: "haproxy-haptic.org/v1alpha1",
      kind: "HAProxyTemplateConfig",
      name: "main",
      uid: "config-uid",
      controller: true,
    },
  ]);
  assert.is(metadata.annotations?.["haproxy-haptic.org/auxiliary-set-id"], status?.auxiliaryFiles?.setID);
  const { setID: _, ...lists } = status?.auxiliaryFiles ?? {};
  assert.equal(
    Object.entries(lists)
      .flatMap(([, list]) => (list as readonly { kind: string; name: string }[]) ?? [])
      .map(({ kind, name }) => `${kind.toLowerCase()}s/${name}`)
      .sort(),
    it.names(),
  );
  assert.equal(
    it.names().map((name) => name.replace(/-[0-9a-f]{20}$/, "")),
    [
      "haproxycrtlistfiles/haproxy-crtlist-all",
      "haproxygeneralfiles/haproxy-file-503",
      "haproxymapfiles/haproxy-map-host-map",
      "secrets/haproxy-ca-ca",
      "secrets/haproxy-cert-a",
    ],
  );
  for (const kind of KINDS) {
    for (const object of api.all(kind)) {
      assert.is((object.metadata["ownerReferences"] as { uid: string }[])[0]?.uid, metadata.uid);
      const isSecret = JSON.stringify(object).includes(Buffer.from(`${KEY}\n`).toString("base64"));
      if (isSecret) assert.is(object.kind, "Secret");
      assert.not.match(JSON.stringify(object), "planted");
    }
  }
  assert.not.match(JSON.stringify(it.cfg()), "planted");
  const secret = api.all("secrets").find((each) => each.metadata.name.startsWith("haproxy-cert"));
  assert.is(secret?.["immutable"], true);
  assert.is(condition(it.cfg(), "Ready"), "True OnEveryPod");
});

test("the same again writes nothing, neither by this leader nor by the next", async () => {
  const it = await scene();
  it.accept(plan("global\n", WHOLE));
  await it.pass();
  const before = it.writes();
  it.accept(plan("global\n", WHOLE));
  assert.is(it.desk.differs(), false);
  await it.takeOver();
  it.accept(plan("global\n", WHOLE));
  assert.is(it.desk.differs(), false, "the next leader finds its plan there");
  assert.equal(it.writes(), before);
});

test("another plan of the same bytes writes nothing either", async () => {
  const it = await scene();
  it.accept(plan("global\n", [planFile("general/a", "general", cutBlocks("a"), { reloadOnChange: true })]));
  await it.pass();
  const before = it.writes();
  const twin = plan("global\n", [planFile("general/a", "general", cutBlocks("a"), { reloadOnChange: false })]);
  it.accept(twin);
  await it.pass();
  // The pod's entry names the plan that the pod has.
  assert.equal({ ...it.writes(), "haproxycfgs/status": 0 }, { ...before, "haproxycfgs/status": 0 });
});

test("a file that did not change keeps its object; another content is another object, and the former one goes", async () => {
  const it = await scene();
  it.accept(plan("global\n", [file("maps/host.map", "map", "a b\n"), file("maps/path.map", "map", "c d\n")]));
  await it.pass();
  const before = it.names();
  it.accept(plan("global\n", [file("maps/host.map", "map", "a b\n"), file("maps/path.map", "map", "e f\n")]));
  await it.pass();
  const after = it.names();
  assert.is(after.length, 2);
  assert.is(after.filter((name) => before.includes(name)).length, 1);
  it.accept(plan("global\n", []));
  await it.pass();
  assert.equal(it.names(), [], "what belongs to no file is gone");
});

test("the files of a set are there before its configuration names them, and the former ones as long as it names those", async () => {
  const it = await scene();
  it.accept(plan("one\n", [file("maps/host.map", "map", "a b\n")]));
  await it.pass();
  const order: string[] = [];
  it.api.refuses = (verb, resource) => {
    order.push(`${verb} ${resource}`);
    return undefined;
  };
  it.accept(plan("two\n", [file("maps/host.map", "map", "c d\n")]));
  await it.pass();
  assert.equal(order, [
    "create haproxymapfiles",
    "apply haproxycfgs",
    "apply haproxymapfiles/status",
    "apply haproxycfgs/status",
    "delete haproxymapfiles",
  ]);
});

test("what was lost or left by a leader that ended in the middle is put right by the next", async () => {
  const it = await scene();
  it.accept(plan("one\n", WHOLE));
  await it.pass();
  it.api.refuses = (verb, resource) => (verb === "apply" && resource === "haproxycfgs/status" ? 500 : undefined);
  const next = plan("two\n", [file("maps/host.map", "map", "c d\n")]);
  it.accept(next);
  await failing(it.pass());
  assert.is(it.names().length, WHOLE.length + 1, "the former files are still there");
  it.api.refuses = () => undefined;
  await it.takeOver();
  it.accept(next);
  assert.is(it.desk.differs(), true);
  await it.pass();
  assert.is(it.names().length, 1);
  assert.is(it.desk.differs(), false);
});

test("an object that somebody deleted or changed is made again when it is looked at", async () => {
  const it = await scene();
  it.accept(plan("one\n"));
  await it.pass();
  const name = it.api.all("haproxymapfiles")[0]?.metadata.name ?? "";
  it.api.remove("haproxymapfiles", name);
  await it.desk.read(signal);
  assert.is(it.desk.differs(), true);
  await it.pass();
  assert.is(it.names().length, 1);
  const object = it.api.at("haproxymapfiles", name) as KubeObject;
  it.api.put("haproxymapfiles", { ...object, spec: { ...(object["spec"] as object), entries: "forged" } });
  await it.desk.read(signal);
  await it.pass();
  assert.is((it.api.at("haproxymapfiles", name) as unknown as HAProxyMapFile).spec.entries, "a b\n");
  const cfg = it.cfg();
  it.api.put("haproxycfgs", { ...cfg, spec: { ...cfg.spec, content: "forged" } });
  await it.desk.read(signal);
  await it.pass();
  assert.is(it.cfg().spec.content, "one\n");
  assert.is(it.desk.differs(), false);
});

test("above the threshold content is compressed, and the checksum stays that of the plain text", async () => {
  const it = await scene();
  const content = "  server a 10.0.0.1:80\n".repeat(2_000);
  it.accept(plan(content));
  await it.pass();
  const { checksum, compressed } = it.cfg().spec;
  assert.is(compressed, false);
  const other = await scene();
  other.threshold = 1_000;
  other.accept(plan(content));
  await other.pass();
  assert.is(other.cfg().spec.compressed, true);
  assert.is(other.cfg().spec.checksum, checksum);
});

test("HAProxy's refusal is told and what was accepted stays published; that it is pinned, too", async () => {
  const it = await scene();
  it.accept(plan("good\n"));
  await it.pass();
  it.desk.note({ type: "PLAN.REFUSED", planId: "bad", iteration: 1, message: "[ALERT] no" });
  it.desk.note({ type: "GATE.PINNED", planId: "bad" });
  await it.pass();
  assert.is(condition(it.cfg(), "ConfigValidated"), "False HAProxyRefused");
  assert.is(condition(it.cfg(), "ConfigPinned"), "True RefusedRepeatedly");
  assert.is(it.cfg().spec.content, "good\n");
  await it.takeOver();
  assert.is(it.desk.differs(), false, "who takes over clears nothing that it has not heard of");
  it.accept(plan("better\n"));
  await it.pass();
  assert.is(condition(it.cfg(), "ConfigValidated"), "True HAProxyAccepted");
  assert.is(condition(it.cfg(), "ConfigPinned"), "False NotPinned");
});

test("a set that no object can hold is not published; it is named, nothing of the former one is touched, and a smaller one heals", async () => {
  const it = await scene();
  it.accept(plan("one\n"));
  await it.pass();
  const before = it.names();
  const large = { ...file("maps/huge.map", "map", "a b\n"), size: 70_000_000 };
  it.accept(plan("two\n", [large]));
  assert.is(it.desk.state, "waiting");
  const report = await it.desk.publish(signal);
  assert.is(report.trouble?.reason, "TooLarge");
  assert.is(it.desk.state, "TooLarge");
  assert.match(report.trouble?.message ?? "", /maps\/huge\.map/);
  assert.is(condition(it.cfg(), "Synced"), "False TooLarge");
  assert.is(condition(it.cfg(), "Ready"), "False NotOnEveryPod", "what the pods run is not what is published");
  assert.is(it.cfg().spec.content, "one\n");
  assert.equal(it.names(), before);
  assert.is(it.desk.differs(), false, "it is not tried again and again");
  it.accept(plan("three\n"));
  assert.is((await it.desk.publish(signal)).trouble, null);
  assert.is(it.desk.state, "published");
  assert.is(condition(it.cfg(), "Synced"), "True Published");
});

for (const [status, reason, what] of [
  [403, "Forbidden", "create haproxymapfiles"],
  [422, "Invalid", "apply haproxycfgs"],
  [413, "TooLarge", "apply haproxycfgs"],
  [404, "NotServed", "create haproxymapfiles"],
  [409, "Conflict", "apply haproxycfgs"],
  [503, "Unavailable", "create secrets"],
] as const) {
  test(`an answer ${status} to ${what} is told as ${reason}, and the next attempt heals`, async () => {
    const it = await scene();
    it.accept(plan("one\n", []));
    await it.pass();
    it.api.refuses = (verb, resource) => (`${verb} ${resource}` === what ? status : undefined);
    it.accept(plan("two\n", WHOLE));
    const error = await failing(it.pass());
    assert.instance(error, KubeError);
    assert.is(condition(it.cfg(), "Synced"), `False ${reason}`);
    assert.is(it.cfg().spec.content, "one\n");
    it.api.refuses = () => undefined;
    await it.desk.read(signal);
    await it.pass();
    assert.is(condition(it.cfg(), "Synced"), "True Published");
    assert.is(it.cfg().spec.content, "two\n");
    assert.is(it.names().length, WHOLE.length);
  });
}

test("who was overtaken by another leader writes nothing over it", async () => {
  const it = await scene();
  it.accept(plan("one\n"));
  await it.pass();
  const former = it.desk;
  await it.takeOver();
  it.accept(plan("two\n", []));
  await it.pass();
  const old = plan("old\n", []);
  it.plans.set(old.id, old);
  former.note({ type: "PLAN.PASSED", planId: old.id });
  const error = await failing(former.publish(signal));
  assert.is((error as KubeError).status, 409);
  assert.is(it.cfg().spec.content, "two\n");
});

test("given up in the middle it ends at once, and says nothing of trouble", async () => {
  const it = await scene();
  it.accept(plan("one\n", WHOLE));
  const abort = new AbortController();
  it.api.refuses = (verb) => {
    if (verb === "create") abort.abort(new Error("the term ended"));
    return undefined;
  };
  assert.match(String(await failing(it.desk.publish(abort.signal))), "the term ended");
  assert.is(it.cfg().status, undefined);
  assert.ok(it.names().length < WHOLE.length);
});

test("a refused plan that is rendered again and again keeps nothing from being told", async () => {
  const it = await scene();
  it.accept(plan("one\n"));
  await it.pass();
  const rendered = { type: "PLAN.RENDERED", planId: "bad", seq: 2, iteration: 1, reasons: [] } as const;
  it.desk.note(rendered);
  it.desk.note({ type: "PLAN.REFUSED", planId: "bad", iteration: 1, message: "no" });
  await it.pass();
  it.desk.note(rendered);
  it.desk.note({ type: "POD.FAILED", pod: "u1@c1", planId: "bad", message: "connection refused" });
  assert.is(it.desk.differs(), true);
});

test("who does not lead any more waits for nothing and knows of nothing", async () => {
  const it = await scene();
  it.accept(plan("one\n"));
  await it.pass();
  it.accept(plan("two\n"));
  assert.ok(it.desk.waiting !== "" && it.desk.objects === 2);
  it.desk.note({ type: "TERM.ENDED" });
  assert.equal([it.desk.waiting, it.desk.lagMs, it.desk.objects, it.desk.state], ["", 0, 0, "nothing"]);
});

const fileStatuses = (it: Scene): string[] =>
  ["haproxymapfiles", "haproxygeneralfiles", "haproxycrtlistfiles"]
    .flatMap((kind) => it.api.all(kind) as HAProxyMapFile[])
    .map(({ spec, status }) => {
      const pods = (status?.deployedToPods ?? []).map(({ podName, checksum, consecutiveErrors }) => {
        const had = checksum === spec.checksum ? "this" : checksum === undefined ? "unknown" : "another";
        return `${podName} ${had} ${consecutiveErrors}`;
      });
      return [spec.path, ...pods, status?.conditions?.[0]?.reason].join(" ");
    })
    .sort();
const fileWrites = (it: Scene): number =>
  Object.entries(it.writes()).reduce((sum, [what, count]) => sum + (what.endsWith("files/status") ? count : 0), 0);

test("each file says which pods have it, in one write for all of them; a file that stayed is not told again", async () => {
  const it = await scene();
  it.accept(plan("one\n", WHOLE));
  await it.pass();
  const told = [
    "general/503.http one this 0 OnEveryPod",
    "general/all.list one this 0 OnEveryPod",
    "maps/host.map one this 0 OnEveryPod",
  ];
  assert.equal(fileStatuses(it), told);
  assert.is(fileWrites(it), 3);
  assert.not.match(JSON.stringify(it.api.all("secrets")), "deployedToPods");
  it.accept(plan("two\n", [file("maps/host.map", "map", "c d\n"), ...WHOLE.slice(1)]));
  await it.pass();
  assert.equal(fileStatuses(it), told);
  assert.is(fileWrites(it), 4, "that of the new map alone");
  await it.takeOver();
  assert.is(it.desk.differs(), false);
});

test("a pod that took something else is told of the files that it lacks, with its error; then it has them", async () => {
  const it = await scene();
  const first = plan("one\n", WHOLE);
  it.accept(first);
  await it.pass();
  const second = plan("two\n", [file("maps/host.map", "map", "c d\n"), ...WHOLE.slice(1)]);
  it.plans.set(second.id, second);
  it.desk.note({ type: "PLAN.RENDERED", planId: second.id, seq: 2, iteration: 1, reasons: [] });
  it.desk.note({ type: "POD.FAILED", pod: "u1@c1", planId: second.id, message: "connection refused" });
  it.desk.note({ type: "PLAN.PASSED", planId: second.id });
  await it.pass();
  assert.equal(fileStatuses(it), [
    "general/503.http one this 0 OnEveryPod",
    "general/all.list one this 0 OnEveryPod",
    "maps/host.map one another 1 NotOnEveryPod",
  ]);
  const [map] = it.api.all("haproxymapfiles") as HAProxyMapFile[];
  assert.is(map?.status?.deployedToPods?.[0]?.lastError, "connection refused");
  assert.is(it.desk.differs(), false);
  it.accept(second);
  await it.pass();
  assert.is(fileStatuses(it)[2], "maps/host.map one this 0 OnEveryPod");
  assert.not.match(JSON.stringify(it.api.all("haproxymapfiles")), "connection refused");
});

test("a status of a file that somebody changed is put right when it is looked at; one that did not change is not read again", async () => {
  const it = await scene();
  it.accept(plan("one\n", WHOLE));
  await it.pass();
  const [map] = it.api.all("haproxymapfiles") as HAProxyMapFile[];
  it.api.put("haproxymapfiles", { ...map!, status: {} }, "status");
  const read: string[] = [];
  const get = it.api.get.bind(it.api);
  it.api.get = (target, name) => {
    read.push(target.resource);
    return get(target, name);
  };
  await it.desk.read(signal);
  assert.equal(read, ["haproxycfgs", "haproxymapfiles"]);
  assert.is(it.desk.differs(), true);
  assert.is(await it.pass(), 1);
  assert.is(fileStatuses(it)[2], "maps/host.map one this 0 OnEveryPod");
});

test("statuses of files that may not be written are told of, and hold nothing up but themselves", async () => {
  const it = await scene();
  it.accept(plan("one\n"));
  await it.pass();
  it.api.refuses = (_, resource) => (resource === "haproxymapfiles/status" ? 403 : undefined);
  it.accept(plan("two\n", [file("maps/host.map", "map", "c d\n")]));
  assert.is(((await failing(it.pass())) as KubeError).status, 403);
  assert.is(condition(it.cfg(), "Synced"), "False Forbidden");
  assert.is(it.cfg().spec.content, "two\n");
  assert.is(it.names().length, 1, "what nobody needs is gone");
  it.api.refuses = () => undefined;
  await it.desk.read(signal);
  await it.pass();
  assert.is(condition(it.cfg(), "Synced"), "True Published");
  assert.equal(fileStatuses(it), ["maps/host.map one this 0 OnEveryPod"]);
});

test("what pods say is not told while HAProxy judges a render", async () => {
  const it = await scene();
  it.accept(plan("one\n"));
  await it.pass();
  const next = plan("two\n");
  it.plans.set(next.id, next);
  it.desk.note({ type: "PLAN.RENDERED", planId: next.id, seq: 2, iteration: 1, reasons: [] });
  it.desk.note({ type: "POD.APPLIED", pod: "u1@c1", planId: next.id, mode: "runtime" });
  assert.is(it.desk.differs(), false);
  it.desk.note({ type: "PLAN.UNPROVEN", planId: next.id, message: "no HAProxy" });
  assert.is(it.desk.differs(), true, "the verdict does not come");
});

test.run();
