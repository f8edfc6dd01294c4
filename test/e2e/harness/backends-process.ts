/**
 * The backends' own process, so that they answer while others work. It is told to start and to remove addresses; a
 * removed one answers for 100 ms more, then cuts its sockets. 500 ms after the removal a witness takes the address for a
 * minute and counts whoever still comes.
 */
import { createServer } from "node:net";
import { type SampleBackend, startSample } from "../../../src/devcluster/samples.ts";

export type BackendOrder =
  | { readonly id: number; readonly do: "start"; readonly address: string; readonly name: string }
  | { readonly id: number; readonly do: "remove"; readonly address: string }
  | { readonly id: number; readonly do: "report" };

export interface BackendReport {
  /** Requests that living and removed backends have answered, by address. */
  readonly answered: Readonly<Record<string, number>>;
  /** Connections to an address later than 500 ms after its removal: `address +MS`. */
  readonly late: readonly string[];
}

export interface BackendReply {
  readonly id: number;
  readonly error?: string;
  readonly report?: BackendReport;
}

export const BACKEND_PORT = 9080;
/** A removed one serves on for so long. */
const GRACE_MS = 100;
const LATE_MS = 500;
/** So long the witness stays: a process has only so many sockets. */
const WITNESS_MS = 60_000;

const living = new Map<string, SampleBackend>();
const answered = new Map<string, () => number>();
const late: string[] = [];

async function remove(address: string): Promise<void> {
  const removedAt = performance.now();
  const backend = living.get(address);
  living.delete(address);
  await backend?.stop();
  await new Promise((wake) => setTimeout(wake, Math.max(0, LATE_MS - (performance.now() - removedAt))));
  const witness = createServer((socket) => {
    late.push(`${address} +${Math.round(performance.now() - removedAt)} ms`);
    socket.destroy();
  });
  witness.listen({ host: address, port: BACKEND_PORT, exclusive: true });
  setTimeout(() => witness.close(), WITNESS_MS).unref();
}

async function obey(order: BackendOrder): Promise<BackendReport | undefined> {
  if (order.do === "report") {
    return { answered: Object.fromEntries([...answered].map(([address, count]) => [address, count()])), late };
  }
  if (order.do === "start") {
    const { address, name } = order;
    const backend = await startSample({ name, address, ports: [BACKEND_PORT], graceMs: GRACE_MS });
    living.set(address, backend);
    answered.set(address, backend.answered);
  } else {
    // It is told at once; what follows is the backend's own affair.
    void remove(order.address).catch((error: unknown) => late.push(`${order.address}: ${String(error)}`));
  }
  return undefined;
}

process.on("message", (order: BackendOrder) => {
  obey(order)
    .then((report) => process.send?.({ id: order.id, ...(report === undefined ? {} : { report }) }))
    .catch((error: unknown) => process.send?.({ id: order.id, error: String(error) }));
});
process.on("disconnect", () => process.exit());
