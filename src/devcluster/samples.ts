/**
 * Sample backends: servers that stand for the containers of the demo's pods. An answer tells who gave it; a POST's length
 * is told back. `?delay=MS` and `?status=N` ask for a slow or a failing answer.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/**
 * How long a backend that was told to stop goes on answering: as a container whose preStop hook waits a little. At less, a
 * machine that is busy with something else would be what `haptic dev` shows.
 */
const GRACE_MS = 500;
const MAX_DELAY_MS = 10_000;

export interface SampleBackend {
  readonly address: string;
  /** Requests answered so far. */
  readonly answered: () => number;
  /** Answers for its grace more, then cuts every connection; resolves when that is done. */
  stop(): Promise<void>;
}

export interface SampleOptions {
  /** Told in answers: the pod's name. */
  readonly name: string;
  readonly address: string;
  readonly ports: readonly number[];
  /** Milliseconds it goes on answering after it was told to stop; 500 when not given. */
  readonly graceMs?: number;
}

function listen(server: Server, address: string, port: number): Promise<void> {
  return new Promise((done, failed) => {
    server.once("error", failed);
    server.listen({ host: address, port, exclusive: true }, () => {
      server.off("error", failed);
      done();
    });
  });
}

/** Starts a backend; it answers when this resolves. */
export async function startSample(options: SampleOptions): Promise<SampleBackend> {
  let answered = 0;
  const reply = (request: IncomingMessage, response: ServerResponse, received: number): void => {
    const url = new URL(request.url ?? "/", "http://sample");
    const answer = (): void => {
      answered += 1;
      const said = {
        pod: options.name,
        address: options.address,
        host: request.headers.host ?? "",
        path: url.pathname,
        method: request.method ?? "",
        received,
      };
      const status = Number(url.searchParams.get("status") ?? 200);
      response.writeHead(status >= 200 && status <= 599 ? status : 200, {
        "content-type": "application/json",
        "x-served-by": options.name,
      });
      response.end(`${JSON.stringify(said)}\n`);
    };
    const delay = Math.min(Number(url.searchParams.get("delay") ?? 0), MAX_DELAY_MS);
    if (delay > 0) setTimeout(answer, delay);
    else answer();
  };
  const servers = options.ports.map(() => {
    const server = createServer((request, response) => {
      let received = 0;
      request.on("data", (chunk: Buffer) => {
        received += chunk.length;
      });
      request.on("end", () => reply(request, response, received));
    });
    // A server that closes idle connections early races with the next request on them.
    server.keepAliveTimeout = 75_000;
    return server;
  });
  await Promise.all(servers.map((server, index) => listen(server, options.address, options.ports[index]!)));
  return {
    address: options.address,
    answered: () => answered,
    async stop() {
      await new Promise((wake) => setTimeout(wake, options.graceMs ?? GRACE_MS));
      await Promise.all(
        servers.map(
          (server) =>
            new Promise<void>((done) => {
              server.close(() => done());
              server.closeAllConnections();
            }),
        ),
      );
    },
  };
}
