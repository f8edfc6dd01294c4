/** The agent's Prometheus metrics: counts of what it tells of its work, gauges read when somebody asks. Loaded only where they are served. */
import { Counter, Gauge, Registry } from "prom-client";
import type { AgentNote } from "./notes.ts";
import type { OldWorkers } from "./pacing.ts";
import type { Answer } from "./ticket.ts";
import type { ApplyResult, Conflict, Missing } from "./api.ts";

/** What is read when the metrics are asked for. */
export interface AgentMetricSources {
  readonly generation: () => number;
  readonly isReady: () => boolean;
  readonly isReloadPending: () => boolean;
  /** Servers and backends that wait for removal. */
  readonly pendingRemovals: () => { readonly server: number; readonly backend: number };
  /** Milliseconds between two reloads, as it stands. */
  readonly reloadIntervalMs: () => number;
  /** Asks HAProxy's master; undefined = it does not answer. */
  readonly oldWorkers: () => Promise<OldWorkers | undefined>;
}

/** Why an apply was refused, by its answer; undefined = it was taken. */
export function refusalStage({ status, body }: Answer): string | undefined {
  switch (status) {
    case 200:
      return (body as ApplyResult).error?.stage;
    case 401:
    case 403:
      return "identity";
    case 409:
      return "missing" in (body as Conflict | Missing) ? "content" : "fence";
    case 503:
      return "unavailable";
    default:
      return status < 500 ? "request" : "files";
  }
}

export class AgentMetrics {
  readonly registry = new Registry();
  readonly #counters;

  constructor(sources: AgentMetricSources) {
    const registers = [this.registry];
    const counter = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> =>
      new Counter({ name, help, labelNames, registers });
    const gauge = <L extends string = never>(
      name: string,
      help: string,
      read: (gauge: Gauge<L>) => void | Promise<void>,
      labelNames: readonly L[] = [],
    ): Gauge<L> =>
      new Gauge<L>({
        name,
        help,
        labelNames,
        registers,
        collect() {
          return read(this);
        },
      });
    this.#counters = {
      applies: counter("haptic_agent_apply_total", "Applies that were answered with a result, by how they went", [
        "mode",
      ]),
      refusals: counter("haptic_agent_apply_rejected_total", "Applies that were refused, by what refused them", [
        "stage",
      ]),
      broken: counter(
        "haptic_agent_invariant_violations_total",
        "Times that the agent broke a rule that it must not break",
        ["name"],
      ),
      reloads: counter("haptic_agent_reloads_total", "Reloads that HAProxy was asked for, by its verdict", ["result"]),
      rollbacks: counter("haptic_agent_rollbacks_total", "Refused sets whose former set was put back"),
      removals: counter(
        "haptic_agent_deferred_deletes_total",
        "Servers and backends that were taken out of traffic and have to leave the worker",
        ["kind", "outcome"],
      ),
      opErrors: counter("haptic_agent_op_errors_total", "Operations that HAProxy refused", ["kind"]),
      divergence: counter(
        "haptic_agent_divergence_total",
        "Times that the worker, read back, was not what its operations were to make of it",
        ["object"],
      ),
      mapDivergence: counter("haptic_agent_map_divergence_total", "Those of them in which a map's entry differed"),
    };
    gauge("haptic_agent_generation", "Number of the set of files in force: each accepted change is one", (to) => {
      to.set(sources.generation());
    });
    gauge("haptic_agent_ready", "1 while applies are accepted", (to) => to.set(sources.isReady() ? 1 : 0));
    gauge("haptic_agent_reload_pending", "1 while a set waits for its reload", (to) => {
      to.set(sources.isReloadPending() ? 1 : 0);
    });
    gauge("haptic_agent_reload_interval_seconds", "Time between two reloads, as old workers stretch it", (to) => {
      to.set(sources.reloadIntervalMs() / 1_000);
    });
    gauge(
      "haptic_agent_pending_deletes",
      "Servers and backends that take no traffic any more and are in the worker still",
      (to) => {
        const { server, backend } = sources.pendingRemovals();
        to.set({ kind: "server" }, server);
        to.set({ kind: "backend" }, backend);
      },
      ["kind"],
    );
    const ofOldWorkers = (name: string, help: string, choose: (old: OldWorkers) => number | undefined): Gauge =>
      gauge(name, help, async (to) => {
        const old = await sources.oldWorkers();
        const value = old === undefined ? undefined : choose(old);
        // Nothing is said of what is not known.
        if (value === undefined) to.remove();
        else to.set(value);
      });
    ofOldWorkers(
      "haptic_agent_old_workers",
      "HAProxy's old workers that still serve connections",
      ({ count }) => count,
    );
    ofOldWorkers(
      "haptic_agent_old_workers_memory_bytes",
      "Memory of HAProxy's old workers; absent where their processes cannot be seen",
      ({ bytes }) => bytes,
    );
  }

  /** Adds what is known of this process: the few figures that cost no memory of their own. Once a process. */
  addProcess(): void {
    const figures: readonly (readonly [name: string, help: string, read: () => number])[] = [
      ["process_resident_memory_bytes", "Resident memory size in bytes.", () => process.memoryUsage.rss()],
      [
        "nodejs_heap_size_used_bytes",
        "Process heap size used from Node.js in bytes.",
        () => process.memoryUsage().heapUsed,
      ],
      ["nodejs_external_memory_bytes", "Node.js external memory size in bytes.", () => process.memoryUsage().external],
      [
        "process_start_time_seconds",
        "Start time of the process since unix epoch in seconds.",
        () => performance.timeOrigin / 1_000,
      ],
    ];
    for (const [name, help, read] of figures)
      this.registry.registerMetric(
        new Gauge({
          name,
          help,
          registers: [],
          collect() {
            this.set(read());
          },
        }),
      );
    const seconds = new Counter({
      name: "process_cpu_seconds_total",
      help: "Total user and system CPU time spent in seconds.",
      registers: [],
      collect() {
        const { user, system } = process.cpuUsage();
        this.reset();
        this.inc((user + system) / 1e6);
      },
    });
    this.registry.registerMetric(seconds);
  }

  answered(answer: Answer): void {
    const { applies, refusals } = this.#counters;
    if (answer.status === 200) applies.inc({ mode: (answer.body as ApplyResult).mode });
    const stage = refusalStage(answer);
    if (stage !== undefined) refusals.inc({ stage });
  }

  note(note: AgentNote): void {
    const counters = this.#counters;
    switch (note.what) {
      case "reload":
        return counters.reloads.inc({ result: note.result });
      case "rollback":
        return counters.rollbacks.inc();
      case "operation refused":
        return counters.opErrors.inc({ kind: note.kind });
      case "removal":
        return counters.removals.inc({ kind: note.kind, outcome: note.outcome }, note.count);
      case "divergence":
        counters.divergence.inc({ object: note.object });
        if (note.object === "map") counters.mapDivergence.inc();
        return;
      case "broken":
        return counters.broken.inc({ name: note.invariant });
    }
  }
}
