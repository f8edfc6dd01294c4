/**
 * A real node: containerd, kubelet, kube-proxy and a control plane in a box of their own (parts/node/node.sh), real helm, and
 * the image built by buildah. Where one of them cannot be had, the caller gets the reason.
 */
import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { buildKubernetes, cacheFolder, goFault, isMissing, kubernetesFolder, type Missing } from "./index.ts";

const run = promisify(execFile);
const here = import.meta.dirname;
const root = resolve(here, "../..");
const script = join(here, "node/node.sh");

const HELM = "4.3.1";
const PAUSE = "1";
const PROGRAMS = [
  "etcd",
  "kube-apiserver",
  "kube-controller-manager",
  "kube-scheduler",
  "kubelet",
  "kube-proxy",
  "kubectl",
];
const HAPROXY = join(cacheFolder("haproxy", "3.4"), "sbin/haproxy");
/** What a node needs of the system, and the Debian package that brings it. */
const COMMANDS: Readonly<Record<string, string>> = {
  containerd: "containerd",
  ctr: "containerd",
  runc: "runc",
  nft: "nftables",
  iptables: "iptables",
  conntrack: "conntrack",
  socat: "socat",
  nsenter: "util-linux",
  openssl: "openssl",
  curl: "curl",
  ip: "iproute2",
};
/** And what an image needs. */
const BUILDERS: Readonly<Record<string, string>> = {
  buildah: "buildah",
  debootstrap: "debootstrap",
  patchelf: "patchelf",
  npm: "npm",
};

function lacking(commands: Readonly<Record<string, string>>): string | undefined {
  if (process.getuid?.() !== 0) return "needs root";
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  for (const [command, name] of Object.entries(commands))
    if (!folders.some((folder) => existsSync(join(folder, command))))
      return `needs ${command} (Debian package ${name})`;
  return undefined;
}

/** Why no real node can be started here, or undefined. */
export function nodeObstacle(): string | undefined {
  const fault = lacking({ ...COMMANDS, ...BUILDERS });
  if (fault !== undefined) return fault;
  if (!existsSync("/usr/lib/cni/bridge")) return "needs CNI plugins (Debian package containernetworking-plugins)";
  if (!existsSync("/sys/fs/cgroup/memory")) return "needs control groups of version 1";
  return existsSync(HAPROXY) ? undefined : "HAProxy 3.4 is not here";
}

/** Builds one Go program of parts/node/tools into the cache, unless it is there. */
async function tool(
  name: string,
  version: string,
  source: string,
  target: string,
  flags = "",
): Promise<Missing | string> {
  const folder = cacheFolder(name, version);
  const program = join(folder, name);
  if (existsSync(program)) return program;
  const fault = await goFault();
  if (fault !== undefined) return { reason: fault };
  process.stderr.write(`building ${name} ${version} into ${folder} (once)\n`);
  mkdirSync(folder, { recursive: true });
  const args = [
    "go",
    "build",
    "-trimpath",
    "-buildvcs=false",
    "-ldflags",
    `-s -w ${flags}`,
    "-o",
    `${program}.new`,
    target,
  ];
  try {
    const env = { ...process.env, CGO_ENABLED: "0" };
    await run("nice", args, { cwd: join(here, "node/tools", source), env, maxBuffer: 1 << 26 });
    await run("mv", [`${program}.new`, program]);
    return program;
  } catch (error) {
    return { reason: `${name} could not be built: ${error instanceof Error ? error.message.split("\n")[0] : ""}` };
  }
}

export const helmProgram = (): Promise<Missing | string> =>
  tool("helm", HELM, "helm4", "helm.sh/helm/v4/cmd/helm", `-X helm.sh/helm/v4/internal/version.version=v${HELM}`);

/** Everything that takes minutes the first time. */
export async function provideNode(): Promise<Missing | undefined> {
  const obstacle = nodeObstacle();
  if (obstacle !== undefined) return { reason: obstacle };
  const kubernetes = await buildKubernetes(PROGRAMS);
  if (kubernetes !== undefined) return kubernetes;
  for (const built of [await tool("pause", PAUSE, "pause", "."), await helmProgram()])
    if (isMissing(Object(built))) return built as Missing;
  return undefined;
}

export interface Image {
  /** Name and tag that the node knows it by. */
  readonly name: string;
  readonly archive: string;
}

/** Builds the Dockerfile without a daemon, from bases made of Debian's packages; the archive lies in `folder`. */
export async function buildImage(folder: string): Promise<Image> {
  const name = "localhost/haptic:test";
  // A store of our own: what a build leaves behind can be cleared away without asking whose it is.
  const images = cacheFolder("images", "1");
  const { stdout } = await run(
    join(here, "image/bases.sh"),
    [resolve(HAPROXY, "../.."), resolve(process.execPath, "../..")],
    {
      env: { ...process.env, ROOTFS: cacheFolder("debian", "bookworm"), IMAGES: images },
      maxBuffer: 1 << 26,
    },
  );
  const bases = stdout.trim().split("\n");
  const buildah = (...args: readonly string[]): Promise<unknown> =>
    run("buildah", ["--root", join(images, "root"), "--runroot", join(images, "run"), ...args], { maxBuffer: 1 << 26 });
  const build = (tag: string, ...more: readonly string[]): Promise<unknown> =>
    buildah(
      ..."bud --isolation chroot --layers --pull-never --timestamp 0 --tag".split(" "),
      tag,
      ...more,
      ...bases.flatMap((base) => ["--build-arg", base]),
      root,
    );
  // Tagged, the packages outlive the clearing: they change seldom and take longest.
  await build("localhost/haptic-packages", "--target", "packages");
  await build(name);
  await buildah("rmi", "--prune", "--force");
  const archive = join(folder, "haptic.tar");
  await buildah("push", "--quiet", name, `oci-archive:${archive}:${name}`);
  return { name, archive };
}

export interface RealNode {
  readonly folder: string;
  /** Runs a program in the box and resolves with its output; rejects with what it said when it fails. */
  exec(command: readonly string[], input?: string): Promise<string>;
  kubectl(...args: readonly string[]): Promise<string>;
  helm(...args: readonly string[]): Promise<string>;
  /** Starts a program in the box. */
  spawn(command: readonly string[]): ChildProcess;
  stop(): Promise<void>;
}

/** Starts a node with these images. */
export async function realNode(images: readonly string[]): Promise<RealNode> {
  const folder = await mkdtemp(join(tmpdir(), "haptic-node-"));
  const helm = (await helmProgram()) as string;
  const environment = {
    ...process.env,
    KUBE_BIN: kubernetesFolder(),
    HELM_CACHE_HOME: folder,
    HELM_CONFIG_HOME: folder,
  };
  const pause = join(folder, "pause.tar");
  await cp(join(cacheFolder("pause", PAUSE), "pause"), join(folder, "pause/pause"), { recursive: true });
  await run(join(here, "node/make-image.sh"), ["localhost/pause:1", pause, join(folder, "pause"), "/pause"]);
  const box = (command: readonly string[]): ChildProcess =>
    spawn(script, ["exec", folder, ...command], { env: environment, stdio: "pipe" });
  const node: RealNode = {
    folder,
    spawn: box,
    exec: (command, input) =>
      new Promise((done, failed) => {
        const child = box(command);
        let [out, err] = ["", ""];
        child.stdout!.setEncoding("utf8").on("data", (part: string) => (out += part));
        child.stderr!.setEncoding("utf8").on("data", (part: string) => (err += part));
        child.on("error", failed);
        child.on("close", (code) => {
          if (code === 0) done(out);
          else
            failed(
              new Error(
                `${command.join(" ").slice(0, 300)} ended with ${code}: ${err.slice(-2_000)}${out.slice(-500)}`,
              ),
            );
        });
        child.stdin!.on("error", () => undefined);
        child.stdin!.end(input ?? "");
      }),
    kubectl: (...args) => node.exec(["kubectl", ...args]),
    helm: (...args) => node.exec([helm, ...args]),
    stop: async () => {
      await run(script, ["stop", folder]).catch(() => undefined);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  try {
    // Its children outlive it and must not keep our pipes open.
    await new Promise<void>((done, failed) => {
      const log = join(folder, "start.log");
      const child = spawn("sh", ["-c", `exec "$0" "$@" > ${log} 2>&1`, script, "start", folder, pause, ...images], {
        env: environment,
        stdio: "ignore",
      });
      child.once("error", failed);
      child.once("exit", (code) => {
        if (code === 0) return done();
        const said =
          statSync(log, { throwIfNoEntry: false }) === undefined ? "" : readFileSync(log, "utf8").slice(-1_500);
        return failed(new Error(`the node did not start (${code}): ${said}`));
      });
    });
  } catch (error) {
    await node.stop();
    throw error;
  }
  return node;
}
