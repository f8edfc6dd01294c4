/** A persistent connection to one worker's stats socket (`level admin`). */
import { connect, type Socket } from "node:net";
import { RuntimeError } from "../errors.ts";
import { joinCommands, ReplyFramer, tooLong, type RuntimeReply } from "./runtime-protocol.ts";

/** Which worker answers: a PID alone may be reused. */
export interface WorkerIdentity {
  readonly pid: number;
  readonly startMicros: number;
}

export interface WorkerInfo extends WorkerIdentity {
  /** `3.4` */
  readonly version: string;
  /** `3.4.7-1` */
  readonly fullVersion: string;
  readonly stopping: boolean;
}

interface Waiter {
  readonly count: number;
  readonly replies: RuntimeReply[];
  readonly resolve: (replies: RuntimeReply[]) => void;
  readonly reject: (error: Error) => void;
  /** How long HAProxy may be silent while this one is the first that waits. */
  readonly timeoutMs: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Answers come in the order of the commands, so several calls may be under way. The connection belongs to the worker it
 * was opened to and keeps it alive after a reload: close it then and open another one.
 */
export class RuntimeSession {
  readonly #socket: Socket;
  readonly #framer = new ReplyFramer();
  readonly #waiters: Waiter[] = [];
  #info: WorkerInfo | undefined;
  #closed: Error | undefined;
  #onClose: (() => void) | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /**
   * Connects, chooses the silent interactive mode, asks who answers.
   * @throws RuntimeError when nothing listens or the answer is not HAProxy's.
   */
  static async connect(path: string, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<RuntimeSession> {
    const socket = connect(path);
    socket.setEncoding("utf8");
    const session = new RuntimeSession(socket);
    socket.on("data", (chunk: string) => session.#receive(chunk));
    socket.on("error", (error) =>
      session.#fail(new RuntimeError(`HAProxy's runtime socket: ${error.message}`, { cause: error })),
    );
    // The socket's own timer costs a command nothing; one signal a command would.
    socket.on("timeout", () => session.#giveUp());
    socket.on("close", () => session.#fail(new RuntimeError("HAProxy closed the runtime connection")));
    try {
      await session.#send("prompt i", 1, timeoutMs);
      // The first command makes failures tell themselves; the second lifts `stats timeout` (10 s) from this connection.
      await session.#send("set severity-output number;set timeout cli 24h", 2, timeoutMs);
      session.#info = await session.refreshInfo(timeoutMs);
    } catch (error) {
      session.close();
      throw error;
    }
    return session;
  }

  get info(): WorkerInfo {
    if (this.#info === undefined) throw new RuntimeError("the runtime session is not open");
    return this.#info;
  }

  get closed(): boolean {
    return this.#closed !== undefined;
  }

  /** Called once when the connection ends for whatever reason but `close()`. */
  onClose(listener: () => void): void {
    if (this.#closed !== undefined) listener();
    else this.#onClose = listener;
  }

  /** Asks the worker again: its identity and whether it is stopping. */
  async refreshInfo(timeoutMs = DEFAULT_TIMEOUT_MS): Promise<WorkerInfo> {
    const [reply] = await this.#send("show info float", 1, timeoutMs);
    return parseWorkerInfo(reply?.text ?? "");
  }

  /** One command alone on its line, with a payload if given (lines, each ended by a line feed, none empty). */
  async command(line: string, payload?: string, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<RuntimeReply> {
    const refusal = tooLong(line) ?? tooLong(payload ?? "");
    if (refusal !== undefined) return refusal;
    const text = payload === undefined ? line : `${line} <<\n${payload}`;
    const [reply] = await this.#send(text, 1, timeoutMs);
    if (reply === undefined) throw new RuntimeError("HAProxy gave no answer");
    return reply;
  }

  /** Commands without payload, joined by `;`; one reply each, in order. A failing one does not stop the rest. */
  async batch(commands: readonly string[], timeoutMs = DEFAULT_TIMEOUT_MS): Promise<RuntimeReply[]> {
    const lines = joinCommands(commands);
    const replies = await Promise.all(
      lines.map(({ line, count }) => {
        const refusal = count === 1 ? tooLong(line) : undefined;
        return refusal === undefined ? this.#send(line, count, timeoutMs) : Promise.resolve([refusal]);
      }),
    );
    return lines.length === 1 && replies[0] !== undefined ? replies[0] : replies.flat();
  }

  close(): void {
    this.#onClose = undefined;
    this.#socket.destroy();
    this.#fail(new RuntimeError("the runtime session was closed"));
  }

  #send(text: string, count: number, timeoutMs: number): Promise<RuntimeReply[]> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    return new Promise((resolve, reject) => {
      this.#waiters.push({ count, replies: [], resolve, reject, timeoutMs });
      if (this.#waiters.length === 1) this.#socket.setTimeout(timeoutMs);
      this.#socket.write(`${text}\n`, "utf8");
    });
  }

  #receive(chunk: string): void {
    for (const reply of this.#framer.push(chunk)) {
      const waiter = this.#waiters[0];
      if (waiter === undefined) continue;
      waiter.replies.push(reply);
      if (waiter.replies.length < waiter.count) continue;
      this.#waiters.shift();
      this.#socket.setTimeout(this.#waiters[0]?.timeoutMs ?? 0);
      waiter.resolve(waiter.replies);
    }
  }

  #giveUp(): void {
    const [waiter] = this.#waiters;
    if (waiter === undefined) return;
    this.#socket.destroy();
    this.#fail(new RuntimeError(`HAProxy did not answer within ${waiter.timeoutMs} ms`));
  }

  #fail(error: Error): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
    this.#onClose?.();
    this.#onClose = undefined;
  }
}

/** Reads `show info float`. */
export function parseWorkerInfo(text: string): WorkerInfo {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1];
  const pid = Number(field("Pid"));
  const start = Number(field("Start_time_sec"));
  const fullVersion = field("Version");
  if (!Number.isInteger(pid) || !Number.isFinite(start) || fullVersion === undefined) {
    throw new RuntimeError("HAProxy's `show info` could not be read", {
      hint: "is the worker socket a stats socket of `level admin`?",
    });
  }
  const version = /^\d+\.\d+/.exec(fullVersion)?.[0] ?? fullVersion;
  return { pid, startMicros: Math.round(start * 1e6), version, fullVersion, stopping: field("Stopping") === "1" };
}

export function sameWorker(a: WorkerIdentity | null | undefined, b: WorkerIdentity | null | undefined): boolean {
  return a?.pid !== undefined && a.pid === b?.pid && a.startMicros === b.startMicros;
}
