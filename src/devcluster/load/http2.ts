/** One HTTP/2 session at a time over TLS with ALPN (or prior knowledge without TLS), through node:http2. */
import { type ClientHttp2Session, connect, constants } from "node:http2";
import type { Attempt, Client, LanePlan } from "./lane.ts";

function open(plan: LanePlan): ClientHttp2Session {
  const { address, port, tls } = plan.target;
  const session = connect(`${tls === undefined ? "http" : "https"}://${address}:${port}`, {
    ...(tls === undefined
      ? {}
      : { servername: tls.servername, ALPNProtocols: ["h2"], rejectUnauthorized: tls.ca !== undefined }),
    ...(tls?.ca === undefined ? {} : { ca: tls.ca }),
  });
  // A session's error also ends its streams, which report it.
  session.on("error", () => undefined);
  return session;
}

/** Errors of node:http2 that mean the stream never left this process. */
const NEVER_SENT = new Set(["ERR_HTTP2_GOAWAY_SESSION", "ERR_HTTP2_INVALID_SESSION", "ERR_HTTP2_STREAM_CANCEL"]);

function exchange(session: ClientHttp2Session, plan: LanePlan): Promise<Attempt> {
  return new Promise((done) => {
    const stream = session.request(
      {
        ":method": plan.method,
        ":path": plan.path,
        ":authority": plan.host,
        ":scheme": plan.target.tls === undefined ? "http" : "https",
      },
      { endStream: plan.method === "GET" },
    );
    let status = 0;
    const headers: Record<string, string> = {};
    const body: Buffer[] = [];
    let [error, timedOut]: [NodeJS.ErrnoException | undefined, boolean] = [undefined, false];
    const timer = setTimeout(() => {
      timedOut = true;
      stream.close(constants.NGHTTP2_CANCEL);
    }, plan.timeoutMs ?? 10_000);
    stream.on("response", (fields) => {
      status = Number(fields[":status"]);
      for (const [name, value] of Object.entries(fields)) headers[name] = String(value);
    });
    stream.on("data", (chunk: Buffer) => body.push(chunk));
    stream.on("error", (problem: NodeJS.ErrnoException) => {
      error = problem;
    });
    let ended = false;
    stream.on("end", () => {
      ended = true;
    });
    stream.on("close", () => {
      clearTimeout(timer);
      if (status !== 0 && ended && stream.rstCode === constants.NGHTTP2_NO_ERROR && error === undefined) {
        return done({ kind: "answer", status, headers, body: Buffer.concat(body) });
      }
      if (timedOut) return done({ kind: "failure", reason: `no answer within ${plan.timeoutMs ?? 10_000} ms` });
      const refused = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM || NEVER_SENT.has(error?.code ?? "");
      if (refused && status === 0) return done({ kind: "refused" });
      done({ kind: "failure", reason: `stream ended with code ${stream.rstCode}: ${error?.message ?? "no error"}` });
    });
    if (plan.method === "POST") stream.end(plan.body ?? Buffer.alloc(0));
  });
}

export function http2Client(plan: LanePlan): Client {
  let session: ClientHttp2Session | undefined;
  return {
    async request() {
      // After a GOAWAY a session takes no new stream; those in flight end on it.
      if (session === undefined || session.closed || session.destroyed) session = open(plan);
      return exchange(session, plan);
    },
    close() {
      session?.close();
    },
  };
}
