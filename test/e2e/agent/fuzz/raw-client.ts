/** A client that keeps no rule of HTTP but those that it is told: bodies that are cut, slow, or of another length than they say. */
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Bytes a piece, and milliseconds between pieces. */
  readonly slow?: { readonly bytes: number; readonly pauseMs: number };
  /** Sent without a length. */
  readonly chunked?: boolean;
  /** The connection ends after so many bytes of the body. */
  readonly cutAt?: number;
}

export interface Reply {
  /** 0 = the connection ended without an answer. */
  readonly status: number;
  readonly text: string;
}

export interface RawTarget {
  readonly host: string;
  readonly port: number;
  /** Of a controller: tls.crt, tls.key, ca.crt. */
  readonly identity: string;
  readonly serverName: string;
}

export interface RawClient {
  send(wanted: RawRequest): Promise<Reply>;
  close(): void;
}

export function rawClient(target: RawTarget): RawClient {
  const kept = new Agent({ keepAlive: true });
  const [cert, key, ca] = ["tls.crt", "tls.key", "ca.crt"].map((name) => readFileSync(join(target.identity, name)));
  const send = (wanted: RawRequest): Promise<Reply> =>
    new Promise((resolve) => {
      const { body = Buffer.alloc(0) } = wanted;
      const outgoing = request({
        host: target.host,
        port: target.port,
        servername: target.serverName,
        cert,
        key,
        ca,
        agent: wanted.cutAt === undefined ? kept : false,
        method: wanted.method,
        path: wanted.path,
        headers: { ...(wanted.chunked !== true && { "content-length": String(body.length) }), ...wanted.headers },
      });
      outgoing.on("response", (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        const end = (): void => resolve({ status: response.statusCode ?? 0, text });
        response.on("end", end);
        response.on("error", end);
      });
      outgoing.on("error", (error) => resolve({ status: 0, text: error.message }));
      outgoing.on("close", () => resolve({ status: 0, text: "" }));
      void write(outgoing, wanted, body);
    });
  return { send, close: () => kept.destroy() };
}

async function write(outgoing: ReturnType<typeof request>, wanted: RawRequest, body: Buffer): Promise<void> {
  if (wanted.cutAt !== undefined) {
    outgoing.write(body.subarray(0, wanted.cutAt), () => outgoing.destroy());
    return;
  }
  if (wanted.slow === undefined) {
    outgoing.end(body);
    return;
  }
  for (let at = 0; at < body.length && !outgoing.destroyed; at += wanted.slow.bytes) {
    outgoing.write(body.subarray(at, at + wanted.slow.bytes));
    await sleep(wanted.slow.pauseMs);
  }
  if (!outgoing.destroyed) outgoing.end();
}
