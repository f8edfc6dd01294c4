// runner: beside
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, request, type Server } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { connect as connectTls } from "node:tls";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type HaproxyVersion, testHaproxy } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { ingress, service, slice } from "../../unit/examples/objects.ts";
import { Example, objectsOf } from "../../unit/examples/rendering.ts";

const VERSIONS: readonly HaproxyVersion[] = ["3.0", "3.2", "3.4"];
const POD_NETWORK = "127.77.20";
/** Not a port that others bind on every address. */
const POD_PORT = 47_080;

/** A pod that answers with its name, the path, and what HAProxy told it. */
function pod(name: string, at: number): Promise<Server> {
  const server = createServer({ requireHostHeader: false }, (incoming, outgoing) => {
    incoming.resume();
    incoming.on("end", () => {
      outgoing.setHeader("x-forwarded-proto-seen", String(incoming.headers["x-forwarded-proto"]));
      outgoing.setHeader("x-host-seen", String(incoming.headers.host));
      outgoing.end(name);
    });
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(POD_PORT, `${POD_NETWORK}.${at}`, () => resolve(server));
  });
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

function ask(address: string, host: string | undefined, path: string, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      host: address,
      port: 8080,
      path,
      method,
      agent: false,
      setHost: false,
      headers: host === undefined ? {} : { host },
    });
    outgoing.once("error", reject);
    outgoing.once("response", (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
      response.once("end", () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }));
    });
    outgoing.end(method === "POST" ? "body" : undefined);
  });
}

/** Name on the certificate that is served for a server name, and the protocol that was agreed on. */
function handshake(address: string, servername: string): Promise<{ subject: string; protocol: string }> {
  return new Promise((resolve, reject) => {
    const socket = connectTls(
      { host: address, port: 8443, servername, rejectUnauthorized: false, ALPNProtocols: ["h2", "http/1.1"] },
      () => {
        const { subject } = socket.getPeerCertificate();
        resolve({ subject: String(subject.CN), protocol: String(socket.alpnProtocol) });
        socket.destroy();
      },
    );
    socket.once("error", reject);
  });
}

const SERVICES = ["five", "ten", "root", "api", "wild", "none-exact", "none-prefix", "web"];

/** Everything the cases below route by: each Service has one pod of its name. */
function cluster(): Example {
  const example = new Example("ingress/config.yaml");
  for (const [index, name] of SERVICES.entries()) {
    example.put(
      service(name),
      slice(name, [{ address: `${POD_NETWORK}.${index + 1}`, pod: name }], [{ port: POD_PORT }]),
    );
  }
  return example
    .put(...objectsOf("ingress/demo.yaml").filter((object) => object.kind === "Secret"))
    .put(ingress("a-prefix", "example.tld", [{ path: "/foo", service: "five" }]))
    .put(ingress("b-exact", "example.tld", [{ path: "/foo", type: "Exact", service: "ten" }]))
    .put(
      ingress("order", "order.tld", [
        { path: "/", service: "root" },
        { path: "/api", service: "api" },
      ]),
    )
    .put(ingress("wild", "*.foo.com", [{ service: "wild" }]))
    .put(ingress("dup-b", "dup.tld", [{ service: "api" }, { path: "/x", type: "Exact", service: "api" }]))
    .put(ingress("dup-a", "dup.tld", [{ service: "root" }, { path: "/x", type: "Exact", service: "root" }]))
    .put(ingress("ghost", "ghost.tld", [{ service: "ghost" }]))
    .put(
      service("gone"),
      slice(
        "gone",
        [
          { address: `${POD_NETWORK}.200`, pod: "dead" },
          { address: `${POD_NETWORK}.8`, pod: "alive" },
        ],
        [{ port: POD_PORT }],
      ),
    )
    .put(ingress("gone", "gone.tld", [{ service: "gone" }]))
    .put(
      ingress("tls", "demo.localhost", [{ service: "web" }], {
        tls: [{ hosts: ["demo.localhost"], secretName: "demo-tls" }],
      }),
    );
}

const hostLess = (): object =>
  ingress("none", "", [
    { path: "/", type: "Exact", service: "none-exact" },
    { path: "/", service: "none-prefix" },
  ]);

/** HAProxy with an example's rendered files, until `stop`. */
async function serve(example: Example, version: HaproxyVersion, address: string): Promise<() => Promise<void>> {
  const base = mkdtempSync(join(tmpdir(), "haptic-example-"));
  for (const [path, text] of (await example.render()).files) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  }
  const child: ChildProcess = spawn(testHaproxy(version)!, ["-db", "-f", join(base, "haproxy.cfg")], {
    env: { HAPTIC_BIND_ADDRESS: address, HAPTIC_WORKER_SOCKET: join(base, "worker.sock") },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (said += text));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  for (let tries = 0; ; tries++) {
    try {
      await ask(address, "ready", "/");
      break;
    } catch (error) {
      if (tries === 200 || child.exitCode !== null)
        throw new Error(`HAProxy ${version} does not answer: ${said}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
  return async () => {
    child.kill("SIGTERM");
    await ended;
    rmSync(base, { recursive: true, force: true });
  };
}

const base = suite("ingress example with traffic");
const pods: Server[] = [];

base.before(async () => {
  for (const [index, name] of SERVICES.entries()) pods.push(await pod(name, index + 1));
});
base.after(() => {
  for (const server of pods) {
    server.closeAllConnections();
    server.close();
  }
});

for (const [index, version] of VERSIONS.entries()) {
  const test = needing(base, testHaproxy(version) === undefined ? `HAProxy ${version} is not installed` : undefined);
  const address = `127.77.21.${index + 1}`;

  test(`HAProxy ${version} answers each request from the backend that Kubernetes means`, async () => {
    const stop = await serve(cluster(), version, address);
    try {
      const expected: readonly [host: string | undefined, path: string, status: number, body: string | RegExp][] = [
        ["example.tld", "/foo", 200, "ten"],
        ["example.tld", "/foo/", 200, "five"],
        ["example.tld", "/foo/x?y=1", 200, "five"],
        ["example.tld:8080", "/foo", 200, "ten"],
        ["EXAMPLE.tld.", "/foo", 200, "ten"],
        ["example.tld", "/foobar", 404, /No route matches/],
        ["example.tld", "/", 404, /No route matches/],
        ["order.tld", "/api", 200, "api"],
        ["order.tld", "/api/v1", 200, "api"],
        ["order.tld", "/apis", 200, "root"],
        ["bar.foo.com", "/x", 200, "wild"],
        ["baz.bar.foo.com", "/x", 404, /No route matches/],
        ["foo.com", "/x", 404, /No route matches/],
        [".foo.com", "/x", 404, /No route matches/],
        ["dup.tld", "/", 200, "root"],
        ["dup.tld", "/x", 200, "root"],
        ["ghost.tld", "/", 503, /No endpoint of the service is ready/],
        ["unknown.tld", "/", 404, /No route matches/],
        ["unknown.tld", "/bar", 404, /No route matches/],
      ];
      for (const [host, path, status, body] of expected) {
        const answer = await ask(address, host, path);
        assert.is(answer.status, status, `${host}${path}: ${answer.status} ${answer.body}`);
        if (typeof body === "string") assert.is(answer.body, body, `${host}${path}`);
        else assert.match(answer.body, body, `${host}${path}`);
      }
      const told = await ask(address, "example.tld:8080", "/foo");
      assert.is(told.headers["x-host-seen"], "example.tld:8080");
      assert.is(told.headers["x-forwarded-proto-seen"], "http");
    } finally {
      await stop();
    }
  });

  test(`HAProxy ${version} asks rules without a host last, the exact path before the prefix`, async () => {
    const stop = await serve(cluster().put(hostLess()), version, address);
    try {
      for (const [host, path, body] of [
        ["unknown.tld", "/", "none-exact"],
        ["unknown.tld", "/bar", "none-prefix"],
        ["unknown.tld", "/bar/", "none-prefix"],
        [undefined, "/bar", "none-prefix"],
        ["example.tld", "/foo", "ten"],
        ["order.tld", "/", "root"],
        ["example.tld", "/other", "none-prefix"],
      ] as const) {
        assert.is((await ask(address, host, path)).body, body, `${host}${path}`);
      }
    } finally {
      await stop();
    }
  });

  test(`HAProxy ${version} tries a dead pod's requests elsewhere, POST too`, async () => {
    const stop = await serve(cluster(), version, address);
    try {
      for (let i = 0; i < 10; i++) {
        for (const method of ["GET", "POST"])
          assert.is((await ask(address, "gone.tld", "/", method)).status, 200, `${method} ${i}`);
      }
    } finally {
      await stop();
    }
  });

  test(`HAProxy ${version} serves each name its certificate, over HTTP/2, and other names the default one`, async () => {
    const stop = await serve(cluster(), version, address);
    try {
      assert.equal(await handshake(address, "demo.localhost"), { subject: "demo.localhost", protocol: "h2" });
      assert.equal(await handshake(address, "other.localhost"), { subject: "default.invalid", protocol: "h2" });
    } finally {
      await stop();
    }
  });
}

base.run();
