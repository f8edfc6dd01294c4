/**
 * The agent's unix socket inside the pod: state and health without network credentials, and the start wrapper's wish for
 * whole files. Listening on it is also the lock on the tree: agent and wrapper never write at once.
 */
import { mkdirSync, rmSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { connect } from "node:net";
import { dirname } from "node:path";
import { AgentRequestError, AgentTreeError } from "../errors.ts";
import type { Answer } from "./ticket.ts";
import { answerOf } from "./server.ts";

export type LocalHandler = (method: string, url: URL) => Promise<Answer>;

export class LocalLock {
  readonly #server: Server;
  #handler: LocalHandler = async () => ({ status: 503, body: { error: "starting" } });

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @throws AgentTreeError when another process listens there. */
  static async take(path: string): Promise<LocalLock> {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    if (await isListening(path)) throw new AgentTreeError(`another agent owns ${path}`);
    rmSync(path, { force: true });
    const server = createServer();
    const lock = new LocalLock(server);
    server.on("request", (incoming, response) => {
      const url = URL.parse(incoming.url ?? "/", "http://agent");
      const answer =
        url === null
          ? Promise.reject(new AgentRequestError("the address of the request cannot be read"))
          : lock.#handler(incoming.method ?? "GET", url);
      void answer.catch(answerOf).then((answer) => {
        response.writeHead(answer.status, { "content-type": "application/json" });
        response.end(`${JSON.stringify(answer.body)}\n`);
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(path, resolve);
    });
    return lock;
  }

  /**
   * The same for an agent: a start wrapper that is at work, as when both containers of a pod start together, is waited for. It
   * answers no health request, and its connections end with it.
   * @throws AgentTreeError when another agent listens there.
   */
  static async takeAfterWrapper(path: string): Promise<LocalLock> {
    let ended = true;
    while (ended && (await isBusy(path))) ended = await connectionEnd(path);
    return LocalLock.take(path);
  }

  serve(handler: LocalHandler): void {
    this.#handler = handler;
  }

  async release(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** Somebody listens who is no agent in service. */
async function isBusy(path: string): Promise<boolean> {
  try {
    await askAgent(path, "GET", "/health");
    return false;
  } catch {
    return true;
  }
}

/** Resolves when the holder ended the connection; false = there was none. */
function connectionEnd(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    let connected = false;
    const socket = connect(path, () => {
      connected = true;
    });
    socket.resume();
    socket.once("error", () => undefined);
    socket.once("close", () => resolve(connected));
  });
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

/**
 * Asks a living agent; undefined when none listens.
 * @throws AgentTreeError when it answers with an error.
 */
export function askAgent(path: string, method: string, target: string): Promise<unknown> {
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
