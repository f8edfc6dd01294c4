/**
 * Loaded into the controller's process by the bench (`--import`): answers on a unix socket how long its event loop stood
 * still since it was last asked to watch, and how much memory it has. It costs nothing while it does not watch.
 */
import { createServer } from "node:net";
import { monitorEventLoopDelay } from "node:perf_hooks";

export interface LoopReport {
  /** Milliseconds above the timer's own interval. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  readonly rss: number;
  readonly heapUsed: number;
}

const RESOLUTION_MS = 1;
const path = process.env["BENCH_PROBE_SOCKET"];
// Its own children load it, too; they have no socket of their own to answer on.
delete process.env["BENCH_PROBE_SOCKET"];
if (path !== undefined) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  if (process.env["BENCH_PROBE_AT_START"] === "1") delay.enable();
  const ms = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  const report = (): LoopReport => {
    const { rss, heapUsed } = process.memoryUsage();
    const [p50, p95, p99] = [50, 95, 99].map((percentile) => ms(delay.percentile(percentile)));
    return { p50: p50!, p95: p95!, p99: p99!, max: ms(delay.max), rss, heapUsed };
  };
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.setEncoding("utf8").on("data", (order: string) => {
      const answer = report();
      delay.disable();
      delay.reset();
      if (order.startsWith("watch")) delay.enable();
      socket.end(JSON.stringify(answer));
    });
  });
  server.listen(path);
  server.unref();
}
