import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createAuthority } from "../../../src/devcluster/certificates.ts";
import { KubeError } from "../../../src/errors.ts";
import { createKubeClient, directConnection } from "../../../src/kube/index.ts";

const TARGET = { apiVersion: "v1", resource: "things" };

interface SecureServer {
  readonly url: string;
  /** Fingerprint of the client certificate of each request, with `watch` before those of watches. */
  readonly clients: string[];
  readonly server: Server;
}

/** A server that wants a client certificate, answers reads, and keeps watches open. */
async function secureServer(identity: { certificate: string; key: string }, ca: string): Promise<SecureServer> {
  const clients: string[] = [];
  const server = createServer(
    { cert: identity.certificate, key: identity.key, ca, requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      const watch = request.url?.includes("watch=true") === true;
      const { fingerprint256 } = (request.socket as TLSSocket).getPeerCertificate();
      clients.push(`${watch ? "watch " : ""}${fingerprint256}`);
      response.writeHead(200, { "content-type": "application/json" });
      if (watch) response.flushHeaders();
      else response.end(JSON.stringify({ kind: "ThingList", metadata: { resourceVersion: "1" }, items: [] }));
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, clients, server };
}

test("A rotated client certificate serves new connections while open watches go on with the old one", async () => {
  const authority = await createAuthority("test", new Date());
  const { url, clients, server } = await secureServer(
    await authority.issue(["127.0.0.1"], "server"),
    authority.certificate,
  );
  const directory = mkdtempSync(join(tmpdir(), "haptic-tls-"));
  const files = {
    caFile: join(directory, "ca.crt"),
    certFile: join(directory, "tls.crt"),
    keyFile: join(directory, "tls.key"),
  };
  const rotate = async (): Promise<void> => {
    const { certificate, key } = await authority.issue(["client"], "client");
    writeFileSync(files.certFile, certificate);
    writeFileSync(files.keyFile, key);
  };
  writeFileSync(files.caFile, authority.certificate);
  await rotate();
  const client = createKubeClient(directConnection({ server: url, ...files }), { recheckMs: 50 });
  let faults = 0;
  const watch = client.listWatch(TARGET).subscribe({
    next: (signal) => {
      if (signal.type === "FAULT") faults++;
    },
    error: () => assert.unreachable(),
  });
  for (let i = 0; i < 200 && clients.length < 2; i++) await delay(10);
  await client.list(TARGET);
  assert.is(new Set(clients.map((line) => line.replace("watch ", ""))).size, 1);
  await rotate();
  await delay(80);
  await client.list(TARGET);
  assert.is.not(clients.at(-1), clients[0]);
  await delay(50);
  assert.is(faults, 0);
  assert.is(clients.filter((line) => line.startsWith("watch")).length, 1);
  watch.unsubscribe();
  await client.close();
  server.closeAllConnections();
  server.close();
  rmSync(directory, { recursive: true });
});

test("A server that another authority signed is refused with a hint, unless checking is switched off", async () => {
  const [authority, other] = await Promise.all([
    createAuthority("one", new Date()),
    createAuthority("two", new Date()),
  ]);
  const { url, server } = await secureServer(await authority.issue(["127.0.0.1"], "server"), authority.certificate);
  const { certificate: cert, key } = await authority.issue(["client"], "client");
  const wary = createKubeClient(directConnection({ server: url, ca: other.certificate, cert, key }));
  const error = await wary.list(TARGET).catch((caught: unknown) => caught);
  assert.instance(error, KubeError);
  assert.is((error as KubeError).code, "HAPTIC_E_KUBE_UNREACHABLE");
  assert.match((error as KubeError).hint ?? "", "not trusted");
  const trusting = createKubeClient(directConnection({ server: url, insecure: true, cert, key }));
  assert.is((await trusting.list(TARGET)).resourceVersion, "1");
  await wary.close();
  await trusting.close();
  server.closeAllConnections();
  server.close();
});

test.run();
