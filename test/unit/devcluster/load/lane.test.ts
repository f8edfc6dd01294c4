import { createServer } from "node:http";
import { constants, createServer as createHttp2Server } from "node:http2";
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { startLane, type LanePlan } from "../../../../src/devcluster/load/index.ts";

const address = "127.61.1.1";

function listen(server: TcpServer): Promise<number> {
  return new Promise((done) => {
    server.listen(0, address, () => done((server.address() as AddressInfo).port));
  });
}

function plan(port: number, more: Partial<LanePlan>): LanePlan {
  return {
    name: "lane",
    target: { address, port },
    protocol: "http/1.1",
    connection: "keep-alive",
    method: "GET",
    host: "a.example",
    path: "/x",
    workers: 2,
    limit: 20,
    timeoutMs: 1_000,
    ...more,
  };
}

/** A server that answers by hand, connection by connection; `act` gets the number of the request, from 1. */
async function bareServer(act: (n: number) => string | undefined): Promise<{ port: number; close: () => void }> {
  let n = 0;
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", () => {
      const answer = act(++n);
      if (answer === undefined) socket.destroy();
      else socket.write(answer, () => /connection: close/i.test(answer) && socket.end());
    });
  });
  return { port: await listen(server), close: () => server.close() };
}

const plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

test("keep-alive workers use one connection each, one-shot requests one each", async () => {
  let [connections, posted] = [0, ""];
  const server = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => (posted += chunk.toString()));
    request.on("end", () => response.end(`${request.method} ${request.headers.host}${request.url}`));
  });
  server.on("connection", () => (connections += 1));
  const port = await listen(server);
  const answers: string[] = [];
  const kept = await startLane(plan(port, { onAnswer: ({ body }) => answers.push(body.toString()) })).done;
  assert.equal([kept.requests, kept.failed, connections], [20, 0, 2]);
  assert.equal([...new Set(answers)], ["GET a.example/x"]);
  const shots = await startLane(plan(port, { connection: "one-shot", method: "POST", body: Buffer.from("é") })).done;
  assert.equal([shots.requests, shots.failed, connections], [20, 0, 22]);
  assert.is(posted, "é".repeat(20));
  assert.ok(shots.latency.p50 > 0 && shots.latency.max >= shots.latency.p99);
  server.close();
});

test("an announced closing of the connection is no failure", async () => {
  const closing = plain.replace("OK\r\n", "OK\r\nConnection: close\r\n");
  const server = await bareServer((n) => (n % 3 === 0 ? closing : plain));
  const report = await startLane(plan(server.port, {})).done;
  assert.equal([report.requests, report.failed], [20, 0]);
  server.close();
});

test("bodies by chunks and after an interim answer are read whole", async () => {
  const bodies: string[] = [];
  const chunked =
    "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n";
  const server = await bareServer(() => chunked);
  const report = await startLane(plan(server.port, { onAnswer: ({ body }) => bodies.push(body.toString()) })).done;
  assert.is(report.failed, 0);
  assert.equal([...new Set(bodies)], ["abcd"]);
  server.close();
});

test("a connection that is cut, an unexpected status and silence are failures with their reasons", async () => {
  const answers = [
    plain,
    undefined,
    plain.replace("200 OK", "503 Down"),
    "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
    "nonsense\r\n\r\n",
  ];
  const server = await bareServer((n) => answers[n - 1]);
  const report = await startLane(plan(server.port, { workers: 1, limit: 5, timeoutMs: 200 })).done;
  assert.equal([report.requests, report.failed], [5, 4]);
  assert.equal(report.statuses, { 200: 1, 503: 1 });
  const [cut, status, silence, nonsense] = report.failures;
  assert.match(cut!, "connection closed before the answer");
  assert.match(status!, "status 503");
  assert.match(silence!, "no answer within 200 ms");
  assert.match(nonsense!, "not an HTTP answer");
  server.close();
});

test("a port where nobody listens fails each request", async () => {
  const report = await startLane(plan(9, { limit: 3 })).done;
  assert.equal([report.requests, report.failed], [3, 3]);
  assert.match(report.failures[0]!, "ECONNREFUSED");
});

test("h2 streams that the server refuses are repeated and counted", async () => {
  let n = 0;
  const server = createHttp2Server();
  server.on("stream", (stream) => {
    n += 1;
    stream.on("error", () => undefined);
    if (n % 4 === 0) stream.close(constants.NGHTTP2_REFUSED_STREAM);
    else {
      stream.respond({ ":status": 200 });
      stream.end("ok");
    }
  });
  const report = await startLane(plan(await listen(server), { protocol: "h2" })).done;
  assert.equal([report.requests, report.failed, report.statuses], [20, 0, { 200: 20 }]);
  assert.ok(report.repeated >= 5);
  server.close();
});

test("an h2 session that says goodbye is followed by a new one, and no request is lost", async () => {
  let [sessions, n] = [0, 0];
  const server = createHttp2Server();
  server.on("session", () => (sessions += 1));
  server.on("stream", (stream) => {
    n += 1;
    stream.respond({ ":status": 200 });
    stream.end("ok");
    if (n % 5 === 0) stream.session?.goaway(constants.NGHTTP2_NO_ERROR, stream.id);
  });
  const report = await startLane(plan(await listen(server), { protocol: "h2", method: "POST", body: Buffer.from("b") }))
    .done;
  assert.equal([report.requests, report.failed], [20, 0]);
  assert.ok(sessions > 2);
  server.close();
});

test("an h2 stream that is reset after it began is a failure", async () => {
  const server = createHttp2Server();
  server.on("stream", (stream) => {
    stream.on("error", () => undefined);
    stream.respond({ ":status": 200 });
    stream.write("half", () => stream.destroy(new Error("half way")));
  });
  const report = await startLane(plan(await listen(server), { protocol: "h2", limit: 2 })).done;
  assert.equal([report.requests, report.failed, report.repeated], [2, 2, 0]);
  server.close();
});

test("a lane that is stopped lets its requests end", async () => {
  const server = createServer((_, response) => setTimeout(() => response.end("ok"), 30));
  const lane = startLane(plan(await listen(server), { limit: 1_000_000 }));
  await new Promise((wake) => setTimeout(wake, 100));
  const report = await lane.stop();
  assert.is(report.failed, 0);
  assert.ok(report.requests >= 2 && report.requests < 20);
  server.close();
});

test.run();
