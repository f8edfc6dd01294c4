// runner: beside
// runner: limit 300 s
/**
 * Templates that run away, put into a running controller with kubectl: each is refused and named by its place while probes are
 * answered, the Lease is renewed and other objects' changes are served; so is one that an object makes run away.
 */
import { test as base } from "uvu";
import * as assert from "uvu/assert";
import { needing } from "../../support/skip.ts";
import { missingHaproxy } from "../../support/parts.ts";
import { Cluster, CONFIG, type FaultView, until } from "../harness/cluster.ts";
import { hostObjects, served } from "../harness/hosts.ts";
import { isolated } from "../harness/isolation.ts";
import { apiServers } from "../harness/planes.ts";
import { KUBELET_MS, probe, type ProbeReport } from "../harness/probe.ts";

const network = await isolated(import.meta.filename);
const test = needing(base, network.missing ?? missingHaproxy("3.4"));

const HOST = "app.example";
const LONG = '{% s := "aaaaaaaa" %}{% for i in seq(20) %}{% s = s + s %}{% end %}';
/** What is added as the last line of the main template, and where on it the error is: at an `@`. */
const RUNAWAYS: readonly (readonly [what: string, line: string, message: RegExp])[] = [
  ["an endless loop", "{% @for %}{% end %}", /fuel limit reached/],
  [
    "a recursion",
    "{% macro M(n int) %}{% if n > 0 %}{{ M@(n-1) }}{{ M@(n-1) }}{% end %}{% end %}{{ M(100) }}",
    /fuel limit reached/,
  ],
  ["a huge sequence", "{{ len(seq@(1000000000)) }}", /1000000000 numbers are too many/],
  ["a text that doubles", '{% s := "aaaaaaaa" %}{% for %}{% s = s @+ s %}{% end %}', /a text of more than 32 MiB/],
  ["a catastrophic pattern", `${LONG}{{ regex_search@(s, "(a*)*(b|a*)*c$") }}`, /too much work without a pause/],
  [
    "a huge sort",
    "{{ len(sort_by@(seq(200000), func(a any, b any) int { return toint(b) - toint(a) })) }}",
    /too much work without a pause/,
  ],
];

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration?: number;
}
interface Snippet {
  readonly template: string;
  readonly incremental?: object;
}
interface ConfigObject {
  readonly metadata: { readonly generation?: number };
  readonly spec: {
    readonly haproxyConfig: { readonly template: string };
    readonly templateSnippets: Readonly<Record<string, Snippet>>;
  };
  readonly status?: {
    readonly conditions?: readonly Condition[];
  };
}

let cluster: Cluster;
let good: ConfigObject["spec"];

const config = async (): Promise<ConfigObject> =>
  (await cluster.client.get(CONFIG.target, CONFIG.name)) as unknown as ConfigObject;
const validated = async () => (await config()).status?.conditions?.find(({ type }) => type === "Validated");
/** The newest configuration is in force. */
async function accepted(): Promise<void> {
  let seen: Condition | undefined;
  await until(
    "the newest configuration is in force",
    async () => {
      const { generation } = (await config()).metadata;
      seen = await validated();
      return seen?.status === "True" && seen.observedGeneration === generation;
    },
    60_000,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${seen?.message ?? ""}`, { cause: error });
  });
}
/** The configuration as a person changes it: the whole object, with `kubectl apply`. */
async function applyConfig(change: object): Promise<void> {
  const { metadata: _, status: __, ...rest } = (await config()) as unknown as { metadata: object; status: object };
  const spec = { ...(rest as ConfigObject).spec, ...change };
  await cluster.apply({ ...rest, spec, metadata: { name: CONFIG.name, namespace: "default" } });
}

test.before(async () => {
  cluster = new Cluster({ api: apiServers.embedded, version: "3.4", pods: 1, prefix: network.prefix });
  await cluster.start();
  for (const name of ["app", "other"]) await cluster.apply(...(await hostObjects(cluster, name, `${name}.example`)));
  await served(cluster, HOST, { limitMs: 40_000 });
  await served(cluster, "other.example");
  await cluster.settled();
  good = (await config()).spec;
});
test.after(() => cluster.close());

/** Another object's change is served. */
async function othersFlow(): Promise<void> {
  const [moved] = await cluster.newEndpoints("other", 1);
  await cluster.setEndpoints("other", [moved!]);
  await served(cluster, "other.example", { by: moved!.pod, limitMs: 10_000 });
}

/** Times at which the controller renewed its Lease, as the Lease tells them; looked for while templates run away. */
const renewals: number[] = [];
async function lookAtLease(): Promise<void> {
  const lease = { apiVersion: "coordination.k8s.io/v1", resource: "leases", namespace: "default" };
  const { renewTime } = (await cluster.client.get(lease, "haptic-leader"))["spec"] as { renewTime?: string };
  const at = Date.parse(renewTime ?? "");
  if (at !== renewals.at(-1)) renewals.push(at);
}
/** `renewDeadline` of the election: who does not renew for so long has lost its term. */
const RENEW_DEADLINE_MS = 20_000;

/** While `during` runs, a kubelet would have found the controller alive each time. */
async function whileProbed(what: string, during: () => Promise<void>): Promise<void> {
  const stop = probe("http://127.0.0.1:6060/healthz");
  const looking = setInterval(() => void lookAtLease().catch(() => undefined), 500);
  let report: ProbeReport;
  try {
    await during();
  } finally {
    clearInterval(looking);
    report = await stop();
  }
  process.stdout.write(`${what}: ${report.answers} probes, longest ${Math.round(report.longestMs)} ms\n`);
  assert.equal(report.failures, []);
  assert.ok(report.answers > 10, `${report.answers} answers`);
  assert.ok(report.longestMs < KUBELET_MS, `an answer took ${Math.round(report.longestMs)} ms`);
}

for (const [what, marked, message] of RUNAWAYS) {
  test(`${what} in a configuration is refused by its place, while probes are answered and the last good one serves`, async () => {
    const text = good.haproxyConfig.template.replace(/\n*$/, "\n");
    const line = text.split("\n").length;
    const parts = marked.split("@");
    const places = parts.slice(1).map((_, i) => `haproxy.cfg:${line}:${parts.slice(0, i + 1).join("").length + 1}:`);
    const pids = await cluster.workerPids();
    await whileProbed(what, async () => {
      await applyConfig({ haproxyConfig: { template: `${text}${parts.join("")}\n` } });
      const refused = until(
        "the condition names it",
        async () => {
          const { generation } = (await config()).metadata;
          const condition = await validated();
          return condition?.status === "False" && condition.observedGeneration === generation && condition;
        },
        60_000,
      );
      // While it is tried, and afterwards.
      await othersFlow();
      const { reason, message: told } = await refused;
      assert.is(reason, "ConfigInvalid");
      assert.match(told, message);
      assert.ok(
        places.some((place) => told.startsWith(place)),
        `${places.join(" or ")} is not where the message begins:\n${told}`,
      );
      await othersFlow();
    });
    const faults = await cluster.variable<readonly FaultView[]>("faults");
    assert.ok(faults.some((fault) => fault.reason === "ConfigInvalid" && message.test(fault.message)));
    assert.equal(await cluster.workerPids(), pids);
  });
}

const WORK = 'toint(item | dig_string("0", "metadata", "annotations", "work"))';

test("an object that makes its snippet run away harms itself only, and is named", async () => {
  const [name, snippet] = Object.entries(good.templateSnippets).find(
    ([, { incremental, template }]) => incremental !== undefined && template.includes("planRegistry.Backend("),
  )!;
  const template = `{%- for i := 0; i < ${WORK}; i++ -%}{%- end -%}\n${snippet.template}`;
  await applyConfig({
    haproxyConfig: good.haproxyConfig,
    templateSnippets: { ...good.templateSnippets, [name]: { ...snippet, template } },
  });
  await accepted();
  await whileProbed("an object's annotation", async () => {
    await cluster.kubectl(["annotate", "ingress", "app", "work=1000000000000"]);
    await until(
      "the object is named",
      async () => {
        const faults = await cluster.variable<readonly FaultView[]>("faults");
        return faults.some(
          ({ object, message }) =>
            object === "Ingress default/app" && new RegExp(`${name}:1:\\d+: .*fuel limit`).test(message),
        );
      },
      60_000,
    );
    await othersFlow();
  });
  await cluster.kubectl(["annotate", "ingress", "app", "work-"]);
  await until("nothing is wrong any more", async () => (await cluster.faults()).length === 0, 60_000);
  await served(cluster, HOST);
});

test("an object that makes the main template run away leaves the last good render in force, and is found by its place", async () => {
  const line = `{%- for _, item := range resources.ingresses.List() -%}{%- for i := 0; i < ${WORK}; i++ -%}{%- end -%}{%- end -%}`;
  const text = good.haproxyConfig.template.replace(/\n*$/, "\n");
  await applyConfig({ haproxyConfig: { template: `${text}${line}\n` } });
  await accepted();
  const pids = await cluster.workerPids();
  await whileProbed("an object's annotation in the main template", async () => {
    await cluster.kubectl(["annotate", "ingress", "app", "work=1000000000000"]);
    const { message } = await until(
      "the condition names the place",
      async () => {
        const condition = await validated();
        return condition?.status === "False" && condition;
      },
      60_000,
    );
    assert.match(message, new RegExp(`^haproxy\\.cfg:${text.split("\n").length}:\\d+: .*fuel limit`));
    await served(cluster, HOST);
    await served(cluster, "other.example");
  });
  assert.equal(await cluster.workerPids(), pids);
  await cluster.kubectl(["annotate", "ingress", "app", "work-"]);
  await accepted();
  await othersFlow();
});

test("the Lease was renewed in time all the while, by the same term", async () => {
  await until("the Lease is renewed", async () => (await lookAtLease(), renewals.length > 3), 60_000);
  const gaps = renewals.slice(1).map((at, i) => at - renewals[i]!);
  process.stdout.write(`${renewals.length} renewals, longest gap ${Math.max(...gaps)} ms\n`);
  assert.ok(Math.max(...gaps) < RENEW_DEADLINE_MS, `gaps of ${gaps.join(", ")} ms`);
  const lost = cluster.lines.filter((line) => line.includes("Not leading any more"));
  assert.equal(lost, []);
});

test.run();
