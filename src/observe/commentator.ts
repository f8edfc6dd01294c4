/**
 * Turns what happens into log lines that a human can follow: constant messages, variables as keys, `correlation_id` in each. At `info` one
 * line a change that matters (a render's whole life is one line); at `debug` every event.
 */
import type { ObservedEvent } from "./events.ts";
import type { RenderLife } from "./lives.ts";

/** The part of pino's interface that is used. */
export interface CommentLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

const short = (planId: string): string => planId.slice(0, 12);
const round = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;
const span = (from: number | undefined, to: number | undefined): number | undefined =>
  from === undefined || to === undefined ? undefined : round(to - from);

export class Commentator {
  readonly #log: CommentLog;

  constructor(log: CommentLog) {
    this.#log = log;
  }

  note(event: ObservedEvent, source: string, correlationId: string): void {
    const log = this.#log;
    const id = { correlation_id: correlationId };
    switch (event.type) {
      case "TERM.BEGAN":
        log.info({ ...id, epoch: event.epoch }, "Leading");
        break;
      case "TERM.ENDED":
        log.info({ ...id, epoch: event.epoch, reason: event.reason }, "Not leading any more");
        break;
      case "TERM.DEPOSED":
        log.warn({ ...id, epoch: event.epoch }, "Another leader has a newer epoch");
        break;
      case "TERM.CONTESTED":
        log.warn(
          { ...id, epoch: event.epoch, times: event.times },
          "Another controller works on the same HAProxy pods: standing back for longer each time",
        );
        break;
      case "TERM.UNDISPUTED":
        log.info(id, "No other controller works on these HAProxy pods any more");
        break;
      case "LEASE.OBSERVED":
        log.info({ ...id, holder: event.holder, epoch: event.epoch }, "Holder of the Lease");
        break;
      case "LEASE.UNREACHABLE":
        log.warn({ ...id, message: event.message }, "The Lease cannot be read or written");
        break;
      case "LEASE.REACHED":
        log.info(id, "The Lease can be read and written again");
        break;
      case "ITERATION.ACCEPTED":
        log.info({ ...id, generation: event.generation, plan: short(event.planId) }, "Configuration in force");
        break;
      case "ITERATION.REFUSED":
        log.warn(
          { ...id, generation: event.generation, reason: event.reason },
          "Configuration refused, the former serves on",
        );
        break;
      case "PODS.CHANGED":
        log.info({ ...id, pods: event.pods.map((pod) => `${pod.namespace}/${pod.name}`) }, "HAProxy pods changed");
        break;
      case "WATCH.SYNCED":
        log.info({ ...id, alias: event.alias }, "Watch synced");
        break;
      case "PUBLICATION.WRITTEN":
        if (event.writes > 0)
          log.info({ ...id, plan: short(event.planId), writes: event.writes, ms: round(event.tookMs) }, "Published");
        break;
      case "PUBLICATION.REFUSED":
        log.warn({ ...id, reason: event.reason, message: event.message }, "What is in force cannot be published");
        break;
      case "PUBLICATION.FAILED":
        log.warn({ ...id, reason: event.reason, message: event.message }, "Publishing failed and is tried again");
        break;
      case "PUBLICATION.RECOVERED":
        log.info(id, "Publishing goes on");
        break;
      case "GATE.HELD":
        log.warn({ ...id, plan: short(event.planId) }, "Renders are held until HAProxy accepts one");
        break;
      case "GATE.PINNED":
        log.warn({ ...id, plan: short(event.planId) }, "HAProxy refused again: the last good plan stays");
        break;
      case "GATE.RECOVERED":
        log.info({ ...id, plan: short(event.planId) }, "HAProxy accepts again");
        break;
      default:
    }
    log.debug({ ...id, source, event }, "Event");
  }

  /** One line for a render's whole life: what asked for it, how long each step took, where it is in force. */
  ended(life: RenderLife): void {
    const fields = {
      correlation_id: life.id,
      outcome: life.state,
      reasons: life.reasons,
      changes: life.changes,
      ...(life.planId !== "" && { plan: short(life.planId), seq: life.seq }),
      ...(life.figures !== undefined && {
        cache_state: life.figures.cacheState,
        components: life.figures.components,
        executed: life.figures.executed,
      }),
      wait_ms: round(life.renderBeganMs),
      render_ms: span(life.renderBeganMs, life.renderedMs),
      held_ms: span(life.renderedMs, life.releasedMs),
      queue_ms: span(life.releasedMs, life.scheduledMs),
      deploy_ms: span(life.scheduledMs, life.completedMs),
      total_ms: life.completedMs === undefined ? undefined : round(life.completedMs),
      pods: life.pods.length,
      modes: [...new Set(life.pods.map((pod) => pod.mode))],
    };
    if (life.state === "failed" || life.state === "refused by HAProxy") this.#log.warn(fields, "Reconciliation");
    else this.#log.info(fields, "Reconciliation");
  }
}
