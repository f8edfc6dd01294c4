/** The configuration as the origin of a plan: what it is called, and where its templates write what. */
import { canonicalJson, sectionKeyword, sha256 } from "../plan/index.ts";
import type { Digest, PlanConfiguration, TemplatePlace } from "../plan/types.ts";
import type { TemplateSource } from "../templating/types.ts";

const MAIN = "haproxy.cfg";
/** Beginnings of lines that say too little to find them by. */
const SHORTEST = 4;
/** What a line begins with and does not show, or shows before its own text. */
const LEADING_MARKS = /^(?:\s*\{([{%#]).*?[}%#]\})+/;

interface TemplateLine {
  readonly number: number;
  readonly text: string;
}

/** Asked only when a reload is told, so nothing is prepared. */
export class ConfigurationSource implements PlanConfiguration {
  readonly name: string;
  readonly #spec: unknown;
  readonly #sources: readonly TemplateSource[];
  #id: Digest | undefined;

  constructor(spec: unknown, sources: readonly TemplateSource[]) {
    this.#spec = spec;
    this.#sources = sources;
    this.name = sources.find(({ name }) => name === MAIN)?.origin?.object ?? "";
  }

  get id(): Digest {
    return (this.#id ??= sha256(canonicalJson([this.#spec, this.#sources.map(({ name, text }) => [name, text])])));
  }

  /** The line as it stands in a template, or its beginning before the first marks; else the section's header. */
  place(section: string, line?: string): TemplatePlace | undefined {
    const main = this.#sources.find(({ name }) => name === MAIN);
    if (main === undefined) return undefined;
    const lines = linesOf(main);
    const at = lines.findIndex((each) => sectionKeyword(each.text) !== undefined && begins(each.text, section));
    if (at < 0) return placeOf(main, undefined);
    if (line !== undefined) {
      const rest = lines.slice(at + 1);
      const end = rest.findIndex(({ text }) => sectionKeyword(text) !== undefined);
      const own = writing(rest.slice(0, end < 0 ? rest.length : end), line);
      if (own !== undefined) return placeOf(main, own);
      // A snippet that the section renders: told where it is the only one that could have written it.
      const others = this.#sources.flatMap((source) => {
        const found = source === main ? undefined : writing(linesOf(source), line);
        return found === undefined ? [] : [placeOf(source, found)];
      });
      if (others.length === 1) return others[0];
    }
    return placeOf(main, lines[at]);
  }
}

const linesOf = ({ text }: TemplateSource): TemplateLine[] =>
  text.split("\n").map((each, i) => ({ number: i + 1, text: each.replace(LEADING_MARKS, "").trimEnd() }));

/** The line that is the same text; else the one with the longest beginning of it before its first marks. */
function writing(lines: readonly TemplateLine[], line: string): TemplateLine | undefined {
  let best: TemplateLine | undefined;
  let length = SHORTEST - 1;
  for (const each of lines) {
    const text = each.text.trim();
    if (text === line) return each;
    const literal = text.replace(/\{[{%#].*$/s, "");
    if (literal === text || literal.length <= length || !line.startsWith(literal)) continue;
    best = each;
    length = literal.length;
  }
  return best;
}

/** Whether a template's line could have written a section's header. */
function begins(text: string, header: string): boolean {
  const literal = text.replace(/\{[{%#].*$/s, "").replace(/\s+/g, " ");
  return literal.trimEnd() === header || (literal !== text.replace(/\s+/g, " ") && header.startsWith(literal));
}

function placeOf(source: TemplateSource, line: TemplateLine | undefined): TemplatePlace {
  const field = (source.origin?.field ?? fieldOf(source.name)).replace(/^spec\./, "");
  return { object: source.origin?.object ?? "", field: line === undefined ? field : `${field} line ${line.number}` };
}

const fieldOf = (name: string): string =>
  name === MAIN ? "spec.haproxyConfig.template" : `spec.templateSnippets.${name}.template`;
