/** `npm run fuzz:agent -- [--count 20000] [--seed N] [--haproxy 3.4]`: broken requests against a real agent; ends with 1 on a violation. */
import { parseArgs } from "node:util";
import { testHaproxy, type HaproxyVersion } from "../../../support/parts.ts";
import { fuzz } from "./campaign.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    haproxy: { type: "string", default: "3.4" },
  },
});
const [count, seed] = [Number(values.count), Number(values.seed)];
if (!(count > 0) || Number.isNaN(seed)) throw new Error("--count and --seed are numbers");
const binary = testHaproxy(values.haproxy as HaproxyVersion);
if (binary === undefined) throw new Error(`HAProxy ${values.haproxy} is not there`);
const began = performance.now();
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const report = await fuzz({ binary, count, seed, network: "127.121.1", say });
say(`seed ${seed}, ${((performance.now() - began) / 1_000).toFixed(0)} s: ${JSON.stringify(report, undefined, 2)}`);
process.exit(report.violations.length === 0 ? 0 : 1);
