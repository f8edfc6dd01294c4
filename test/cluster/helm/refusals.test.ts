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

async function refusal(sets: readonly string[]): Promise<string> {
  const args = ["template", "one", chart, "--set", "image.repository=example.com/haptic"];
  const more = sets.flatMap((set) => ["--set", set]);
  return promisify(execFile)(String(helm), [...args, ...more], { maxBuffer: 1e7 }).then(
    () => "",
    (error: { stderr: string }) => error.stderr,
  );
}

const cases: readonly { readonly sets: readonly string[]; readonly says: readonly string[] }[] = [
  { sets: ["haproxy.ports.http=5555"], says: ["haproxy.agent.port", "haproxy.ports.http", "5555"] },
  { sets: ["controller.healthPort=9090"], says: ["controller.healthPort", "controller.metricsPort", "9090"] },
  {
    sets: ["haproxy.service.http.enabled=false", "haproxy.service.https.enabled=false"],
    says: ["haproxy.service", "both disabled"],
  },
  { sets: ["haproxy.podDisruptionBudget.maxUnavailable=null"], says: ["haproxy.podDisruptionBudget", "both null"] },
];

for (const { sets, says } of cases) {
  test(`${sets.join(" and ")} is refused, and the values are named`, async () => {
    const said = await refusal(sets);
    for (const word of says) assert.ok(said.includes(word), `${word} in: ${said}`);
  });
}

test("one port of two may be disabled", async () => {
  assert.is(await refusal(["haproxy.service.http.enabled=false"]), "");
});

test.run();
