/** The proof that a fault harms itself only, for any API server: while it persists, everything else is served within 5 s. */
import { connect as connectTls } from "node:tls";
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import { Cluster, CONFIG, type FaultView, until } from "../harness/cluster.ts";
import { served } from "../harness/hosts.ts";
import type { Network } from "../harness/isolation.ts";
import { underLoad } from "../harness/load.ts";
import type { ApiChoice } from "../harness/planes.ts";
import { HOST, NAME, OTHER_HOST, Site } from "../harness/site.ts";
import { tlsSecret } from "../../unit/examples/objects.ts";
import { needing } from "../../support/skip.ts";
import { missingHaproxy } from "../../support/parts.ts";

const DEFAULT_NAME = "default.example";
/** Other objects' changes are served within this time, whatever is broken. */
const OTHERS_MS = 5_000;

interface ConfigObject {
  readonly spec: { readonly haproxyConfig: { readonly template: string } };
  readonly status?: {
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}
interface EventObject {
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
}

function secretOf(name: string, certificate: string, key: string): object {
  const { metadata: _, ...rest } = tlsSecret(name, certificate, key) as { metadata: object };
  return { ...rest, metadata: { name, namespace: "default" } };
}

/** Name on the certificate that a client of `host` gets. */
function certificateName(cluster: Cluster, pod: number, host: string): Promise<string> {
  return new Promise((done, failed) => {
    const socket = connectTls(
      { host: cluster.address(pod), port: 8443, servername: host, rejectUnauthorized: false },
      () => {
        done(String(socket.getPeerCertificate().subject.CN));
        socket.destroy();
      },
    );
    socket.once("error", failed);
  });
}

export function faultProof(base: Test, network: Network, api: ApiChoice): void {
  const missing = network.missing ?? api.missing ?? missingHaproxy("3.4");
  const test = needing(base, missing);
  let cluster: Cluster;
  let site: Site;
  test.before(async () => {
    cluster = new Cluster({ api, version: "3.4", pods: 2, prefix: network.prefix });
    await cluster.start();
    // Served to those whose own certificate is broken, as docs/examples.md tells the user to do.
    const standard = await cluster.authority.issue([DEFAULT_NAME], "server");
    await cluster.apply(secretOf("default-certificate", standard.certificate, standard.key));
    site = new Site(cluster);
    await site.create({ endpoints: 1, otherTls: true });
  });
  test.after(() => cluster.close());

  const config = async (): Promise<ConfigObject> =>
    (await cluster.client.get(CONFIG.target, CONFIG.name)) as unknown as ConfigObject;
  const validated = async (): Promise<{ status: string; reason: string; message: string } | undefined> =>
    (await config()).status?.conditions?.find(({ type }) => type === "Validated");
  const events = async (kind: string, name: string): Promise<readonly EventObject[]> => {
    const { items } = await cluster.client.list({ apiVersion: "v1", resource: "events", namespace: "default" });
    return (items as unknown as EventObject[]).filter(
      ({ involvedObject }) => involvedObject.kind === kind && involvedObject.name === name,
    );
  };
  const editTemplate = async (template: string): Promise<void> => {
    await cluster.kubectl([
      "patch",
      "haproxytemplateconfig",
      CONFIG.name,
      "--type=merge",
      "-p",
      JSON.stringify({ spec: { haproxyConfig: { template } } }),
    ]);
  };

  /** Another object's endpoint moves and a new host comes, under load that notices nothing; each is served in time. */
  const othersFlow = async (): Promise<void> => {
    const report = await underLoad(cluster, { host: HOST }, async () => {
      await served(cluster, OTHER_HOST, { limitMs: OTHERS_MS, by: await site.moveOther() });
      const host = await site.newHost();
      await served(cluster, host, { limitMs: OTHERS_MS });
      await served(cluster, host, { tls: true, limitMs: OTHERS_MS });
    });
    site.unharmed(report, 0);
  };

  /** It is named at the debug endpoint and in the log. */
  const named = async (object: string, reason: string, text: RegExp): Promise<void> => {
    let faults: readonly FaultView[] = [];
    await until(`the debug endpoint names ${object} ${reason}`, async () => {
      faults = await cluster.faults();
      return faults.some((one) => one.object === object && one.reason === reason && text.test(one.message));
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${JSON.stringify(faults)}\n${cluster.tail()}`, { cause: error });
    });
    await until(`the log names ${object}`, () =>
      cluster.lines.some((line) => line.includes('"msg":"Fault"') && line.includes(object) && text.test(line)),
    );
  };

  const cleared = async (): Promise<void> => {
    await until("no fault is left", async () => (await cluster.faults()).length === 0);
    await until("the configuration's condition is well", async () => (await validated())?.status === "True");
  };

  const edits = [
    {
      what: "does not compile",
      edit: (good: string) => `${good}\n{% if %}\n`,
      reason: "ConfigInvalid",
      text: /haproxyConfig/,
    },
    {
      what: "does not render",
      edit: (good: string) => `${good}\n{% fail("nobody may serve this") %}\n`,
      reason: "ConfigInvalid",
      text: /nobody may serve this/,
    },
    {
      what: "names a field that the API server's schema does not have",
      edit: (good: string) => `${good}\n{% for _, i := range ingresses %}{{ i.spec.ingressClassNam }}{% end %}\n`,
      reason: "ConfigInvalid",
      text: /has no field ingressClassNam[^]*did you mean \\?"ingressClassName/,
    },
    {
      what: "HAProxy refuses",
      edit: (good: string) => `${good}\nbackend broken\n    no-such-keyword\n`,
      reason: "HAProxyValidationFailed",
      text: /no-such-keyword/,
    },
  ] as const;
  const CONFIG_OBJECT = `HAProxyTemplateConfig default/${CONFIG.name}`;

  for (const { what, edit, reason, text } of edits) {
    test(`${api.name}: while a configuration edit that ${what} persists, others' changes are served; it is named, and clears when mended`, async () => {
      const good = (await config()).spec.haproxyConfig.template;
      const pids = await cluster.workerPids();
      await editTemplate(edit(good));
      try {
        await named(CONFIG_OBJECT, reason, text);
        await until("the condition names it", async () => {
          const condition = await validated();
          return condition?.status === "False" && condition.reason === reason && text.test(condition.message);
        });
        await until("an Event names it", async () =>
          (await events("HAProxyTemplateConfig", CONFIG.name)).some(
            (event) => event.type === "Warning" && text.test(event.message),
          ),
        );
        await othersFlow();
        await named(CONFIG_OBJECT, reason, text);
        assert.equal(await cluster.workerPids(), pids);
      } finally {
        await editTemplate(good);
      }
      await cleared();
      await othersFlow();
    });
  }

  test(`${api.name}: while a TLS Secret is broken, others' changes are served; the Secret is named, and clears when mended`, async () => {
    const pids = await cluster.workerPids();
    const good = await cluster.authority.issue([HOST], "server");
    const other = await cluster.authority.issue([HOST], "server");
    const secret = `${NAME}-tls`;
    // A key that is not the certificate's: HAProxy would refuse the file, and with it everybody's.
    await cluster.apply(secretOf(secret, good.certificate, other.key));
    await named(`Secret default/${secret}`, "InvalidCertificate", /key/i);
    await until("an Event on the Secret names it", async () =>
      (await events("Secret", secret)).some(
        ({ type, reason }) => type === "Warning" && reason === "InvalidCertificate",
      ),
    );
    await served(cluster, OTHER_HOST, { tls: true, limitMs: OTHERS_MS, by: await site.moveOther() });
    const host = await site.newHost();
    await served(cluster, host, { limitMs: OTHERS_MS });
    await served(cluster, host, { tls: true, limitMs: OTHERS_MS });
    // The broken one's own host goes on, by the default certificate, and its endpoints follow.
    const [own] = await cluster.newEndpoints(NAME, 1);
    await cluster.setEndpoints(NAME, [own!]);
    await served(cluster, HOST, { limitMs: OTHERS_MS, by: own!.pod });
    for (const pod of cluster.pods.keys()) assert.is(await certificateName(cluster, pod, HOST), DEFAULT_NAME);
    assert.is((await validated())?.status, "True", "the configuration is not to blame");
    await cluster.apply(secretOf(secret, good.certificate, good.key));
    await served(cluster, HOST, { tls: true, limitMs: OTHERS_MS });
    await cleared();
    await until("an Event on the Secret answers it", async () =>
      (await events("Secret", secret)).some(({ type, reason }) => type === "Normal" && reason === "Resolved"),
    );
    assert.equal(await cluster.workerPids(), pids);
  });
}
