/** The API servers that the traffic proofs run against, each in a process of its own: the embedded one and a real kube-apiserver. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { favour } from "./isolation.ts";
import type { ApiOrder, ApiReply } from "./api-process.ts";
import { missingRealPlane, startRealPlane } from "../../cluster/kube/real-plane.ts";

export interface ApiServer {
  readonly kubeconfig: string;
  /** Stops the server and starts it again with what it has stored. */
  restart(): Promise<void>;
  /** Makes every watch list again; absent where it cannot be forced. */
  expire?(): Promise<void>;
  /** Cuts every watch in mid-stream; absent where it cannot be forced. */
  drop?(): Promise<void>;
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

async function replyOf(child: ChildProcess): Promise<ApiReply> {
  const gone = once(child, "exit").then(() => [{ error: "the API's process ended" }]);
  const [reply] = (await Promise.race([once(child, "message"), gone])) as [ApiReply];
  if (reply.error !== undefined) throw new Error(reply.error);
  return reply;
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
    const kubeconfig = join(folder, "kubeconfig");
    writeFileSync(kubeconfig, (await replyOf(child)).kubeconfig ?? "", { mode: 0o600 });
    const tell = (order: ApiOrder): Promise<ApiReply> => {
      child.send(order);
      return replyOf(child);
    };
    return {
      kubeconfig,
      async restart() {
        await tell({ do: "outage", ms: OUTAGE_MS });
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
    const favourAll = (): void => {
      for (const part of ["etcd", "apiserver"])
        favour(Number(readFileSync(join(dirname(kubeconfig), `${part}.pid`), "utf8")));
    };
    favourAll();
    return {
      kubeconfig,
      restart: async () => {
        await plane.restart();
        favourAll();
      },
      close: () => plane.close(),
    };
  },
};

export const apiServers: Readonly<Record<"embedded" | "real", ApiChoice>> = { embedded, real };
