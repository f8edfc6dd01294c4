/**
 * `npm run rollout -- [--parts rolling,forced,…] [--bounded]`: the proofs of this folder in their whole extent. Prints what was
 * measured; ends with 1 when something does not hold.
 */
import { parseArgs } from "node:util";
import { missingAioquic, provideAioquic } from "../../parts/aioquic.ts";
import { testHaproxy } from "../../support/parts.ts";
import { isolated } from "../harness/isolation.ts";
import { apiServers } from "../harness/planes.ts";
import { type Extent, PARTS } from "./parts.ts";
import { Stages } from "./stage.ts";

interface Settings {
  readonly parts: readonly string[];
  readonly extent: Extent;
}

/** The arguments cross the border of the namespace in the environment. */
function settings(): Settings {
  const handed = process.env["HAPTIC_ROLLOUT"];
  if (handed !== undefined) return JSON.parse(handed) as Settings;
  const names = PARTS.map(({ name }) => name);
  const { values } = parseArgs({
    options: { parts: { type: "string", default: names.join(",") }, bounded: { type: "boolean", default: false } },
  });
  const parts = values.parts.split(",");
  const unknown = parts.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`--parts: no ${unknown}; there are ${names.join(", ")}`);
  const given: Settings = { parts, extent: values.bounded ? "bounded" : "whole" };
  process.env["HAPTIC_ROLLOUT"] = JSON.stringify(given);
  return given;
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const wanted = settings();
if (process.env["HAPTIC_TEST_ISOLATED"] !== "1") await provideAioquic(say);
const network = await isolated(import.meta.filename);
if (network.missing !== undefined) throw new Error(network.missing);
if (testHaproxy("3.4") === undefined) throw new Error("needs HAProxy 3.4: run the tests once, they bring it");
const withoutH3 = missingAioquic();
if (withoutH3 !== undefined) say(`HTTP/3 is left out: ${withoutH3}`);

const stages = new Stages(apiServers.embedded, network);
let failed = 0;
for (const { name, title, stage, prove } of PARTS) {
  if (!wanted.parts.includes(name)) continue;
  try {
    const began = performance.now();
    for (const line of await prove(await stages.of(stage(wanted.extent)), wanted.extent)) say(line);
    say(`(${name}: ${((performance.now() - began) / 1_000).toFixed(0)} s)`);
  } catch (error) {
    failed += 1;
    say(`VIOLATED: ${title}\n${error instanceof Error ? error.stack : String(error)}`);
  }
}
await stages.close();
say(failed === 0 ? "all of it holds" : `${failed} of it does not hold`);
process.exit(failed === 0 ? 0 : 1);
