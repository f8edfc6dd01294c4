import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, createServer, type TLSSocket } from "node:tls";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createAuthority, writeIdentity } from "../../../src/devcluster/certificates.ts";

const now = new Date("2030-05-05T00:00:00Z");

test("a certificate is signed by its authority, carries its names, and belongs to its key", async () => {
  const authority = await createAuthority("dev", now);
  const issued = await authority.issue(["agent.example.svc", "127.0.0.1"], "server");
  const [root, leaf] = [new X509Certificate(authority.certificate), new X509Certificate(issued.certificate)];
  assert.ok(leaf.verify(root.publicKey) && leaf.checkIssued(root) && root.ca);
  assert.is(leaf.subjectAltName, "DNS:agent.example.svc, IP Address:127.0.0.1");
  assert.ok(leaf.checkPrivateKey(createPrivateKey(issued.key)));
  assert.is(leaf.validFromDate.toISOString(), "2030-05-04T00:00:00.000Z");
  assert.is(leaf.validToDate.toISOString(), "2030-06-04T00:00:00.000Z");
  assert.equal(leaf.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
});

test("two sides with identities of one authority trust each other over TLS 1.3, and no other authority's", async () => {
  const [authority, other] = [await createAuthority("dev", new Date()), await createAuthority("other", new Date())];
  const server = await authority.issue(["agent.example.svc"], "server");
  const listener = createServer(
    { cert: server.certificate, key: server.key, ca: authority.certificate, requestCert: true, minVersion: "TLSv1.3" },
    (socket) => socket.end(socket.authorized ? "welcome" : "no"),
  );
  await new Promise<void>((done) => listener.listen(0, "127.61.2.1", done));
  const call = async (issuer: typeof authority): Promise<string> => {
    const client = await issuer.issue(["controller.example.svc"], "client");
    return new Promise((done) => {
      const socket: TLSSocket = connect({
        host: "127.61.2.1",
        port: (listener.address() as AddressInfo).port,
        servername: "agent.example.svc",
        cert: client.certificate,
        key: client.key,
        ca: authority.certificate,
      });
      let said = "";
      socket.on("data", (chunk: Buffer) => (said += chunk.toString()));
      socket.on("error", (error) => done(error.message));
      socket.on("end", () => done(said));
    });
  };
  assert.is(await call(authority), "welcome");
  assert.is.not(await call(other), "welcome");
  listener.close();
});

test("an identity is written as a mounted Secret looks, the key for the owner alone", async () => {
  const folder = mkdtempSync(join(tmpdir(), "haptic-identity-"));
  const authority = await createAuthority("dev", now);
  writeIdentity(join(folder, "tls"), await authority.issue(["a"], "client"), authority);
  assert.is(statSync(join(folder, "tls", "tls.key")).mode & 0o777, 0o600);
  assert.match(readFileSync(join(folder, "tls", "ca.crt"), "utf8"), "BEGIN CERTIFICATE");
  // What a kill or somebody's hand left is in nobody's way.
  symlinkSync("..gone", join(folder, "tls", "....data_tmp"));
  rmSync(join(folder, "tls", "tls.crt"));
  writeFileSync(join(folder, "tls", "tls.crt"), "by hand");
  const next = await authority.issue(["a"], "client");
  writeIdentity(join(folder, "tls"), next, authority);
  assert.is(readFileSync(join(folder, "tls", "tls.crt"), "utf8").trim(), next.certificate.trim());
  rmSync(folder, { recursive: true });
});

test.run();
