/** Drives a run: in slices, answering its reads; or to its end at once. */
import { TemplateError } from "../errors.ts";
import { FailedRead } from "./runtime/host.ts";
import { isWatchdogTimeout, watched } from "./runtime/watchdog.ts";
import { makeProblem } from "./syntax/problems.ts";
import type { TemplateRun } from "./types.ts";

/** The clock of slices: `due` goes into the run's environment, the driver starts each slice. */
export interface SliceClock {
  readonly due: () => boolean;
  begin(): void;
}

/** A slice clock of `sliceMs` on the given millisecond clock. */
export function sliceClock(sliceMs: number, now: () => number): SliceClock {
  let end = now() + sliceMs;
  return {
    due: () => now() >= end,
    begin: () => {
      end = now() + sliceMs;
    },
  };
}

export interface DriveOptions {
  readonly clock: SliceClock;
  /** Lets others run between two slices, e.g. `() => new Promise(setImmediate)`. */
  readonly yieldTo: () => Promise<void>;
  /** Answers a read request. A rejection is an error of the template, at the place of its read. */
  readonly answer?: (request: unknown) => Promise<unknown>;
  /** Abandons the run at the next slice; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Told the length of each slice, in milliseconds. */
  readonly onSlice?: (ms: number) => void;
  readonly now?: () => number;
  /** Stops a slice that takes longer than this many milliseconds, as a TemplateError; the run is then dead. */
  readonly watchdogMs?: number;
  /** Name of the template, for that error. */
  readonly template?: string;
}

/** Runs to the end in slices. Rejects with TemplateError, RestartNeeded or the abort reason. */
export async function drive(run: TemplateRun, options: DriveOptions): Promise<void> {
  const { clock, yieldTo, answer, signal, onSlice, now, watchdogMs } = options;
  signal?.throwIfAborted();
  let input: unknown;
  for (;;) {
    clock.begin();
    const began = now?.() ?? 0;
    const step = watchdogMs === undefined ? run.next(input) : watchedStep(run, input, watchdogMs, options.template);
    if (onSlice !== undefined && now !== undefined) onSlice(now() - began);
    if (step.done === true) return;
    input = undefined;
    if (step.value.kind === "slice") await yieldTo();
    else input = await answerRead(answer, step.value.request);
    if (signal?.aborted === true) {
      run.return();
      signal.throwIfAborted();
    }
  }
}

function watchedStep(
  run: TemplateRun,
  input: unknown,
  ms: number,
  template = "template",
): ReturnType<TemplateRun["next"]> {
  try {
    return watched(ms, () => run.next(input));
  } catch (error) {
    if (!isWatchdogTimeout(error)) throw error;
    const place = { source: { name: template, text: "" }, offset: 0 };
    const message = `stopped after ${ms} ms without a pause`;
    throw new TemplateError("HAPTIC_E_TEMPLATE_LIMIT", makeProblem("HAPTIC_E_TEMPLATE_LIMIT", place, message), error);
  }
}

async function answerRead(answer: DriveOptions["answer"], request: unknown): Promise<unknown> {
  if (answer === undefined) throw new TypeError("the run asks for a read, but the driver has no answer for reads");
  try {
    return await answer(request);
  } catch (error) {
    return new FailedRead(error instanceof Error ? error.message : String(error));
  }
}

/** Runs to the end without a pause; reads are answered at once. For tests and short components. */
export function runSync(run: TemplateRun, answer?: (request: unknown) => unknown): void {
  let input: unknown;
  for (;;) {
    const step = run.next(input);
    if (step.done === true) return;
    input = undefined;
    if (step.value.kind !== "read") continue;
    if (answer === undefined) throw new TypeError("the run asks for a read, but there is no answer for reads");
    input = answer(step.value.request);
  }
}
