/** What changed text of haproxy.cfg and changed profiles ask of a running HAProxy: a reload. */
import { treeDifferences } from "./keyed-tree.ts";
import type { Ledger } from "./ledger.ts";
import { fewObjects, type Makers } from "./makers.ts";
import { backendDigest, profileDigest, structureDigest } from "./plan.ts";
import type { ReasonDetails } from "./reasons.ts";
import type { ReloadRuleName } from "./reload-rules.ts";
import { changedLines } from "./section-lines.ts";
import { POST_PROCESSING, SECTION_ORDER, sectionKeyword, sectionOf, sourceOf, structureKey } from "./structure.ts";
import type { RenderPlan } from "./types.ts";

/** Sections that can read from maps what would else be text of theirs. */
const ROUTING = new Set(["frontend", "listen", "backend"]);

/** Text of haproxy.cfg outside declared backends and profiles: a reason a section, with the objects that it was written for. */
export function changedText(next: RenderPlan, baseline: RenderPlan, makers: Makers, ledger: Ledger): void {
  const sections = new Map<string, SectionChange>();
  for (const { key, before, after } of treeDifferences(baseline.structure, next.structure, structureDigest)) {
    const section = sectionOf(key);
    let told = sections.get(section);
    if (told === undefined) sections.set(section, (told = { keys: [], comes: true, goes: true }));
    told.keys.push(key);
    if (before !== undefined) told.comes = false;
    if (after !== undefined) told.goes = false;
  }
  const isHeader = (section: string): boolean => sectionKeyword(section) !== undefined;
  for (const [section, { keys, comes, goes }] of sections) {
    // Sections that come and go stand in another order than before by that alone.
    if (section === SECTION_ORDER && [...sections.keys()].some(isHeader)) continue;
    const rule = ruleOf(section, comes && !hasSection(section, baseline), goes && !hasSection(section, next));
    const what = rule === "section-new" ? "is new" : rule === "section-gone" ? "is gone" : "changed";
    ledger.reload(rule, `${section} ${what}`, () => detailsOf(section, keys, { next, baseline, makers, rule }));
  }
}

interface SectionChange {
  readonly keys: string[];
  comes: boolean;
  goes: boolean;
}

function ruleOf(section: string, isNew: boolean, isGone: boolean): ReloadRuleName {
  if (section === SECTION_ORDER) return "section-order";
  if (section === POST_PROCESSING) return "post-processing";
  const keyword = sectionKeyword(section);
  if (keyword !== undefined && isNew) return "section-new";
  if (keyword !== undefined && isGone) return "section-gone";
  return ROUTING.has(keyword ?? "") ? "section" : "section-fixed";
}

const hasSection = (section: string, { structure }: RenderPlan): boolean =>
  structure.get(structureKey(section, "text 0")) !== undefined;

function detailsOf(
  section: string,
  keys: readonly string[],
  { next, baseline, makers, rule }: Readonly<{ next: RenderPlan; baseline: RenderPlan; makers: Makers; rule: string }>,
): ReasonDetails {
  const sources = keys.map((key) => ({ key, ...sourceOf(key) }));
  const snippets = new Set(sources.flatMap(({ snippet }) => (snippet === undefined ? [] : [snippet])));
  const lines = rule === "section" || rule === "section-fixed" ? changedLines(section, next, baseline) : undefined;
  const fields = [...snippets].map((snippet) => `templateSnippets.${snippet}`);
  if (rule === "post-processing") fields.push("haproxyConfig.postProcessing");
  else if (sources.some(({ snippet }) => snippet === undefined)) fields.push(makers.field(section, lines?.line));
  return {
    section,
    field: fields.join(", "),
    change: lines?.change ?? "",
    object: fewObjects(sources.map(({ key, object }) => makers.of(key, object))),
  };
}

/** Profiles that HAProxy has not loaded: it does so at a reload only. */
export function changedProfiles(next: RenderPlan, baseline: RenderPlan, makers: Makers, ledger: Ledger): void {
  for (const { key, before, after } of treeDifferences(baseline.profiles, next.profiles, profileDigest)) {
    // A profile that nothing uses any more may stay in the worker until its next reload.
    if (after === undefined) continue;
    const [rule, what] =
      before === undefined ? (["profile-new", "is new"] as const) : (["profile-text", "changed its text"] as const);
    ledger.reload(rule, `profile ${key} ${what}`, () => ({
      section: `defaults ${key}`,
      field: "planRegistry.Profile",
      object: makers.of(`profile ${key}`, firstUser(key, next, baseline)),
    }));
  }
}

/** The object of the first backend that takes a profile up. */
function firstUser(profile: string, next: RenderPlan, baseline: RenderPlan): string {
  for (const { before, after } of treeDifferences(baseline.backends, next.backends, backendDigest))
    if (after?.record.profile === profile && before?.record.profile !== profile) return after.origin ?? "";
  return "";
}
