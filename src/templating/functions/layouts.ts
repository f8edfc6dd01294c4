/** Go's layouts of dates: a layout shows how the reference time `Mon Jan 2 15:04:05 2006 -0700` would be written. */
import { TemplateFault } from "../runtime/faults.ts";

/** A civil date and time with its zone. */
export interface Civil {
  readonly year: number;
  /** 1 … 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanosecond: number;
  /** Seconds east of UTC. */
  readonly offset: number;
  /** Abbreviation of the zone: `UTC`, `CET`. */
  readonly zone: string;
  /** 0 = Sunday. */
  readonly weekday: number;
  /** 1 … 366. */
  readonly yearDay: number;
}

export const MONTHS = "January February March April May June July August September October November December".split(
  " ",
);
export const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

const TOKENS =
  /January|Jan(?![a-z])|Monday|Mon(?![a-z])|MST|2006|__2|002|_2(?!006)|0[1-6]|15|[1-5]|PM|pm|(?:-|Z)07(?::00:00|0000|:00|00)?|[.,](?:0+|9+)(?!\d)/g;

const pad = (n: number, width: number, by = "0"): string => String(n).padStart(width, by);

function offsetText(token: string, offset: number): string {
  if (token.startsWith("Z") && offset === 0) return "Z";
  const at = Math.abs(offset);
  const [hours, minutes, seconds] = [at / 3600, (at / 60) % 60, at % 60].map((n) => pad(Math.trunc(n), 2)) as [
    string,
    string,
    string,
  ];
  const colon = token.includes(":") ? ":" : "";
  const rest = token.slice(3);
  const tail = rest === "" ? "" : colon + minutes + (rest.replaceAll(":", "").length > 2 ? colon + seconds : "");
  return (offset < 0 ? "-" : "+") + hours + tail;
}

function fractionText(token: string, nanosecond: number): string {
  const digits = pad(nanosecond, 9).slice(0, token.length - 1);
  const kept = token[1] === "9" ? digits.replace(/0+$/, "") : digits;
  return kept === "" ? "" : token[0]! + kept;
}

/** Writes a time by a layout. */
export function formatLayout(layout: string, t: Civil): string {
  return layout.replace(TOKENS, (token) => {
    switch (token) {
      case "January":
        return MONTHS[t.month - 1]!;
      case "Jan":
        return MONTHS[t.month - 1]!.slice(0, 3);
      case "Monday":
        return DAYS[t.weekday]!;
      case "Mon":
        return DAYS[t.weekday]!.slice(0, 3);
      case "MST":
        return t.zone;
      case "2006":
        return pad(t.year, 4);
      case "06":
        return pad(t.year % 100, 2);
      case "01":
        return pad(t.month, 2);
      case "1":
        return String(t.month);
      case "02":
        return pad(t.day, 2);
      case "_2":
        return pad(t.day, 2, " ");
      case "2":
        return String(t.day);
      case "002":
        return pad(t.yearDay, 3);
      case "__2":
        return pad(t.yearDay, 3, " ");
      case "15":
        return pad(t.hour, 2);
      case "03":
        return pad(t.hour % 12 || 12, 2);
      case "3":
        return String(t.hour % 12 || 12);
      case "04":
        return pad(t.minute, 2);
      case "4":
        return String(t.minute);
      case "05":
        return pad(t.second, 2);
      case "5":
        return String(t.second);
      case "PM":
        return t.hour >= 12 ? "PM" : "AM";
      case "pm":
        return t.hour >= 12 ? "pm" : "am";
      default:
        return token[0] === "-" || token[0] === "Z" ? offsetText(token, t.offset) : fractionText(token, t.nanosecond);
    }
  });
}

const PATTERNS: Readonly<Record<string, string>> = {
  January: MONTHS.join("|"),
  Jan: MONTHS.map((name) => name.slice(0, 3)).join("|"),
  Monday: DAYS.join("|"),
  Mon: DAYS.map((name) => name.slice(0, 3)).join("|"),
  MST: "[A-Z]{3,4}",
  "2006": "\\d{4}",
  "002": "\\d{3}",
  __2: "[ \\d]{2}\\d",
  _2: "[ \\d]?\\d",
  PM: "AM|PM",
  pm: "am|pm",
};

function tokenPattern(token: string): string {
  const known = Object.hasOwn(PATTERNS, token) ? PATTERNS[token] : undefined;
  if (known !== undefined) return known;
  if (token[0] === "." || token[0] === ",") return token[1] === "9" ? "[.,]\\d+|" : `[.,]\\d{${token.length - 1}}`;
  if (token[0] === "-" || token[0] === "Z") {
    const colon = token.includes(":") ? ":" : "";
    const rest = token.slice(3);
    const minutes = rest === "" ? "" : `${colon}\\d{2}`;
    const seconds = rest.replaceAll(":", "").length > 2 ? `${colon}\\d{2}` : "";
    return `${token[0] === "Z" ? "Z|" : ""}[+-]\\d{2}${minutes}${seconds}`;
  }
  return token === "15" || token.length === 2 ? "\\d{2}" : "\\d{1,2}";
}

/** What a text says, read by a layout. Missing parts are those of January 1st, year 0, midnight, UTC. */
export function parseLayout(layout: string, text: string): Omit<Civil, "weekday" | "yearDay"> {
  const tokens: string[] = [];
  let pattern = "";
  let at = 0;
  for (const found of layout.matchAll(TOKENS)) {
    pattern += layout.slice(at, found.index).replace(/[\\.+*?()|[\]{}^$]/g, "\\$&");
    pattern += `(${tokenPattern(found[0])})`;
    // A fraction may follow the seconds even where the layout has none.
    const seconds = /^0?5$/.test(found[0]) && !/^[.,][09]/.test(layout.slice(found.index + found[0].length));
    tokens.push(found[0]);
    if (seconds) {
      pattern += "([.,]\\d+)?";
      tokens.push(".9");
    }
    at = found.index + found[0].length;
  }
  pattern += layout.slice(at).replace(/[\\.+*?()|[\]{}^$]/g, "\\$&");
  const match = new RegExp(`^${pattern}$`, "u").exec(text);
  const wrong = (why: string): never => {
    throw new TemplateFault(`parseTime: cannot read ${JSON.stringify(text)} as ${JSON.stringify(layout)}${why}`);
  };
  if (match === null) return wrong("");
  const t = { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0, nanosecond: 0, offset: 0, zone: "UTC" };
  let afternoon: boolean | undefined;
  tokens.forEach((token, i) => {
    const part = match[i + 1] ?? "";
    const n = Number(part);
    if (token === "2006") t.year = n;
    else if (token === "06") t.year = n + (n >= 69 ? 1900 : 2000);
    else if (token === "January") t.month = MONTHS.indexOf(part) + 1;
    else if (token === "Jan") t.month = MONTHS.findIndex((name) => name.startsWith(part)) + 1;
    else if (token === "01" || token === "1") t.month = n;
    else if (token === "02" || token === "2" || token === "_2") t.day = n;
    else if (token === "002" || token === "__2") [t.month, t.day] = [1, n];
    else if (token === "15" || token === "03" || token === "3") t.hour = n;
    else if (token === "04" || token === "4") t.minute = n;
    else if (token === "05" || token === "5") t.second = n;
    else if (token === "PM" || token === "pm") afternoon = part.toUpperCase() === "PM";
    else if (token === "MST") t.zone = part;
    else if (/^[.,]/.test(token)) t.nanosecond = Number(part.slice(1).padEnd(9, "0").slice(0, 9));
    else if (/^[-Z]07/.test(token) && part !== "Z") {
      const digits = part.slice(1).replaceAll(":", "");
      const seconds =
        Number(digits.slice(0, 2)) * 3600 + Number(digits.slice(2, 4) || 0) * 60 + Number(digits.slice(4, 6) || 0);
      t.offset = part.startsWith("-") ? -seconds : seconds;
      t.zone = t.offset === 0 ? "UTC" : part;
    }
  });
  if (afternoon !== undefined) t.hour = (t.hour % 12) + (afternoon ? 12 : 0);
  const days = new Date(Date.UTC(t.year, t.month, 0)).getUTCDate();
  const whole = tokens.includes("002") || tokens.includes("__2");
  if (t.month < 1 || t.month > 12) return wrong(": month out of range");
  if (t.day < 1 || t.day > (whole ? 366 : days)) return wrong(": day out of range");
  if (t.hour > 23 || t.minute > 59 || t.second > 59) return wrong(": time out of range");
  return t;
}
