/** Dates and times. Those that read the clock cannot be used where output is kept: in incremental snippets. */
import { TemplateFault } from "../runtime/faults.ts";
import { hostObject, type HostObject } from "../runtime/host.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { define, type TemplateFunction } from "./define.ts";
import { durationOf, makeDuration, nanosecondsOf } from "./durations.ts";
import { type Civil, formatLayout, MONTHS, DAYS, parseLayout } from "./layouts.ts";

const SECOND = 1_000_000_000n;
/** Instants that JavaScript's dates reach, in nanoseconds. */
const FARTHEST = 8_640_000_000_000_000n * 1_000_000n;
/** Go's zero time, January 1st of year 1, in nanoseconds since 1970. */
const ZERO = -62_135_596_800n * SECOND;

interface Zone {
  readonly name: string;
  /** Seconds east of UTC at an instant, and the abbreviation used then. */
  at(ms: number): { readonly offset: number; readonly abbreviation: string };
}

const UTC: Zone = { name: "UTC", at: () => ({ offset: 0, abbreviation: "UTC" }) };

const fixedZone = (offset: number, abbreviation: string): Zone => ({
  name: abbreviation,
  at: () => ({ offset, abbreviation }),
});

/** A zone of the IANA database. `Local` is UTC: what a template gives must not depend on the machine. */
function zoneOf(name: string): Zone {
  if (name === "" || name === "UTC" || name === "Local") return UTC;
  let format: Intl.DateTimeFormat;
  let short: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" });
    short = new Intl.DateTimeFormat("en-GB", { timeZone: name, timeZoneName: "short" });
  } catch {
    throw new TemplateFault(`unknown time zone ${JSON.stringify(name)}`, "use UTC or a name like Europe/Rome");
  }
  const part = (from: Intl.DateTimeFormat, ms: number): string =>
    from.formatToParts(ms).find((each) => each.type === "timeZoneName")?.value ?? "";
  return {
    name,
    at: (ms) => {
      const found = /([+-])(\d\d):(\d\d)(?::(\d\d))?/.exec(part(format, ms));
      const seconds = found === null ? 0 : Number(found[2]) * 3600 + Number(found[3]) * 60 + Number(found[4] ?? 0);
      return { offset: found?.[1] === "-" ? -seconds : seconds, abbreviation: part(short, ms) };
    },
  };
}

const floorDiv = (a: bigint, b: bigint): bigint => (a % b < 0n ? a / b - 1n : a / b);

function civil(ns: bigint, zone: Zone): Civil {
  const ms = Number(floorDiv(ns, 1_000_000n));
  const { offset, abbreviation } = zone.at(ms);
  const seconds = floorDiv(ns, SECOND);
  const local = new Date(Number(seconds) * 1000 + offset * 1000);
  const year = local.getUTCFullYear();
  const start = new Date(0);
  start.setUTCFullYear(year, 0, 1);
  return {
    year,
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
    nanosecond: Number(ns - seconds * SECOND),
    offset,
    zone: abbreviation,
    weekday: local.getUTCDay(),
    yearDay: Math.floor((local.getTime() - start.getTime()) / 86_400_000) + 1,
  };
}

/** Instant of civil parts, which may be out of range (month 13 is next January). */
function instant(
  parts: readonly [year: number, month: number, day: number, hour: number, minute: number, second: number],
  nanosecond: number,
  zone: Zone,
): bigint {
  const [year, month, day, hour, minute, second] = parts;
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute, second);
  const local = at.getTime();
  if (Number.isNaN(local)) throw new TemplateFault("date: the year is out of range");
  // The offset depends on the instant that is looked for: the second look is right but within a gap, where either is.
  const guess = zone.at(local - zone.at(local).offset * 1000).offset;
  return BigInt(local - guess * 1000) * 1_000_000n + BigInt(nanosecond);
}

interface TimeValue {
  readonly ns: bigint;
  readonly zone: Zone;
}

const times = new WeakMap<object, TimeValue>();

function timeOf(time: unknown): TimeValue {
  const value = typeof time === "object" && time !== null ? times.get(time) : undefined;
  if (value === undefined)
    throw new TemplateFault("this is no Time", "make one with date(…), parseTime(…) or unixTime(…)");
  return value;
}

function makeTime(ns: bigint, zone: Zone): HostObject {
  if (ns > FARTHEST || ns < -FARTHEST) throw new TemplateFault("the time is out of range");
  const parts = (): Civil => civil(ns, zone);
  const step = (unit: unknown): bigint => nanosecondsOf(unit);
  /** Rounding counts from the zero time, as in Go. */
  const rest = (to: bigint): bigint => (((ns - ZERO) % to) + to) % to;
  const made = hostObject("Time", {
    String: (): string => formatLayout("2006-01-02 15:04:05.999999999 -0700 MST", parts()),
    Format: (layout: string): string => formatLayout(layout, parts()),
    Year: (): number => parts().year,
    Month: (): string => MONTHS[parts().month - 1]!,
    Day: (): number => parts().day,
    Hour: (): number => parts().hour,
    Minute: (): number => parts().minute,
    Second: (): number => parts().second,
    Nanosecond: (): number => parts().nanosecond,
    Weekday: (): string => DAYS[parts().weekday]!,
    YearDay: (): number => parts().yearDay,
    Unix: (): number => Number(floorDiv(ns, SECOND)),
    UnixNano: (): number | bigint => (Number.isSafeInteger(Number(ns)) ? Number(ns) : BigInt.asIntN(64, ns)),
    UTC: (): HostObject => makeTime(ns, UTC),
    IsZero: (): boolean => ns === ZERO,
    After: (other: unknown): boolean => ns > timeOf(other).ns,
    Before: (other: unknown): boolean => ns < timeOf(other).ns,
    Equal: (other: unknown): boolean => ns === timeOf(other).ns,
    Sub: (other: unknown): HostObject => makeDuration(ns - timeOf(other).ns),
    Add: (duration: unknown): HostObject => makeTime(ns + nanosecondsOf(duration), zone),
    AddDate: (years: number | bigint, months: number | bigint, days: number | bigint): HostObject => {
      const at = parts();
      const moved = [
        at.year + Number(years),
        at.month + Number(months),
        at.day + Number(days),
        at.hour,
        at.minute,
        at.second,
      ] as const;
      return makeTime(instant(moved, at.nanosecond, zone), zone);
    },
    Truncate: (unit: unknown): HostObject => makeTime(step(unit) <= 0n ? ns : ns - rest(step(unit)), zone),
    Round: (unit: unknown): HostObject => {
      const to = step(unit);
      if (to <= 0n) return makeTime(ns, zone);
      return makeTime(ns - rest(to) + (2n * rest(to) >= to ? to : 0n), zone);
    },
  });
  times.set(made, { ns, zone });
  return made;
}

/** RFC 3339 in seconds, as Kubernetes writes times. */
export const kubernetesTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/** The instant of the render; a fault where the host gives none. */
function clockOf(runtime: Runtime, name: string): number {
  const now = runtime.now();
  if (now === undefined) throw new TemplateFault(`${name} is not available: this run has no clock`);
  return now;
}

type Seven = [number, number, number, number, number, number, number];

export const timeFunctions: readonly TemplateFunction[] = [
  define({
    name: "now",
    signature: "func() Time",
    doc: "The instant of the render; the same for everything in one render. Not available in incremental snippets, whose output is kept. A root template is not rendered again because time passes.",
    examples: [['{{ now().Format("2006-01-02") }}', "2026-11-30"]],
    clock: true,
    run: (runtime: Runtime) => makeTime(BigInt(Math.trunc(clockOf(runtime, "now"))) * 1_000_000n, UTC),
  }),
  define({
    name: "date",
    signature:
      "func(year int, month int, day int, hour int, min int, sec int, nsec int, location string) (Time, error)",
    doc: 'A Time from its parts, which may be out of range: month 13 is next January. The location is "UTC", "" (UTC), "Local" (UTC as well: output does not depend on the machine) or a name like "Europe/Rome"; an unknown one is an error.',
    examples: [
      ['{{ date(2026, 3, 1, 12, 0, 0, 0, "UTC").Format("Mon, 2 Jan 2006 15:04 MST") }}', "Sun, 1 Mar 2026 12:00 UTC"],
      ['{{ date(2026, 7, 1, 12, 0, 0, 0, "Europe/Rome").UTC() }}', "2026-07-01 10:00:00 +0000 UTC"],
    ],
    run: (_: Runtime, y: number, mo: number, d: number, h: number, mi: number, s: number, ns: number, at: string) => {
      const zone = zoneOf(at);
      const [year, month, day, hour, minute, second, nanosecond] = [y, mo, d, h, mi, s, ns].map(Number) as Seven;
      return makeTime(instant([year, month, day, hour, minute, second], nanosecond, zone), zone);
    },
  }),
  define({
    name: "parseTime",
    signature: "func(layout string, value string) (Time, error)",
    doc: 'A Time read from text. The layout shows how Mon Jan 2 15:04:05 2006 -0700 would be written; "" takes RFC 3339 and a few usual ones. Anything else is an error.',
    examples: [
      ['{{ parseTime("2006-01-02 15:04", "2026-11-30 07:55").Unix() }}', "1796025300"],
      ['{{ parseTime("", "2026-11-30T07:55:00+01:00").UTC().Hour() }}', "6"],
      ['{% var _, err = parseTime("2006-01-02", "soon") %}{{ err }}', 'parseTime: cannot read "soon" as "2006-01-02"'],
    ],
    run: (_: Runtime, layout: string, value: string) => {
      const layouts = layout === "" ? USUAL : [layout];
      for (const [i, each] of layouts.entries()) {
        try {
          const t = parseLayout(each, value);
          const zone = t.offset === 0 ? UTC : fixedZone(t.offset, t.zone);
          return makeTime(instant([t.year, t.month, t.day, t.hour, t.minute, t.second], t.nanosecond, zone), zone);
        } catch (error) {
          if (i === layouts.length - 1) throw error;
        }
      }
      return null;
    },
  }),
  define({
    name: "unixTime",
    signature: "func(sec int, nsec int) Time",
    doc: "The Time that lies so many seconds and nanoseconds after 1970, in UTC.",
    examples: [["{{ unixTime(86400, 0) }}", "1970-01-02 00:00:00 +0000 UTC"]],
    run: (_: Runtime, sec: number, nsec: number) => makeTime(BigInt(sec) * SECOND + BigInt(nsec), UTC),
  }),
  define({
    name: "parseDuration",
    signature: "func(text string) (Duration, error)",
    doc: "A Duration read from text: numbers with the units h, m, s, ms, us and ns. Anything else is an error.",
    examples: [
      ['{{ parseDuration("1h30m").Minutes() }} {{ parseDuration("1500ms") }}', "90 1.5s"],
      ['{% var _, err = parseDuration("5 apples") %}{{ err }}', 'parseDuration: "5 apples" is not a duration'],
    ],
    run: (_: Runtime, text: string) => {
      const ns = durationOf(text);
      if (ns === undefined)
        throw new TemplateFault(
          `parseDuration: ${JSON.stringify(text)} is not a duration`,
          'write it like "1h30m" or "500ms"',
        );
      return makeDuration(ns);
    },
  }),
];

const USUAL: readonly string[] = [
  "2006-01-02T15:04:05Z07:00",
  "2006-01-02T15:04:05",
  "2006-01-02 15:04:05",
  "Mon, 02 Jan 2006 15:04:05 MST",
  "Jan _2 15:04:05 2006 MST",
  "2006-01-02",
];
