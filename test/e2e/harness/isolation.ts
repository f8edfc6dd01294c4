/**
 * Runs a test file in a network and process namespace of its own: every address of 10.123.0.0/16 and 127.0.0.0/8 is
 * there for it alone, and whatever it starts ends with it, however it ends.
 *
 * A real API server refuses loopback addresses in EndpointSlices, so pods need others; and a namespace without a name
 * needs no clearing away.
 */
import { spawn, spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { resolve } from "node:path";
import { missingRoot } from "../../support/skip.ts";

const NICENESS = -10;
const NAMESPACES = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"] as const;
const INSIDE = "HAPTIC_TEST_ISOLATED";
const runner = resolve(import.meta.dirname, "../../run.ts");

/** The shell stays as the namespace's first process: it reaps what daemons leave behind. */
const PREPARE = `ip link set lo up && ip addr add 10.123.0.1/16 dev lo && ip -6 addr add fd00:123::1/64 dev lo
"$@"
code=$?
exit $code`;

/** Network that a test's parts live in: the first two numbers of its addresses. */
export interface Network {
  readonly prefix: string;
  /** Why the file's tests cannot run, or undefined. */
  readonly missing: string | undefined;
}

/**
 * What is measured here are times of a tenth of a second: neighbours on the machine shall not decide them. Linux shares
 * time between sessions first (autogroups) and only then by niceness within each; children of the same session follow.
 */
export function favour(pid: number): void {
  try {
    setPriority(pid, NICENESS);
    writeFileSync(`/proc/${pid}/autogroup`, String(NICENESS));
  } catch {
    // It has ended already, or the kernel has no autogroups.
  }
}

/** Why a namespace with addresses of its own cannot be had here though we are root (a container, a chroot), or undefined. */
function missingNamespace(): string | undefined {
  const { status, stderr, error } = spawnSync("unshare", [...NAMESPACES, "ip", "link", "set", "lo", "up"], {
    encoding: "utf8",
  });
  if (status === 0) return undefined;
  const [said = ""] = (error?.message ?? stderr).split("\n");
  return `needs a network namespace, made with unshare and ip (util-linux, iproute2): ${said}`;
}

/**
 * Returns inside the namespace; outside it starts the file again there, hands its results on and ends the process.
 * Where that cannot be made it returns with the reason. Call it first in a test file: `const network = await isolated(import.meta.filename);`
 */
export async function isolated(file: string): Promise<Network> {
  if (process.env[INSIDE] === "1") {
    favour(process.pid);
    return { prefix: "10.123", missing: undefined };
  }
  const missing = missingRoot() ?? missingNamespace();
  if (missing !== undefined) return { prefix: "127.123", missing };
  const again = process.send === undefined ? [file] : [runner, "--child", file];
  const child = spawn(
    "unshare",
    [...NAMESPACES, "bash", "-c", PREPARE, "isolated"].concat(process.execPath, process.execArgv, again),
    {
      stdio: ["ignore", "inherit", "inherit", ...(process.send === undefined ? [] : (["ipc"] as const))],
      env: { ...process.env, [INSIDE]: "1" },
    },
  );
  child.on("message", (message) => process.send?.(message));
  const code = await new Promise<number>((done) => {
    child.on("error", (error) => {
      process.stdout.write(`no namespace: ${error.message}\n`);
      done(1);
    });
    child.on("close", (ended) => done(ended ?? 1));
  });
  // What was handed on must have left this process before it ends.
  await new Promise((wake) => setTimeout(wake, 50));
  process.exit(code);
}
