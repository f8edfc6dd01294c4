/** Books that are kept beside the charts, from what the bus says: faults, the condition, Events, counts. */
import type { BusEvent } from "./events.ts";
import { EMPTY_BOOK, noteEvent } from "./condition.ts";
import type { ConditionBook } from "./condition.ts";
import type { PublishFailure } from "../errors.ts";
import { EventLedger } from "./event-ledger.ts";
import type { EventSubject } from "../kube/index.ts";
import type { Warning } from "./event-ledger.ts";
import type { ApplyRecord } from "./pod-sessions.ts";
import { joinedReasons } from "./reload-ledger.ts";
import type { FaultRegistry } from "../observe/index.ts";
import type { IsolatedFault, TemplateEvent } from "../render/types.ts";

export interface RecordsDeps {
  readonly faults: FaultRegistry;
  /** The live configuration object, as an Event's subject. */
  readonly subject: () => EventSubject;
  /** `Kind namespace/name` of the configuration object. */
  readonly configName: string;
  /** Generation that the object's status speaks of already. */
  readonly observedGeneration: () => number | undefined;
  /** A watch that somebody still needs, by its id. */
  readonly isWatched: (watch: string) => boolean;
}

export interface Counters {
  applies: number;
  appliesByMode: Record<string, number>;
  appliesRefused: number;
  checks: number;
  checksRefused: number;
  reloads: number;
  renders: number;
  renderFailures: number;
  deployments: number;
}

/** Refusals of publications that last until somebody does something. */
const LASTING: ReadonlySet<string> = new Set<PublishFailure>([
  "Forbidden",
  "QuotaExceeded",
  "NotServed",
  "Invalid",
  "TooLarge",
]);

const MISSING =
  "the configuration object does not exist; kubectl apply of it (with haptic dev: saving its file again) brings it back";

export class Records {
  readonly ledger = new EventLedger();
  /** Id of the newest render; "" before the first. */
  renderedPlan = "";
  readonly counters: Counters = {
    applies: 0,
    appliesByMode: {},
    appliesRefused: 0,
    checks: 0,
    checksRefused: 0,
    reloads: 0,
    renders: 0,
    renderFailures: 0,
    deployments: 0,
  };
  readonly #deps: RecordsDeps;
  #book: ConditionBook = EMPTY_BOOK;
  #toldReload = "";
  #podNames = new Map<string, string>();
  readonly #faultedWatches = new Set<string>();
  /** What the last render said of objects. */
  #noted: { readonly isolated: number; readonly events: readonly TemplateEvent[] } | undefined;

  constructor(deps: RecordsDeps) {
    this.#deps = deps;
  }

  get book(): ConditionBook {
    return this.#book;
  }

  #watchIsWell(watch: string): void {
    this.#faultedWatches.delete(watch);
    this.#deps.faults.state(`watch:${watch}`, []);
    this.ledger.state(`watch:${watch}`, []);
  }

  /** Hears the bus before the charts do. */
  note(event: BusEvent): void {
    this.#book = noteEvent(this.#book, event);
    const { faults } = this.#deps;
    const config = this.#deps.configName;
    switch (event.type) {
      case "CONFIG.INVALID":
        return this.#config("ConfigInvalid", "ValidationFailed", event.message);
      case "CONFIG.HELD":
        return this.#config("ConfigHeld", "ValidationFailed", event.message);
      case "CONFIG.MISSING":
        return faults.state("config", [{ object: config, reason: "ConfigMissing", message: MISSING }]);
      case "ITERATION.REFUSED":
        return this.#config(event.reason, "ValidationFailed", event.message);
      case "ITERATION.ACCEPTED": {
        faults.state("config", []);
        faults.state("render", []);
        faults.state("gate", []);
        for (const watch of this.#faultedWatches) if (!this.#deps.isWatched(watch)) this.#watchIsWell(watch);
        if (this.ledger.stands("config")) this.ledger.state("config", [], "Validated");
        else if (this.#deps.observedGeneration() !== event.generation) {
          this.ledger.note({
            object: this.#deps.subject(),
            reason: "Validated",
            message: `generation ${event.generation} is valid and in force`,
          });
        }
        this.ledger.state("render", []);
        return this.ledger.state("gate", [], "RenderAcceptedByHAProxy");
      }
      case "RENDER.FAILED":
        this.counters.renderFailures += 1;
        faults.state("render", [{ object: config, reason: "RenderFailed", message: event.message }]);
        return this.ledger.state("render", [this.#warning("RenderFailed", event.message)]);
      case "PLAN.RENDERED":
        this.counters.renders += 1;
        this.renderedPlan = event.planId;
        faults.state("render", []);
        return this.ledger.state("render", []);
      case "PLAN.REFUSED":
        faults.state("gate", [{ object: config, reason: "HAProxyValidationFailed", message: event.message }]);
        return this.ledger.state("gate", [this.#warning("RenderRefusedByHAProxy", event.message)]);
      case "PLAN.PASSED":
        faults.state("unproven", []);
        faults.state("gate", []);
        return this.ledger.state("gate", [], "RenderAcceptedByHAProxy");
      case "PLAN.UNPROVEN":
        return faults.state("unproven", [{ object: "renderGate", reason: "Unproven", message: event.message }]);
      case "WATCH.FAULTED":
        this.#faultedWatches.add(event.watch);
        if (event.refused) {
          const message = `watchedResources.${event.alias}: ${event.message}`;
          this.ledger.state(`watch:${event.watch}`, [this.#warning("WatchFailed", message)]);
        }
        return faults.state(`watch:${event.watch}`, [
          { object: `watchedResources.${event.alias}`, reason: "WatchFailed", message: event.message },
        ]);
      case "WATCH.SYNCED":
      case "WATCH.RECOVERED":
        return this.#watchIsWell(event.watch);
      case "LEASE.UNREACHABLE":
        return faults.state("lease", [
          { object: "leaderElection", reason: "LeaseUnreachable", message: event.message },
        ]);
      case "LEASE.REACHED":
        return faults.state("lease", []);
      case "TERM.CONTESTED":
        return this.#contested(event.epoch, event.times);
      case "TERM.UNDISPUTED":
        faults.state("contested", []);
        return this.ledger.state("contested", [], "LeadershipUndisputed");
      case "TERM.BEGAN":
        this.ledger.beginTerm(this.#deps.observedGeneration() !== this.#book.generation);
        // The writers of the former term took their troubles with them.
        faults.state("publication", []);
        faults.state("unpublishable", []);
        faults.state("status", []);
        return faults.state("events", []);
      case "PODS.CHANGED": {
        const names = new Map(event.pods.map((pod) => [pod.id, `Pod ${pod.namespace}/${pod.name}`]));
        for (const id of this.#podNames.keys()) {
          if (names.has(id)) continue;
          faults.state(`pod:${id}`, []);
          this.#putOff.delete(id);
        }
        for (const id of names.keys()) faults.state(`probe:${id}`, []);
        this.#podNames = names;
        return;
      }
      case "PODS.LISTED": {
        const known = new Set(event.candidates.map((pod) => pod.id));
        for (const id of this.#probed) if (!known.has(id)) faults.state(`probe:${id}`, []);
        return;
      }
      case "POD.UNREACHABLE":
        this.#probed.add(event.pod);
        return faults.state(`probe:${event.pod}`, [
          { object: `Pod ${event.name}`, reason: "AgentUnreachable", message: event.message },
        ]);
      case "POD.FAILED":
        return faults.state(`pod:${event.pod}`, [
          {
            object: this.#podNames.get(event.pod) ?? `Pod ${event.pod}`,
            reason: "ApplyFailed",
            message: event.message,
          },
        ]);
      case "POD.APPLIED":
      case "POD.REVERTED":
        return faults.state(`pod:${event.pod}`, []);
      case "DEPLOYMENT.COMPLETED":
        this.counters.deployments += 1;
        return;
      case "STATUS.FAILED":
        return faults.state("status", [{ object: config, reason: "StatusWriteFailed", message: event.message }]);
      case "STATUS.WRITTEN":
        return faults.state("status", []);
      case "PUBLICATION.FAILED":
        faults.state("publication", [{ object: "publisher", reason: "PublishFailed", message: event.message }]);
        // What passes by itself is not worth an Event.
        if (LASTING.has(event.reason))
          this.ledger.state("publication", [this.#warning("PublishFailed", event.message)], "Published");
        return;
      case "PUBLICATION.REFUSED":
        faults.state("publication", []);
        faults.state("unpublishable", [{ object: config, reason: "Unpublishable", message: event.message }]);
        this.ledger.state("publication", [], "Published");
        return this.ledger.state("unpublishable", [this.#warning("Unpublishable", event.message)], "Published");
      case "PUBLICATION.WRITTEN":
        faults.state("unpublishable", []);
        faults.state("publication", []);
        this.ledger.state("unpublishable", [], "Published");
        return this.ledger.state("publication", [], "Published");
      case "PUBLICATION.RECOVERED":
        faults.state("publication", []);
        return this.ledger.state("publication", [], "Published");
      case "EVENTS.FAILED":
        return faults.state("events", [
          { object: "eventRecorder", reason: "EventWriteFailed", message: event.message },
        ]);
      case "EVENTS.RECORDED":
        return faults.state("events", []);
      default:
    }
  }

  readonly #probed = new Set<string>();
  /** By pod: when the reload that it put off last is due. Applies that wait for the same one share it. */
  readonly #putOff = new Map<string, string>();

  noteApply(record: ApplyRecord): void {
    const { counters } = this;
    if (record.isOwn === true) {
      counters.reloads += 1;
      if (record.ok) this.#tellReload(record);
      return;
    }
    counters.applies += 1;
    counters.appliesByMode[record.mode] = (counters.appliesByMode[record.mode] ?? 0) + 1;
    if (!record.ok) counters.appliesRefused += 1;
    if (record.mode === "reload") counters.reloads += 1;
    if (record.ok && record.reasons.length > 0 && (record.mode === "reload" || record.mode === "scheduled"))
      this.#tellReload(record);
    if (record.mode !== "scheduled" || this.#putOff.get(record.pod) === (record.reloadDue ?? "")) return;
    counters.reloads += 1;
    this.#putOff.set(record.pod, record.reloadDue ?? "");
  }

  /** One Event a plan, whichever and however many pods it reloads, unless their reasons differ. */
  #tellReload({ planId, reasons }: ApplyRecord): void {
    const message = `HAProxy is reloaded: ${joinedReasons(reasons)}`;
    const told = `${planId} ${message}`;
    if (this.#toldReload === told) return;
    this.#toldReload = told;
    this.ledger.note({ object: this.#deps.subject(), reason: "HAProxyReloaded", message });
  }

  noteCheck(passed: boolean): void {
    this.counters.checks += 1;
    if (!passed) this.counters.checksRefused += 1;
  }

  /** What a render said of single objects: components that failed, and what templates recorded. */
  noteObjects(isolated: readonly IsolatedFault[], events: readonly TemplateEvent[]): void {
    // A render hands the same list on while no event came or went; with many standing warnings a comparison is not cheap.
    if (isolated.length === 0 && this.#noted?.isolated === 0 && this.#noted.events === events) return;
    this.#noted = { isolated: isolated.length, events };
    const warnings: Warning[] = [];
    this.#deps.faults.state("objects", [
      ...isolated.map(({ object, problem }) => ({
        object: `${object.kind} ${object.metadata.namespace ?? ""}/${object.metadata.name}`,
        reason: "TemplateFailed",
        message: problem.text,
      })),
      ...events.map(({ object, reason, message }) => ({
        object: `${object.kind} ${object.namespace}/${object.name}`,
        reason,
        message,
      })),
    ]);
    for (const { object, problem } of isolated) {
      const {
        apiVersion,
        kind,
        metadata: { name, namespace = "", uid = "" },
      } = object;
      warnings.push({
        object: { apiVersion, kind, namespace, name, uid },
        reason: "TemplateFailed",
        message: problem.message,
      });
    }
    warnings.push(...events);
    this.ledger.state("objects", warnings);
  }

  #config(faultReason: string, eventReason: string, message: string): void {
    this.#deps.faults.state("config", [{ object: this.#deps.configName, reason: faultReason, message }]);
    this.ledger.state("config", [this.#warning(eventReason, message)], "Validated");
  }

  #contested(epoch: number, times: number): void {
    const message =
      `agents refuse this controller's work for the ${times}th time in a row: another controller works on the same HAProxy pods ` +
      `(epoch ${epoch}); let both use one Lease with controller.leaderElection.enabled, or select different pods with podSelector`;
    this.#deps.faults.state("contested", [{ object: "leaderElection", reason: "LeadershipContested", message }]);
    this.ledger.state("contested", [
      this.#warning(
        "LeadershipContested",
        "another controller works on the same HAProxy pods: let both use one Lease with controller.leaderElection.enabled, " +
          "or select different pods with podSelector",
      ),
    ]);
  }

  #warning(reason: string, message: string): Warning {
    return { object: this.#deps.subject(), reason, message };
  }
}
