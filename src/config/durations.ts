/** Durations as Go writes them (`time.ParseDuration`): `300ms`, `1.5h`, `2h45m`, `0`. */

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

const PART = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/gy;

/** Milliseconds of a Go duration; undefined when the text is none. Only `0` may stand without a unit. */
export function parseDuration(text: string): number | undefined {
  const sign = text.startsWith("-") ? -1 : 1;
  const rest = text.replace(/^[+-]/, "");
  if (rest === "0") return 0;
  let total = 0;
  let end = 0;
  for (const match of rest.matchAll(PART)) {
    total += Number(match[1]) * (UNITS[match[2] ?? ""] ?? Number.NaN);
    end = match.index + match[0].length;
  }
  return end === rest.length && end > 0 ? sign * total : undefined;
}
