/** What of a section's text changed: directives by name, and their values where they can be no secret. */
import { joinBlocks } from "./chunks.ts";
import { meaningfulLines } from "./plan.ts";
import { changeOf } from "./reasons.ts";
import { sectionKeyword } from "./structure.ts";
import type { RenderPlan } from "./types.ts";

export interface ChangedLines {
  /** `maxconn 100 → 123, 2 × bind` */
  readonly change: string;
  /** A line that is new or other than before, for finding its place in a template; undefined where lines only went. */
  readonly line: string | undefined;
}

/** Sections with more text than this are not looked into. */
const LONGEST_SECTION = 256 * 1024;
const MOST_CHANGES = 3;

/** Directives whose values are no secrets. Of all others only the name is told. */
const OPEN = new Set(
  (
    "balance bind default_backend errorfile fullconn guid hard-stop-after hash-type id log-tag maxconn maxconnrate " +
    "maxsessrate maxsslconn maxsslrate mode monitor-uri mworker-max-reloads nbthread rate-limit retries retry-on " +
    "spread-checks ssl-default-bind-options stats-timeout thread-groups timeout"
  ).split(" "),
);
/** The second word is part of the directive's name. */
const PAIRED = new Set(
  "http-after-response http-request http-response no option rate-limit stats tcp-request tcp-response timeout".split(
    " ",
  ),
);

/** Compares a section of both plans' haproxy.cfg; undefined where the text is not there (a plan read back has none) or too long. */
export function changedLines(section: string, next: RenderPlan, baseline: RenderPlan): ChangedLines | undefined {
  const [before, after] = [sectionLines(section, baseline), sectionLines(section, next)];
  if (before === undefined || after === undefined) return undefined;
  const gone = without(before, after);
  const fresh = without(after, before);
  if (gone.length + fresh.length === 0) return undefined;
  const changes = new Map<string, { gone: string[]; fresh: string[] }>();
  for (const [list, lines] of [
    ["gone", gone],
    ["fresh", fresh],
  ] as const) {
    for (const line of lines) {
      const name = directiveOf(line);
      const known = changes.get(name) ?? { gone: [], fresh: [] };
      known[list].push(line);
      changes.set(name, known);
    }
  }
  const told = [...changes].map(([name, lines]) => tell(name, lines.gone, lines.fresh));
  const few = told.slice(0, MOST_CHANGES);
  if (told.length > few.length) few.push(`and ${told.length - few.length} more directives`);
  return { change: few.join(", "), line: fresh[0] };
}

function tell(name: string, gone: readonly string[], fresh: readonly string[]): string {
  const [was, is] = [gone[0], fresh[0]];
  const isOpen = OPEN.has(name.replace(/ .*/, ""));
  const valueOf = (line: string | undefined): string | undefined => line?.slice(name.length).trim();
  if (gone.length > 1 || fresh.length > 1) return `${name} (${gone.length} lines went, ${fresh.length} came)`;
  if (!isOpen || valueOf(was ?? is) === "")
    return was === undefined ? `${name} is new` : is === undefined ? `${name} is gone` : name;
  return `${name} ${changeOf(valueOf(was), valueOf(is))}`;
}

function directiveOf(line: string): string {
  const [first = "", second = ""] = line.split(/[ \t]+/);
  // Whatever it is, it is no directive's name.
  if (!/^[a-z][a-z0-9._-]*$/i.test(first)) return "a line";
  // What stands in brackets is an argument, such as a variable's name.
  return PAIRED.has(first) ? `${first} ${second.replace(/[(].*/, "")}`.trim() : first;
}

/** Lines of the first list that the second has not, as often as they stand there. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = counts.get(line) ?? 0;
    if (count > 0) counts.set(line, count - 1);
    return count === 0;
  });
}

/** Meaningful lines of the sections with this header; none where there is no such section. */
function sectionLines(section: string, plan: RenderPlan): readonly string[] | undefined {
  const config = [...plan.files.values()].find((file) => file.kind === "config");
  if (config === undefined || config.blocks.some(({ bytes, size }) => bytes.length !== size)) return undefined;
  const bytes = joinBlocks(config.blocks);
  const header = Buffer.from(section);
  const lines: string[] = [];
  for (let at = bytes.indexOf(header); at >= 0; at = bytes.indexOf(header, at + 1)) {
    if (at > 0 && bytes[at - 1] !== 0x0a) continue;
    const text = bytes.toString("utf8", at, Math.min(bytes.length, at + LONGEST_SECTION + 1));
    const [first = "", ...rest] = text.split("\n");
    if (first.trim().replace(/\s+/g, " ") !== section) continue;
    const end = rest.findIndex((line) => sectionKeyword(line) !== undefined);
    if (end < 0 && text.length > LONGEST_SECTION) return undefined;
    const body = rest.slice(0, end < 0 ? rest.length : end).join("\n");
    // What stands behind a backslash belongs to the line before.
    lines.push(...meaningfulLines(body.replaceAll(/\\\n\s*/g, " ")));
  }
  return lines;
}
