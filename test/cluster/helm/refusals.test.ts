/** Values that do not go together are refused by name, before anything is sent to a cluster. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { helmProgram } from "../../parts/real-node.ts";
import { needing } from "../../support/skip.ts";

const helm = await helmProgram();
const test = needing(suite("values that do not go together"), typeof helm === "string" ? undefined : helm.reason);

const chart = join(import.meta.dirname, "../../../charts/haptic");

async function manifests(sets: readonly string[]): Promise<string> {
  const args = ["template", "one", chart, "--set", "image.repository=example.com/haptic"];
  const more = sets.flatMap((set) => ["--set", set]);
  const { stdout } = await promisify(execFile)(helm as string, [...args, ...more], { maxBuffer: 1e7 });
  return stdout;
}

async function refusal(sets: readonly string[]): Promise<string> {
  return manifests(sets).then(
    () => "",
    (error: { stderr: string }) => error.stderr,
  );
}

const cases: readonly { readonly sets: readonly string[]; readonly says: readonly string[] }[] = [
  { sets: ["haproxy.ports.http=5555"], says: ["haproxy.agent.port", "haproxy.ports.http", "5555"] },
  { sets: ["haproxy.agent.metricsPort=8404"], says: ["haproxy.agent.metricsPort", "haproxy.ports.status", "8404"] },
  { sets: ["haproxy.agent.oldWorkersMemory=lots"], says: ["oldWorkersMemory", "'lots'"] },
  { sets: ["haproxy.autoscaling.enabled=true", "haproxy.kind=DaemonSet"], says: ["haproxy.autoscaling", "DaemonSet"] },
  {
    sets: ["haproxy.autoscaling.enabled=true", "haproxy.autoscaling.minReplicas=11"],
    says: ["minReplicas is 11", "10"],
  },
  {
    sets: ["haproxy.autoscaling.enabled=true", "haproxy.autoscaling.targetCPUUtilization=null"],
    says: ["targetCPUUtilization is null", "metrics empty"],
  },
  { sets: ["controller.healthPort=9090"], says: ["controller.healthPort", "controller.metricsPort", "9090"] },
  {
    sets: ["haproxy.service.http.enabled=false", "haproxy.service.https.enabled=false"],
    says: ["haproxy.service", "both disabled"],
  },
  { sets: ["haproxy.agent.reloadInterval=1m500ms"], says: ["haproxy.agent.reloadInterval is 1m500ms", "60s"] },
  {
    sets: ["haproxy.drain.maxWait=2m1s"],
    says: ["haproxy.drain.maxWait is 2m1s", "haproxy.gracePeriodSeconds 120"],
  },
  { sets: ["image.tag=1.0 beta"], says: ["/image/tag", "'1.0 beta'"] },
  { sets: ["ingressClass.controller=haptic"], says: ["/ingressClass/controller", "'haptic'"] },
  { sets: ["haproxy.podDisruptionBudget.maxUnavailable=null"], says: ["haproxy.podDisruptionBudget", "both null"] },
];

for (const { sets, says } of cases) {
  test(`${sets.join(" and ")} is refused, and the values are named`, async () => {
    const said = await refusal(sets);
    for (const word of says) assert.ok(said.includes(word), `${word} in: ${said}`);
  });
}

test("the controller of the IngressClass is the one that the configuration serves", async () => {
  const text = await manifests(["ingressClass.controller=example.com/second"]);
  assert.match(text, /^kind: IngressClass$[^]*?^  controller: example\.com\/second$/m);
  assert.match(text, /^ +ingressController: example\.com\/second$/m);
});

test("durations at their bounds are taken", async () => {
  assert.is(await refusal(["haproxy.agent.reloadInterval=0.5m30s", "haproxy.drain.maxWait=1m60000ms"]), "");
});

test("one port of two may be disabled", async () => {
  assert.is(await refusal(["haproxy.service.http.enabled=false"]), "");
});

test.run();
