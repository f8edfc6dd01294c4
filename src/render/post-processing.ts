/**
 * postProcessing: what is done to a root's text after it was rendered. `regex_replace` works line by line, so it works
 * block by block; a `template` sees one section of haproxy.cfg, or the whole of any other file. What is done to a block or a
 * section is kept by its digest: one change costs what it touches. (CRD reference, postProcessing.)
 */
import { TemplateError } from "../errors.ts";
import { cutBlocks, planBackend, sha256 } from "../plan/index.ts";
import type { Block, Digest, PlanBackend } from "../plan/types.ts";
import { type CompiledSet, createEngine, type TemplateProblem, type TemplateSource } from "../templating/index.ts";
import { wholeLines } from "./lines.ts";
import type { BackendDeclaration } from "./plan-registry.ts";
import { type LineRule, lineProcessor, replaceLines } from "./post-processing-lines.ts";
import { cutSections, type SectionCut } from "./post-processing-sections.ts";
import type { Slices } from "./slices.ts";

/** As the specification has it. */
export interface ProcessorSpec {
  readonly type: string;
  readonly params: Readonly<Record<string, string>>;
}

/** Neighbouring line rules are one step. */
type Step =
  | { readonly kind: "lines"; readonly rules: LineRule[]; done: Map<Digest, readonly Block[]> }
  | {
      readonly kind: "template";
      readonly template: string;
      sections: Map<Digest, SectionCut>;
      done: Map<string, readonly Block[]>;
    };

/** A place that a problem of processor `index` of a root belongs to. */
export type ProcessorPlace = (index: number, parameter?: string) => TemplateSource;

export class PostProcessing {
  readonly problems: TemplateProblem[] = [];
  /** Changes nothing but blanks at the borders of lines. */
  readonly neutral: boolean;
  /** Of what is done; "" when nothing is. */
  readonly identity: Digest;
  readonly #steps: Step[] = [];
  readonly #bySection: boolean;
  readonly #set: CompiledSet | undefined;

  constructor(processors: readonly ProcessorSpec[], bySection: boolean, place: ProcessorPlace) {
    this.#bySection = bySection;
    this.identity =
      processors.length === 0 ? "" : sha256(JSON.stringify(processors.map(({ type, params }) => [type, params])));
    const sources: TemplateSource[] = [];
    let neutral = true;
    processors.forEach(({ type, params }, index) => {
      const wanted = (parameter: string): string | undefined => {
        const value = Object.hasOwn(params, parameter) ? params[parameter] : undefined;
        if (value === undefined)
          this.#refuse(place(index), `${type} has no ${parameter}`, `give it in params.${parameter}`);
        return value;
      };
      if (type === "regex_replace") {
        const pattern = wanted("pattern");
        const replace = wanted("replace");
        if (pattern === undefined || replace === undefined) return;
        try {
          const { rule, blanksOnly } = lineProcessor(pattern, replace);
          neutral &&= blanksOnly;
          const last = this.#steps.at(-1);
          if (last?.kind === "lines") last.rules.push(rule);
          else this.#steps.push({ kind: "lines", rules: [rule], done: new Map() });
        } catch (error) {
          this.#refuse(
            place(index, "pattern"),
            `invalid regular expression ${JSON.stringify(pattern)}: ${error instanceof Error ? error.message : String(error)}`,
            "patterns are RE2: no look-around, no back-references",
          );
        }
      } else if (type === "template") {
        const text = wanted("source");
        if (text === undefined) return;
        neutral = false;
        const source = { ...place(index, "source"), text };
        sources.push(source);
        this.#steps.push({ kind: "template", template: source.name, sections: new Map(), done: new Map() });
      } else {
        this.#refuse(place(index), `${JSON.stringify(type)} is no processor`, "known are regex_replace and template");
      }
    });
    this.neutral = neutral;
    if (sources.length > 0) {
      this.#set = createEngine({
        sources,
        entries: sources.map(({ name }) => ({ template: name, kind: "root" as const })),
        incremental: () => false,
        globals: { root: { input: { type: "string" } }, component: {} },
        hostTypes: {},
      });
      this.problems.push(...this.#set.problems);
    }
  }

  #refuse({ name, origin }: TemplateSource, message: string, hint: string): void {
    this.problems.push(processingProblem(name, origin, message, hint));
  }

  /** The file's blocks after all processors. Rejects with a TemplateError when a template fails. */
  async apply(blocks: readonly Block[], slices: Slices): Promise<readonly Block[]> {
    let present = blocks;
    for (const step of this.#steps) {
      if (step.kind === "lines") present = await this.#lines(step, present, slices);
      else if (this.#bySection) present = await this.#sections(step, present, slices);
      else present = await this.#whole(step, present, slices);
    }
    return present === blocks ? blocks : wholeLines(present);
  }

  /**
   * What the plan holds of a declared backend. One whose section comes out with another meaning is what its text says, and
   * not what its record says: only a reload changes it.
   */
  async planOf({ plan, text, name }: BackendDeclaration, slices: Slices): Promise<PlanBackend> {
    if (this.neutral) return plan;
    let after = text;
    try {
      for (const step of this.#steps) {
        after = step.kind === "lines" ? replaceLines(after, step.rules) : await this.#run(step.template, after, slices);
      }
    } catch (error) {
      // The whole file fails with it, and says so.
      if (!(error instanceof TemplateError)) throw error;
      return plan;
    }
    const record = { name, servers: [], shape: "structural" as const, shapeReason: "postProcessing changes its text" };
    const processed = planBackend(record, after);
    return processed.textDigest === plan.textDigest ? plan : processed;
  }

  async #lines(step: Step & { kind: "lines" }, blocks: readonly Block[], slices: Slices): Promise<readonly Block[]> {
    const done = new Map<Digest, readonly Block[]>();
    const out: Block[] = [];
    for (const block of blocks) {
      let made = step.done.get(block.digest) ?? done.get(block.digest);
      if (made === undefined) {
        const before = textOf(block);
        const after = replaceLines(before, step.rules);
        made = after === before ? [block] : cutBlocks(after);
        if (slices.due()) await slices.breathe();
      }
      done.set(block.digest, made);
      out.push(...made);
    }
    step.done = done;
    return out;
  }

  /** Sections that lie within one block are done with it; what reaches over a border is done with the block that ends it. */
  async #sections(
    step: Step & { kind: "template" },
    blocks: readonly Block[],
    slices: Slices,
  ): Promise<readonly Block[]> {
    const cuts = new Map<Digest, SectionCut>();
    const done = new Map<string, readonly Block[]>();
    const out: Block[] = [];
    let open: string[] = [];
    const put = async (digest: Digest, sections: () => readonly string[]): Promise<void> => {
      const key = open.length === 0 ? digest : `${sha256(open.join(""))} ${digest}`;
      let made = step.done.get(key) ?? done.get(key);
      if (made === undefined) {
        let text = open.length === 0 ? "" : await this.#run(step.template, open.join(""), slices);
        for (const section of sections()) text += await this.#run(step.template, section, slices);
        made = cutBlocks(text);
      }
      done.set(key, made);
      out.push(...made);
      open = [];
    };
    for (const block of blocks) {
      const cut = step.sections.get(block.digest) ?? cutSections(textOf(block));
      cuts.set(block.digest, cut);
      if (cut.head !== "") open.push(cut.head);
      if (cut.last === "") continue;
      await put(block.digest, () => cut.whole(textOf(block)));
      open = [cut.last];
      if (slices.due()) await slices.breathe();
    }
    if (open.length > 0) await put("", () => []);
    step.sections = cuts;
    step.done = done;
    return out;
  }

  async #whole(step: Step & { kind: "template" }, blocks: readonly Block[], slices: Slices): Promise<readonly Block[]> {
    const key = blocks.map((block) => block.digest).join(" ");
    let made = step.done.get(key);
    if (made === undefined) made = cutBlocks(await this.#run(step.template, blocks.map(textOf).join(""), slices));
    step.done = new Map([[key, made]]);
    return made;
  }

  /** The template's output, with a line end where it has none. */
  async #run(template: string, input: string, slices: Slices): Promise<string> {
    let out = "";
    const run = this.#set!.start(template, {
      globals: { input },
      sink: { text: (chunk) => (out += chunk), mount: () => undefined },
      due: slices.due,
    });
    for (let step = run.next(); step.done !== true; step = run.next()) await slices.breathe();
    return out === "" || out.endsWith("\n") ? out : `${out}\n`;
  }
}

function textOf(block: Block): string {
  return Buffer.from(block.bytes.buffer, block.bytes.byteOffset, block.bytes.byteLength).toString("utf8");
}

function processingProblem(
  template: string,
  origin: TemplateSource["origin"],
  message: string,
  hint: string,
): TemplateProblem {
  const where = origin === undefined ? template : `${origin.object}: ${origin.field}`;
  const position = origin?.file === undefined ? "" : `${origin.file}:${origin.line ?? 1}: `;
  return {
    code: "HAPTIC_E_TEMPLATE_COMPILE",
    template,
    line: 1,
    column: 1,
    message,
    hint,
    ...(origin === undefined ? {} : { origin }),
    chain: [],
    text: `${position}${where}: ${message}\nhint: ${hint}`,
  };
}
