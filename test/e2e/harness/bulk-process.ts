/** Stands in for h2load and wrk where they are not installed: our own client, in a process of its own. */
import { type LanePlan, startLane } from "../../../src/devcluster/load/index.ts";
import type { BulkPlan, BulkReport } from "./bulk.ts";

const BODY = Buffer.alloc(512, "x");
/** Requests in flight on one h2 connection. */
const STREAMS = 4;

function lanePlan(plan: BulkPlan): LanePlan {
  const { name, host, address, port, protocol, method, clients, rate, seconds } = plan;
  const workers = protocol === "h2" ? clients * STREAMS : clients;
  return {
    name,
    target: { address, port, ...(protocol === "h2" && { tls: { servername: host } }) },
    protocol: protocol === "h2" ? "h2" : "http/1.1",
    connection: protocol === "h1-one-shot" ? "one-shot" : "keep-alive",
    method,
    host,
    path: `/${name}`,
    ...(method === "POST" && { body: BODY }),
    workers,
    pauseMs: (1_000 * workers) / rate,
    limit: Math.round(rate * seconds),
  };
}

process.on("message", (plans: readonly BulkPlan[]) => {
  const reports = plans.map(async (plan): Promise<BulkReport> => {
    const { name, requests, failed, repeated, failures } = await startLane(lanePlan(plan)).done;
    return { name, requests, failed, repeated, failures };
  });
  void Promise.all(reports).then((all) => process.send?.(all));
});
process.on("disconnect", () => process.exit());
