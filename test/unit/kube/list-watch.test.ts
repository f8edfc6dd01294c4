import { setTimeout as delay } from "node:timers/promises";
import type { Subscription } from "rxjs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { KubeError } from "../../../src/errors.ts";
import {
  createKubeClient,
  directConnection,
  type KubeClient,
  type WatchOptions,
  type WatchSignal,
} from "../../../src/kube/index.ts";
import { scriptedServer, type Exchange, type ScriptedServer } from "./scripted-server.ts";

const TARGET = { apiVersion: "demo.io/v1", resource: "things" };
const thing = (name: string, version: string): object => ({
  apiVersion: "demo.io/v1",
  kind: "Thing",
  metadata: { name, namespace: "n", resourceVersion: version },
});
const listOf = (version: string, names: string[], next = ""): object => ({
  kind: "ThingList",
  apiVersion: "demo.io/v1",
  metadata: { resourceVersion: version, continue: next },
  items: names.map((name) => ({ metadata: { name, namespace: "n", resourceVersion: version } })),
});
const gone = {
  kind: "Status",
  status: "Failure",
  reason: "Expired",
  code: 410,
  message: "too old resource version: 5 (280)",
};

/** Waits of the stream pass ten times faster; an attempt that lived 100 ms counts as a success. */
const BACKOFF = { baseMs: 20, capMs: 200, livedMs: 100 };

class Bench {
  readonly server: ScriptedServer;
  readonly client: KubeClient;
  readonly signals: WatchSignal[] = [];
  readonly subscription: Subscription;

  constructor(server: ScriptedServer, options: WatchOptions = {}) {
    this.server = server;
    this.client = createKubeClient(directConnection({ server: server.url }), { backoff: BACKOFF, random: () => 0.5 });
    this.subscription = this.client.listWatch(TARGET, options).subscribe({
      next: (signal) => this.signals.push(signal),
      error: (error: unknown) => {
        throw error;
      },
    });
  }

  /** The story so far, one word a signal. */
  get story(): string[] {
    return this.signals.map((signal) => {
      if (signal.type === "RELIST") return `RELIST ${signal.reason}`;
      if (signal.type === "PAGE") return `PAGE ${signal.objects.map((object) => object.metadata.name).join(",")}`;
      if (signal.type === "SYNCED" || signal.type === "BOOKMARK") return `${signal.type} ${signal.resourceVersion}`;
      if (signal.type === "FAULT") return `FAULT ${(signal.error as KubeError).code}`;
      return `${signal.type} ${signal.object.metadata.name}`;
    });
  }

  async until(count: number): Promise<string[]> {
    for (let i = 0; this.signals.length < count && i < 500; i++) await delay(10);
    assert.ok(this.signals.length >= count, `expected ${count} signals, saw ${this.story.join("; ")}`);
    return this.story;
  }

  async close(): Promise<void> {
    this.subscription.unsubscribe();
    await this.client.close();
    await this.server.close();
  }
}

const isWatch = (exchange: Exchange): boolean => exchange.url.searchParams.has("watch");
const isList = (exchange: Exchange): boolean => !isWatch(exchange);

/** The question after a failure, whether the server is still the one that the version is of. */
async function probe(bench: Bench): Promise<Exchange> {
  const exchange = await bench.server.take();
  assert.ok(isList(exchange));
  assert.is(exchange.url.searchParams.get("limit"), "1");
  return exchange;
}

/** A bench after `start`, list at 10 with a and b, and an accepted watch. */
async function watching(options: WatchOptions = {}): Promise<{ bench: Bench; watch: Exchange }> {
  const bench = new Bench(await scriptedServer(), options);
  (await bench.server.take(isList)).json(200, listOf("10", ["a", "b"]));
  const watch = await bench.server.take(isWatch);
  watch.open();
  return { bench, watch };
}

test("A list is read in pages, then watched from its resourceVersion, and its items get the kind that the list names", async () => {
  const bench = new Bench(await scriptedServer(), {
    labelSelector: "a=b",
    fieldSelector: "metadata.name=x",
    pageSize: 2,
  });
  const first = await bench.server.take();
  assert.is(first.url.pathname, "/apis/demo.io/v1/things");
  assert.is(first.url.searchParams.get("limit"), "2");
  assert.is(first.url.searchParams.get("labelSelector"), "a=b");
  assert.is(first.url.searchParams.get("fieldSelector"), "metadata.name=x");
  first.json(200, listOf("10", ["a", "b"], "next-page"));
  const second = await bench.server.take();
  assert.is(second.url.searchParams.get("continue"), "next-page");
  second.json(200, listOf("10", ["c"]));
  const watch = await bench.server.take();
  for (const [name, value] of [
    ["watch", "true"],
    ["allowWatchBookmarks", "true"],
    ["resourceVersion", "10"],
    ["labelSelector", "a=b"],
  ] as const) {
    assert.is(watch.url.searchParams.get(name), value);
  }
  watch.open();
  watch.event("ADDED", thing("d", "11"));
  watch.event("BOOKMARK", { kind: "Thing", metadata: { resourceVersion: "15" } });
  watch.event("DELETED", thing("a", "16"));
  assert.equal(await bench.until(7), [
    "RELIST start",
    "PAGE a,b",
    "PAGE c",
    "SYNCED 10",
    "ADDED d",
    "BOOKMARK 15",
    "DELETED a",
  ]);
  const page = bench.signals[1] as Extract<WatchSignal, { type: "PAGE" }>;
  assert.is(page.objects[0]!.kind, "Thing");
  assert.is(page.objects[0]!.apiVersion, "demo.io/v1");
  assert.equal(bench.client.counters.requests, { list: 2, watch: 1 });
  await bench.close();
});

test("After the server ended a watch that lived a while the next one goes on from the last version, at once and without a fault", async () => {
  const { bench, watch } = await watching();
  watch.event("BOOKMARK", { metadata: { resourceVersion: "20" } });
  await delay(150);
  watch.response.end();
  const next = await bench.server.take();
  assert.is(next.url.searchParams.get("resourceVersion"), "20");
  next.open();
  next.event("MODIFIED", thing("a", "21"));
  assert.equal(await bench.until(5), ["RELIST start", "PAGE a,b", "SYNCED 10", "BOOKMARK 20", "MODIFIED a"]);
  await bench.close();
});

test("A connection that breaks in the middle of an event resumes from the last whole one", async () => {
  const { bench, watch } = await watching();
  watch.event("MODIFIED", thing("a", "11"));
  watch.response.write('{"type":"MODIFIED","object":{"metadata":{"name":"b","resourceVersi');
  await bench.until(4);
  watch.request.socket.destroy();
  (await probe(bench)).json(200, listOf("12", ["a"]));
  const next = await bench.server.take();
  assert.is(next.url.searchParams.get("resourceVersion"), "11");
  next.open();
  next.event("MODIFIED", thing("b", "12"));
  assert.equal((await bench.until(6)).slice(3), [
    "MODIFIED a",
    "FAULT HAPTIC_E_KUBE_UNREACHABLE",
    "BOOKMARK 11",
    "MODIFIED b",
  ]);
  await bench.close();
});

test("A watch that breaks after a while of service is opened again at once, and nobody is alarmed", async () => {
  const { bench, watch } = await watching();
  watch.event("MODIFIED", thing("a", "11"));
  await bench.until(4);
  await delay(120);
  watch.request.socket.destroy();
  (await probe(bench)).json(200, listOf("11", ["a"]));
  const next = await bench.server.take(isWatch);
  assert.is(next.url.searchParams.get("resourceVersion"), "11");
  next.open();
  next.event("MODIFIED", thing("b", "12"));
  assert.equal((await bench.until(5)).slice(3), ["MODIFIED a", "MODIFIED b"]);
  await bench.close();
});

test("An expired version is listed anew, whether the server says so in an event or by its status", async () => {
  const { bench, watch } = await watching();
  await delay(120);
  watch.event("ERROR", gone);
  watch.response.end();
  (await bench.server.take(isList)).json(200, listOf("30", ["c"]));
  const second = await bench.server.take(isWatch);
  await bench.until(6);
  second.json(410, gone);
  (await bench.server.take(isList)).json(200, listOf("40", ["d"]));
  (await bench.server.take(isWatch)).open();
  assert.equal((await bench.until(9)).slice(3), [
    "RELIST expired",
    "PAGE c",
    "SYNCED 30",
    "RELIST expired",
    "PAGE d",
    "SYNCED 40",
  ]);
  await bench.close();
});

test("A list whose later page has expired is begun again", async () => {
  const bench = new Bench(await scriptedServer());
  (await bench.server.take()).json(200, listOf("10", ["a"], "more"));
  (await bench.server.take()).json(410, gone);
  (await bench.server.take()).json(200, listOf("20", ["b"]));
  (await bench.server.take(isWatch)).open();
  assert.equal(await bench.until(5), ["RELIST start", "PAGE a", "RELIST expired", "PAGE b", "SYNCED 20"]);
  await bench.close();
});

test("A server that answers every watch with 410 is not asked in a loop", async () => {
  const server = await scriptedServer((exchange) => {
    if (isList(exchange)) exchange.json(200, listOf("10", []));
    else {
      exchange.open();
      exchange.event("ERROR", gone);
      exchange.response.end();
    }
  });
  const bench = new Bench(server);
  await delay(700);
  const lists = server.seen.filter(isList).length;
  // 15, 30, 60, 120, 150, 150 … ms between the lists.
  assert.ok(lists >= 4 && lists <= 9, `${lists} lists`);
  await bench.close();
});

test("After an outage that made the pauses long, an expired version is listed anew at once", async () => {
  const { bench, watch } = await watching();
  watch.response.destroy();
  for (let i = 0; i < 5; i++) (await probe(bench)).json(404, { kind: "Status", code: 404, reason: "NotFound" });
  (await probe(bench)).json(200, listOf("40", ["c"]));
  (await bench.server.take(isWatch)).json(410, gone);
  const before = Date.now();
  (await bench.server.take(isList)).json(200, listOf("40", ["c"]));
  assert.ok(Date.now() - before < 75, `the list came after ${Date.now() - before} ms`);
  (await bench.server.take(isWatch)).open();
  await bench.close();
});

test("A server that accepts watches and drops them at once is a fault, with growing pauses", async () => {
  const server = await scriptedServer((exchange) => {
    if (isList(exchange)) exchange.json(200, listOf("10", []));
    else {
      exchange.open();
      exchange.response.end();
    }
  });
  const bench = new Bench(server);
  await bench.until(10);
  const waits = bench.signals.filter((signal) => signal.type === "FAULT").map((signal) => signal.retryInMs);
  assert.equal(waits.slice(0, 4), [15, 30, 60, 120]);
  assert.is(server.seen.filter(isList).length, 1);
  await bench.close();
});

test("A stream that falls silent is taken for dead and resumed without a fault, as a quiet server sends nothing either", async () => {
  const { bench, watch } = await watching({ idleLimitMs: 150 });
  watch.event("MODIFIED", thing("a", "11"));
  (await probe(bench)).json(200, listOf("11", ["a"]));
  const second = await bench.server.take(isWatch);
  assert.is(second.url.searchParams.get("resourceVersion"), "11");
  second.open();
  second.event("MODIFIED", thing("b", "12"));
  assert.equal((await bench.until(5)).slice(3), ["MODIFIED a", "MODIFIED b"]);
  await bench.close();
});

test("When a quiet watch goes on after a fault, that is told once", async () => {
  const { bench, watch } = await watching();
  watch.request.socket.destroy();
  (await probe(bench)).json(200, listOf("10", ["a"]));
  (await bench.server.take(isWatch)).open();
  assert.equal((await bench.until(5)).slice(3), ["FAULT HAPTIC_E_KUBE_UNREACHABLE", "BOOKMARK 10"]);
  await bench.close();
});

test("A server that is behind the version after a failure is another one: the list is read anew", async () => {
  const { bench, watch } = await watching();
  watch.request.socket.destroy();
  (await probe(bench)).json(200, listOf("3", ["z"]));
  (await bench.server.take(isList)).json(200, listOf("3", ["z"]));
  assert.equal((await bench.until(7)).slice(3), [
    "FAULT HAPTIC_E_KUBE_UNREACHABLE",
    "RELIST stale",
    "PAGE z",
    "SYNCED 3",
  ]);
  await bench.close();
});

test("Events keep a stream alive beyond the idle limit", async () => {
  const { bench, watch } = await watching({ idleLimitMs: 150 });
  for (let i = 11; i < 18; i++) {
    watch.event("BOOKMARK", { metadata: { resourceVersion: String(i) } });
    await delay(50);
  }
  assert.is(bench.story.filter((line) => line.startsWith("FAULT")).length, 0);
  await bench.close();
});

test("A version that goes back comes from another server: the list is read anew", async () => {
  const { bench, watch } = await watching();
  watch.event("BOOKMARK", { metadata: { resourceVersion: "9" } });
  (await bench.server.take(isList)).json(200, listOf("9", ["z"]));
  assert.equal((await bench.until(6)).slice(3), ["RELIST stale", "PAGE z", "SYNCED 9"]);
  await bench.close();
});

test("Forbidden and missing resources are faults; the stream goes on trying and recovers by itself", async () => {
  const bench = new Bench(await scriptedServer());
  const status = (code: number, reason: string): object => ({
    kind: "Status",
    code,
    reason,
    message: `things.demo.io is ${reason}`,
  });
  (await bench.server.take()).json(403, status(403, "Forbidden"));
  (await bench.server.take()).json(404, status(404, "NotFound"));
  (await bench.server.take()).json(503, "overloaded", { "retry-after": "0.3" });
  const before = Date.now();
  (await bench.server.take()).json(200, listOf("10", ["a"]));
  assert.ok(Date.now() - before >= 250, "Retry-After is heeded");
  (await bench.server.take(isWatch)).json(403, status(403, "Forbidden"));
  (await probe(bench)).json(403, status(403, "Forbidden"));
  (await probe(bench)).json(200, listOf("10", ["a"]));
  (await bench.server.take(isWatch)).open();
  assert.equal(await bench.until(11), [
    "RELIST start",
    "FAULT HAPTIC_E_KUBE_FORBIDDEN",
    "RELIST start",
    "FAULT HAPTIC_E_KUBE_NOT_FOUND",
    "RELIST start",
    "FAULT HAPTIC_E_KUBE_UNAVAILABLE",
    "RELIST start",
    "PAGE a",
    "SYNCED 10",
    "FAULT HAPTIC_E_KUBE_FORBIDDEN",
    "FAULT HAPTIC_E_KUBE_FORBIDDEN",
  ]);
  const fault = bench.signals[1] as Extract<WatchSignal, { type: "FAULT" }>;
  assert.match(fault.error.message, "list things.demo.io: 403 Forbidden");
  await bench.close();
});

test("An unreachable server is a fault, with pauses that grow up to the cap", async () => {
  const client = createKubeClient(directConnection({ server: "http://127.0.0.1:1" }), {
    backoff: BACKOFF,
    random: () => 0.999,
  });
  const waits: number[] = [];
  const subscription = client.listWatch(TARGET).subscribe({
    next: (signal) => {
      if (signal.type === "FAULT") waits.push(signal.retryInMs);
    },
    error: () => assert.unreachable(),
  });
  for (let i = 0; i < 500 && waits.length < 6; i++) await delay(10);
  assert.equal(waits.slice(0, 6), [20, 40, 80, 160, 200, 200]);
  subscription.unsubscribe();
  await client.close();
});

test("Unsubscribing aborts the open request at once, in the list, in the watch and in a pause", async () => {
  for (const phase of ["list", "watch", "pause"]) {
    const bench = new Bench(await scriptedServer());
    let open = await bench.server.take();
    if (phase === "pause") open.json(500, {}, { "retry-after": "5" });
    if (phase === "watch") {
      open.json(200, listOf("10", []));
      open = await bench.server.take();
      open.open();
    }
    await delay(20);
    const closed = new Promise((resolve) => open.request.socket.once("close", resolve));
    bench.subscription.unsubscribe();
    const count = bench.signals.length;
    if (phase !== "pause")
      await Promise.race([closed, delay(1000).then(() => assert.unreachable(`${phase}: the request is still open`))]);
    await delay(60);
    assert.is(bench.signals.length, count);
    assert.is(bench.server.seen.length, phase === "watch" ? 2 : 1);
    await bench.close();
  }
});

test("A flood of events is handed on in order and leaves the process turns for other work", async () => {
  const { bench, watch } = await watching();
  const padding = "ü".repeat(2_000);
  let text = "";
  for (let i = 0; i < 5_000; i++)
    text += `${JSON.stringify({ type: "MODIFIED", object: { ...thing(`t${i}`, String(100 + i)), padding } })}\n`;
  let longest = 0;
  let last = performance.now();
  const ticker = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  watch.response.write(text);
  await bench.until(5_003);
  clearInterval(ticker);
  const names = bench.story.slice(3).map((line) => line.split(" ")[1]);
  assert.equal(
    names,
    Array.from({ length: 5_000 }, (_, i) => `t${i}`),
  );
  assert.is((bench.signals.at(-1) as unknown as { object: { padding: string } }).object.padding, padding);
  assert.ok(longest < 500, `the longest stall was ${longest} ms`);
  await bench.close();
});

test("What is no event stream is a fault, not an end", async () => {
  const { bench, watch } = await watching();
  watch.response.write("<html>\n");
  (await probe(bench)).json(200, listOf("10", ["a"]));
  const next = await bench.server.take(isWatch);
  next.open();
  next.event("MODIFIED", { metadata: { name: "a" } });
  assert.equal((await bench.until(6)).slice(3), [
    "FAULT HAPTIC_E_KUBE_PROTOCOL",
    "BOOKMARK 10",
    "FAULT HAPTIC_E_KUBE_PROTOCOL",
  ]);
  await bench.close();
});

test.run();
