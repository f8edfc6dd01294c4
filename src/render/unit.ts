/** What a render runs: root templates, and instances of incremental snippets. */
import { objectName } from "../plan/index.ts";
import type { FileKind } from "../plan/types.ts";
import type { KubeObject } from "../stores/types.ts";
import type { TemplateProblem } from "../templating/types.ts";
import { Causes } from "./causes.ts";
import type { Segment } from "./output.ts";
import { type Declared, NOTHING_DECLARED } from "./plan-registry.ts";
import type { ReadEntry, Unit } from "./reads.ts";
import type { RegisteredFile } from "./registered-files.ts";
import type { RecordedCall, TemplateEvent } from "./types.ts";

/** What a run that went well leaves. */
export interface RunResult {
  readonly segments: readonly Segment[];
  readonly declared: Declared;
  readonly events: readonly TemplateEvent[];
  readonly files: ReadonlyMap<string, RegisteredFile>;
  readonly calls: readonly RecordedCall[];
}

export const EMPTY_RESULT: RunResult = {
  segments: [],
  declared: NOTHING_DECLARED,
  events: [],
  files: new Map(),
  calls: [],
};

/** One incremental snippet for one object of its source. Keeps its last good result while it fails. */
export class Instance implements Unit {
  reads: ReadEntry[] = [];
  result: RunResult = EMPTY_RESULT;
  fault: TemplateProblem | undefined;
  readonly snippet: string;
  readonly source: string;
  /** `namespace/name`. */
  readonly id: string;
  /** Sorts instances of a snippet: namespace, then name. */
  readonly key: string;
  item: KubeObject;

  constructor(snippet: string, source: string, id: string, item: KubeObject) {
    this.snippet = snippet;
    this.source = source;
    this.id = id;
    this.item = item;
    this.key = [item.metadata.namespace ?? "", item.metadata.name].join("\u0000");
  }

  /** `Ingress default/web` */
  get name(): string {
    return objectName(this.item.kind, this.id);
  }

  /** Sorts instances of all snippets, as {@link byOrder} does. */
  get order(): string {
    return [this.snippet, this.source, this.key].join("\u0000");
  }
}

/** By snippet, source, namespace and name. */
export function byOrder(a: Instance, b: Instance): number {
  if (a.snippet !== b.snippet) return a.snippet < b.snippet ? -1 : 1;
  if (a.source !== b.source) return a.source < b.source ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}

export interface RootSpec {
  /** Registry name: `haproxy.cfg`, `map:host.map`. */
  readonly template: string;
  readonly path: string;
  readonly kind: FileKind;
  readonly reloadOnPush: boolean;
  /** Maps: whether the order of entries matters. */
  readonly ordered: boolean;
}

/** One root template: haproxy.cfg, a map, a file, a certificate. */
export class Root implements Unit {
  reads: ReadEntry[] = [];
  result: RunResult = EMPTY_RESULT;
  problem: TemplateProblem | undefined;
  /** Has run since its inputs changed. */
  clean = false;
  usesShared = false;
  /** Incremental snippets whose text the last run took as a string; it runs again when one of their instances does. */
  inlined = new Set<string>();
  /** Snippets that the last run mounted or took as a string. */
  mounted: ReadonlySet<string> = new Set();
  /** Whose changes asked for the runs since its result was taken over last. */
  readonly causes = new Causes();
  readonly spec: RootSpec;

  constructor(spec: RootSpec) {
    this.spec = spec;
  }

  get main(): boolean {
    return this.spec.kind === "config";
  }
}
