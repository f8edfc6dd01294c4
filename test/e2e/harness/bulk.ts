/**
 * The bulk of the load: h2load and wrk, which cost little, at a rate that leaves room for what is measured. Their counts
 * come as a LaneReport, like those of our own client, which asks the same questions beside them and judges each answer.
 */
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

export interface BulkPlan {
  readonly name: string;
  readonly host: string;
  readonly address: string;
  readonly port: number;
  /** "h1" and "h1-one-shot" go without TLS; "h2" with. */
  readonly protocol: "h1" | "h1-one-shot" | "h2";
  readonly method: "GET" | "POST";
  readonly clients: number;
  /** Requests a second, of all clients together. */
  readonly rate: number;
  readonly seconds: number;
  /** Asked by our own client, which repeats what was refused and connects again, as a browser does; h2load does neither. */
  readonly repeats?: boolean;
}

export interface BulkReport {
  readonly name: string;
  readonly requests: number;
  readonly failed: number;
  /** Refusals that were repeated and answered. */
  readonly repeated: number;
  readonly failures: readonly string[];
}

const BODY = "x".repeat(512);

function hasLoadTools(): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return ["wrk", "h2load"].every((tool) => folders.some((folder) => existsSync(join(folder, tool))));
}

function outputOf(command: string, args: readonly string[]): Promise<string> {
  return new Promise((done, failed) => {
    // Users are elsewhere: their work does not take the time of what serves them.
    const child = spawn("nice", ["-n", "10", command, ...args], { stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (part) => (text += part));
    child.on("error", failed);
    child.on("close", () => done(text));
  });
}

const numberIn = (text: string, pattern: RegExp): number => Number(pattern.exec(text)?.[1] ?? Number.NaN);

async function h2load(plan: BulkPlan, folder: string): Promise<BulkReport> {
  const { host, address, port, protocol, method, clients, rate, seconds } = plan;
  const wanted = Math.round(rate * seconds);
  const body = join(folder, `${plan.name}.body`);
  writeFileSync(body, BODY);
  const output = await outputOf("h2load", [
    `--requests=${wanted}`,
    `--clients=${clients}`,
    `--rps=${rate / clients}`,
    ...(protocol === "h1" ? ["--h1"] : ["--max-concurrent-streams=4"]),
    ...(method === "POST" ? [`--data=${body}`] : []),
    `--connect-to=${address}:${port}`,
    `${protocol === "h2" ? "https" : "http"}://${host}:${port}/${plan.name}`,
  ]);
  const done = numberIn(output, /requests: \d+ total, \d+ started, (\d+) done/);
  const ok = numberIn(output, /status codes: (\d+) 2xx/);
  // What never got its connection or its answer has failed, too.
  const failed = Number.isNaN(ok) ? wanted : wanted - ok;
  const lines = output.split("\n").filter((line) => /requests:|status codes:|error|fail/i.test(line));
  return {
    name: plan.name,
    requests: Number.isNaN(done) ? 0 : done,
    failed,
    repeated: 0,
    failures: failed > 0 ? lines : [],
  };
}

/** wrk waits `pause` ms before each request of a connection, and closes it after each. */
const wrkScript = (plan: BulkPlan, pause: number): string => `
wrk.method = "${plan.method}"
${plan.method === "POST" ? `wrk.body = "${BODY}"` : ""}
wrk.headers["Host"] = "${plan.host}"
wrk.headers["Connection"] = "close"
function delay() return ${pause} end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format("counts %d %d %d %d %d %d\\n", summary.requests, e.connect, e.read, e.write, e.status, e.timeout))
end
`;

async function wrk(plan: BulkPlan, folder: string): Promise<BulkReport> {
  const { address, port, clients, rate, seconds } = plan;
  const script = join(folder, `${plan.name}.lua`);
  writeFileSync(script, wrkScript(plan, Math.round((1_000 * clients) / rate)));
  const args = [`-c${clients}`, "-t1", `-d${seconds}s`, "--timeout", "10s", "-s", script];
  const output = await outputOf("wrk", [...args, `http://${address}:${port}/${plan.name}`]);
  const counts = /counts (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)/.exec(output)?.slice(1).map(Number);
  if (counts === undefined)
    return { name: plan.name, requests: 0, failed: 1, repeated: 0, failures: output.split("\n") };
  const [requests = 0, ...errors] = counts;
  const failed = errors.reduce((sum, count) => sum + count, 0);
  const [connect, read, write, status, timeout] = errors;
  const what = `connect ${connect}, read ${read}, write ${write}, status ${status}, timeout ${timeout}`;
  return { name: plan.name, requests, failed, repeated: 0, failures: failed > 0 ? [what] : [] };
}

/** Starts all at once; where the tools are not there, our own client does the same. Debian has them as wrk and nghttp2-client. */
export async function runBulk(plans: readonly BulkPlan[]): Promise<readonly BulkReport[]> {
  if (!hasLoadTools()) return ownClient(plans);
  const folder = mkdtempSync(join(tmpdir(), "haptic-bulk-"));
  const own = plans.filter(({ repeats }) => repeats);
  const tools = plans.filter(({ repeats }) => !repeats);
  try {
    const reports = await Promise.all([
      own.length === 0 ? [] : ownClient(own),
      ...tools.map((plan) => (plan.protocol === "h1-one-shot" ? wrk : h2load)(plan, folder)),
    ]);
    return reports.flat();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function ownClient(plans: readonly BulkPlan[]): Promise<readonly BulkReport[]> {
  const child = fork(join(import.meta.dirname, "bulk-process.ts"), { execArgv: [], stdio: "inherit" });
  child.send(plans);
  const gone = once(child, "exit").then(() => {
    throw new Error("the load's process ended early");
  });
  const [reports] = (await Promise.race([once(child, "message"), gone])) as [readonly BulkReport[]];
  gone.catch(() => undefined);
  child.kill("SIGKILL");
  return reports;
}
