/** A tiny HTTP server whose every answer the test writes: for faults that a real API server cannot be brought to show. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Answers with JSON. */
  json(status: number, body: unknown, headers?: Record<string, string>): void;
  /** Opens a watch answer; then event() and end(). */
  open(): void;
  event(type: string, object: unknown): void;
}

export interface ScriptedServer {
  readonly url: string;
  readonly seen: Exchange[];
  /** The next request that the predicate takes, whether it came already or comes later. */
  take(predicate?: (exchange: Exchange) => boolean): Promise<Exchange>;
  close(): Promise<void>;
}

/** With `script`, answers by it; without, requests wait for take(). */
export async function scriptedServer(script?: (exchange: Exchange, index: number) => void): Promise<ScriptedServer> {
  const seen: Exchange[] = [];
  const untaken: Exchange[] = [];
  const waiting: { predicate: (exchange: Exchange) => boolean; resolve: (exchange: Exchange) => void }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("error", () => undefined);
    request.on("end", () => {
      const exchange: Exchange = {
        method: request.method ?? "",
        url: new URL(request.url ?? "/", "http://server"),
        headers: request.headers,
        body: Buffer.concat(chunks).toString("utf8"),
        request,
        response,
        json(status, body, headers = {}) {
          response.writeHead(status, { "content-type": "application/json", ...headers });
          response.end(JSON.stringify(body));
        },
        open() {
          response.writeHead(200, { "content-type": "application/json" });
          response.flushHeaders();
        },
        event(type, object) {
          response.write(`${JSON.stringify({ type, object })}\n`);
        },
      };
      seen.push(exchange);
      if (script !== undefined) script(exchange, seen.length - 1);
      else {
        const at = waiting.findIndex(({ predicate }) => predicate(exchange));
        if (at >= 0) waiting.splice(at, 1)[0]!.resolve(exchange);
        else untaken.push(exchange);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    take(predicate = () => true) {
      const at = untaken.findIndex(predicate);
      if (at >= 0) return Promise.resolve(untaken.splice(at, 1)[0]!);
      return new Promise((resolve) => waiting.push({ predicate, resolve }));
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
