/** Public shapes of the render service. */
import type { AliasView, KubeObject, StoreSnapshot } from "../stores/types.ts";
import type { RenderPlan } from "../plan/types.ts";
import type { ProfileRow } from "../templating/index.ts";
import type { HttpAuth } from "./http.ts";
import type { TemplateProblem } from "../templating/types.ts";

/** Everything a render reads besides the stores. Equal inputs give equal bytes. */
export interface RenderContext {
  readonly snapshot: StoreSnapshot;
  /** HAProxy pods as `controller.haproxy_pods` shows them. */
  readonly haproxyPods: AliasView | undefined;
  /** snake_case capability → supported; lowest HAProxy version of the fleet. */
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly renderMode: "reconcile" | "admission";
}

/** An Event a template asked for with recordEvent (always Warning). */
export interface TemplateEvent {
  readonly object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
  };
  readonly reason: string;
  readonly message: string;
}

/** A resource that a call speaks of. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export type StatusVariant = "rendered" | "deployed" | "renderFailed" | "deployFailed";

/** `http.Fetch`, checked. Without content a fetch gives "", or fails the render where it is critical. */
export interface HttpRequest {
  readonly call: "http.Fetch";
  readonly subject: string;
  readonly url: string;
  /** Time between two refreshes; 0 = fetched once. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Attempts beside the first. */
  readonly retries: number;
  readonly critical: boolean;
  /** Status codes that count as an answer; empty = 200 to 299. */
  readonly acceptStatus: readonly number[];
  readonly auth: HttpAuth | undefined;
}

/** A call that was checked and recorded. `subject` says in a few words what it is about. */
export type RecordedCall =
  | HttpRequest
  | {
      readonly call: "statusPatch";
      readonly subject: string;
      readonly object: ObjectReference;
      /** Content below `.status`, by outcome. */
      readonly variants: Readonly<Partial<Record<StatusVariant, Readonly<Record<string, unknown>>>>>;
    }
  | {
      readonly call: "deriveResource";
      readonly subject: string;
      readonly alias: string;
      readonly object: ObjectReference;
      readonly path: string;
      readonly derived: unknown;
    }
  | {
      readonly call: "shared.Publish" | "shared.PublishRanked" | "shared.Unique" | "planRegistry.BackendWhenAny";
      readonly subject: string;
      readonly cell: string;
      readonly key: string;
      readonly value: unknown;
      readonly rank: string;
    };

/** A recorded call in the outcome of a render. */
export interface CallNotice {
  readonly call: RecordedCall;
  /** Root template or incremental snippet that made it. */
  readonly template: string;
  /** `http.Fetch https://…: recorded, not carried out yet`. */
  readonly message: string;
}

export interface RenderResult {
  readonly plan: RenderPlan;
  readonly events: readonly TemplateEvent[];
  /** Calls that this version records without carrying them out, each once. */
  readonly notCarriedOut?: readonly CallNotice[];
  /** cold = all components ran; warm = only the affected ones; replay = nothing changed, the former result. */
  readonly cacheState: "cold" | "warm" | "replay";
  readonly stats: {
    readonly components: number;
    readonly executed: number;
    readonly durationMs: number;
    readonly longestSliceMs: number;
  };
}

/** A bad object harms itself only: the component failed for it, the rest was rendered. */
export interface IsolatedFault {
  readonly source: string;
  readonly id: string;
  readonly object: KubeObject;
  readonly problem: TemplateProblem;
}

export interface RenderOutcome {
  readonly result: RenderResult | undefined;
  /** Why there is no result: errors of root templates or of the set. */
  readonly problems: readonly TemplateProblem[];
  readonly isolated: readonly IsolatedFault[];
}

/** One per accepted configuration (iteration). Holds the warm graph. Renders are serialised by the caller. */
export interface RenderService {
  /** Runs in slices; `signal` abandons the render (nothing is retained). Never rejects but for aborts and defects. */
  render(context: RenderContext, signal: AbortSignal): Promise<RenderOutcome>;
  /** What was measured of the templates so far. Asking begins it; a minute after the last question it ends. */
  profile(): RenderProfile;
}

export interface RenderProfile {
  /** How long templates have been measured, in ms of the service's clock. */
  readonly forMs: number;
  /** By total time. */
  readonly rows: readonly ProfileRow[];
}

export type { PlanSummary } from "../plan/types.ts";
