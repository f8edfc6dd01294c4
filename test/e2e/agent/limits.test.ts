// runner: beside
/** What an agent does where something goes on for too long, or is too much: reloads that fail to come, removals, bodies. */
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import { request as requestTls } from "node:https";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { inspect } from "node:util";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createAgentClient } from "../../../src/agent/client.ts";
import { runAgent } from "../../../src/agent/index.ts";
import { connectAgents } from "../../../src/controller/agent-connect.ts";
import { hapticCommand } from "../../../src/devcluster/program.ts";
import type { Op } from "../../../src/plan/ops.ts";
import { missingHaproxy, testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { TestController } from "./controller.ts";
import {
  CLIENT_NAME,
  hostFiles,
  makeIdentities,
  removeScratch,
  scratch,
  SERVER_NAME,
  startPod,
  until,
  type Pod,
  type PodOptions,
} from "./harness.ts";

const root = scratch("limits");
const identities = await makeIdentities(root);
const credentials = Object.fromEntries(
  (["cert", "key", "ca"] as const).map((name) => {
    const file = { cert: "tls.crt", key: "tls.key", ca: "ca.crt" }[name];
    return [name, fs.readFileSync(join(identities.controllerDir, file))];
  }),
);
const upstream = "127.124.0.1";
const pods: Pod[] = [];
let address = 0;

/** Requests that an upstream holds until it is told to answer. */
const held: ServerResponse[] = [];
const holding = createServer((_, response) => held.push(response));
holding.listen(9301, upstream);
await once(holding, "listening");

test.after(async () => {
  for (const pod of pods) await pod.close();
  holding.closeAllConnections();
  holding.close();
  removeScratch(root);
});

const check34 = needing(test, missingHaproxy("3.4"));

async function start(options: Partial<PodOptions> = {}): Promise<{ pod: Pod; controller: TestController }> {
  address += 1;
  const pod = await startPod({
    binary: testHaproxy("3.4")!,
    address: `127.124.1.${address}`,
    identities,
    name: `limits-${address}`,
    ...options,
  });
  pods.push(pod);
  return { pod, controller: new TestController(pod.client) };
}

const filesOf = (backends: Record<string, Record<string, number>>): Record<string, string> =>
  hostFiles({ backends, upstream });
const one = filesOf({ one: { s1: 9001 } });

const isInForce = async (pod: Pod): Promise<boolean> => {
  const { applied_plan_id: applied, worker_ops_plan_id: ops, running_plan_id: running } = await pod.client.state();
  return applied !== "" && ops === applied && running === applied;
};

check34("a reload that is owed comes, also where the files could not be made ready for it at once", async () => {
  const { pod, controller } = await start();
  const before = await controller.load(one);
  const { mkdirSync } = fs;
  const sets = join(pod.baseDir, ".haptic/sets/");
  let failures = 0;
  fs.mkdirSync = ((path: string, ...more: []) => {
    if (!path.startsWith(sets)) return mkdirSync(path, ...more);
    failures += 1;
    throw Object.assign(new Error("ENOSPC: no space left on device, mkdir"), { code: "ENOSPC" });
  }) as typeof fs.mkdirSync;
  syncBuiltinESMExports();
  const refused: Op = { kind: "server_enable", backend: "one", server: "nobody" };
  try {
    await controller.change(filesOf({ one: { s1: 9002 } }), [refused]).then(
      (result) => assert.unreachable(`it was taken: ${result.mode}`),
      (error: unknown) => assert.match(String(error), "ENOSPC"),
    );
  } finally {
    fs.mkdirSync = mkdirSync;
    syncBuiltinESMExports();
  }
  assert.ok(failures > 0);
  await until("the reload came", () => isInForce(pod), 20_000);
  const { haproxy, applied_plan_id: applied } = await pod.client.state();
  assert.is.not(haproxy!.worker_pid, before.haproxy!.worker_pid);
  assert.is.not(applied, before.plan_id);
});

/** A request on a connection of its own; the promise is its status. */
function ask(pod: Pod, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: pod.address, port: 8080, headers: { host }, agent: false }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
}

const names = (count: number, letter: string): string[] => Array.from({ length: count }, (_, n) => `${letter}${n}`);

/** Operations of an apply in batches. */
function inBatches(ops: readonly Op[]): { readonly ops: Op[]; readonly extra: { readonly op_batches?: Op[][] } } {
  const batches: Op[][] = [];
  for (let at = 0; at < ops.length; at += 1_000) batches.push(ops.slice(at, at + 1_000));
  const [first = [], ...rest] = batches;
  return { ops: first, extra: rest.length > 0 ? { op_batches: rest } : {} };
}

const goes = (backend: string): Op[] => [
  { kind: "map_del", path: "maps/host.map", key: `${backend}.example` },
  { kind: "server_disable", backend, server: "s1" },
  { kind: "server_del", backend, server: "s1" },
  { kind: "backend_unpublish", backend },
  { kind: "backend_del", backend },
];

const backendsOf = (list: readonly string[]): Record<string, Record<string, number>> =>
  Object.fromEntries([["one", { s1: 9001 }] as const, ...list.map((name) => [name, { s1: 9301 }] as const)]);

check34("of more backends than may wait for their last requests those that none holds go at once", async () => {
  const { pod, controller } = await start();
  const list = names(150, "b");
  await controller.load(filesOf(backendsOf(list)));
  const worker = (await pod.client.state()).haproxy!.worker_pid;
  const { ops, extra } = inBatches(list.flatMap(goes));
  const result = await controller.change(one, ops, extra);
  assert.equal([result.mode, result.limit, result.haproxy?.worker_pid], ["runtime", undefined, worker]);
  await until("all have left the worker", async () => {
    const { servers, backends } = (await pod.client.state()).pending_deletes;
    return servers.length + backends.length === 0;
  });
  assert.not.match(await pod.runtime("show backend"), /^b\d/m);
  assert.is((await pod.client.state()).haproxy!.worker_pid, worker);
});

for (const { count, mode } of [
  { count: 100, mode: "runtime" },
  { count: 101, mode: "reload" },
]) {
  check34(`${count} backends that requests hold: their removal is a ${mode}, and no request is lost`, async () => {
    const { pod, controller } = await start();
    const list = names(count, "b");
    await controller.load(filesOf(backendsOf(list)));
    held.length = 0;
    const answers = list.map((name) => ask(pod, `${name}.example`));
    await until("every backend holds a request", () => held.length === count);
    const { ops, extra } = inBatches(list.flatMap(goes));
    const result = await controller.change(one, ops, extra);
    assert.is(result.mode, mode, JSON.stringify(result.error ?? result.failure));
    assert.is(result.op_results.filter(({ ok }) => !ok).length, 0);
    assert.is(
      result.limit,
      mode === "runtime" ? undefined : "101 backends would wait for their last requests, and no more than 100 may",
    );
    const { pending_deletes: pending } = await pod.client.state();
    assert.is(pending.backends.length, mode === "runtime" ? count : 0);
    for (const response of held) response.end("late");
    assert.equal([...new Set(await Promise.all(answers))], [200]);
    await until("all have left", async () => (await pod.client.state()).pending_deletes.backends.length === 0, 30_000);
    assert.not.match(await pod.runtime("show backend"), /^b\d/m);
    assert.ok(await isInForce(pod));
  });
}

check34("of 1,100 servers that go at once no more than 1,000 wait, held or not", async () => {
  const { pod, controller } = await start();
  const list = names(1_100, "s");
  const servers = Object.fromEntries(list.map((name) => [name, 9301]));
  await controller.load(filesOf({ one: { stays: 9301, ...servers } }));
  const worker = (await pod.client.state()).haproxy!.worker_pid;
  held.length = 0;
  const answers = Array.from({ length: 300 }, () => ask(pod, "one.example"));
  await until("requests are held", () => held.length === 300);
  const gone = list.flatMap((server): Op[] => [
    { kind: "server_disable", backend: "one", server },
    { kind: "server_del", backend: "one", server },
  ]);
  const { ops, extra } = inBatches(gone);
  const result = await controller.change(filesOf({ one: { stays: 9301 } }), ops, extra);
  assert.equal([result.mode, result.limit], ["runtime", undefined]);
  const { pending_deletes: pending } = await pod.client.state();
  assert.ok(pending.servers.length <= 1_000, `${pending.servers.length} wait`);
  for (const response of held) response.end("late");
  assert.equal([...new Set(await Promise.all(answers))], [200]);
  await until("all have left", async () => (await pod.client.state()).pending_deletes.servers.length === 0, 30_000);
  assert.is((await pod.runtime("show servers state one")).match(/ s\d+ /g), null);
  assert.is((await pod.client.state()).haproxy!.worker_pid, worker);
});

interface Trickle {
  readonly status: number;
  readonly text: string;
  readonly tookMs: number;
}

/** Sends `head` of a body of a large part, then a byte each `everyMs`; what the agent answered until it ended the connection. */
function trickle(pod: Pod, path: string, head: Buffer, everyMs: number, declared: number): Promise<Trickle> {
  const { cert, key, ca } = credentials;
  const began = performance.now();
  return new Promise((resolve) => {
    let answered: { status: number; text: string } = { status: 0, text: "" };
    const outgoing = requestTls(
      {
        host: pod.address,
        port: 5555,
        path,
        method: path === "/v1/apply" ? "POST" : "PUT",
        cert,
        key,
        ca,
        servername: SERVER_NAME,
        agent: false,
        headers: { "content-type": "multipart/form-data; boundary=b", "content-length": declared },
      },
      (response) => {
        response.setEncoding("utf8");
        answered = { status: response.statusCode ?? 0, text: "" };
        response.on("data", (chunk: string) => (answered.text += chunk));
      },
    );
    const more = setInterval(() => outgoing.write("x"), Math.max(1, everyMs));
    if (everyMs === 0) clearInterval(more);
    outgoing.on("error", () => undefined);
    outgoing.on("close", () => {
      clearInterval(more);
      resolve({ ...answered, tookMs: performance.now() - began });
    });
    outgoing.write(head);
  });
}

check34(
  "a client whose body comes too slowly is refused, holds neither room nor the turn of others, and is counted",
  async () => {
    const bodyTimes = { idleMs: 1_500, totalMs: 4_000 };
    const { pod, controller } = await start({ bodyTimes, metricsPort: 9101 });
    await controller.load(one);
    const staging = join(pod.baseDir, ".haptic/staging");
    const manifest = { ...controller.set, plan_id: "slow" };
    const said = JSON.stringify({
      identity_version: 1,
      plan_id: manifest.plan_id,
      plan_schema_version: 1,
      token: { leader_epoch: 1, render_seq: 9 },
      expected_prev_plan_id: controller.planId,
      changed: [],
      removed: [],
      ops: [],
      in_place_ops: [],
      mode: "auto",
    });
    const field = (head: string): string => `\r\n--b\r\ncontent-disposition: form-data; ${head}\r\n\r\n`;
    const start1 = `${field('name="manifest"').slice(2)}${said}${field('name="file"; filename="general/big"')}`;
    // So large a part is on the disk by then.
    const large = Buffer.concat([Buffer.from(start1), Buffer.alloc(2 * 1024 * 1024, "y")]);
    const slow = [
      trickle(pod, "/v1/apply", large, 0, 4 * 1024 * 1024),
      trickle(pod, "/v1/apply", large, 200, 4 * 1024 * 1024),
      trickle(pod, "/v1/apply", Buffer.from("--b"), 200, 10_000),
      trickle(pod, "/v1/apply", Buffer.from("--b"), 0, 10_000),
      trickle(pod, "/v1/plan?plan_id=slow", Buffer.from("p"), 200, 10_000),
    ];
    await until("parts are staged", () => fs.readdirSync(staging).length === 2);
    const quick = await controller.change(filesOf({ one: { s1: 9002 } }), [
      { kind: "server_set_addr", backend: "one", server: "s1", address: upstream, port: 9002 },
    ]);
    assert.is(quick.mode, "runtime", "another apply does not wait for them");
    const [idle, endless, small, silent, plan] = await Promise.all(slow);
    for (const [answer, why] of [
      [idle, "nothing for 1.5 s"],
      [endless, "more than 4 s in all"],
      [small, "more than 4 s in all"],
      [silent, "nothing for 1.5 s"],
      [plan, "more than 4 s in all"],
    ] as const) {
      assert.is(answer!.status, 408, `${why}: ${answer!.text}`);
      assert.match(answer!.text, why);
      assert.match(answer!.text, "HAPTIC_E_AGENT_REQUEST");
    }
    await until("nothing of it is left", () => fs.readdirSync(staging).length === 0);
    const metrics = await (await fetch(`http://${pod.address}:9101/metrics`)).text();
    assert.match(metrics, 'haptic_agent_apply_rejected_total{stage="request"} 4');
    assert.is((await pod.client.state()).applied_plan_id, controller.planId);
  },
);

const basic = { username: "admin", password: "pass: wörd" };

check34("without TLS, where that was chosen, username and password are asked for, and never told", async () => {
  const { pod, controller } = await start({ basic });
  assert.is((await controller.load(one)).mode, "reload");
  assert.is((await pod.client.state({ plan: false })).applied_plan_id, controller.planId);
  assert.is((await pod.client.putPlan(controller.planId, Buffer.from("plan"))).kind, "stored");
  const port = connectAgents({ basic: () => basic })(`${pod.address}:5555`);
  const seen = await port.state({ verify: true, plan: false }, new AbortController().signal);
  assert.is(seen.applied_plan_id, controller.planId, "the controller's way to it");
  await port.close();
  const url = `http://${pod.address}:5555`;
  const asked = async (authorization?: string): Promise<Response> =>
    fetch(`${url}/v1/state`, { headers: authorization === undefined ? {} : { authorization } });
  const encoded = (text: string): string => `Basic ${Buffer.from(text).toString("base64")}`;
  assert.is((await asked(encoded(`${basic.username}:${basic.password}`))).status, 200);
  for (const wrong of [
    undefined,
    "",
    "Basic",
    "Basic !",
    `Bearer ${basic.password}`,
    encoded(basic.username),
    encoded(`${basic.username}:`),
    encoded(`${basic.username}:${basic.password}x`),
    encoded(`${basic.username}x:${basic.password}`),
    encoded(`:${basic.username}:${basic.password}`),
  ]) {
    const { status, headers } = await asked(wrong);
    assert.equal(
      [status, headers.get("www-authenticate")],
      [401, 'Basic realm="haptic agent", charset="UTF-8"'],
      wrong,
    );
  }
  const refused = await fetch(`${url}/v1/apply`, { method: "POST", body: "x" });
  assert.is(refused.status, 401);
  for (const path of ["/healthz", "/readyz"]) assert.is((await fetch(url + path)).status, 200);
  const other = createAgentClient({ url, basic: () => ({ ...basic, password: "another one" }) });
  const unknown = createAgentClient({ url, basic: () => undefined });
  for (const client of [other, unknown]) {
    const error = await client.state().then(
      () => assert.unreachable("it was let in"),
      (thrown: unknown) => thrown as Error,
    );
    assert.not.match(inspect(error, { depth: 9, showHidden: true }), /another one|w\u00f6rd|YWRtaW46/);
    await client.close();
  }
  const log = fs.readFileSync(join(root, `limits-${address}.log`), "utf8");
  assert.match(log, /"level":40,.*TLS is off/);
  assert.not.match(log, /w\u00f6rd|YWRtaW46/);
});

test("neither side takes certificates and HTTP Basic together", () => {
  const tls = { dir: identities.controllerDir, serverName: SERVER_NAME };
  assert.throws(() => createAgentClient({ url: "http://127.0.0.1:1", tls }), /goes without TLS/);
  assert.throws(() => createAgentClient({ url: "https://127.0.0.1:1", basic: () => basic }), /goes without TLS/);
});

check34("the agent's state can be read where the flag says, and stays what it is when the flag changes", async () => {
  const stateFile = join(root, "elsewhere/state.json");
  const { pod, controller } = await start({ stateFile });
  await controller.load(one);
  const planIn = (file: string): string => (JSON.parse(fs.readFileSync(file, "utf8")) as { plan_id: string }).plan_id;
  await until("the state says so", () => planIn(stateFile) === controller.planId);
  await controller.change(filesOf({ one: { s1: 9002 } }), [
    { kind: "server_set_addr", backend: "one", server: "s1", address: upstream, port: 9002 },
  ]);
  await until("it was folded", () => planIn(stateFile) === controller.planId);
  await pod.agent().close();
  // An agent with the default finds what the one before has left.
  const agent = await runAgent({
    baseDir: pod.baseDir,
    listen: `${pod.address}:5555`,
    tlsDir: identities.agentDir,
    tlsClientName: CLIENT_NAME,
    log: pino({ level: "silent" }),
    now: () => performance.timeOrigin + performance.now(),
    monotonic: () => performance.now(),
  });
  await until("it is ready", () => agent.isReady());
  assert.ok(await isInForce(pod));
  assert.is(planIn(join(pod.baseDir, ".haptic-agent.json")), controller.planId);
  await agent.close();
  await pod.startAgent();
  assert.is((await pod.client.state()).applied_plan_id, controller.planId);
});

const haptic = (args: readonly string[], env: Record<string, string>): string => {
  const [command, ...rest] = hapticCommand(args);
  const { status, stderr } = spawnSync(command, rest, {
    encoding: "utf8",
    env: { ...process.env, ...env },
    timeout: 60_000,
  });
  assert.is(status, 2, stderr);
  return stderr;
};

test("half of HTTP Basic is an error at the start, on both sides, which names what is missing", () => {
  const both = { DATAPLANE_USERNAME: "u-secret", DATAPLANE_PASSWORD: "p-secret" };
  for (const [args, env, why] of [
    [["agent", "--no-tls"], {}, /DATAPLANE_USERNAME and DATAPLANE_PASSWORD are missing/],
    [["agent", "--no-tls"], { DATAPLANE_USERNAME: "u-secret" }, /DATAPLANE_PASSWORD is missing/],
    [["agent", "--no-tls"], { ...both, DATAPLANE_USERNAME: "u-secret:x" }, /DATAPLANE_USERNAME holds a colon/],
    [
      ["agent", "--no-tls"],
      { ...both, DATAPLANE_PASSWORD: "p-secret\n" },
      /DATAPLANE_PASSWORD holds a control character/,
    ],
    [["agent", "--no-tls", "--tls-client-name", "x"], both, /--no-tls excludes --tls-dir and --tls-client-name/],
    [["agent", "--tls-client-name", "x"], both, /with TLS nobody asks for them/],
    [["run", "--agent-no-tls"], {}, /--secret-name \(SECRET_NAME\) is missing/],
    [["run", "--secret-name", "s"], {}, /with TLS nobody asks/],
    [["run", "--agent-no-tls", "--secret-name", "s", "--agent-tls-name", "x"], {}, /excludes --agent-tls-dir/],
  ] as const) {
    const said = haptic(args, env);
    assert.match(said, why);
    assert.not.match(said, /[up]-secret/);
  }
});

test.run();
