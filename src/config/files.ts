/** Kubernetes objects in YAML files, with the line of each template in them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isPair, isScalar, isSeq, LineCounter, parseAllDocuments, Scalar, visit } from "yaml";
import type { KubeObject } from "../stores/types.ts";
import { type ConfigProblem, fieldPath, type SourcePosition } from "./problems.ts";

export interface LoadedObject {
  readonly object: KubeObject;
  /** Where the object's document begins. */
  readonly position: SourcePosition;
  /**
   * Every text below a key `template` and every parameter of a processor, by field path
   * (`spec.haproxyConfig.postProcessing[0].params.source`); its position is that of the text's first line.
   */
  readonly templates: ReadonlyMap<string, { readonly text: string; readonly position: SourcePosition }>;
}

const PROCESSOR_PARAMETERS: ReadonlySet<unknown> = new Set(["pattern", "replace", "source"]);

export interface LoadedFiles {
  readonly objects: readonly LoadedObject[];
  readonly problems: readonly ConfigProblem[];
}

/** Reads YAML files, and of a folder every *.yaml, *.yml and *.json in it (not below it), in the order of their names. */
export function loadFiles(paths: readonly string[]): LoadedFiles {
  const objects: LoadedObject[] = [];
  const problems: ConfigProblem[] = [];
  for (const file of paths.flatMap(expand)) {
    let text: string;
    try {
      text = readFileSync(file, "utf8");
    } catch (error) {
      problems.push({ kind: "file", object: file, field: "", message: `cannot be read: ${(error as Error).message}` });
      continue;
    }
    const parsed = parseObjects(text, file);
    objects.push(...parsed.objects);
    problems.push(...parsed.problems);
  }
  return { objects, problems };
}

function expand(path: string): string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  return readdirSync(path)
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
    .map((name) => join(path, name));
}

/** Objects of one YAML text (several documents allowed). `file` is the name that positions and problems carry. */
export function parseObjects(text: string, file: string): LoadedFiles {
  const objects: LoadedObject[] = [];
  const problems: ConfigProblem[] = [];
  const lines = new LineCounter();
  for (const document of parseAllDocuments(text, { lineCounter: lines, merge: true, prettyErrors: false })) {
    if (!("contents" in document)) continue;
    for (const error of document.errors) {
      const position = { file, line: lines.linePos(error.pos[0]).line };
      problems.push({ kind: "file", object: file, field: "", message: `YAML: ${error.message}`, position });
    }
    if (document.errors.length > 0 || document.contents === null) continue;
    const position = { file, line: lines.linePos(document.contents.range[0]).line };
    const value: unknown = document.toJS();
    if (value === null) continue;
    const items = itemsOf(value);
    if (items !== undefined) {
      for (const object of items.filter(isObject)) objects.push({ object, position, templates: new Map() });
      continue;
    }
    if (!isObject(value)) {
      const message = "the document is no Kubernetes object: apiVersion, kind and metadata.name are required";
      problems.push({ kind: "file", object: file, field: "", message, position });
      continue;
    }
    const templates = new Map<string, { text: string; position: SourcePosition }>();
    visit(document, {
      Pair(_, pair, ancestors) {
        if (!isScalar(pair.key) || !isScalar(pair.value)) return;
        if (typeof pair.value.value !== "string" || !pair.value.range) return;
        if (pair.key.value !== "template" && !PROCESSOR_PARAMETERS.has(pair.key.value)) return;
        const path = pathOf([...ancestors, pair]);
        const block = pair.value.type === Scalar.BLOCK_LITERAL || pair.value.type === Scalar.BLOCK_FOLDED;
        const line = lines.linePos(pair.value.range[0]).line + (block ? 1 : 0);
        templates.set(fieldPath(...path), { text: pair.value.value, position: { file, line } });
      },
    });
    objects.push({ object: value, position, templates });
  }
  return { objects, problems };
}

/** Keys of mappings and indexes in lists on the way to a pair. */
function pathOf(nodes: readonly unknown[]): (string | number)[] {
  const path: (string | number)[] = [];
  nodes.forEach((node, i) => {
    if (isPair(node)) path.push(String(isScalar(node.key) ? node.key.value : node.key));
    else if (isSeq(node)) path.push(node.items.indexOf(nodes[i + 1]));
  });
  return path;
}

/** What `kubectl get -o yaml` prints of several objects. */
function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, items } = value as { readonly kind?: unknown; readonly items?: unknown };
  return typeof kind === "string" && kind.endsWith("List") && Array.isArray(items) ? items : undefined;
}

function isObject(value: unknown): value is KubeObject {
  if (typeof value !== "object" || value === null) return false;
  const { apiVersion, kind, metadata } = value as Partial<KubeObject>;
  const named = typeof metadata === "object" && metadata !== null && typeof metadata.name === "string";
  return typeof apiVersion === "string" && typeof kind === "string" && named;
}
