/** What src/kube needs of an API server, told as tests: they run alike against the embedded API and a real one. */
import { setTimeout as delay } from "node:timers/promises";
import type { Subscription } from "rxjs";
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import { KubeError } from "../../../src/errors.ts";
import {
  applyStatus,
  claimLease,
  createKubeClient,
  directConnection,
  EPOCH_ANNOTATION,
  EventWriter,
  findConnection,
  readLease,
  releaseLease,
  renewLease,
  watchLease,
  writeLease,
  type KubeClient,
  type KubeClientDeps,
  type WatchOptions,
  type WatchSignal,
} from "../../../src/kube/index.ts";
import { createStoreSet, ObjectStore, type KubeObject } from "../../../src/stores/index.ts";
import { readSchemas } from "../../../src/templating/index.ts";
import { definition, fieldsOf, GROUP_VERSION, PLURAL } from "./definition.ts";
import type { Plane } from "./plane.ts";
import { tcpRelay, type TcpRelay } from "./tcp-relay.ts";

const NAMESPACE = "kube-contract";
const CONFIGMAPS = { apiVersion: "v1", resource: "configmaps", namespace: NAMESPACE };
const BACKOFF = { baseMs: 50, capMs: 500, livedMs: 200 };

const configMap = (
  name: string,
  data: Record<string, string> = {},
  labels: Record<string, string> = {},
): KubeObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: NAMESPACE, ...(Object.keys(labels).length > 0 && { labels }) },
  data,
});

/** Follows a list+watch as the controller does: folded into a store. */
class Follower {
  readonly signals: WatchSignal[] = [];
  readonly store = new ObjectStore(
    { indexBy: ["metadata.namespace", "metadata.name"], ignoreFields: ["metadata.managedFields"], fieldSelector: "" },
    "v1",
  );
  readonly set = createStoreSet([["objects", this.store]]);
  readonly #subscription: Subscription;

  constructor(client: KubeClient, options: WatchOptions = {}, target: typeof CONFIGMAPS = CONFIGMAPS) {
    this.#subscription = client.listWatch(target, options).subscribe({
      next: (signal) => {
        this.signals.push(signal);
        if (signal.type === "RELIST") this.store.beginReplace();
        else if (signal.type === "PAGE") this.store.page(signal.objects);
        else if (signal.type === "SYNCED") this.store.endReplace();
        else if (signal.type === "DELETED") this.store.remove(signal.object);
        else if (signal.type === "ADDED" || signal.type === "MODIFIED") this.store.upsert(signal.object);
      },
      error: (error: unknown) => {
        throw error;
      },
    });
  }

  /** `name=value` of each ConfigMap's field `v`. */
  get content(): string[] {
    return this.set
      .snapshot()
      .alias("objects")!
      .list()
      .map(
        (object) => `${object.metadata.name}=${(object["data"] as Record<string, string> | undefined)?.["v"] ?? ""}`,
      );
  }

  count(type: WatchSignal["type"]): number {
    return this.signals.filter((signal) => signal.type === type).length;
  }

  async until(what: string, condition: () => boolean, limitMs = 10_000): Promise<void> {
    const end = Date.now() + limitMs;
    while (!condition()) {
      if (Date.now() > end) {
        const story = this.signals.map((s) =>
          s.type === "FAULT" ? `FAULT ${s.error.message}` : s.type === "RELIST" ? `RELIST ${s.reason}` : s.type,
        );
        assert.unreachable(
          `${what}: not within ${limitMs} ms; holds ${this.content.join(" ")}; saw ${story.slice(-15).join(", ")}`,
        );
      }
      await delay(10);
    }
  }

  stop(): void {
    this.#subscription.unsubscribe();
  }
}

async function failure(promise: Promise<unknown>): Promise<KubeError> {
  return promise.then(
    () => assert.unreachable("the request should have failed") as never,
    (error: unknown) => {
      assert.instance(error, KubeError);
      return error as KubeError;
    },
  );
}

/** Adds the tests of the contract. `start` is called once, before the first. `secure`: the server speaks TLS and knows users. */
export function kubeContract(test: Test, start: () => Promise<Plane>, secure = false): void {
  let plane: Plane;
  let relay: TcpRelay;
  let client: KubeClient;
  let quiet: Follower | undefined;
  const clients: KubeClient[] = [];

  /** A client that reaches the server through the relay. */
  const relayed = async (deps: KubeClientDeps = {}): Promise<KubeClient> => {
    const credentials = await (await findConnection({ kubeconfig: plane.kubeconfig, env: {} })).credentials(false);
    const { ca, cert, key, headers } = credentials;
    const connection = directConnection({
      server: `${plane.scheme}://127.0.0.1:${relay.port}`,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(headers?.["authorization"] !== undefined && { token: headers["authorization"].replace(/^Bearer /, "") }),
    });
    const made = createKubeClient(connection, { backoff: BACKOFF, ...deps });
    clients.push(made);
    return made;
  };

  test.before(async () => {
    plane = await start();
    relay = await tcpRelay(plane.host, plane.port);
    client = createKubeClient(await findConnection({ kubeconfig: plane.kubeconfig, env: {} }), { backoff: BACKOFF });
    clients.push(client);
    await client.create(
      { apiVersion: "v1", resource: "namespaces" },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } },
    );
    // Bookmarks come once a minute: this one waits for one while the other tests run. (A real server sends none as long as
    // the resource saw no change after the watch began, so the second Secret is made when the first was told.)
    quiet = new Follower(client, {}, { ...CONFIGMAPS, resource: "secrets" });
    await quiet.until("the list", () => quiet!.count("SYNCED") > 0);
    for (const name of ["quiet-1", "quiet-2"]) {
      await client.create(
        { ...CONFIGMAPS, resource: "secrets" },
        { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: NAMESPACE } },
      );
      await quiet.until(name, () => quiet!.content.includes(`${name}=`));
    }
  });

  test.after(async () => {
    quiet?.stop();
    for (const one of clients) await one.close();
    await relay?.close();
    await plane?.close();
  });

  test("Objects are created, read, replaced, patched and deleted, and every field comes through", async () => {
    const made = await client.create(CONFIGMAPS, configMap("crud", { v: "1" }));
    assert.ok(made.metadata.uid);
    const read = await client.get(CONFIGMAPS, "crud");
    assert.equal(read, made);
    const replaced = await client.replace(CONFIGMAPS, { ...read, data: { v: "2" } });
    assert.equal(replaced["data"], { v: "2" });
    const stale = await failure(client.replace(CONFIGMAPS, { ...read, data: { v: "3" } }));
    assert.is(stale.code, "HAPTIC_E_KUBE_CONFLICT");
    assert.is(stale.reason, "Conflict");
    const patched = await client.mergePatch(CONFIGMAPS, "crud", { data: { w: "4", v: null } });
    assert.equal(patched["data"], { w: "4" });
    const dry = await client.mergePatch(CONFIGMAPS, "crud", { data: { w: "5" } }, { dryRun: true });
    assert.equal(dry["data"], { w: "5" });
    assert.equal((await client.get(CONFIGMAPS, "crud"))["data"], { w: "4" });
    const wrong = await failure(client.delete(CONFIGMAPS, "crud", { uid: "another" }));
    assert.is(wrong.status, 409);
    await client.delete(CONFIGMAPS, "crud", { uid: made.metadata.uid });
    const absent = await failure(client.get(CONFIGMAPS, "crud"));
    assert.is(absent.code, "HAPTIC_E_KUBE_NOT_FOUND");
    assert.match(absent.message, `get configmaps ${NAMESPACE}/crud: 404 NotFound`);
    assert.is((await failure(client.create(CONFIGMAPS, configMap("Not_A_Name")))).code, "HAPTIC_E_KUBE_INVALID");
  });

  test("Server-side apply creates, shares, conflicts with other managers and is forced", async () => {
    const first = await client.apply(CONFIGMAPS, configMap("ssa", { a: "1", b: "1" }), { fieldManager: "one" });
    assert.is(first.metadata.name, "ssa");
    const conflict = await failure(client.apply(CONFIGMAPS, configMap("ssa", { a: "2" }), { fieldManager: "two" }));
    assert.is(conflict.status, 409);
    assert.match(conflict.message, 'conflict with "one"');
    const forced = await client.apply(CONFIGMAPS, configMap("ssa", { a: "2" }), { fieldManager: "two", force: true });
    assert.equal(forced["data"], { a: "2", b: "1" });
    const dropped = await client.apply(CONFIGMAPS, configMap("ssa", {}), { fieldManager: "one" });
    assert.equal(dropped["data"], { a: "2" });
    await client.delete(CONFIGMAPS, "ssa");
  });

  test("A status is applied through its subresource and leaves the rest alone", async () => {
    const ingresses = { apiVersion: "networking.k8s.io/v1", resource: "ingresses", namespace: NAMESPACE };
    await client.create(ingresses, {
      apiVersion: "networking.k8s.io/v1",
      kind: "Ingress",
      metadata: { name: "web", namespace: NAMESPACE },
      spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
    });
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }] } };
    const written = await applyStatus(client, { ...ingresses, kind: "Ingress" }, "web", status);
    assert.equal(written["status"], status);
    assert.is((written["spec"] as { defaultBackend: { service: { name: string } } }).defaultBackend.service.name, "s");
    const again = await applyStatus(client, { ...ingresses, kind: "Ingress" }, "web", status);
    assert.is(again.metadata.resourceVersion, written.metadata.resourceVersion);
    await client.delete(ingresses, "web");
  });

  test("Discovery finds core and group resources with their kinds and subresources", async () => {
    const served = await client.discover();
    const find = (group: string, resource: string): (typeof served)[number] | undefined =>
      served.find((one) => one.group === group && one.resource === resource);
    assert.equal(find("", "configmaps"), {
      group: "",
      version: "v1",
      resource: "configmaps",
      kind: "ConfigMap",
      namespaced: true,
      subresources: [],
    });
    assert.is(find("", "namespaces")?.namespaced, false);
    assert.ok(find("networking.k8s.io", "ingresses")?.subresources.includes("status"));
    assert.is(find("coordination.k8s.io", "leases")?.kind, "Lease");
  });

  test("The types of a kind of one's own are those of its definition, field by field; built-in kinds have theirs", async () => {
    await client.apply({ apiVersion: "apiextensions.k8s.io/v1", resource: "customresourcedefinitions" }, definition);
    const asked = [GROUP_VERSION, "networking.k8s.io/v1", "v1", "absent.example.org/v1"];
    // A real server tells of a new kind a moment after it serves it.
    let answers = await client.openApi(asked);
    for (let i = 0; i < 300 && "missing" in answers.get(GROUP_VERSION)!; i++) {
      await delay(100);
      answers = await client.openApi(asked);
    }
    const documents = [...answers.values()].flatMap((answer) => ("document" in answer ? [answer.document] : []));
    const live = readSchemas(documents);
    const wanted = fieldsOf(readSchemas([definition]).resource(GROUP_VERSION, PLURAL, "ploughs"));
    assert.equal(fieldsOf(live.resource(GROUP_VERSION, PLURAL, "ploughs")), wanted);
    const builtIn = [
      ...fieldsOf(live.resource("networking.k8s.io/v1", "ingresses", "ingresses")),
      ...fieldsOf(live.resource("v1", "services", "services")),
    ];
    for (const line of [
      ".spec?.rules?[].http?.paths[].backend.service?.port?.number? int",
      ".spec?.ingressClassName? string",
      ".metadata?.annotations?[] string",
      ".spec?.ports?[].port int",
      ".spec?.ports?[].targetPort? any",
    ]) {
      // Whether a struct may be absent is not known of the embedded API's built-in kinds.
      assert.ok(
        builtIn.some((field) => field.replaceAll("?", "") === line.replaceAll("?", "")),
        line,
      );
    }
    assert.ok("missing" in answers.get("absent.example.org/v1")!);
    const again = await client.openApi(asked);
    for (const apiVersion of asked.slice(0, 3)) assert.equal(again.get(apiVersion), answers.get(apiVersion));
    await client.delete(
      { apiVersion: "apiextensions.k8s.io/v1", resource: "customresourcedefinitions" },
      definition.metadata.name,
    );
  });

  test("A list of several pages is one content, and the watch after it misses nothing", async () => {
    for (let i = 0; i < 25; i++)
      await client.create(CONFIGMAPS, configMap(`page-${String(i).padStart(2, "0")}`, { v: "1" }, { set: "page" }));
    const { items } = await client.list(CONFIGMAPS, { labelSelector: "set=page", pageSize: 10 });
    assert.is(items.length, 25);
    assert.is(items[0]!.kind, "ConfigMap");
    assert.is(items[0]!.apiVersion, "v1");
    const follower = new Follower(client, { labelSelector: "set=page", pageSize: 10 });
    await follower.until("the list", () => follower.count("SYNCED") === 1);
    assert.is(follower.count("PAGE"), 3);
    const listed = follower.store.revision;
    await client.mergePatch(CONFIGMAPS, "page-03", { data: { v: "2" } });
    await client.create(CONFIGMAPS, configMap("page-99", { v: "1" }, { set: "page" }));
    await client.mergePatch(CONFIGMAPS, "page-04", { metadata: { labels: { set: "other" } } });
    await client.delete(CONFIGMAPS, "page-05");
    await follower.until("four changes", () => follower.store.revision === listed + 4);
    assert.is(follower.store.size, 24);
    assert.ok(follower.content.includes("page-03=2"));
    assert.not(follower.content.some((line) => line.startsWith("page-04") || line.startsWith("page-05")));
    // An event and a listed item of one object are the same object.
    const view = follower.set.snapshot().alias("objects")!.get(`${NAMESPACE}/page-99`)!;
    const { managedFields: _trimmed, ...metadata } = (await client.get(CONFIGMAPS, "page-99")).metadata;
    assert.equal(view.metadata, metadata);
    follower.stop();
    for (const { metadata: kept } of (await client.list(CONFIGMAPS)).items) await client.delete(CONFIGMAPS, kept.name);
  });

  test("A broken connection resumes without a new list, and what happened meanwhile is told", async () => {
    await client.create(CONFIGMAPS, configMap("resume", { v: "0" }));
    const through = await relayed();
    const follower = new Follower(through);
    await follower.until("the list", () => follower.content.includes("resume=0"));
    for (let round = 1; round <= 3; round++) {
      relay.down();
      await client.mergePatch(CONFIGMAPS, "resume", { data: { v: String(round) } });
      await delay(100);
      relay.up();
      await follower.until(`round ${round}`, () => follower.content.includes(`resume=${round}`));
    }
    assert.is(follower.count("RELIST"), 1);
    assert.ok(follower.count("FAULT") >= 3);
    follower.stop();
    await client.delete(CONFIGMAPS, "resume");
  });

  test("A connection that carries nothing any more is given up after the idle limit", async () => {
    await client.create(CONFIGMAPS, configMap("frozen", { v: "0" }));
    const through = await relayed({ requestTimeoutMs: 1_000 });
    const follower = new Follower(through, { idleLimitMs: 1_500 });
    await follower.until("the list", () => follower.content.includes("frozen=0"));
    relay.freeze();
    await client.mergePatch(CONFIGMAPS, "frozen", { data: { v: "1" } });
    // Given up after 1.5 s; the next attempt finds nobody who answers within its limit.
    await follower.until("the fault", () => follower.count("FAULT") > 0);
    const fault = follower.signals.find((signal) => signal.type === "FAULT")!;
    assert.is((fault.error as KubeError).code, "HAPTIC_E_KUBE_TIMEOUT");
    relay.cut();
    relay.thaw();
    await follower.until("the change", () => follower.content.includes("frozen=1"), 15_000);
    assert.is(follower.count("RELIST"), 1);
    follower.stop();
    await client.delete(CONFIGMAPS, "frozen");
  });

  test("Versions that the server has forgotten are listed anew; nothing that stayed is told as a change", async () => {
    await client.create(CONFIGMAPS, configMap("kept", { v: "1" }));
    await client.create(CONFIGMAPS, configMap("goes", { v: "1" }));
    const through = await relayed();
    const follower = new Follower(through);
    await follower.until("the list", () => follower.content.includes("goes=1"));
    const revision = follower.store.revision;
    relay.down();
    await client.delete(CONFIGMAPS, "goes");
    for (let i = 0; i < 5; i++)
      await client.mergePatch(CONFIGMAPS, "kept", {
        metadata: { annotations: { touched: null } },
        data: { v: "1", w: String(i % 2) },
      });
    await client.mergePatch(CONFIGMAPS, "kept", { data: { w: null } });
    await plane.expire();
    await client.create(CONFIGMAPS, configMap("comes", { v: "1" }));
    relay.up();
    await follower.until("the new list", () => follower.count("SYNCED") === 2);
    const relist = follower.signals.filter((signal) => signal.type === "RELIST")[1];
    assert.equal(relist, { type: "RELIST", reason: "expired" });
    await follower.until("the content", () => follower.content.includes("comes=1"));
    assert.not(follower.content.includes("goes=1"));
    // One deletion, one addition; `kept` is what it was.
    assert.is(follower.store.revision, revision + 2);
    follower.stop();
    for (const name of ["kept", "comes"]) await client.delete(CONFIGMAPS, name);
  });

  test("A Lease is taken by compare-and-swap: of many that begin a term at once each gets an epoch of its own", async () => {
    const ref = { namespace: NAMESPACE, name: "haptic-leader" };
    const now = (): number => Date.now();
    assert.is(await readLease(client, ref), undefined);
    const as = (holder: string) => ({ ...ref, holder, instance: `${holder}-1`, durationSeconds: 30, now });
    const take = async (holder: string, atLeast = 0) => {
      const claim = await claimLease(client, as(holder), { mayTake: () => true, mayCreate: true, atLeast });
      if (claim.kind !== "taken") throw new Error(claim.kind);
      return claim.lease;
    };
    const first = await take("a", 41);
    assert.is(first.epoch, 42);
    assert.is(first.object.metadata.annotations?.[EPOCH_ANNOTATION], "42");
    const epochs = await Promise.all(["b", "c", "d"].map(async (holder) => (await take(holder)).epoch));
    assert.equal(
      epochs.toSorted((a, b) => a - b),
      [43, 44, 45],
    );
    const read = (await readLease(client, ref))!;
    assert.is(read.transitions, 3);
    assert.is(read.durationSeconds, 30);
    assert.ok(Math.abs(read.renewTimeMs! - Date.now()) < 60_000);
    const renewed = await writeLease(client, ref, read, { renewTimeMs: Date.now() + 5 });
    assert.is(renewed.epoch, 45, "a renewal keeps the epoch");
    const lost = await failure(writeLease(client, ref, read, { renewTimeMs: Date.now() }));
    assert.is(lost.code, "HAPTIC_E_KUBE_CONFLICT");
    assert.is((await failure(writeLease(client, ref, undefined, { holder: "x", durationSeconds: 30 }))).status, 409);
    await client.mergePatch(
      { apiVersion: "coordination.k8s.io/v1", resource: "leases", namespace: NAMESPACE },
      ref.name,
      {
        metadata: { annotations: { [EPOCH_ANNOTATION]: "rubbish" } },
      },
    );
    assert.is((await take("e", 60)).epoch, 61);
  });

  test("Who holds a Lease renews it, learns who took it, and may give it back; a deleted one is the holder's to create", async () => {
    const ref = { namespace: NAMESPACE, name: "haptic-renewed" };
    const as = (holder: string, instance = `${holder}-1`) => ({
      ...ref,
      holder,
      instance,
      durationSeconds: 30,
      now: () => Date.now(),
    });
    const only = (may: boolean) => ({ mayTake: () => may, mayCreate: may, atLeast: 0 });
    const seen: string[] = [];
    const watch = watchLease(client, ref).subscribe((lease) => seen.push(lease?.holder ?? "none"));
    try {
      const until = async (holder: string): Promise<void> => {
        for (let turn = 0; seen.at(-1) !== holder && turn < 1_000; turn += 1)
          await new Promise((done) => setTimeout(done, 10));
        assert.is(seen.at(-1), holder);
      };
      assert.equal(await claimLease(client, as("a"), only(false)), { kind: "missing" });
      const taken = await claimLease(client, as("a"), only(true));
      if (taken.kind !== "taken") throw new Error(taken.kind);
      assert.is(taken.lease.epoch, 1);
      assert.is((await claimLease(client, as("b"), only(false))).kind, "held");

      // Somebody wrote into it: what is written stays, and it is renewed all the same.
      const target = { apiVersion: "coordination.k8s.io/v1", resource: "leases", namespace: NAMESPACE };
      await client.mergePatch(target, ref.name, { metadata: { labels: { team: "edge" } } });
      const renewed = await renewLease(client, as("a"), taken.lease);
      assert.is(renewed.kind, "renewed");
      assert.equal(renewed.lease.object.metadata.labels, { team: "edge" });

      await client.delete(target, ref.name);
      await until("none");
      const again = await renewLease(client, as("a"), renewed.lease);
      assert.is(again.kind, "renewed");
      assert.is(again.lease.epoch, 1, "the term goes on");
      await until("a");

      // Another life of the same name is another holder.
      assert.is((await claimLease(client, as("a", "a-2"), only(true))).kind, "taken");
      const lost = await renewLease(client, as("a"), again.lease);
      assert.is(lost.kind, "lost");
      assert.is(lost.lease.epoch, 2);
      await releaseLease(client, as("a"));
      assert.is((await readLease(client, ref))?.holder, "a", "it is not the former life's to give back");
      await releaseLease(client, as("a", "a-2"));
      assert.is((await readLease(client, ref))?.holder, "");
      await until("");
    } finally {
      watch.unsubscribe();
    }
  });

  test("An Event is created once and counted when the same happens again; other stories get Events of their own", async () => {
    const subject = await client.create(CONFIGMAPS, configMap("subject"));
    const about = {
      apiVersion: "v1",
      kind: "ConfigMap",
      namespace: NAMESPACE,
      name: "subject",
      uid: subject.metadata.uid!,
    };
    const writer = new EventWriter({
      client,
      component: "haptic",
      instance: "pod-1",
      now: () => Date.now(),
      random: Math.random,
    });
    const record = { subject: about, type: "Warning", reason: "Broken", message: "it is broken" } as const;
    const first = await writer.write(record);
    assert.is(first.written, "created");
    const second = await writer.write(record);
    assert.is(second.written, "counted");
    assert.is((await writer.write({ ...record, message: "x".repeat(5_000) })).written, "created");
    assert.is(
      (
        await writer.write({
          ...record,
          subject: { ...about, namespace: "", kind: "Node", name: "n".repeat(253), uid: "" },
        })
      ).written,
      "created",
    );
    const events = { apiVersion: "v1", resource: "events", namespace: NAMESPACE };
    const { items } = await client.list(events, { fieldSelector: "involvedObject.name=subject" });
    assert.equal(
      items.map((event) => [event["reason"], event["count"], event["type"]]),
      [
        ["Broken", 2, "Warning"],
        ["Broken", 1, "Warning"],
      ],
    );
    // Events vanish after an hour; the next repeat begins a new one.
    await client.delete(events, (first as { name: string }).name);
    assert.is((await writer.write(record)).written, "created");
    // A deleted namespace or object is no reason to throw.
    assert.is((await writer.write({ ...record, subject: { ...about, namespace: "absent" } })).written, "failed");
    await client.delete(CONFIGMAPS, "subject");
  });

  if (secure) {
    test("Who may do nothing hears so, and goes on trying; who is not known at all is told apart", async () => {
      const server = `${plane.scheme}://${plane.host}:${plane.port}`;
      const powerless = createKubeClient(directConnection({ server, ca: plane.ca!, token: plane.powerlessToken! }), {
        backoff: BACKOFF,
      });
      const stranger = createKubeClient(directConnection({ server, ca: plane.ca!, token: "nonsense" }));
      const untrusting = createKubeClient(directConnection({ server, token: plane.adminToken! }));
      clients.push(powerless, stranger, untrusting);
      const forbidden = await failure(powerless.get(CONFIGMAPS, "x"));
      assert.is(forbidden.code, "HAPTIC_E_KUBE_FORBIDDEN");
      assert.is((await failure(stranger.get(CONFIGMAPS, "x"))).code, "HAPTIC_E_KUBE_UNAUTHORIZED");
      const untrusted = await failure(untrusting.get(CONFIGMAPS, "x"));
      assert.is(untrusted.code, "HAPTIC_E_KUBE_UNREACHABLE");
      assert.match(untrusted.hint ?? "", "not trusted");
      const follower = new Follower(powerless);
      await follower.until("two faults", () => follower.count("FAULT") >= 2);
      assert.is(follower.count("SYNCED"), 0);
      follower.stop();
      const admin = createKubeClient(directConnection({ server, ca: plane.ca!, token: plane.adminToken! }));
      clients.push(admin);
      assert.ok((await admin.list(CONFIGMAPS)).resourceVersion);
    });
  }

  test("A quiet watch gets bookmarks and is not taken for dead", async () => {
    await quiet!.until("a bookmark", () => quiet!.count("BOOKMARK") > 0, 100_000);
  });

  test("A server that is restarted in the middle is found again, with what it holds", async () => {
    await client.create(CONFIGMAPS, configMap("restart", { v: "1" }));
    const follower = new Follower(client);
    await follower.until("the list", () => follower.content.includes("restart=1"));
    await plane.restart();
    let written = false;
    for (let i = 0; i < 100 && !written; i++) {
      written = await client.mergePatch(CONFIGMAPS, "restart", { data: { v: "2" } }).then(
        () => true,
        () => delay(100, false),
      );
    }
    await follower.until("the change", () => follower.content.includes("restart=2"), 30_000);
    assert.ok(follower.count("FAULT") >= 1);
    follower.stop();
    await client.delete(CONFIGMAPS, "restart");
  });
}
