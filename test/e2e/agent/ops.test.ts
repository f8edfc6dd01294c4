// runner: beside
import { connect } from "node:tls";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createAuthority } from "../../../src/devcluster/certificates.ts";
import type { Op } from "../../../src/plan/ops.ts";
import { needing } from "../../support/skip.ts";
import { testHaproxy } from "../../support/parts.ts";
import { TestController } from "./controller.ts";
import {
  configText,
  get,
  makeIdentities,
  removeScratch,
  scratch,
  startPod,
  startServers,
  until,
  type Pod,
  type PodOptions,
} from "./harness.ts";

const root = scratch("ops");
const identities = await makeIdentities(root);
const upstream = "127.93.0.1";
const servers = await startServers(upstream, [9001, 9002, 9003]);
const authority = await createAuthority("sites", new Date());
const pods: Pod[] = [];

test.after(async () => {
  for (const pod of pods) await pod.close();
  await servers.close();
  removeScratch(root);
});

async function pem(name: string): Promise<string> {
  const { certificate, key } = await authority.issue([name], "server");
  // A blank line between the parts is what Secrets often hold; on the command line it would end the payload.
  return `${certificate}\n\n${key}\n`;
}

/** Serial number of the certificate that is served for a name. */
function serial(address: string, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port: 8443, servername, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().serialNumber);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

interface World {
  backends: Record<string, Record<string, number>>;
  hosts: Record<string, string>;
  certs: Record<string, string>;
  list: string[];
}

function filesOf(world: World): Record<string, string> {
  const files: Record<string, string> = {
    "haproxy.cfg": configText({ backends: world.backends, upstream, tls: true }),
    "maps/host.map": Object.entries(world.hosts)
      .map(([host, backend]) => `${host} ${backend}\n`)
      .join(""),
    "general/list.txt": world.list.map((line) => `${line}\n`).join(""),
  };
  for (const [name, text] of Object.entries(world.certs)) files[`ssl/${name}.pem`] = text;
  return files;
}

async function start(
  version: "3.4" | "3.2" | "3.0",
  address: string,
  more: Partial<PodOptions> = {},
): Promise<{ pod: Pod; controller: TestController; world: World }> {
  const name = `ops-${version}-${address}`;
  const pod = await startPod({ binary: testHaproxy(version)!, address, identities, name, ...more });
  pods.push(pod);
  const controller = new TestController(pod.client);
  const world: World = {
    backends: { one: { s1: 9001 }, two: { s1: 9002 } },
    hosts: { "one.example": "one" },
    certs: { base: await pem("base.example") },
    list: ["ssl/base.pem"],
  };
  const result = await controller.load(filesOf(world));
  assert.ok(result.ok, result.error?.message ?? "");
  return { pod, controller, world };
}

for (const [i, version] of (["3.4", "3.2", "3.0"] as const).entries()) {
  const check = needing(test, testHaproxy(version) === undefined ? `HAProxy ${version} is not there` : undefined);

  check(`every operation on servers changes what HAProxy ${version} holds`, async () => {
    const { pod, controller, world } = await start(version, `127.93.1.${i + 1}`);
    const at = { backend: "one", server: "s2" };
    const run = async (ops: Op[]): Promise<void> => {
      const result = await controller.change(filesOf(world), ops);
      assert.is(result.mode, "runtime", JSON.stringify(result));
      for (const op of result.op_results) assert.ok(op.ok, `${op.kind}: ${op.output}`);
    };
    const row = async (): Promise<string[]> => {
      const text = await pod.runtime("show servers state one");
      return (
        text
          .split("\n")
          .map((line) => line.split(" "))
          .find((words) => words[3] === "s2") ?? []
      );
    };
    world.backends["one"]!["s2"] = 9002;
    await run([
      {
        kind: "server_add",
        ...at,
        address: upstream,
        port: 9002,
        weight: 7,
        keywords: [
          { name: "check", args: [] },
          { name: "inter", args: ["500ms"] },
        ],
      },
      { kind: "server_enable", ...at, health: true },
    ]);
    assert.is((await row())[4], upstream);
    assert.is((await row())[7], "7", "user weight");
    await run([{ kind: "server_set_weight", ...at, weight: 9 }]);
    assert.is((await row())[7], "9");
    await run([{ kind: "server_set_addr", ...at, address: upstream, port: 9003 }]);
    assert.is((await row())[18], "9003");
    await run([{ kind: "server_set_state", ...at, state: "drain" }]);
    assert.is(Number((await row())[6]) & 8, 8, "drain");
    await run([{ kind: "server_set_state", ...at, state: "ready" }]);
    assert.is(Number((await row())[6]), 0);
    await run([{ kind: "server_set_state", ...at, state: "maint" }]);
    assert.is(Number((await row())[6]) & 1, 1, "maintenance");
    await run([{ kind: "server_enable", ...at }]);
    await run([{ kind: "server_disable", ...at }]);
    assert.is(Number((await row())[6]) & 1, 1);
    delete world.backends["one"]!["s2"];
    await run([
      { kind: "server_disable", ...at },
      { kind: "wait_srv_removable", ...at, timeout_ms: 5000 },
      { kind: "server_del", ...at },
    ]);
    await until("the server is removed", async () => (await row()).length === 0);
    await until(
      "nothing waits for removal",
      async () => (await pod.client.state()).pending_deletes.servers.length === 0,
    );
    const state = await pod.client.state({ verify: true });
    assert.is(state.invariant_violation, undefined);
  });

  check(`every operation on maps changes what HAProxy ${version} holds`, async () => {
    const { pod, controller, world } = await start(version, `127.93.2.${i + 1}`);
    const path = "maps/host.map";
    const run = async (ops: Op[]): Promise<void> => {
      const result = await controller.change(filesOf(world), ops);
      assert.is(result.mode, "runtime", JSON.stringify(result));
      for (const op of result.op_results) assert.ok(op.ok, `${op.kind}: ${op.output}`);
    };
    const shown = async (): Promise<string[]> =>
      (await pod.runtime(`show map ${path}`))
        .split("\n")
        .map((line) => line.split(" ").slice(1).join(" "))
        .filter((line) => line !== "")
        .toSorted();
    world.hosts["two.example"] = "two";
    await run([{ kind: "map_add", path, key: "two.example", value: "two" }]);
    assert.equal(await get(pod.address, "two.example"), { status: 200, body: "9002" });
    world.hosts["two.example"] = "one";
    await run([{ kind: "map_set", path, key: "two.example", value: "one" }]);
    assert.equal(await get(pod.address, "two.example"), { status: 200, body: "9001" });
    world.hosts["spaced.example"] = "a value with blanks";
    await run([{ kind: "map_add", path, key: "spaced.example", value: "a value with blanks" }]);
    assert.ok((await shown()).includes("spaced.example a value with blanks"));
    // One word each, which goes on the command line; a payload takes what does not.
    for (const [key, value] of [
      ["odd'.example/\"#?", `it's"odd"#[x]{y}%$&,|`],
      ["#4.example", "-"],
    ] as const) {
      world.hosts[key] = value;
      await run([{ kind: "map_add", path, key, value }]);
      assert.ok((await shown()).includes(`${key} ${value}`), key);
    }
    for (const key of ["odd'.example/\"#?", "#4.example"]) {
      delete world.hosts[key];
      await run([{ kind: "map_del", path, key }]);
    }
    delete world.hosts["two.example"];
    await run([{ kind: "map_del", path, key: "two.example" }]);
    assert.is((await get(pod.address, "two.example")).status, 503);
    // Duplicates that somebody made: HAProxy 3.4 deletes one a call, the agent all.
    await pod.runtime(`add map ${path} twice.example one`);
    await pod.runtime(`add map ${path} twice.example two`);
    await pod.runtime(`add map ${path} twice.example one`);
    await run([{ kind: "map_del", path, key: "twice.example" }]);
    assert.not((await shown()).some((line) => line.startsWith("twice.example")));
    for (let n = 0; n < 1500; n++) world.hosts[`h${n}.example`] = "two";
    await run([{ kind: "map_replace", path }]);
    assert.equal(
      await shown(),
      Object.entries(world.hosts)
        .map(([host, backend]) => `${host} ${backend}`)
        .toSorted(),
    );
    const many: Op[] = [];
    for (let n = 0; n < 800; n++) {
      world.hosts[`m${n}.example`] = "one";
      many.push({ kind: "map_add", path, key: `m${n}.example`, value: "one" });
    }
    await run(many);
    assert.is((await shown()).length, 2 + 1500 + 800);
  });

  check(`certificates and crt-list entries change on HAProxy ${version} without a reload`, async () => {
    const { pod, controller, world } = await start(version, `127.93.3.${i + 1}`);
    const run = async (ops: Op[]): Promise<void> => {
      const result = await controller.change(filesOf(world), ops);
      assert.is(result.mode, "runtime", JSON.stringify(result));
      for (const op of result.op_results) assert.ok(op.ok, `${op.kind}: ${op.output}`);
    };
    const base = await serial(pod.address, "any.example");
    world.certs["new"] = await pem("new.example");
    world.list.push("ssl/new.pem [alpn h2,http/1.1] new.example");
    await run([
      { kind: "cert_new", path: "ssl/new.pem" },
      {
        kind: "crtlist_add",
        path: "general/list.txt",
        cert: "ssl/new.pem",
        options: [{ name: "alpn", args: ["h2,http/1.1"] }],
        sni_filters: ["new.example"],
      },
    ]);
    const first = await serial(pod.address, "new.example");
    assert.is.not(first, base);
    assert.ok((await pod.client.state()).runtime_inventory!.certs.includes("ssl/new.pem"));
    world.certs["new"] = await pem("new.example");
    await run([{ kind: "cert_set", path: "ssl/new.pem" }]);
    const second = await serial(pod.address, "new.example");
    assert.is.not(second, first);
    // The entry gets other names and options while clients come for a name that stays.
    const answers = new Set<string>();
    let isOver = false;
    const clients = (async () => {
      while (!isOver) answers.add(await serial(pod.address, "new.example"));
    })();
    for (const [options, names] of [
      [[], ["new.example", "more.example"]],
      [[{ name: "ssl-min-ver", args: ["TLSv1.3"] }], ["new.example"]],
      [[], ["new.example"]],
    ] as const) {
      const words = options.map(({ name, args }) => `[${name} ${args.join(" ")}] `).join("");
      world.list.splice(-1, 1, `ssl/new.pem ${words}${names.join(" ")}`);
      await run([
        {
          kind: "crtlist_set",
          path: "general/list.txt",
          cert: "ssl/new.pem",
          options: options.map(({ name, args }) => ({ name, args: [...args] })),
          sni_filters: [...names],
        },
      ]);
      const shown = (await pod.runtime("show ssl crt-list general/list.txt")).split("\n");
      assert.equal(
        shown.filter((line) => line.startsWith("ssl/new.pem")).map((line) => line.trim()),
        [`ssl/new.pem ${words}${names.join(" ")}`],
      );
      assert.is(await serial(pod.address, "more.example"), names.length === 2 ? second : base);
    }
    isOver = true;
    await clients;
    assert.equal([...answers], [second]);
    world.list.pop();
    await run([{ kind: "crtlist_del", path: "general/list.txt", cert: "ssl/new.pem" }]);
    assert.is(await serial(pod.address, "new.example"), base);
  });

  check(
    `what is longer than HAProxy ${version} takes is not sent: a reload brings it, and nothing else is lost`,
    async () => {
      const { pod, controller, world } = await start(version, `127.93.18.${i + 1}`);
      const map = "maps/host.map";
      const names = Array.from({ length: 1_500 }, (_, n) => `name-${n}.example`);
      const value = "x".repeat(20_000);
      const changes: readonly (readonly [() => void, Op])[] = [
        [() => (world.hosts["long.example"] = value), { kind: "map_add", path: map, key: "long.example", value }],
        [() => (world.hosts["one.example"] = value), { kind: "map_set", path: map, key: "one.example", value }],
        [
          () => (world.list[0] = `ssl/base.pem ${names.join(" ")}`),
          { kind: "crtlist_set", path: "general/list.txt", cert: "ssl/base.pem", options: [], sni_filters: names },
        ],
      ];
      for (const [change, op] of changes) {
        const { haproxy } = await pod.client.state();
        change();
        world.hosts["two.example"] = "two";
        const result = await controller.change(filesOf(world), [{ ...op }]);
        assert.is(result.mode, "reload", JSON.stringify(result));
        assert.match(result.op_results[0]?.output ?? "", /bytes are more than HAProxy takes at run time/);
        const after = await pod.client.state();
        assert.is.not(after.haproxy!.worker_pid, haproxy!.worker_pid);
        assert.is(after.own_reload, undefined);
        assert.is((await get(pod.address, "two.example")).body, "9002");
      }
    },
  );
}

const check34 = needing(test, testHaproxy("3.4") === undefined ? "HAProxy 3.4 is not there" : undefined);

check34(
  "on 3.4 a whole backend comes and goes without a reload, and a name that waits for removal may be used again",
  async () => {
    const { pod, controller, world } = await start("3.4", "127.93.4.1");
    const worker = (await pod.client.state()).haproxy!.worker_pid;
    const run = async (ops: Op[]): Promise<void> => {
      const result = await controller.change(filesOf(world), ops);
      assert.is(result.mode, "runtime", JSON.stringify(result));
      for (const op of result.op_results) assert.ok(op.ok, `${op.kind}: ${op.output}`);
    };
    const create: Op[] = [
      { kind: "backend_add", backend: "three", profile: "haptic-be", guid: "be-three" },
      { kind: "server_add", backend: "three", server: "s1", address: upstream, port: 9003 },
      { kind: "server_enable", backend: "three", server: "s1" },
      { kind: "backend_publish", backend: "three" },
      { kind: "map_add", path: "maps/host.map", key: "three.example", value: "three" },
    ];
    const remove: Op[] = [
      { kind: "map_del", path: "maps/host.map", key: "three.example" },
      { kind: "backend_unpublish", backend: "three" },
      { kind: "server_disable", backend: "three", server: "s1" },
      { kind: "wait_srv_removable", backend: "three", server: "s1", timeout_ms: 5000 },
      { kind: "server_del", backend: "three", server: "s1" },
      { kind: "wait_be_removable", backend: "three", timeout_ms: 5000 },
      { kind: "backend_del", backend: "three" },
    ];
    world.backends["three"] = { s1: 9003 };
    world.hosts["three.example"] = "three";
    await run(create);
    assert.equal(await get(pod.address, "three.example"), { status: 200, body: "9003" });
    delete world.backends["three"];
    delete world.hosts["three.example"];
    await run(remove);
    assert.is((await get(pod.address, "three.example")).status, 503);
    world.backends["three"] = { s1: 9003 };
    world.hosts["three.example"] = "three";
    await run(create);
    assert.equal(await get(pod.address, "three.example"), { status: 200, body: "9003" });
    delete world.backends["three"];
    delete world.hosts["three.example"];
    await run(remove);
    await until("the backend is removed", async () => !(await pod.runtime("show backend")).includes("three"));
    await until("nothing waits for removal", async () => {
      const { pending_deletes: pending } = await pod.client.state();
      return pending.servers.length === 0 && pending.backends.length === 0;
    });
    assert.is((await pod.client.state()).haproxy!.worker_pid, worker);
  },
);

check34("a removal waits for a running request and never delays the answer", async () => {
  const { pod, controller, world } = await start("3.4", "127.93.5.1");
  const slow = await startServers("127.93.0.2", [9009], 600);
  const at = { backend: "one", server: "slow" };
  await controller.change(filesOf(world), [
    { kind: "server_add", ...at, address: "127.93.0.2", port: 9009 },
    { kind: "server_enable", ...at },
  ]);
  await controller.change(filesOf(world), [{ kind: "server_disable", backend: "one", server: "s1" }]);
  const running = get(pod.address, "one.example");
  await until(
    "the request runs",
    async () =>
      /\bscur\b|slow,.*,1,/.test(await pod.runtime("show servers conn one")) ||
      (await pod.runtime("show sess")).includes("127.93.0.2"),
    400,
  ).catch(() => undefined);
  const result = await controller.change(filesOf(world), [
    { kind: "server_enable", backend: "one", server: "s1" },
    { kind: "server_disable", ...at },
    { kind: "server_del", ...at },
  ]);
  assert.ok(result.ok && result.timing.total_ms < 300, JSON.stringify(result.timing));
  assert.equal(await running, { status: 200, body: "9009" });
  await until("the server is removed", async () => !(await pod.runtime("show servers state one")).includes(" slow "));
  await slow.close();
});

check34("a request that does not end is ended after its grace, although more is removed all the time", async () => {
  const slow = await startServers("127.93.0.3", [9009], 60_000);
  const { pod, controller, world } = await start("3.4", "127.93.8.1", { removalGraceMs: 1_000 });
  const at = { backend: "one", server: "slow" };
  await controller.change(filesOf(world), [
    { kind: "server_add", ...at, address: "127.93.0.3", port: 9009 },
    { kind: "server_enable", ...at },
    { kind: "server_disable", backend: "one", server: "s1" },
  ]);
  const running = get(pod.address, "one.example").then(
    ({ status }) => status,
    () => 0,
  );
  await until("the request runs", async () => (await pod.runtime("show sess")).includes("srv=slow"));
  await controller.change(filesOf(world), [
    { kind: "server_enable", backend: "one", server: "s1" },
    { kind: "server_disable", ...at },
    { kind: "server_del", ...at },
  ]);
  let ended = false;
  void running.then(() => (ended = true));
  // Each of these begins the removals anew.
  const deadline = Date.now() + 20_000;
  for (let turn = 0; !ended; turn++) {
    assert.ok(Date.now() < deadline, `the request still runs after ${turn} removals`);
    const other = { backend: "two", server: `t${turn}` };
    await controller.change(filesOf(world), [{ kind: "server_add", ...other, address: upstream, port: 9002 }]);
    await controller.change(filesOf(world), [
      { kind: "server_disable", ...other },
      { kind: "server_del", ...other },
    ]);
  }
  assert.is.not(await running, 200);
  await until("the server is removed", async () => !(await pod.runtime("show servers state one")).includes(" slow "));
  await slow.close();
});

check34("an operation that HAProxy refuses leads to a reload of the same set", async () => {
  const { pod, controller, world } = await start("3.4", "127.93.6.1");
  world.backends["one"]!["s2"] = 9002;
  const result = await controller.change(filesOf(world), [
    { kind: "server_add", backend: "missing", server: "s2", address: upstream, port: 9002 },
  ]);
  assert.ok(result.ok, JSON.stringify(result.error));
  assert.is(result.mode, "reload");
  assert.is(result.op_results[0]?.ok, false);
  assert.match(result.op_results[0]?.output ?? "", "No such backend");
  const bodies = new Set<string>();
  for (let turn = 0; turn < 4; turn++) bodies.add((await get(pod.address, "one.example")).body);
  assert.equal([...bodies].toSorted(), ["9001", "9002"]);
  const state = await pod.client.state();
  assert.is(state.worker_ops_plan_id, controller.planId);
  assert.is(state.running_plan_id, controller.planId);
});

check34("a name that would become another command is never sent", async () => {
  const { pod, controller, world } = await start("3.4", "127.93.7.1");
  const result = await controller.change(filesOf(world), [
    { kind: "map_add", path: "maps/host.map", key: "x;shutdown", value: "one" },
  ]);
  assert.is(result.mode, "reload");
  assert.match(result.op_results[0]?.output ?? "", "cannot be written");
  assert.is((await get(pod.address, "one.example")).status, 200);
});

test.run();
