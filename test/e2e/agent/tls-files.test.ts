// runner: beside
/** Certificates and CA files that a running HAProxy is given and rid of; the worker's own lists tell what it holds. */
import "reflect-metadata";
import { connect, type TLSSocket } from "node:tls";
import { X509CertificateGenerator, PemConverter } from "@peculiar/x509";
import { test } from "uvu";
import * as assert from "uvu/assert";
import type { ApplyResult } from "../../../src/agent/api.ts";
import { createAuthority } from "../../../src/devcluster/certificates.ts";
import type { Op } from "../../../src/plan/ops.ts";
import { missingHaproxy, testHaproxy, type HaproxyVersion } from "../../support/parts.ts";
import { needing } from "../../support/skip.ts";
import { TestController } from "./controller.ts";
import { configText, get, makeIdentities, removeScratch, scratch, startPod, type Pod } from "./harness.ts";

const root = scratch("tls-files");
const identities = await makeIdentities(root);
const authority = await createAuthority("sites", new Date());
const stranger = await createAuthority("somebody else", new Date());
const pods: Pod[] = [];

test.after(async () => {
  for (const pod of pods) await pod.close();
  removeScratch(root);
});

async function pem(name: string, usage: "server" | "client" = "server"): Promise<string> {
  const { certificate, key } = await authority.issue([name], usage);
  return `${certificate}\n${key}\n`;
}

/** HAProxy is its own upstream: what comes by TLS is answered, what comes without goes there. */
class Site {
  readonly files: Record<string, string> = {};
  readonly list = ["ssl/base.pem"];
  /** Further sections, and lines of the map. */
  more = "";
  hosts = "one.example one\n";
  readonly pod: Pod;
  readonly controller: TestController;

  private constructor(pod: Pod) {
    this.pod = pod;
    this.controller = new TestController(pod.client);
  }

  static async start(version: HaproxyVersion, address: string): Promise<Site> {
    const pod = await startPod({
      binary: testHaproxy(version)!,
      address,
      identities,
      name: `tls-${version}-${address}`,
    });
    pods.push(pod);
    const site = new Site(pod);
    site.files["ssl/base.pem"] = await pem("base.example");
    const result = await site.controller.load(site.set());
    assert.ok(result.ok, result.error?.message ?? "");
    return site;
  }

  set(): Record<string, string> {
    return {
      "haproxy.cfg":
        configText({
          backends: { one: {} },
          upstream: this.pod.address,
          tls: true,
          extra: "http-request return status 200 content-type text/plain string tls if { ssl_fc }",
        }) + this.more,
      "maps/host.map": this.hosts,
      "general/list.txt": this.list.map((line) => `${line}\n`).join(""),
      ...this.files,
    };
  }

  /** The change goes without a reload and every operation is taken. */
  async run(ops: Op[]): Promise<ApplyResult> {
    const result = await this.controller.change(this.set(), ops);
    assert.is(result.mode, "runtime", JSON.stringify(result));
    for (const op of result.op_results) assert.ok(op.ok, `${op.kind}: ${op.output}`);
    return result;
  }

  /** `name - count`, as the worker lists its CA files. */
  async authorities(): Promise<string[]> {
    const text = await this.pod.runtime("show ssl ca-file");
    return text
      .split("\n")
      .filter((line) => line.startsWith("ca/"))
      .map((line) => line.replace(" certificate(s)", ""));
  }

  async certificates(): Promise<string[]> {
    return (await this.pod.runtime("show ssl cert")).split("\n").filter((line) => /^\*?ssl\//.test(line));
  }
}

/** How many certificates the server presents for a name. */
function chainLength(address: string, servername: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ host: address, port: 8443, servername, rejectUnauthorized: false }, () => {
      const seen = new Set<string>();
      let one = socket.getPeerCertificate(true);
      while (one?.fingerprint256 !== undefined && !seen.has(one.fingerprint256)) {
        seen.add(one.fingerprint256);
        one = one.issuerCertificate;
      }
      resolve(seen.size);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

const server = (name: string, address: string, ca: string): Op[] => [
  {
    kind: "server_add",
    backend: "one",
    server: name,
    address,
    port: 8443,
    keywords: [
      { name: "ssl", args: [] },
      { name: "verify", args: ["required"] },
      { name: "ca-file", args: [ca] },
      { name: "sni", args: ["str(base.example)"] },
      { name: "verifyhost", args: ["base.example"] },
      // Each request shakes hands anew.
      { name: "pool-max-conn", args: ["0"] },
    ],
  },
  { kind: "server_enable", backend: "one", server: name },
];

for (const [i, version] of (["3.4", "3.2", "3.0"] as const).entries()) {
  const check = needing(test, missingHaproxy(version));

  check(`a CA file is loaded, replaced and unloaded on HAProxy ${version} without a reload`, async () => {
    const site = await Site.start(version, `127.107.1.${i + 1}`);
    const { pod, files } = site;
    const worker = (await pod.client.state()).haproxy!.worker_pid;
    files["ca/up.pem"] = stranger.certificate;
    const loaded = await site.run([{ kind: "ca_new", path: "ca/up.pem" }, ...server("s1", pod.address, "ca/up.pem")]);
    assert.equal(await site.authorities(), ["ca/up.pem - 1"]);
    assert.equal(
      loaded.runtime_inventory?.ca_files.filter((name) => name.startsWith("ca/")),
      ["ca/up.pem"],
    );
    assert.is((await get(pod.address, "one.example")).status, 503, "the upstream is not trusted");
    files["ca/up.pem"] = `# the one that counts\n${stranger.certificate}\n\n${authority.certificate}`;
    const replaced = await site.run([{ kind: "ca_set", path: "ca/up.pem" }]);
    assert.equal(await site.authorities(), ["ca/up.pem - 2"]);
    assert.is(replaced.runtime_inventory, undefined, "what is loaded is the same as before");
    assert.is(
      (await get(pod.address, "one.example")).status,
      503,
      "a server keeps what the file held when it was made",
    );
    await site.run(server("s2", pod.address, "ca/up.pem"));
    await site.run([{ kind: "server_disable", backend: "one", server: "s1" }]);
    assert.equal(await get(pod.address, "one.example"), { status: 200, body: "tls" });
    delete files["ca/up.pem"];
    const unloaded = await site.run([
      { kind: "server_disable", backend: "one", server: "s2" },
      { kind: "server_del", backend: "one", server: "s1" },
      { kind: "server_del", backend: "one", server: "s2" },
      { kind: "ca_del", path: "ca/up.pem" },
    ]);
    assert.equal(await site.authorities(), []);
    assert.equal(
      unloaded.runtime_inventory?.ca_files.filter((name) => name.startsWith("ca/")),
      [],
    );
    assert.equal((await pod.client.state()).runtime_inventory, unloaded.runtime_inventory);
    assert.is((await pod.client.state()).haproxy!.worker_pid, worker);
  });

  check(
    `who hears on HAProxy ${version} of a CA file's new content: binds and servers with a certificate, nobody else`,
    async () => {
      const site = await Site.start(version, `127.107.6.${i + 1}`);
      const { pod, files } = site;
      const address = pod.address;
      files["ca/up.pem"] = authority.certificate;
      files["ca/clients.pem"] = authority.certificate;
      files["ssl/client.pem"] = await pem("client.example", "client");
      const tls = `${address}:9443 ssl verify required sni str(base.example) verifyhost base.example pool-max-conn 0 no-ssl-reuse`;
      site.more = [
        "frontend up",
        "    timeout client 10s",
        `    bind ${address}:9443 ssl crt ssl/base.pem ca-file ca/clients.pem verify required`,
        "    http-request return status 200 content-type text/plain string up",
        "backend plain",
        "    balance roundrobin",
        "    timeout connect 2s",
        "    timeout server 10s",
        `    server s1 ${address}:8443 ssl verify required sni str(base.example) verifyhost base.example ca-file ca/up.pem pool-max-conn 0`,
        "backend known",
        "    balance roundrobin",
        "    timeout connect 2s",
        "    timeout server 10s",
        `    server s1 ${tls} ca-file ca/up.pem crt ssl/client.pem`,
        "",
      ].join("\n");
      site.hosts = "plain.example plain\nknown.example known\n";
      const loaded = await site.controller.load(site.set());
      assert.ok(loaded.ok, loaded.error?.message);
      const asked = async (): Promise<boolean[]> =>
        Promise.all(["plain.example", "known.example"].map(async (host) => (await get(address, host)).status === 200));
      assert.equal(await asked(), [true, true]);
      files["ca/up.pem"] = stranger.certificate;
      await site.run([{ kind: "ca_set", path: "ca/up.pem" }]);
      assert.equal(await asked(), [true, false], "the plan asks for a reload where a line is deaf");
      files["ca/up.pem"] = authority.certificate;
      await site.run([{ kind: "ca_set", path: "ca/up.pem" }]);
      assert.equal(await asked(), [true, true]);
      files["ca/clients.pem"] = stranger.certificate;
      await site.run([{ kind: "ca_set", path: "ca/clients.pem" }]);
      assert.equal(await asked(), [true, false], "the bind takes its clients' CA file");
    },
  );

  check(`a CA file of sixty authorities goes to HAProxy ${version} in parts`, async () => {
    const site = await Site.start(version, `127.107.2.${i + 1}`);
    const others = await Promise.all(Array.from({ length: 60 }, (_, n) => createAuthority(`number ${n}`, new Date())));
    site.files["ca/many.pem"] = [...others, authority].map(({ certificate }) => certificate).join("\n");
    assert.ok(site.files["ca/many.pem"].length > 2 * 12 * 1024, "one payload would not do");
    await site.run([{ kind: "ca_new", path: "ca/many.pem" }, ...server("s1", site.pod.address, "ca/many.pem")]);
    assert.equal(await site.authorities(), ["ca/many.pem - 61"]);
    assert.equal(await get(site.pod.address, "one.example"), { status: 200, body: "tls" });
  });

  check(`a CA file that HAProxy ${version} cannot read leaves no transaction behind`, async () => {
    const site = await Site.start(version, `127.107.3.${i + 1}`);
    site.files["ca/up.pem"] = "no certificate at all\n";
    const result = await site.controller.change(site.set(), [{ kind: "ca_new", path: "ca/up.pem" }]);
    assert.is(result.op_results[0]?.ok, false);
    assert.is(result.mode, "reload", "the set does not name it, so that it can be loaded");
    assert.equal(await site.authorities(), []);
    assert.not.match(await site.pod.runtime("show ssl ca-file"), /\*/);
  });

  check(
    `certificates leave HAProxy ${version} when nothing names them, and stay as long as something does`,
    async () => {
      const site = await Site.start(version, `127.107.4.${i + 1}`);
      const { pod, files, list } = site;
      files["ssl/new.pem"] = await pem("new.example");
      list.push("ssl/new.pem new.example");
      const entry = { path: "general/list.txt", cert: "ssl/new.pem" };
      await site.run([
        { kind: "cert_new", path: "ssl/new.pem" },
        { kind: "crtlist_add", ...entry, sni_filters: ["new.example"] },
      ]);
      assert.equal(await site.certificates(), ["ssl/base.pem", "ssl/new.pem"]);
      const kept = await site.run([{ kind: "cert_del", path: "ssl/new.pem" }]);
      assert.match(kept.op_results[0]!.output, "still in use");
      assert.equal(await site.certificates(), ["ssl/base.pem", "ssl/new.pem"]);
      assert.ok((await pod.client.state()).runtime_inventory!.certs.includes("ssl/new.pem"));
      list.pop();
      delete files["ssl/new.pem"];
      await site.run([
        { kind: "crtlist_del", ...entry },
        { kind: "cert_del", path: "ssl/new.pem" },
      ]);
      assert.equal(await site.certificates(), ["ssl/base.pem"]);
      assert.equal((await pod.client.state()).runtime_inventory!.certs, ["ssl/base.pem"]);
      // Its name may be used again, also where it was never loaded or is loaded still.
      await site.run([{ kind: "cert_del", path: "ssl/new.pem" }]);
      files["ssl/new.pem"] = await pem("new.example");
      await site.run([{ kind: "cert_new", path: "ssl/new.pem" }]);
      await site.run([{ kind: "cert_new", path: "ssl/new.pem" }]);
      assert.equal(await site.certificates(), ["ssl/base.pem", "ssl/new.pem"]);
    },
  );

  check(
    `a certificate whose chain and key do not fit one payload is taken by HAProxy ${version} at run time`,
    async () => {
      const site = await Site.start(version, `127.107.5.${i + 1}`);
      const { pod, files, list } = site;
      const { certificate, key } = await bulky;
      const chain: string[] = [];
      while ([certificate, ...chain, links[0]!].join("").length < 12 * 1024 - 100) chain.push(links[chain.length]!);
      // What stands outside of the blocks is not for HAProxy.
      const remark = `Bag Attributes\n${"    friendlyName: remark\n".repeat(1_000)}`;
      files["ssl/bulky.pem"] = [remark, certificate, key, ...chain].join("\n");
      list.push("ssl/bulky.pem bulky.example");
      await site.run([
        { kind: "cert_new", path: "ssl/bulky.pem" },
        {
          kind: "crtlist_add",
          path: "general/list.txt",
          cert: "ssl/bulky.pem",
          sni_filters: ["bulky.example"],
        },
      ]);
      const shown = await pod.runtime("show ssl cert ssl/bulky.pem");
      assert.is(shown.split("\n").filter((line) => line.startsWith("Chain Subject:")).length, chain.length);
      assert.is(await chainLength(pod.address, "bulky.example"), 1, "the first one is its own issuer");
      // One link more than a payload can be: nothing is sent, the set is loaded.
      files["ssl/bulky.pem"] = [certificate, key, ...links].join("\n");
      const result = await site.controller.change(site.set(), [{ kind: "cert_set", path: "ssl/bulky.pem" }]);
      assert.is(result.mode, "reload");
      assert.match(result.op_results[0]!.output, "too large for the runtime CLI");
      const after = await pod.runtime("show ssl cert ssl/bulky.pem");
      assert.is(after.split("\n").filter((line) => line.startsWith("Chain Subject:")).length, links.length);
    },
  );
}

/** A self-signed certificate with a large key. */
const bulky = (async () => {
  const algorithm = {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 3072,
    publicExponent: new Uint8Array([1, 0, 1]),
  };
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const signed = await X509CertificateGenerator.createSelfSigned({
    name: "CN=bulky.example",
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - 86_400_000),
    notAfter: new Date(Date.now() + 86_400_000),
  });
  const raw = await crypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { certificate: `${signed.toString("pem")}\n`, key: `${PemConverter.encode(raw, "PRIVATE KEY")}\n` };
})();

const links = (await Promise.all(Array.from({ length: 30 }, (_, n) => createAuthority(`link ${n}`, new Date())))).map(
  ({ certificate }) => `${certificate.trim()}\n`,
);

test.run();
