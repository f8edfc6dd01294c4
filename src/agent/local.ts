/**
 * The agent's unix socket inside the pod: state and health without network credentials, and the start wrapper's wish for
 * whole files. Who listens there holds the lock on the tree: agent and wrapper never write at once. The lock itself is an
 * abstract socket named by the folder's inode, which the kernel gives to one process of the pod and takes back at its death;
 * a path alone could be listened on by two who start in the same moment, each having found it free.
 */
import { mkdirSync, rmSync, statSync } from "node:fs";
import { connect, createServer as createGuard, type Server as Guard, type Socket } from "node:net";
import { basename, dirname } from "node:path";
import { AgentRequestError, AgentTreeError } from "../errors.ts";
import { listenPlain, type PlainServer } from "../plain-server.ts";
import type { Answer } from "./ticket.ts";
import { answerOf } from "./server.ts";

export type LocalHandler = (method: string, url: URL) => Promise<Answer>;

export class LocalLock {
  readonly #guard: Guard;
  readonly #waiting: ReadonlySet<Socket>;
  readonly #handler: PromiseWithResolvers<LocalHandler>;
  readonly #server: PlainServer;

  private constructor(
    guard: Guard,
    waiting: ReadonlySet<Socket>,
    handler: PromiseWithResolvers<LocalHandler>,
    server: PlainServer,
  ) {
    this.#guard = guard;
    this.#waiting = waiting;
    this.#handler = handler;
    this.#server = server;
  }

  /** undefined = another process holds it. */
  static async tryTake(path: string): Promise<LocalLock | undefined> {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const waiting = new Set<Socket>();
    const guard = await claim(guardOf(path), waiting);
    if (guard === undefined) return undefined;
    rmSync(path, { force: true });
    const handler = Promise.withResolvers<LocalHandler>();
    const server = await listenPlain({ path }, (incoming, response) => {
      const url = URL.parse(incoming.url ?? "/", "http://agent");
      const answer =
        url === null
          ? Promise.reject(new AgentRequestError("the address of the request cannot be read"))
          : handler.promise.then((handle) => handle(incoming.method ?? "GET", url));
      void answer.catch(answerOf).then((answer) => {
        response.writeHead(answer.status, { "content-type": "application/json" });
        response.end(`${JSON.stringify(answer.body)}\n`);
      });
    });
    return new LocalLock(guard, waiting, handler, server);
  }

  /**
   * The same for an agent: a start wrapper that is at work, as when both containers of a pod start together, is waited for. It
   * answers no health request.
   * @throws AgentTreeError when another agent holds it.
   */
  static async takeAfterWrapper(path: string): Promise<LocalLock> {
    for (;;) {
      const lock = await LocalLock.tryTake(path);
      if (lock !== undefined) return lock;
      if (await isInService(path)) throw new AgentTreeError(`another agent owns ${path}`);
      await LocalLock.released(path);
    }
  }

  /** Resolves when the present holder, if there is one, has released the lock or has died. */
  static released(path: string): Promise<void> {
    return new Promise((resolve) => {
      const socket = connect(guardOf(path));
      socket.resume();
      socket.once("error", () => undefined);
      socket.once("close", () => resolve());
    });
  }

  /** Requests that came before are answered now. */
  serve(handler: LocalHandler): void {
    this.#handler.resolve(handler);
  }

  async release(): Promise<void> {
    await this.#server.close();
    for (const socket of this.#waiting) socket.destroy();
    await new Promise<void>((resolve) => this.#guard.close(() => resolve()));
  }
}

function guardOf(path: string): string {
  const { dev, ino } = statSync(dirname(path));
  return `\0haptic:${dev}:${ino}:${basename(path)}`;
}

/** Listens on an abstract address and holds open whoever connects; undefined when somebody else listens there. */
function claim(address: string, connected: Set<Socket>): Promise<Guard | undefined> {
  return new Promise((resolve, reject) => {
    const guard = createGuard((socket) => {
      connected.add(socket);
      socket.once("error", () => undefined);
      socket.once("close", () => connected.delete(socket));
      socket.resume();
    });
    guard.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error);
    });
    guard.listen(address, () => resolve(guard));
  });
}

async function isInService(path: string): Promise<boolean> {
  try {
    return (await askAgent(path, "GET", "/health")) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Asks a living agent; undefined when none listens.
 * @throws AgentTreeError when it answers with an error.
 */
export async function askAgent(path: string, method: string, target: string): Promise<unknown> {
  // An agent asks nobody, but for one that may be there before it: see plain-server.ts.
  const { request } = await import("node:http");
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath: path, method, path: target }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => {
        const body = JSON.parse(text) as { error?: string };
        if (response.statusCode === 200) resolve(body);
        else reject(new AgentTreeError(`the agent answered ${response.statusCode}: ${body.error ?? text}`));
      });
    });
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT" || error.code === "ECONNREFUSED") resolve(undefined);
      else reject(new AgentTreeError(`the agent's socket ${path}: ${error.message}`, { cause: error }));
    });
    outgoing.end();
  });
}
