/** Public shapes of the template engine (template language: docs/template-language.md). */

import type { Profile } from "./profile.ts";
import type { Provenance } from "./provenance.ts";
import type { Place } from "./syntax/problems.ts";

/** One named template of a set. `text` is what the resource held, untouched. */
export interface TemplateSource {
  /** Registry name: `haproxy.cfg`, `map:host.map`, `file:503.http`, `cert:NAME`, `k8s:NAME`, or a snippet's own name. */
  readonly name: string;
  readonly text: string;
  /** Where the text came from, so that an error can name `file.yaml:line` as well. */
  readonly origin?: {
    /** `HAProxyTemplateConfig default/haproxy-config` or `HAProxyTemplateLibrary …`. */
    readonly object: string;
    /** `spec.templateSnippets.NAME.template`. */
    readonly field: string;
    readonly file?: string;
    /** Line of the file that holds the template's first line, 1-based. */
    readonly line?: number;
    /** Object whose text of the same name this one overrode. */
    readonly overrode?: string;
  };
}

/** What one entry point may see. `root` = haproxy.cfg, maps, files …; `component` = an incremental snippet. */
export type EntryKind = "root" | "component";

export interface EntryPoint {
  readonly template: string;
  readonly kind: EntryKind;
}

/** A problem in a template, at compile time or at run time. */
export interface TemplateProblem {
  readonly code: string;
  readonly template: string;
  /** 1-based; column counts code points. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly hint?: string;
  readonly origin?: TemplateSource["origin"];
  /** Where the place is in the file that the template came from. */
  readonly file?: { readonly file: string; readonly line: number };
  /** The template's line, whole; the caret stands below its `column`. */
  readonly sourceLine?: string;
  /** Include and macro call chain, innermost first: `from NAME:line:col`, with `(FILE:line)` where the file is known. */
  readonly chain: readonly string[];
  /** Full text for terminals: header, source line, caret, hint. */
  readonly text: string;
}

/** Where a run's output goes. Text arrives in order; a mount stands for the whole output of an incremental snippet. */
export interface Sink {
  text(chunk: string): void;
  mount(snippet: string): void;
}

/** What a suspended run asks of its driver. */
export type Suspension = { readonly kind: "slice" } | { readonly kind: "read"; readonly request: unknown };

export interface RunEnvironment {
  /** Values of the declared globals, by name. Host objects are made with `hostObject`. */
  readonly globals: Readonly<Record<string, unknown>>;
  readonly sink: Sink;
  /** Bounds of one run; defaults in runtime/limits.ts. */
  readonly limits?: { readonly fuel?: number; readonly outputBytes?: number; readonly depth?: number };
  /** True once the current slice is used up; asked about every 64 ticks. */
  readonly due: () => boolean;
  /** Text of all instances of an incremental snippet, for where a root needs it as a string (macro, expression). */
  readonly renderIncremental?: (snippet: string) => string;
  /** Measures the run's templates. */
  readonly profile?: Profile;
  /** Marks what the run writes, where the set was compiled for it. */
  readonly provenance?: Provenance;
  /**
   * The instant of the render, in milliseconds, for now() and certificate_info's `expired`. Without it nothing is expired and
   * now() fails: output that is cached must not depend on the clock.
   */
  readonly now?: number;
  /**
   * The instant of the render where `now` is not given, in milliseconds: for transitionTime, whose answer is kept with the
   * output. Default 0.
   */
  readonly instant?: number;
  /** Random bytes for randBytes; default those of the system. */
  readonly random?: (n: number) => Uint8Array;
}

/** A template run: resume with the answer to the last read request, or with nothing after a slice. Throws TemplateError. */
export type TemplateRun = Generator<Suspension, void, unknown>;

export interface CompiledSet {
  /** All problems found in everything the entry points reach; empty = usable. */
  readonly problems: readonly TemplateProblem[];
  /** Starts one entry point. Throws when it was not compiled or has problems. */
  start(template: string, environment: RunEnvironment): TemplateRun;
  /** What was made of each unit: JavaScript, for people who want to see it. Keys name the kind and the template. */
  emitted(): readonly { readonly key: string; readonly text: string }[];
  /** Places of all pieces of output, where the set was compiled with `provenance`: what a Provenance is made of. */
  readonly pieces: readonly Place[];
  /** Names of incremental snippets that the entry point can mount, in order of first use. */
  mounts(template: string): readonly string[];
}
