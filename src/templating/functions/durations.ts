/** Durations: `1h30m`, in Go's notation. */
import { TemplateFault } from "../runtime/faults.ts";
import { hostObject, type HostObject } from "../runtime/host.ts";

const UNITS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1000n,
  µs: 1000n,
  μs: 1000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Nanoseconds of a duration's text; undefined when it is none. */
export function durationOf(text: string): bigint | undefined {
  const whole = /^([+-]?)((?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/.exec(text);
  if (text === "0" || text === "+0" || text === "-0") return 0n;
  if (whole === null) return undefined;
  let sum = 0n;
  for (const [, integer = "", fraction = "", unit] of text.matchAll(/(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = UNITS[unit!]!;
    sum += BigInt(integer === "" ? "0" : integer) * scale;
    if (fraction !== "") sum += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length);
  }
  if (sum > 2n ** 63n - 1n) return undefined;
  return whole[1] === "-" ? -sum : sum;
}

/** As Go writes it: `1h30m0s`, `1.5s`, `250ms`, `0s`. */
export function durationText(ns: bigint): string {
  if (ns === 0n) return "0s";
  const sign = ns < 0n ? "-" : "";
  const at = ns < 0n ? -ns : ns;
  const decimal = (unit: bigint): string => {
    const fraction = (at % unit)
      .toString()
      .padStart(unit.toString().length - 1, "0")
      .replace(/0+$/, "");
    return String(at / unit) + (fraction === "" ? "" : `.${fraction}`);
  };
  if (at < 1000n) return `${sign}${at}ns`;
  if (at < 1_000_000n) return `${sign}${decimal(1000n)}µs`;
  if (at < 1_000_000_000n) return `${sign}${decimal(1_000_000n)}ms`;
  const minutes = at / 60_000_000_000n;
  const seconds = at % 60_000_000_000n;
  const fraction = (seconds % 1_000_000_000n).toString().padStart(9, "0").replace(/0+$/, "");
  const shown = `${seconds / 1_000_000_000n}${fraction === "" ? "" : `.${fraction}`}s`;
  if (minutes === 0n) return sign + shown;
  return minutes < 60n ? `${sign}${minutes}m${shown}` : `${sign}${minutes / 60n}h${minutes % 60n}m${shown}`;
}

const nanoseconds = new WeakMap<object, bigint>();

/** The nanoseconds of a Duration that `makeDuration` made. */
export function nanosecondsOf(duration: unknown): bigint {
  const ns = typeof duration === "object" && duration !== null ? nanoseconds.get(duration) : undefined;
  if (ns === undefined) throw new TemplateFault("this is no Duration", 'make one with parseDuration("1h")');
  return ns;
}

export function makeDuration(ns: bigint): HostObject {
  const step = (unit: unknown): bigint => nanosecondsOf(unit);
  const made = hostObject("Duration", {
    String: (): string => durationText(ns),
    Hours: (): number => Number(ns) / 3.6e12,
    Minutes: (): number => Number(ns) / 6e10,
    Seconds: (): number => Number(ns) / 1e9,
    Milliseconds: (): number => Number(ns / 1_000_000n),
    Microseconds: (): number => Number(ns / 1000n),
    Nanoseconds: (): number => Number(ns),
    Truncate: (unit: unknown): HostObject => makeDuration(step(unit) <= 0n ? ns : ns - (ns % step(unit))),
    Round: (unit: unknown): HostObject => {
      const to = step(unit);
      if (to <= 0n) return makeDuration(ns);
      const rest = ns % to;
      const away = 2n * (rest < 0n ? -rest : rest) >= to ? (ns < 0n ? -to : to) : 0n;
      return makeDuration(ns - rest + away);
    },
  });
  nanoseconds.set(made, ns);
  return made;
}
