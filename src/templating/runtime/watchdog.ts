/** Stops work that does not come back: what fuel does not see, because it happens inside one native. */
import vm from "node:vm";

interface Bench {
  readonly context: { work?: () => unknown };
  readonly script: vm.Script;
}

let bench: Bench | undefined;

/** Whether an error is the watchdog's. */
export function isWatchdogTimeout(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}

/**
 * Runs work and ends it after `ms`, wherever it is; see isWatchdogTimeout. A generator that was running stays "already
 * running" for ever: drop it. Costs about 0.15 ms a call, so it belongs around a slice, not around each component.
 */
export function watched<T>(ms: number, work: () => T): T {
  bench ??= {
    context: vm.createContext(Object.create(null) as object, { codeGeneration: { strings: false, wasm: false } }),
    script: new vm.Script("work()", { filename: "haptic-watchdog" }),
  };
  const { context, script } = bench;
  const outer = context.work;
  context.work = work;
  try {
    return script.runInContext(context, { timeout: ms }) as T;
  } finally {
    if (outer === undefined) delete context.work;
    else context.work = outer;
  }
}
