/** The test's side of the backends' process. */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { favour } from "./isolation.ts";
import type { BackendOrder, BackendReply, BackendReport } from "./backends-process.ts";

/** An order without its number. */
type Order = BackendOrder extends infer One ? (One extends { id: number } ? Omit<One, "id"> : never) : never;

export class Backends {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (reply: BackendReply) => void>();
  #last = 0;

  constructor() {
    this.#child = fork(join(import.meta.dirname, "backends-process.ts"), {
      execArgv: [],
      stdio: "inherit",
      detached: true,
    });
    favour(this.#child.pid ?? 0);
    this.#child.on("message", (reply: BackendReply) => this.#waiting.get(reply.id)?.(reply));
  }

  /** Starts a backend; it answers when this resolves. */
  async start(address: string, name: string): Promise<void> {
    await this.#ask({ do: "start", address, name });
  }

  /** Tells backends that their pods are gone, now. */
  async remove(addresses: readonly string[]): Promise<void> {
    await Promise.all(addresses.map((address) => this.#ask({ do: "remove", address })));
  }

  async report(): Promise<BackendReport> {
    const { report } = await this.#ask({ do: "report" });
    return report!;
  }

  async close(): Promise<void> {
    const gone = new Promise((done) => this.#child.once("exit", done));
    this.#child.kill("SIGKILL");
    await gone;
  }

  async #ask(order: Order): Promise<BackendReply> {
    this.#last += 1;
    const id = this.#last;
    const reply = await new Promise<BackendReply>((done) => {
      this.#waiting.set(id, done);
      this.#child.send({ ...order, id });
    });
    this.#waiting.delete(id);
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply;
  }
}
