/**
 * Load from inside the node's box, where the cluster's addresses are: every kind of request to one Service. Runs until its
 * standard input ends; each line on standard output is a report of what came to an end so far, the last one is the whole.
 *
 *     load-process.ts ADDRESS HOST PAUSE_MS
 */
import { type LanePlan, startLane } from "../../../src/devcluster/load/index.ts";

const [address = "", host = "", pause = "0"] = process.argv.slice(2);

type Kind = Pick<LanePlan, "protocol" | "connection" | "method" | "workers"> & { readonly tls: boolean };

const KINDS: readonly Kind[] = [
  { protocol: "http/1.1", connection: "keep-alive", method: "GET", workers: 6, tls: false },
  { protocol: "http/1.1", connection: "keep-alive", method: "POST", workers: 4, tls: false },
  { protocol: "http/1.1", connection: "one-shot", method: "GET", workers: 2, tls: false },
  { protocol: "http/1.1", connection: "one-shot", method: "POST", workers: 1, tls: true },
  { protocol: "http/1.1", connection: "keep-alive", method: "GET", workers: 2, tls: true },
  { protocol: "h2", connection: "keep-alive", method: "GET", workers: 4, tls: true },
  { protocol: "h2", connection: "keep-alive", method: "POST", workers: 2, tls: true },
];

const lanes = KINDS.map(({ tls, ...kind }) =>
  startLane({
    ...kind,
    name: `${kind.protocol} ${tls ? "tls " : ""}${kind.connection} ${kind.method}`,
    target: { address, port: tls ? 443 : 80, ...(tls && { tls: { servername: host } }) },
    host,
    path: "/",
    ...(kind.method === "POST" && { body: Buffer.alloc(300, "b") }),
    pauseMs: Number(pause),
  }),
);

const report = (): void => {
  const reports = lanes.map((lane) => lane.report());
  const of = (protocol: string) => {
    const mine = reports.filter(({ name }) => name.startsWith(protocol));
    const sum = (key: "requests" | "failed" | "repeated"): number => mine.reduce((total, one) => total + one[key], 0);
    return {
      requests: sum("requests"),
      failed: sum("failed"),
      repeated: sum("repeated"),
      failures: mine.flatMap(({ name, failures }) => failures.map((failure) => `${name}: ${failure}`)),
    };
  };
  process.stdout.write(`${JSON.stringify({ h1: of("http/1.1"), h2: of("h2") })}\n`);
};

const ticking = setInterval(report, 500);
process.stdin.resume();
process.stdin.once("end", () => {
  clearInterval(ticking);
  void Promise.all(lanes.map((lane) => lane.stop())).then(() => {
    report();
    process.exit();
  });
});
