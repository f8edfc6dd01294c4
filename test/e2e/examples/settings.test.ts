// runner: beside
/** What an author declares as a setting changes in a HAProxy that runs: no reload, on every version. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { agentOpsBeside } from "../../../src/agent/capabilities.ts";
import { runOps, RuntimeSession } from "../../../src/haproxy/index.ts";
import { diffPlans, joinBlocks, type PlanDiff, type RenderPlan } from "../../../src/plan/index.ts";
import { Tokens } from "../../../src/render/output.ts";
import { PlanRecorder, ProfileCache } from "../../../src/render/plan-registry.ts";
import { type HaproxyVersion, testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { ingress, service, slice } from "../../unit/examples/objects.ts";
import { Example } from "../../unit/examples/rendering.ts";

const VERSIONS: readonly HaproxyVersion[] = ["3.0", "3.2", "3.4"];
const POD = "127.77.22.9";
const POD_PORT = 47_081;

/** A pod that answers after as many milliseconds as the path says. */
const slow = createServer((incoming, outgoing) => {
  const timer = setTimeout(() => outgoing.end("late"), Number(incoming.url!.slice(1)));
  outgoing.once("close", () => clearTimeout(timer));
});

const timed = (name: string, timeout: string): object => {
  const object = service(name) as { metadata: object };
  return { ...object, metadata: { ...object.metadata, annotations: { "haproxy-haptic.org/timeout-server": timeout } } };
};
const pods = (name: string): object => slice(name, [{ address: POD, pod: `${name}-1` }], [{ port: POD_PORT }]);

/** HAProxy over the files of a folder. */
async function start(
  version: HaproxyVersion,
  folder: string,
  address: string,
): Promise<{ readonly socket: string; readonly end: () => Promise<void> }> {
  const socket = join(folder, "worker.sock");
  const child = spawn(testHaproxy(version)!, ["-db", "-f", join(folder, "haproxy.cfg")], {
    env: { HAPTIC_BIND_ADDRESS: address, HAPTIC_WORKER_SOCKET: socket },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = once(child, "exit");
  for (let tries = 0; !existsSync(socket); tries++) {
    if (tries === 400 || child.exitCode !== null) throw new Error(`HAProxy ${version} does not start: ${said}`);
    await sleep(25);
  }
  return {
    socket,
    end: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}

/** HAProxy with an example's files, and the operations that changes ask for. */
class Serving {
  readonly #base = mkdtempSync(join(tmpdir(), "haptic-settings-"));
  readonly #version: HaproxyVersion;
  readonly #address: string;
  readonly #example: Example;
  #plan!: RenderPlan;
  #end!: () => Promise<void>;
  session!: RuntimeSession;

  constructor(version: HaproxyVersion, address: string, example: Example) {
    this.#version = version;
    this.#address = address;
    this.#example = example;
  }

  async start(): Promise<this> {
    this.#plan = (await this.#example.render()).outcome.result!.plan;
    for (const [path, { blocks }] of this.#plan.files.entries()) {
      mkdirSync(dirname(join(this.#base, path)), { recursive: true });
      writeFileSync(join(this.#base, path), joinBlocks(blocks));
    }
    const { socket, end } = await start(this.#version, this.#base, this.#address);
    this.#end = async () => {
      await end();
      rmSync(this.#base, { recursive: true, force: true });
    };
    this.session = await RuntimeSession.connect(socket);
    return this;
  }

  /** Puts objects, and does what the difference says; it is not to be a reload. */
  async put(...objects: object[]): Promise<PlanDiff> {
    const next = (await this.#example.put(...objects).render()).outcome.result!.plan;
    const diff = diffPlans(next, this.#plan, {
      haproxyVersion: this.#version,
      agentOps: new Set(agentOpsBeside(this.#version)),
    });
    assert.is(diff.verdict, "runtime", diff.reasons.join("; "));
    const context = { nameOf: (path: string) => path, content: () => Promise.resolve(undefined), redo: false };
    const outcomes = await runOps(this.session, diff.ops, context);
    assert.equal(
      outcomes.filter(({ ok }) => !ok),
      [],
    );
    this.#plan = next;
    return diff;
  }

  /** Status of the answer to a request for which the pod takes so many milliseconds. */
  ask(host: string, ms: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ host: this.#address, port: 8080, path: `/${ms}`, headers: { host }, agent: false });
      outgoing.once("error", reject);
      outgoing.once("response", (response) => {
        response.resume().once("end", () => resolve(response.statusCode ?? 0));
      });
      outgoing.end();
    });
  }

  async stop(): Promise<void> {
    this.session.close();
    await this.#end();
  }
}

const base = suite("settings in a running HAProxy");
base.before(async () => {
  slow.listen(POD_PORT, POD);
  await once(slow, "listening");
});
base.after(() => {
  slow.closeAllConnections();
  slow.close();
});

const example = (): Example =>
  new Example("ingress/config.yaml").put(service("web"), pods("web"), ingress("web", "web.example", [{}]));

for (const [index, version] of VERSIONS.entries()) {
  const test = needing(base, testHaproxy(version) === undefined ? `HAProxy ${version} is not installed` : undefined);

  test(`HAProxy ${version} obeys a timeout that a Service gets, changes and loses, in the same process`, async () => {
    const serving = await new Serving(version, `127.77.22.${index + 1}`, example()).start();
    try {
      const { pid } = await serving.session.refreshInfo();
      assert.is(await serving.ask("web.example", 700), 200);
      await serving.put(timed("web", "200ms"));
      assert.is(await serving.ask("web.example", 5000), 504, "200ms are over");
      await serving.put(timed("web", "1m"));
      assert.is(await serving.ask("web.example", 700), 200);
      await serving.put(timed("web", "200ms"));
      await serving.put(service("web"));
      assert.is(await serving.ask("web.example", 700), 200, "the profile's own 60s");
      assert.is((await serving.session.refreshInfo()).pid, pid);
    } finally {
      await serving.stop();
    }
  });
}

const newest = needing(base, testHaproxy("3.4") === undefined ? "HAProxy 3.4 is not installed" : undefined);
newest("a backend that HAProxy 3.4 gets while it runs has its setting from its first request on", async () => {
  const serving = await new Serving("3.4", "127.77.22.4", example()).start();
  try {
    const { ops } = await serving.put(
      timed("new", "200ms"),
      pods("new"),
      ingress("new", "new.example", [{ service: "new" }]),
    );
    assert.equal([ops[0]?.kind, ops[1]?.kind], ["map_add", "backend_add"]);
    assert.is(await serving.ask("new.example", 5000), 504);
    await serving.put(timed("new", "1m"));
    assert.is(await serving.ask("new.example", 700), 200);
  } finally {
    await serving.stop();
  }
});

/** A configuration whose one backend has rules of a template's own for headers, a denial and a rewrite. */
function declared(): { readonly cfg: string; readonly maps: readonly string[] } {
  const maps: string[] = [];
  const mapPath = (setting: string): string => {
    maps.push(`maps/${setting}.map`);
    return `maps/${setting}.map`;
  };
  const plan = new PlanRecorder(new Tokens("n"), { profiles: new ProfileCache(), mapPath, latest: false });
  const name = plan.profile({
    body: "timeout connect 1s\ntimeout server 9s",
    settings: {
      tenant: { rules: "http-request set-header X-Tenant %[$value]" },
      "frame options": { rules: "http-response set-header X-Frame-Options %[$value]" },
      closed: { rules: "http-request deny deny_status 403 if { $value -m str yes }" },
      prefix: { rules: "http-request set-path %[$value]%[path]" },
    },
  });
  const cfg = `global
    default-path config
    stats socket "\${HAPTIC_WORKER_SOCKET}" mode 600 level admin
defaults base
    mode http
    timeout client 9s
${plan.declared().profiles.get(name)!.text}frontend f from base
    bind "\${HAPTIC_BIND_ADDRESS}:8080"
    default_backend web
backend web from ${name}
    server s ${POD}:${POD_PORT + 1}
`;
  return { cfg, maps };
}

for (const [index, version] of VERSIONS.entries()) {
  const test = needing(base, testHaproxy(version) === undefined ? `HAProxy ${version} is not installed` : undefined);
  test(`HAProxy ${version} takes headers, a denial and a rewrite of a backend from maps while it runs`, async () => {
    const echo = createServer((incoming, outgoing) => {
      outgoing.end(`${incoming.url} ${String(incoming.headers["x-tenant"] ?? "")}`);
    });
    echo.listen(POD_PORT + 1, POD);
    await once(echo, "listening");
    const folder = mkdtempSync(join(tmpdir(), "haptic-declared-"));
    const { cfg, maps } = declared();
    mkdirSync(join(folder, "maps"));
    for (const map of maps) writeFileSync(join(folder, map), "");
    writeFileSync(join(folder, "haproxy.cfg"), cfg);
    const address = `127.77.22.${index + 5}`;
    const { socket, end } = await start(version, folder, address);
    const session = await RuntimeSession.connect(socket);
    const context = { nameOf: (path: string) => path, content: () => Promise.resolve(undefined), redo: false };
    const set = async (setting: string, value: string, kind: "map_add" | "map_set" | "map_del"): Promise<void> => {
      const [outcome] = await runOps(session, [{ kind, path: `maps/${setting}.map`, key: "web", value }], context);
      assert.ok(outcome!.ok, outcome!.output);
    };
    const ask = async (): Promise<string> => {
      const answer = await fetch(`http://${address}:8080/x`);
      return `${answer.status} ${(await answer.text()).trim()} ${answer.headers.get("x-frame-options") ?? "-"}`;
    };
    try {
      assert.is(await ask(), "200 /x -");
      await set("tenant", "acme", "map_add");
      await set("frame-options", "DENY", "map_add");
      await set("prefix", "/v1", "map_add");
      assert.is(await ask(), "200 /v1/x acme DENY");
      await set("tenant", "other", "map_set");
      await set("prefix", "", "map_del");
      assert.is(await ask(), "200 /x other DENY");
      await set("closed", "yes", "map_add");
      assert.match(await ask(), /^403 /);
      await set("closed", "no", "map_set");
      assert.is(await ask(), "200 /x other DENY");
    } finally {
      session.close();
      await end();
      echo.closeAllConnections();
      echo.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

base.run();
