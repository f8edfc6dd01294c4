// runner: limit 240 s
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import type { Proof } from "../../../src/devcluster/once.ts";
import { needing } from "../../support/skip.ts";
import { testHaproxy } from "../../support/parts.ts";

const haproxy = testHaproxy("3.4");
const test = needing(base, haproxy === undefined ? "needs HAProxy 3.4, which could not be installed here" : undefined);
const root = resolve(import.meta.dirname, "../../..");
const manifests = mkdtempSync(join(tmpdir(), "haptic-manifests-"));
const started = new Set<ChildProcess>();

base.after(() => {
  for (const child of started) child.kill("SIGKILL");
  rmSync(manifests, { recursive: true, force: true });
});

interface Running {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly errors: () => string;
  readonly exit: Promise<number | null>;
  /** Waits for text in the output; the answer is what the pattern captured. */
  readonly said: (pattern: RegExp) => Promise<string>;
}

function dev(...flags: string[]): Running {
  const child = spawn(process.execPath, [join(root, "bin/haptic.mjs"), "dev", `--haproxy=${haproxy}`, ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.add(child);
  let [output, errors] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const exit = new Promise<number | null>((done) => {
    child.on("close", (code) => {
      started.delete(child);
      done(code);
    });
  });
  const said = async (pattern: RegExp): Promise<string> => {
    const end = performance.now() + 45_000;
    for (;;) {
      const found = pattern.exec(output);
      if (found !== null) return found[1] ?? found[0];
      if (performance.now() > end) throw new Error(`never said ${pattern}:\n${output}\n${errors}`);
      await new Promise((wake) => setTimeout(wake, 10));
    }
  };
  return { child, output: () => output, errors: () => errors, exit, said };
}

/** Command lines of processes that name a folder. */
function processesOf(folder: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")];
      } catch {
        return [];
      }
    })
    .filter((line) => line.includes(folder));
}

async function until(what: string, condition: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
  const end = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`not within ${limitMs} ms: ${what}`);
    await new Promise((wake) => setTimeout(wake, 10));
  }
}

test("--once proves itself and ends with one line of JSON", async () => {
  const once = dev("--once");
  const code = await once.exit;
  const lastLine = once.output().trimEnd().split("\n").at(-1)!;
  const proof = JSON.parse(lastLine) as Proof;
  assert.equal([code, proof.ok], [0, true], `${once.output()}${once.errors()}`);
  assert.match(proof.haproxy, /^3\.4\./);
  assert.ok(proof.requests >= 1_000);
  assert.equal([proof.failed, proof.reloads], [0, 0]);
  assert.ok(proof.inForceMs.endpoint > 0 && proof.inForceMs.endpoint <= 200);
  assert.ok(proof.inForceMs.host > 0 && proof.inForceMs.host <= 300);
  assert.ok(proof.startMs < 40_000);
});

test("a folder of one's own is served and followed, changes are told, and Ctrl-C leaves nothing behind", async () => {
  cpSync(join(root, "examples/ingress"), manifests, { recursive: true });
  const running = dev(`--manifests=${manifests}`, "--pods=1");
  await running.said(/live traffic: demo\.localhost is answered by web-\d+/);
  const folder = await running.said(/files in (\S+)\/haproxy-1\/base/);
  const address = await running.said(/pod haproxy-1: ([\d.]+),/);
  assert.ok(existsSync(folder) && processesOf(folder).length >= 4);
  const statusOf = (host: string): Promise<number> =>
    new Promise((done) => {
      const ask = request({ host: address, port: 8080, path: "/", headers: { host }, agent: false }, (response) => {
        response.resume();
        done(response.statusCode ?? 0);
      });
      ask.on("error", () => done(0));
      ask.end();
    });
  assert.is(await statusOf("new.localhost"), 404);
  const ingress = {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name: "new", namespace: "default" },
    spec: {
      rules: [
        {
          host: "new.localhost",
          http: {
            paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: "web", port: { number: 80 } } } }],
          },
        },
      ],
    },
  };
  writeFileSync(join(manifests, "new.yaml"), JSON.stringify(ingress));
  await until("the new host", async () => (await statusOf("new.localhost")) === 200, 5_000);
  await running.said(/Ingress default\/new: in force on 1 pod after [\d.]+ ms, no reload/);
  rmSync(join(manifests, "new.yaml"));
  await until("the host's end", async () => (await statusOf("new.localhost")) === 404, 5_000);
  running.child.kill("SIGINT");
  assert.is(await running.exit, 0);
  assert.match(running.output(), /stopped, nothing is left behind\n$/);
  assert.equal([existsSync(folder), processesOf(folder)], [false, []]);
});

test("killed without a chance to stop, it leaves nothing behind either", async () => {
  const running = dev("--pods=1");
  const folder = await running.said(/files in (\S+)\/haproxy-1\/base/);
  assert.ok(processesOf(folder).length >= 4);
  running.child.kill("SIGKILL");
  await until("the end of all processes", () => processesOf(folder).length === 0, 15_000);
  await until("the folder's end", () => !existsSync(folder), 5_000);
});

test("manifests that cannot be served are an error that names them", async () => {
  const empty = mkdtempSync(join(manifests, "empty-"));
  const running = dev(`--manifests=${empty}`);
  assert.is(await running.exit, 1);
  assert.match(running.errors(), "holds no HAProxyTemplateConfig");
  assert.match(running.errors(), "HAPTIC_E_DEV_CLUSTER");
  const other = dev(`--manifests=${join(root, "examples/ingress")}`, "--crd-name=other");
  assert.is(await other.exit, 1);
  assert.match(other.errors(), /holds no HAProxyTemplateConfig other .*\n {2}it holds default\/ingress/);
});

test.run();
