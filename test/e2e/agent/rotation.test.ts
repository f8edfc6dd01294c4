// runner: beside
/** Mutual TLS while its certificates are exchanged, as Kubernetes does it: a new folder, and the link `..data` turned to it. */
import { X509Certificate } from "node:crypto";
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { connect } from "node:tls";
import { pino } from "pino";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createAgentClient, type AgentClient } from "../../../src/agent/client.ts";
import { runAgent } from "../../../src/agent/index.ts";
import { createAuthority, type Authority } from "../../../src/devcluster/certificates.ts";
import type { AgentClientError } from "../../../src/errors.ts";
import { CLIENT_NAME, removeScratch, scratch, SERVER_NAME } from "./harness.ts";

const root = scratch("rotation");
const address = "127.123.1.1";
test.after(() => removeScratch(root));

type Identity = Awaited<ReturnType<Authority["issue"]>>;

/** A mounted Secret. */
class Mount {
  readonly #folder: string;
  #revision = 0;

  constructor(name: string) {
    this.#folder = join(root, name);
    mkdirSync(this.#folder);
  }

  get dir(): string {
    return join(this.#folder, "..data");
  }

  turn(identity: Identity, authorities: readonly Authority[]): void {
    this.#revision += 1;
    const name = `..revision-${this.#revision}`;
    mkdirSync(join(this.#folder, name));
    writeFileSync(join(this.#folder, name, "tls.crt"), `${identity.certificate}\n`);
    writeFileSync(join(this.#folder, name, "tls.key"), `${identity.key}\n`);
    writeFileSync(
      join(this.#folder, name, "ca.crt"),
      authorities.map(({ certificate }) => `${certificate}\n`).join(""),
    );
    symlinkSync(name, join(this.#folder, "..data_tmp"));
    renameSync(join(this.#folder, "..data_tmp"), this.dir);
  }
}

/** 200 = trusted. The tree may not be read yet (503): what matters is who may ask. */
const statusOf = async (client: AgentClient): Promise<number> =>
  client.state().then(
    () => 200,
    ({ status }: AgentClientError) => (status === 503 ? 200 : status),
  );

/** Who signed the certificate that a new connection is shown. */
function issuerShown(): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port: 5555, servername: SERVER_NAME, rejectUnauthorized: false }, () => {
      resolve(new X509Certificate(socket.getPeerCertificate().raw).issuer);
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

test("certificates and authorities are exchanged under way: both are taken while they overlap, the former no longer than that", async () => {
  const [former, next] = [
    await createAuthority("the former", new Date()),
    await createAuthority("the next", new Date()),
  ];
  const agentMount = new Mount("agent");
  agentMount.turn(await former.issue([SERVER_NAME], "server"), [former]);
  const [formerController, nextController] = [new Mount("former-controller"), new Mount("next-controller")];
  formerController.turn(await former.issue([CLIENT_NAME], "client"), [former, next]);
  nextController.turn(await next.issue([CLIENT_NAME], "client"), [former, next]);
  const agent = await runAgent({
    baseDir: join(root, "base"),
    listen: `${address}:5555`,
    tlsDir: agentMount.dir,
    tlsClientName: CLIENT_NAME,
    log: pino({ level: "silent" }),
    now: () => performance.timeOrigin + performance.now(),
    monotonic: () => performance.now(),
  });
  const clientOf = ({ dir }: Mount): AgentClient =>
    createAgentClient({ url: agent.url, tls: { dir, serverName: SERVER_NAME } });
  // Its connections stay open from step to step; the others begin each step with a new one.
  const lasting = clientOf(formerController);
  const fresh = async (mount: Mount): Promise<number> => {
    const client = clientOf(mount);
    try {
      return await statusOf(client);
    } finally {
      await client.close();
    }
  };
  try {
    assert.is(await statusOf(lasting), 200);
    assert.is(await fresh(nextController), 401, "not trusted yet");

    agentMount.turn(await former.issue([SERVER_NAME], "server"), [former, next]);
    assert.equal(
      [await fresh(nextController), await fresh(formerController), await statusOf(lasting)],
      [200, 200, 200],
    );
    assert.match(await issuerShown(), "the former");

    agentMount.turn(await next.issue([SERVER_NAME], "server"), [former, next]);
    assert.match(await issuerShown(), "the next", "the new certificate, without a restart");
    assert.equal(
      [await fresh(nextController), await fresh(formerController), await statusOf(lasting)],
      [200, 200, 200],
    );

    // The controller's own Secret is exchanged, too: a client that runs takes it up with its next request.
    const exchanged = new Mount("exchanged-controller");
    exchanged.turn(await former.issue([CLIENT_NAME], "client"), [former, next]);
    const running = clientOf(exchanged);
    assert.is(await statusOf(running), 200);
    exchanged.turn(await next.issue([CLIENT_NAME], "client"), [next]);

    agentMount.turn(await next.issue([SERVER_NAME], "server"), [next]);
    assert.is(await fresh(nextController), 200);
    assert.is(await fresh(formerController), 401, "its authority is not trusted any more");
    assert.is(await statusOf(lasting), 401, "a connection that was open before does not outlive its authority");
    assert.is(await statusOf(running), 200);
    await running.close();

    renameSync(agentMount.dir, `${agentMount.dir}-gone`);
    assert.is(await fresh(nextController), 200, "a Secret that cannot be read leaves what was read in use");
  } finally {
    await lasting.close();
    await agent.close();
  }
});

test.run();
