/**
 * Real parts for tests, built or fetched once into the user's cache folder. Where one cannot be had (no root, no Go), the
 * caller gets the reason and its test counts as skipped, visibly (support/skip.ts).
 */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess, SpawnOptions } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const here = import.meta.dirname;

const KUBERNETES = "1.37.2";
const GO_MINOR = 26;

/** `$XDG_CACHE_HOME/haptic/NAME-VERSION`, or below ~/.cache. */
export const cacheFolder = (part: string, version: string): string =>
  join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "haptic", `${part}-${version}`);

/** Where kube-apiserver, etcd, kube-controller-manager and kubectl are (or will be). */
export const kubernetesFolder = (): string => join(cacheFolder("kube", KUBERNETES), "bin");

/** Something that is not there, and why. */
export interface Missing {
  readonly reason: string;
}

export const isMissing = (part: object): part is Missing => "reason" in part;

export async function goFault(): Promise<string | undefined> {
  try {
    const { stdout } = await run("go", ["env", "GOVERSION"]);
    const minor = Number(/go1\.(\d+)/.exec(stdout)?.[1] ?? "0");
    return minor >= GO_MINOR ? undefined : `needs Go 1.${GO_MINOR} or newer, found ${stdout.trim()}`;
  } catch {
    return `needs Go 1.${GO_MINOR} or newer to build Kubernetes once`;
  }
}

/** Builds the programs unless they are in the cache. The first time takes minutes. */
export async function buildKubernetes(programs: readonly string[]): Promise<Missing | undefined> {
  const bin = kubernetesFolder();
  if (programs.every((program) => existsSync(join(bin, program)))) return undefined;
  const fault = await goFault();
  if (fault !== undefined) return { reason: fault };
  process.stderr.write(`building Kubernetes ${KUBERNETES} into ${bin} (once, some minutes)\n`);
  try {
    await run("nice", [join(here, "kube/build.sh"), join(bin, ".."), ...programs], { maxBuffer: 1 << 26 });
    return undefined;
  } catch (error) {
    return { reason: `Kubernetes could not be built: ${error instanceof Error ? error.message.split("\n")[0] : ""}` };
  }
}

/** Path of a kubectl of the version the contract is written for. */
export async function realKubectl(): Promise<string | Missing> {
  const missing = await buildKubernetes(["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"]);
  return missing ?? join(kubernetesFolder(), "kubectl");
}

export interface ControlPlaneOptions {
  /** Address of the API server inside the namespace; a different one for each plane. */
  readonly address: string;
  /** Controllers that run; default: all that need no node. "" = no controller manager. */
  readonly controllers?: string;
  /** More settings of start.sh. */
  readonly environment?: Readonly<Record<string, string>>;
}

export interface ControlPlane {
  /** Path of an administrator's kubeconfig; only reachable from inside the namespace. */
  readonly kubeconfig: string;
  /** Name of the network namespace: any address of 10.123.0.0/16 can be bound in it. */
  readonly namespace: string;
  /** Words before a command that make it run in the namespace. */
  readonly prefix: readonly string[];
  /** Runs a program in the namespace. */
  spawn(program: string, args: readonly string[], options?: SpawnOptions): ChildProcess;
  stop(): Promise<void>;
}

/** Starts etcd, kube-apiserver and kube-controller-manager in a network namespace of their own. */
export async function realControlPlane(options: ControlPlaneOptions): Promise<ControlPlane | Missing> {
  if (process.getuid?.() !== 0) return { reason: "needs root for a network namespace" };
  const missing = await buildKubernetes(["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"]);
  if (missing !== undefined) return missing;
  const namespace = `haptic-${process.pid}-${options.address.split(".").slice(2).join("-")}`;
  const folder = await mkdtemp(join(tmpdir(), "haptic-plane-"));
  const script = join(here, "kube/start.sh");
  const environment = {
    ...process.env,
    KUBE_BIN: kubernetesFolder(),
    ...(options.controllers === "" ? { KUBE_PARTS: "" } : {}),
    ...(options.controllers ? { KUBE_CONTROLLERS: options.controllers } : {}),
    ...options.environment,
  };
  const prefix = ["ip", "netns", "exec", namespace];
  const stop = async (): Promise<void> => {
    await run(script, ["stop", folder]).catch(() => undefined);
    await run("ip", ["netns", "delete", namespace]).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await run(script, ["netns", namespace, "10.123.0.0/16"]);
    // its children outlive it and must not keep our pipes open
    await new Promise<void>((resolve, reject) => {
      const args = [...prefix.slice(1), script, "start", folder, options.address];
      const child = spawn("ip", args, { env: environment, stdio: "ignore" });
      child.once("error", reject);
      child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error(`start.sh ended with ${code}`))));
    });
  } catch (error) {
    const log = join(folder, "apiserver.log");
    const tail = existsSync(log) ? readFileSync(log, "utf8").slice(-400) : "";
    await stop();
    return { reason: `the control plane did not start: ${error instanceof Error ? error.message : ""} ${tail}` };
  }
  return {
    kubeconfig: join(folder, "kubeconfig"),
    namespace,
    prefix,
    spawn: (program, args, spawnOptions = {}) => spawn("ip", [...prefix.slice(1), program, ...args], spawnOptions),
    stop,
  };
}
