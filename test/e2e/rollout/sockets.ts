/** WebSockets through HAProxy that stay open for long, each of which is asked something every second. */
import { once } from "node:events";
import { WebSocket, WebSocketServer } from "ws";

const ASK_MS = 1_000;
const ANSWER_MS = 10_000;

/** Answers each message with itself. */
export async function echoServer(host: string, port: number): Promise<{ close(): void }> {
  const server = new WebSocketServer({ host, port });
  server.on("connection", (socket) =>
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary })),
  );
  await once(server, "listening");
  return {
    close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

export interface SocketsReport {
  /** Messages that came back. */
  readonly echoes: number;
  /** What went wrong with sockets that nobody closed here. */
  readonly lost: readonly string[];
}

export class Sockets {
  readonly #url: string;
  readonly #host: string;
  readonly #open: { readonly socket: WebSocket; readonly asking: NodeJS.Timeout }[] = [];
  readonly #lost: string[] = [];
  readonly #began = performance.now();
  #echoes = 0;

  constructor(address: string, port: number, host: string) {
    this.#url = `ws://${address}:${port}/`;
    this.#host = host;
  }

  get count(): number {
    return this.#open.length;
  }

  /** Opens so many more; they go to the worker that listens now. */
  async open(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#one()));
  }

  /** Closes so many, those that were opened first before others. */
  close(count: number): void {
    for (const { socket, asking } of this.#open.splice(0, count)) {
      clearInterval(asking);
      socket.removeAllListeners();
      socket.on("error", () => undefined);
      socket.terminate();
    }
  }

  report(): SocketsReport {
    return { echoes: this.#echoes, lost: [...this.#lost] };
  }

  async #one(): Promise<void> {
    const socket = new WebSocket(this.#url, { headers: { host: this.#host } });
    await once(socket, "open");
    let [asked, answeredAt] = [0, performance.now()];
    const lose = (what: string): void => {
      this.#lost.push(`+${Math.round(performance.now() - this.#began)} ms: ${what}`);
      clearInterval(asking);
      socket.removeAllListeners();
      socket.on("error", () => undefined);
      socket.terminate();
    };
    const asking = setInterval(() => {
      if (performance.now() - answeredAt > ANSWER_MS) return lose(`no answer within ${ANSWER_MS} ms`);
      asked += 1;
      socket.send(String(asked));
    }, ASK_MS);
    socket.on("message", () => {
      this.#echoes += 1;
      answeredAt = performance.now();
    });
    socket.on("error", (error) => lose(error.message));
    socket.on("close", (code) => lose(`closed with ${code}`));
    this.#open.push({ socket, asking });
  }
}
