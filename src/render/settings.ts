/**
 * Settings of one backend as its profile declares them. What a rule can say is read at run time from a map whose key is the backend's
 * name, so that another value is another map entry; what no rule can say becomes text of a profile, which other values do not share.
 */
import { isPayloadSafe } from "../plan/index.ts";
import { TemplateFault } from "../templating/index.ts";

/** What settings add to a profile, and what they put into maps. */
export interface SettledSettings {
  /** Lines before the profile's own: they read the maps. */
  readonly rules: readonly string[];
  /** Lines after the profile's own: they hold values. */
  readonly text: readonly string[];
  /** By the name of the setting's map: the backend's value; "" = it has none. */
  readonly values: ReadonlyMap<string, string>;
}

export interface SettingsContext {
  readonly mode: string;
  /** HAProxy has what came with 3.4. */
  readonly latest: boolean;
  /** Path of a setting's map in haproxy.cfg. */
  readonly mapPath: (setting: string) => string;
  /** What has been found out of settings before; kept by the caller. */
  readonly known: KnownSettings;
}

/** How a setting is read, by its name, its rules and where it stands. */
export type KnownSettings = Map<string, Reader>;

/** A setting that is read from a map; without lines it is text. */
interface Reader {
  readonly key: string;
  readonly lines: readonly string[];
  readonly value: (value: string, name: string) => string;
}

const NOTHING: SettledSettings = { rules: [], text: [], values: new Map() };
/** Bound of what is kept; a configuration has a handful. */
const MOST_KNOWN = 1024;

interface Rule {
  readonly text: string;
  readonly latest?: boolean;
  /** The value as the rule takes it. */
  readonly value: (value: string, name: string) => string;
}

/** Directives that a rule can stand in for (configuration manual, `http-request set-timeout`; measured on 3.0, 3.2 and 3.4). */
const RULES: Readonly<Record<string, Rule>> = {
  "timeout server": { text: "http-request set-timeout server $value", value: milliseconds },
  "timeout tunnel": { text: "http-request set-timeout tunnel $value", value: milliseconds },
  "timeout connect": { text: "http-request set-timeout connect $value", value: milliseconds, latest: true },
  "timeout queue": { text: "http-request set-timeout queue $value", value: milliseconds, latest: true },
};

const UNITS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** HAProxy's largest time. */
const MAX_MS = 2_147_483_647;

/** A time as HAProxy writes it, `30s`; without a unit it is milliseconds. */
function milliseconds(text: string, name: string): string {
  const match = /^(\d{1,10})(us|ms|s|m|h|d)?$/.exec(text);
  const value = match === null ? 0 : Math.ceil(Number(match[1]) * (UNITS[match[2] ?? "ms"] as number));
  if (value < 1 || value > MAX_MS)
    throw new TemplateFault(
      `setting ${JSON.stringify(name)} has the value ${JSON.stringify(text)}`,
      "it is a time such as 500ms, 30s or 1h, up to 24d",
    );
  return String(value);
}

/** Reads the settings of a profile. Throws TemplateFault. */
export function settleSettings(value: unknown, context: SettingsContext): SettledSettings {
  const settings = settingsOf(value);
  if (settings.length === 0) return NOTHING;
  const rules: string[] = [];
  const text: string[] = [];
  const values = new Map<string, string>();
  for (const [name, given] of settings) {
    const setting = readSetting(name, given);
    const reader = readerOf(name, setting.rules, context);
    if (reader.lines.length === 0) {
      if (setting.value !== "") text.push(`${name} ${reader.value(setting.value, name)}`);
      continue;
    }
    if (values.has(reader.key)) throw new TemplateFault(`setting ${JSON.stringify(name)} is declared twice`);
    values.set(reader.key, setting.value === "" ? "" : reader.value(setting.value, name));
    rules.push(...reader.lines);
  }
  return { rules, text, values };
}

function readerOf(name: string, own: string | undefined, context: SettingsContext): Reader {
  const { known, mode, latest, mapPath } = context;
  const identity = `${mode} ${latest} ${name}\n${own ?? ""}`;
  let reader = known.get(identity);
  if (reader !== undefined) return reader;
  if (!/^[a-z][a-z0-9]*([ -][a-z0-9]+)*$/.test(name) || name.length > 64)
    throw new TemplateFault(
      `setting ${JSON.stringify(name)} has a name that cannot be used`,
      "names are lower-case words with blanks or dashes between them, such as timeout server",
    );
  const rule = own ?? knownRule(name, context);
  const key = name.replaceAll(" ", "-");
  if (rule === undefined) reader = { key, lines: [], value: textValue };
  else {
    const variable = `txn.haptic_${key.replaceAll("-", "_")}`;
    const read = `http-request set-var(${variable}) be_name,map_str(${mapPath(key)})`;
    const value = own === undefined ? RULES[name]!.value : mapValue;
    reader = { key, lines: [read, ...ruleLines(rule, variable)], value };
  }
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(identity, reader);
  return reader;
}

function settingsOf(value: unknown): readonly (readonly [string, unknown])[] {
  if (value === undefined || value === null) return [];
  if (value instanceof Map) return byName([...(value as Map<string, unknown>)]);
  if (typeof value !== "object" || Array.isArray(value)) throw new TemplateFault("a profile's settings are no map");
  return byName(Object.entries(value));
}

/** Equal settings make an equal profile, however the template lists them. */
function byName<V>(entries: readonly (readonly [string, V])[]): readonly (readonly [string, V])[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}

function readSetting(name: string, given: unknown): { readonly value: string; readonly rules?: string } {
  if (given === undefined || given === null || typeof given === "string") return { value: (given ?? "").trim() };
  const entries = typeof given === "object" && !Array.isArray(given) ? settingsOf(given) : undefined;
  const record = entries === undefined ? undefined : new Map(entries);
  const unknown =
    record === undefined ? undefined : [...record.keys()].find((key) => key !== "value" && key !== "rules");
  if (record === undefined || unknown !== undefined)
    throw new TemplateFault(
      `setting ${JSON.stringify(name)} ${unknown === undefined ? "is no text" : `has the key ${JSON.stringify(unknown)}`}`,
      "a setting is a text, or a map with value and rules",
    );
  const [value, rules] = [record.get("value") ?? "", record.get("rules") ?? ""];
  if (typeof value !== "string" || typeof rules !== "string" || rules.trim() === "" || !rules.includes("$value"))
    throw new TemplateFault(
      `setting ${JSON.stringify(name)}: value and rules are texts, and rules hold $value`,
      'for example {"value": "DENY", "rules": "http-response set-header X-Frame-Options %[$value]"}',
    );
  return { value: value.trim(), rules };
}

/** The rule of a directive that HAProxy can read from a map here; undefined where only text can say it. */
function knownRule(name: string, { mode, latest }: SettingsContext): string | undefined {
  const rule = Object.hasOwn(RULES, name) ? RULES[name] : undefined;
  return rule !== undefined && mode === "http" && (latest || rule.latest !== true) ? rule.text : undefined;
}

/** Each line speaks of the setting only where the backend has it. */
function ruleLines(rules: string, variable: string): string[] {
  return rules
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const text = line.replaceAll("$value", `var(${variable})`);
      return / (if|unless) /.test(text) ? text : `${text} if { var(${variable}) -m found }`;
    });
}

function mapValue(value: string, name: string): string {
  if (!isPayloadSafe(value))
    throw new TemplateFault(
      `setting ${JSON.stringify(name)} has a value that no map can hold`,
      "a value is one line without control characters",
    );
  return value;
}

function textValue(value: string, name: string): string {
  if (!isPayloadSafe(value) || /["'\\#$]/.test(value))
    throw new TemplateFault(
      `setting ${JSON.stringify(name)} has the value ${JSON.stringify(value)}`,
      "a value is one line without quotes, backslashes, # and $",
    );
  return value;
}
