/** Merges a configuration with the libraries it refers to: the effective specification that a controller runs. */
import { deepMerge, isMap, type Json, type JsonMap } from "./merge.ts";
import { type ConfigProblem, fieldPath, objectName } from "./problems.ts";
import type { HAProxyTemplateConfig, HAProxyTemplateConfigSpec, HAProxyTemplateLibrary } from "./types.ts";

/** Spec fields whose entries are named templates; an entry of a later object overrides one of the same name. */
const TEMPLATE_FIELDS = ["templateSnippets", "maps", "files", "sslCertificates", "k8sResources"] as const;
const LIBRARY_FIELDS = [...TEMPLATE_FIELDS, "haproxyConfig", "templatingSettings", "validationTests"] as const;
const GLOBAL_TEST = "_global";

export type TemplateField = (typeof TEMPLATE_FIELDS)[number];

/** A template of an earlier object that a later one replaced. */
export interface Override {
  readonly field: TemplateField;
  readonly name: string;
  /** Object whose text counts. */
  readonly by: string;
  /** Object whose text does not count any more. */
  readonly overrode: string;
}

export interface Origin {
  /** Object that gave the text. */
  readonly object: string;
  readonly overrode?: string;
}

export interface Assembled {
  readonly state: "assembled";
  /** The merged specification; of the operational fields it holds the configuration's own. */
  readonly spec: HAProxyTemplateConfigSpec;
  /** By field path of a template, e.g. `spec.maps["host.map"].template`. */
  readonly origins: ReadonlyMap<string, Origin>;
  readonly overrides: readonly Override[];
  /** Contradictions between the objects. */
  readonly problems: readonly ConfigProblem[];
  /** The configuration's and the libraries' names and revisions, for logs: equal text = equal input. */
  readonly members: readonly string[];
}

/** The set is not complete: the last good configuration goes on. */
export interface Held {
  readonly state: "hold";
  readonly reason: "libraryMissing" | "revisionMismatch";
  /** Names the reference, the revision wanted and the one found. */
  readonly message: string;
}

/**
 * Merges in the order of `libraryRefs`, the configuration's own content last (CRD reference, libraryRefs). `libraries`
 * may hold more than those referred to; only objects of the configuration's namespace count.
 */
export function assemble(
  config: HAProxyTemplateConfig,
  libraries: readonly HAProxyTemplateLibrary[] = [],
): Assembled | Held {
  const namespace = config.metadata.namespace;
  const byName = new Map(
    libraries.filter((each) => each.metadata.namespace === namespace).map((each) => [each.metadata.name, each]),
  );
  const members: Member[] = [];
  for (const reference of config.spec.libraryRefs ?? []) {
    const library = byName.get(reference.name);
    const wanted = `libraryRefs wants HAProxyTemplateLibrary ${reference.name} at revision ${JSON.stringify(reference.revision)}`;
    if (library === undefined) {
      return { state: "hold", reason: "libraryMissing", message: `${wanted}, and there is none of that name` };
    }
    if (library.spec.revision !== reference.revision) {
      const found = `${wanted}, and that object reports ${JSON.stringify(library.spec.revision)}`;
      return { state: "hold", reason: "revisionMismatch", message: found };
    }
    members.push({ object: objectName(library), spec: pick(library.spec), revision: library.spec.revision });
  }
  const { libraryRefs: _, ...own } = stripScratch(config.spec as unknown as JsonMap);
  members.push({ object: objectName(config), spec: own, revision: String(config.metadata.generation ?? 0) });
  return mergeMembers(members);
}

interface Member {
  readonly object: string;
  readonly spec: JsonMap;
  readonly revision: string;
}

/** A library gives content only; whatever else stands in it does not reach the controller's identity. */
function pick(spec: object): JsonMap {
  const fields = new Set<string>(LIBRARY_FIELDS);
  return Object.fromEntries(Object.entries(spec as JsonMap).filter(([key]) => fields.has(key)));
}

/** Top-level keys that begin with an underscore are the author's scratch values (YAML anchors). */
function stripScratch(spec: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(spec).filter(([key]) => !key.startsWith("_")));
}

function mergeMembers(members: readonly Member[]): Assembled {
  const origins = new Map<string, Origin>();
  const overrides: Override[] = [];
  const problems: ConfigProblem[] = [];
  const tests = new Map<string, { object: string; test: Json }>();
  let spec: Json = {};
  let mainFrom: string | undefined;

  for (const member of members) {
    for (const field of TEMPLATE_FIELDS) {
      for (const [name, entry] of entries(member.spec[field])) {
        if (!isMap(entry) || entry["template"] === undefined) continue;
        const path = fieldPath("spec", field, name, "template");
        const before = origins.get(path);
        if (before === undefined) origins.set(path, { object: member.object });
        else {
          origins.set(path, { object: member.object, overrode: before.object });
          overrides.push({ field, name, by: member.object, overrode: before.object });
        }
      }
    }
    if (member.spec["haproxyConfig"] !== undefined) {
      if (mainFrom !== undefined) {
        problems.push({
          kind: "conflict",
          object: member.object,
          field: "spec.haproxyConfig",
          message: `${mainFrom} supplies haproxyConfig too; exactly one object of a merged set may`,
          hint: "keep it in one of the two objects",
        });
      }
      mainFrom = member.object;
      origins.set("spec.haproxyConfig.template", { object: member.object });
    }
    for (const [name, test] of entries(member.spec["validationTests"])) {
      const before = tests.get(name);
      if (before === undefined) tests.set(name, { object: member.object, test });
      else if (name === GLOBAL_TEST)
        tests.set(name, { object: member.object, test: accumulate(before.test, test) ?? null });
      else {
        problems.push({
          kind: "conflict",
          object: member.object,
          field: fieldPath("spec", "validationTests", name),
          message: `${before.object} defines a validation test of this name too`,
          hint: "rename one of the two tests",
        });
      }
    }
    spec = deepMerge(spec, member.spec) ?? {};
  }

  const { validationTests: _, ...rest } = spec as JsonMap;
  const named = Object.fromEntries([...tests].map(([name, { test }]) => [name, test]));
  const effective = tests.size === 0 ? rest : { ...rest, validationTests: named };
  return {
    state: "assembled",
    spec: effective,
    origins,
    overrides,
    problems,
    members: members.map((member) => `${member.object}@${member.revision}`),
  };
}

/** `_global` accumulates: lists are joined, maps merged key by key, a later single value wins. */
function accumulate(earlier: Json | undefined, later: Json): Json {
  if (earlier === undefined) return later;
  if (Array.isArray(earlier) && Array.isArray(later)) return [...(earlier as Json[]), ...(later as Json[])];
  if (!isMap(earlier) || !isMap(later)) return later;
  const merged = new Map<string, Json>(Object.entries(earlier));
  for (const [key, value] of Object.entries(later)) merged.set(key, accumulate(merged.get(key), value));
  return Object.fromEntries(merged);
}

function entries(value: Json | undefined): [string, Json][] {
  return isMap(value) ? Object.entries(value) : [];
}
