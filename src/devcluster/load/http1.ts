/** One HTTP/1.1 connection at a time over a bare socket, so that nothing repeats or hides a request behind our back. */
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { ResponseParser } from "./http1-response.ts";
import type { Attempt, Client, LanePlan } from "./lane.ts";

function open(plan: LanePlan): Socket {
  const { address, port, tls } = plan.target;
  const socket =
    tls === undefined
      ? connectTcp({ host: address, port, noDelay: true })
      : connectTls({
          host: address,
          port,
          servername: tls.servername,
          ALPNProtocols: ["http/1.1"],
          rejectUnauthorized: tls.ca !== undefined,
          ...(tls.ca === undefined ? {} : { ca: tls.ca }),
        });
  // Between two requests nobody listens; an error then shows as a closed socket at the next request.
  socket.on("error", () => undefined);
  return socket;
}

/** The bytes of the lane's request; they are the same each time. */
function requestBytes(plan: LanePlan): Buffer {
  const body = plan.body ?? Buffer.alloc(0);
  const head = [
    `${plan.method} ${plan.path} HTTP/1.1`,
    `Host: ${plan.host}`,
    ...(plan.method === "POST" ? [`Content-Length: ${body.length}`] : []),
    ...(plan.connection === "one-shot" ? ["Connection: close"] : []),
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), plan.method === "POST" ? body : Buffer.alloc(0)]);
}

/** Sends one request over the socket; `reusable` says whether the next one may follow on it. */
function exchange(socket: Socket, bytes: Buffer, timeoutMs: number): Promise<{ attempt: Attempt; reusable: boolean }> {
  return new Promise((done) => {
    const parser = new ResponseParser();
    const finish = (attempt: Attempt, reusable: boolean): void => {
      clearTimeout(timer);
      socket.off("data", onData).off("close", onClose).off("error", onError);
      done({ attempt, reusable });
    };
    const complete = (): boolean => {
      const { response } = parser;
      if (response === undefined) return false;
      finish({ kind: "answer", ...response }, response.keepAlive);
      return true;
    };
    let error: Error | undefined;
    const onError = (problem: Error): void => {
      error = problem;
    };
    const onData = (chunk: Buffer): void => {
      try {
        parser.feed(chunk);
      } catch (problem) {
        socket.destroy();
        return finish({ kind: "failure", reason: (problem as Error).message }, false);
      }
      complete();
    };
    const onClose = (): void => {
      parser.end();
      if (complete()) return;
      const how = error === undefined ? "closed" : ((error as NodeJS.ErrnoException).code ?? error.message);
      finish(
        { kind: "failure", reason: `connection ${how} ${parser.started ? "within" : "before"} the answer` },
        false,
      );
    };
    const timer = setTimeout(() => {
      socket.destroy();
      finish({ kind: "failure", reason: `no answer within ${timeoutMs} ms` }, false);
    }, timeoutMs);
    socket.on("data", onData).on("close", onClose).on("error", onError);
    socket.write(bytes);
  });
}

export function http1Client(plan: LanePlan): Client {
  const bytes = requestBytes(plan);
  let idle: Socket | undefined;
  return {
    async request() {
      // A connection that its peer has closed (or half-closed) while idle is not used again: no request is lost on it.
      const usable = idle !== undefined && !idle.destroyed && !idle.readableEnded && idle.writable;
      if (!usable) idle?.destroy();
      const socket = usable ? idle! : open(plan);
      idle = undefined;
      const { attempt, reusable } = await exchange(socket, bytes, plan.timeoutMs ?? 10_000);
      if (reusable && plan.connection === "keep-alive") idle = socket;
      else socket.destroy();
      return attempt;
    },
    close() {
      idle?.destroy();
    },
  };
}
