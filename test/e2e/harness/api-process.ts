/** The embedded API's own process, so that what loads the test's event loop does not slow it down: argv = HOST PORT. */
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";

export type ApiOrder =
  /** Refuses and cuts every connection for so long. */
  | { readonly do: "outage"; readonly ms: number }
  /** Ends every watch, and answers 410 to those who want to go on where they were. */
  | { readonly do: "expire" }
  /** Cuts every watch in mid-stream. */
  | { readonly do: "drop" }
  /** Holds every watch's events back while on. */
  | { readonly do: "stall"; readonly on: boolean }
  /** Answers 403 to whoever reads the resource (plural), while on. */
  | { readonly do: "forbid"; readonly resource: string; readonly on: boolean }
  /** Fails every status write and every Event after so long, while above 0. */
  | { readonly do: "failWrites"; readonly afterMs: number }
  | { readonly do: "count" };

export interface ApiReply {
  readonly kubeconfig?: string;
  /** Requests by verb and resource: `list services`, `patch leases.coordination.k8s.io`. */
  readonly requests?: Readonly<Record<string, number>>;
  readonly error?: string;
}

const EVER = 1_000_000;
const [, , host = "127.0.0.1", port = "6443"] = process.argv;
const api = await startEmbeddedApi({ host, port: Number(port) });
const reply = (message: ApiReply): void => void process.send?.(message);

async function obey(order: ApiOrder): Promise<ApiReply> {
  if (order.do === "outage") await api.outage(order.ms);
  if (order.do === "expire") {
    api.faults.expireHistory();
    api.faults.dropWatches();
  }
  if (order.do === "drop") api.faults.dropWatches();
  if (order.do === "stall") api.faults.stallWatches(order.on);
  if (order.do === "forbid" || order.do === "failWrites") api.faults.clear();
  if (order.do === "forbid" && order.on) {
    const reads = new RegExp(`^GET \\S*/${order.resource}\\b`);
    api.faults.failNext({
      status: 403,
      reason: "Forbidden",
      match: reads,
      count: EVER,
      message: "forbidden for a test",
    });
  }
  if (order.do === "failWrites" && order.afterMs > 0) {
    const writes = /^(PATCH|PUT|POST) \S*(\/status\b|\/events\b)/;
    api.faults.slow(order.afterMs, writes);
    api.faults.failNext({ status: 500, reason: "InternalError", match: writes, count: EVER });
  }
  return { requests: api.counters.requests };
}

process.on("message", (order: ApiOrder) => {
  obey(order).then(reply, (error: unknown) => reply({ error: String(error) }));
});
process.on("disconnect", () => process.exit());
reply({ kubeconfig: api.kubeconfig });
