/** Reloads that no apply asked for: why each came, and whether an answer has told of it. */
import type { ReloadEnd } from "../../machines/agentReload.ts";
import type { OwnReload } from "./api.ts";
import { ownReason, type Model } from "./model.ts";

export class OwnReloads {
  /** The last one that HAProxy gave its verdict on. */
  last: OwnReload | undefined;
  readonly #hear: (reload: OwnReload) => void;
  #isTold = true;
  /** Why the one under way was owed. */
  #reason: string | undefined;
  /** Why a reload is owed, as far as answers have told it. */
  #toldOwed: string | null = null;

  constructor(hear: (reload: OwnReload) => void) {
    this.#hear = hear;
  }

  /** A set waits for the reload that is owed, and its answer says why. */
  toldOwed({ owed }: Model): void {
    this.#toldOwed = owed;
  }

  begins(isAsked: boolean, model: Model): void {
    this.#reason = isAsked || model.owed === this.#toldOwed ? undefined : ownReason(model);
  }

  /** `at` in milliseconds since 1970. */
  ended(end: ReloadEnd, planId: string, at: number): void {
    // Without a verdict it is owed still.
    if (this.#reason === undefined || end === "lost") return;
    this.last = { at: new Date(at).toISOString(), plan_id: planId, reason: this.#reason, ok: end === "loaded" };
    this.#reason = undefined;
    this.#isTold = false;
    this.#hear(this.last);
  }

  /** What no answer has told yet; the answer that asks tells it. */
  tell(): OwnReload | undefined {
    const untold = this.#isTold ? undefined : this.last;
    this.#isTold = true;
    return untold;
  }
}
