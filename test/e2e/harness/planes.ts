/** The API servers that the traffic proofs run against, each in a process of its own: the embedded one and a real kube-apiserver. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { favour } from "./isolation.ts";
import type { ApiOrder, ApiReply } from "./api-process.ts";
import { missingRealPlane, startRealPlane, stopRealPlane } from "../../cluster/kube/real-plane.ts";
import { realControls } from "./real-controls.ts";

export interface ApiServer {
  readonly kubeconfig: string;
  /** Stops the server and starts it again with what it has stored. */
  restart(): Promise<void>;
  /** Makes every watch list again; absent where it cannot be forced. */
  expire?(): Promise<void>;
  /** Cuts every watch in mid-stream; absent where it cannot be forced. */
  drop?(): Promise<void>;
  /** Holds every watch's events back while on; absent where it cannot be forced. */
  stall?(on: boolean): Promise<void>;
  /** The server is away for so long. */
  outage(ms: number): Promise<void>;
  /** Whoever uses `controllerKubeconfig` may not read EndpointSlices while on. */
  forbid(on: boolean): Promise<void>;
  /** Status writes and Events fail after a second or two while on, as behind a webhook that hangs. */
  failWrites(on: boolean): Promise<void>;
  /** For the controller: an identity of its own, where there are any. */
  readonly controllerKubeconfig: string;
  /** Requests of all clients by verb and resource (`list services`); absent where they are not counted. */
  requests?(): Promise<Readonly<Record<string, number>>>;
  close(): Promise<void>;
}

export interface ApiChoice {
  readonly name: string;
  /** Why it cannot be had here, or undefined. */
  readonly missing: string | undefined;
  start(): Promise<ApiServer>;
}

const ADDRESS = "127.0.50.1";
/** The embedded API is away for so long; a real one takes about as long to start again. */
const OUTAGE_MS = 2_000;

/** Asks the API's process, one order after another. */
function conversation(child: ChildProcess): {
  readonly reply: () => Promise<ApiReply>;
  readonly tell: (order: ApiOrder) => Promise<ApiReply>;
} {
  const gone = once(child, "exit").then(() => [{ error: "the API's process ended" }]);
  const reply = async (): Promise<ApiReply> => {
    const heard = new AbortController();
    const message = once(child, "message", { signal: heard.signal });
    message.catch(() => undefined);
    const [found] = (await Promise.race([message, gone])) as [ApiReply];
    heard.abort();
    if (found.error !== undefined) throw new Error(found.error);
    return found;
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    reply,
    tell(order) {
      const answer = last.then(() => {
        child.send(order);
        return reply();
      });
      last = answer.catch(() => undefined);
      return answer;
    },
  };
}

const embedded: ApiChoice = {
  name: "the embedded API",
  missing: undefined,
  async start() {
    const folder = mkdtempSync(join(tmpdir(), "haptic-embedded-"));
    const program = join(import.meta.dirname, "api-process.ts");
    // Schemas that are known only at run time are compiled there: the flags of the product are not for it.
    const child = fork(program, [ADDRESS, "6443"], { execArgv: [], stdio: "inherit", detached: true });
    favour(child.pid ?? 0);
    const { reply, tell } = conversation(child);
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, (await reply()).kubeconfig ?? "", { mode: 0o600 });
    return {
      kubeconfig,
      controllerKubeconfig: kubeconfig,
      async restart() {
        await tell({ do: "outage", ms: OUTAGE_MS });
      },
      async outage(ms) {
        await tell({ do: "outage", ms });
      },
      async stall(on) {
        await tell({ do: "stall", on });
      },
      async forbid(on) {
        await tell({ do: "forbid", resource: "endpointslices", on });
      },
      async failWrites(on) {
        await tell({ do: "failWrites", afterMs: on ? 1_500 : 0 });
      },
      async expire() {
        await tell({ do: "expire" });
      },
      async drop() {
        await tell({ do: "drop" });
      },
      requests: async () => (await tell({ do: "count" })).requests ?? {},
      async close() {
        const gone = once(child, "exit");
        child.kill("SIGKILL");
        await gone;
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

const real: ApiChoice = {
  name: "kube-apiserver",
  missing: missingRealPlane(),
  async start() {
    const { kubeconfig, ...plane } = await startRealPlane(ADDRESS);
    const folder = dirname(kubeconfig);
    const favourAll = (): void => {
      for (const part of ["etcd", "apiserver"]) favour(Number(readFileSync(join(folder, `${part}.pid`), "utf8")));
    };
    const restart = async (): Promise<void> => {
      await plane.restart();
      favourAll();
    };
    favourAll();
    const controls = await realControls(folder, kubeconfig);
    return {
      kubeconfig,
      ...controls,
      restart,
      async outage(ms) {
        await stopRealPlane(folder);
        await new Promise((wake) => setTimeout(wake, ms));
        await restart();
      },
      // What etcd has forgotten nobody can go on from once the server has lost its cache.
      async expire() {
        await plane.expire();
        await restart();
      },
      async close() {
        await controls.close();
        await plane.close();
      },
    };
  },
};

export const apiServers: Readonly<Record<"embedded" | "real", ApiChoice>> = { embedded, real };
