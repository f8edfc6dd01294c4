/**
 * The controller's Prometheus metrics. Counts come from the bus and from what is measured beside it; gauges are read when somebody asks.
 * Label values are names of pods, aliases, kinds of events and our own words: their number is bounded by the cluster's.
 */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { ObservedEvent } from "./events.ts";
import type { ApplyNote, RenderLife } from "./lives.ts";

/** What is read when the metrics are asked for. */
export interface MetricSources {
  readonly bus: () => {
    readonly published: number;
    readonly depth: number;
    readonly maxAgeMs: number;
    readonly subscribers: number;
  };
  /** Objects by alias of the serving configuration. */
  readonly resources: () => Readonly<Record<string, number>>;
  /** Objects that the templates could not take, or said something of. */
  readonly rejectedInputs: () => number;
  /** A newer configuration was refused: the former serves on. */
  readonly retained: () => boolean;
  /** Condition `Validated` of the configuration: its status and reason. */
  readonly validated: () => { readonly status: string; readonly reason: string } | undefined;
  readonly gatePinned: () => boolean;
  /** What is published: objects, and how long the accepted plan has waited to be. */
  readonly published: () => { readonly objects: number; readonly lagMs: number };
  /** Pages attached to the live page, and events that they were told in sums only. */
  readonly live: () => { readonly pages: number; readonly summarized: number };
  readonly version: string;
  readonly haproxyVersion: string;
  /** Wall-clock milliseconds. */
  readonly wallClock: () => number;
}

/** From a runtime operation's millisecond to a cold render of a large cluster. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

export class ControllerMetrics {
  readonly registry = new Registry();
  readonly #podNames = new Map<string, string>();
  /** Bound once: every event of the bus comes by. */
  readonly #eventsByType = new Map<string, Counter.Internal>();
  #counters;

  constructor(sources: MetricSources) {
    const registers = [this.registry];
    const counter = <L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> =>
      new Counter({ name, help, labelNames, registers });
    const histogram = (name: string, help: string): Histogram =>
      new Histogram({ name, help, buckets: SECONDS, registers });
    const gauge = <L extends string = never>(
      name: string,
      help: string,
      collect: ((gauge: Gauge<L>) => void) | undefined,
      labelNames: readonly L[] = [],
    ): Gauge<L> =>
      new Gauge<L>({
        name,
        help,
        labelNames,
        registers,
        ...(collect !== undefined && {
          collect() {
            collect(this);
          },
        }),
      });

    this.#counters = {
      reconciliations: counter("haptic_reconciliation_total", "Renders that came to an end, whichever"),
      reconciliationErrors: counter(
        "haptic_reconciliation_errors_total",
        "Renders that failed or that HAProxy refused",
      ),
      reconciliationSeconds: histogram(
        "haptic_reconciliation_duration_seconds",
        "From the first trigger of a render until every pod had answered",
      ),
      queueSeconds: histogram(
        "haptic_reconciliation_queue_wait_seconds",
        "From the first trigger of a render until it began",
      ),
      renders: counter("haptic_render_total", "Renders by what they could reuse", ["cache_state"]),
      renderErrors: counter("haptic_render_errors_total", "Renders without a result"),
      deployments: counter("haptic_deployment_total", "Deployments that came to an end"),
      deploymentErrors: counter("haptic_deployment_errors_total", "Deployments that not every pod took"),
      deploymentSeconds: histogram("haptic_deployment_duration_seconds", "From a deployment's start to its end"),
      reloads: counter(
        "haptic_haproxy_reloads_total",
        "Applies that reloaded an HAProxy, or had the agent schedule it",
      ),
      ownReloads: counter(
        "haptic_haproxy_own_reloads_total",
        "Reloads that a pod's agent asked for by itself, as HAProxy was not what it was to be",
        ["pod"],
      ),
      applies: counter("haptic_deploy_apply_total", "Applies that a pod's agent took, by how", ["pod", "mode"]),
      appliesRejected: counter("haptic_apply_rejected_total", "Applies that a pod's agent refused", ["pod"]),
      podsRejected: counter("haptic_haproxy_pods_rejected_total", "Candidates that are no HAProxy pods to deploy to", [
        "reason",
      ]),
      validations: counter("haptic_validation_total", "Verdicts of HAProxy on rendered plans"),
      validationErrors: counter("haptic_validation_errors_total", "Plans that HAProxy refused"),
      checks: counter("haptic_haproxy_checks_total", "Runs of `haproxy -c`"),
      checkSeconds: histogram("haptic_haproxy_check_duration_seconds", "How long `haproxy -c` took"),
      configValidations: counter("haptic_config_validation_total", "Configurations that were tried", ["result"]),
      configRejected: counter("haptic_config_rejected_total", "Configurations refused, by who refused", ["validator"]),
      contests: counter(
        "haptic_leader_election_contested_total",
        "Times that agents refused this leader again: another controller works on the same pods",
      ),
      renewFailures: counter(
        "haptic_leader_election_lease_failures_total",
        "Requests for the Lease that the API server did not answer, or refused",
      ),
      transitions: counter("haptic_leader_election_transitions_total", "Terms that began or ended"),
      publications: counter("haptic_publish_total", "Publications that wrote something"),
      publishWrites: counter("haptic_publish_writes_total", "Objects written, created or deleted by publications"),
      publishErrors: counter("haptic_publish_errors_total", "Publications that failed or were given up, by why", [
        "reason",
      ]),
      publishSeconds: histogram("haptic_publish_duration_seconds", "How long a publication took"),
      events: counter("haptic_bus_events_total", "Events of the bus by type", ["type"]),
      isLeader: gauge("haptic_leader_election_is_leader", "1 while this replica leads", (gauge) => {
        gauge.set(this.#leadingSince === undefined ? 0 : 1);
      }),
      fleet: gauge(
        "haptic_haproxy_fleet_size",
        "HAProxy pods that are deployed to; 0 on a replica that does not lead",
        undefined,
      ),
      converged: gauge(
        "haptic_haproxy_fleet_converged",
        "Pods that took the newest deployment; 0 on a replica that does not lead",
        undefined,
      ),
      lastSync: gauge(
        "haptic_last_full_sync_timestamp_seconds",
        "When every pod had taken a deployment last, Unix time",
        undefined,
      ),
      consecutiveFailures: gauge(
        "haptic_deployment_consecutive_failures",
        "Deployments in a row that not every pod took",
        undefined,
      ),
      iterations: counter(
        "haptic_controller_reinitializations_total",
        "Times that a new configuration took over from one that served",
      ),
    };

    /** A count that is kept elsewhere. */
    const kept = (name: string, help: string, read: () => number): Counter =>
      new Counter({
        name,
        help,
        registers,
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    kept(
      "haptic_leader_election_time_as_leader_seconds_total",
      "Seconds spent as leader",
      () => (this.#ledMs + this.#presentTermMs(sources.wallClock())) / 1_000,
    );
    kept("haptic_events_published_total", "Events that went over the bus", () => sources.bus().published);
    kept(
      "haptic_events_dropped_observability_total",
      "Events that the attached live pages were told in sums only",
      () => sources.live().summarized,
    );
    gauge("haptic_event_subscribers", "Subscriptions to the bus", (gauge) => {
      gauge.set(sources.bus().subscribers);
    });
    gauge(
      "haptic_component_mailbox_depth",
      "Events that wait",
      (gauge) => {
        gauge.set({ component: "bus" }, sources.bus().depth);
      },
      ["component"],
    );
    gauge("haptic_bus_wait_seconds_max", "Longest time that an event waited on the bus since the start", (gauge) => {
      gauge.set(sources.bus().maxAgeMs / 1_000);
    });
    gauge("haptic_live_pages", "Live pages that are attached", (gauge) => {
      gauge.set(sources.live().pages);
    });
    gauge(
      "haptic_resource_count",
      "Objects in the stores, by alias",
      (gauge) => {
        gauge.reset();
        for (const [type, count] of Object.entries(sources.resources())) gauge.set({ type }, count);
      },
      ["type"],
    );
    gauge("haptic_rejected_watched_inputs", "Objects that templates could not take or warn of", (gauge) => {
      gauge.set(sources.rejectedInputs());
    });
    gauge(
      "haptic_retained_config_active",
      "1 while an older configuration serves as the newer was refused",
      (gauge) => {
        gauge.set(sources.retained() ? 1 : 0);
      },
    );
    gauge("haptic_publish_objects", "Objects that are published, as this leader knows them", (gauge) => {
      gauge.set(sources.published().objects);
    });
    gauge("haptic_publish_lag_seconds", "How long the accepted plan has not been published; 0 = it is", (gauge) => {
      gauge.set(sources.published().lagMs / 1_000);
    });
    gauge("haptic_config_pinned", "1 while HAProxy refuses one plan after the other", (gauge) => {
      gauge.set(sources.gatePinned() ? 1 : 0);
    });
    gauge(
      "haptic_config_validated",
      "Condition Validated of the configuration, 1 for what it says",
      (gauge) => {
        gauge.reset();
        const condition = sources.validated();
        if (condition !== undefined) gauge.set({ status: condition.status, reason: condition.reason }, 1);
      },
      ["status", "reason"],
    );
    gauge(
      "haptic_build_info",
      "Always 1; what runs",
      (gauge) => {
        gauge.set(
          { version: sources.version, haproxy_version: sources.haproxyVersion, node_version: process.versions.node },
          1,
        );
      },
      ["version", "haproxy_version", "node_version"],
    );
    this.#wallClock = sources.wallClock;
  }

  readonly #wallClock: () => number;
  #leadingSince: number | undefined;
  #ledMs = 0;
  #accepted = 0;
  /** Pods that are known, whether this replica leads or not. */
  #fleet = 0;

  /** Adds what is known of this process: memory, CPU, event loop. Once a process. */
  addProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Hears the bus. */
  note(event: ObservedEvent): void {
    const counters = this.#counters;
    let ofType = this.#eventsByType.get(event.type);
    if (ofType === undefined) {
      ofType = counters.events.labels({ type: event.type });
      this.#eventsByType.set(event.type, ofType);
    }
    ofType.inc();
    switch (event.type) {
      case "TERM.BEGAN":
        counters.transitions.inc();
        this.#leadingSince ??= this.#wallClock();
        return counters.fleet.set(this.#fleet);
      case "TERM.ENDED":
        counters.transitions.inc();
        this.#ledMs += this.#presentTermMs(this.#wallClock());
        this.#leadingSince = undefined;
        // What the fleet does is the next leader's to say.
        counters.fleet.set(0);
        counters.converged.set(0);
        return counters.consecutiveFailures.set(0);
      case "TERM.CONTESTED":
        return counters.contests.inc();
      case "LEASE.UNREACHABLE":
        return counters.renewFailures.inc();
      case "RENDER.FAILED":
        counters.reconciliationErrors.inc();
        return counters.renderErrors.inc();
      case "DEPLOYMENT.COMPLETED":
        counters.deployments.inc();
        counters.converged.set(event.succeeded);
        if (event.succeeded === event.total) {
          counters.consecutiveFailures.set(0);
          return counters.lastSync.set(this.#wallClock() / 1_000);
        }
        counters.deploymentErrors.inc();
        return counters.consecutiveFailures.inc();
      case "PODS.CHANGED": {
        this.#fleet = event.pods.length;
        if (this.#leadingSince !== undefined) counters.fleet.set(this.#fleet);
        const names = new Map(event.pods.map((pod) => [pod.id, `${pod.namespace}/${pod.name}`]));
        for (const [id, name] of this.#podNames) {
          if (![...names.values()].includes(name)) this.#forget(name);
          if (!names.has(id)) this.#podNames.delete(id);
        }
        for (const [id, name] of names) this.#podNames.set(id, name);
        return;
      }
      case "POD.UNREACHABLE":
        return counters.podsRejected.inc({ reason: "unreachable" });
      case "PLAN.PASSED":
        return counters.validations.inc();
      case "PLAN.REFUSED":
        counters.validations.inc();
        counters.reconciliationErrors.inc();
        return counters.validationErrors.inc();
      case "PUBLICATION.WRITTEN":
        if (event.writes === 0) return;
        counters.publications.inc();
        counters.publishWrites.inc(event.writes);
        return counters.publishSeconds.observe(event.tookMs / 1_000);
      case "PUBLICATION.FAILED":
      case "PUBLICATION.REFUSED":
        return counters.publishErrors.inc({ reason: event.reason });
      case "ITERATION.ACCEPTED":
        counters.configValidations.inc({ result: "accepted" });
        if (this.#accepted > 0) counters.iterations.inc();
        this.#accepted += 1;
        return;
      case "ITERATION.REFUSED":
        counters.configValidations.inc({ result: "refused" });
        return counters.configRejected.inc({
          validator: event.reason === "HAProxyValidationFailed" ? "haproxy" : "template",
        });
      case "CONFIG.INVALID":
        counters.configValidations.inc({ result: "refused" });
        return counters.configRejected.inc({ validator: "basic" });
      case "CONFIG.HELD":
        counters.configValidations.inc({ result: "held" });
        return;
      default:
    }
  }

  renderMeasured(cacheState: string): void {
    this.#counters.renders.inc({ cache_state: cacheState });
  }

  applied({ pod, mode, ok }: ApplyNote): void {
    const name = this.#podNames.get(pod) ?? pod;
    if (!ok) return this.#counters.appliesRejected.inc({ pod: name });
    this.#counters.applies.inc({ pod: name, mode });
    if (mode === "reload" || mode === "scheduled") this.#counters.reloads.inc();
  }

  reloadedItself(pod: string): void {
    this.#counters.ownReloads.inc({ pod: this.#podNames.get(pod) ?? pod });
  }

  checked(tookMs: number): void {
    this.#counters.checks.inc();
    this.#counters.checkSeconds.observe(tookMs / 1_000);
  }

  /** A render's life is over. */
  ended(life: RenderLife): void {
    const counters = this.#counters;
    counters.reconciliations.inc();
    counters.queueSeconds.observe(life.renderBeganMs / 1_000);
    if (life.completedMs === undefined) return;
    counters.reconciliationSeconds.observe(life.completedMs / 1_000);
    if (life.scheduledMs !== undefined)
      counters.deploymentSeconds.observe((life.completedMs - life.scheduledMs) / 1_000);
  }

  /** A pod that is gone leaves no series behind. */
  #forget(pod: string): void {
    const { applies, appliesRejected, ownReloads } = this.#counters;
    appliesRejected.remove({ pod });
    ownReloads.remove({ pod });
    for (const mode of MODES) applies.remove({ pod, mode });
  }

  #presentTermMs(now: number): number {
    return this.#leadingSince === undefined ? 0 : now - this.#leadingSince;
  }
}

/** Modes that an agent may answer with. */
const MODES = ["noop", "runtime", "file_only", "reload", "scheduled", "rejected"];
