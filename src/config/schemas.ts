/** Schema documents in files: CustomResourceDefinitions, OpenAPI v3 documents, single schemas; for `--schema-dir`. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { ConfigProblem } from "./problems.ts";

export interface SchemaFiles {
  /** Parsed documents, in the order of the files' names. */
  readonly documents: readonly unknown[];
  /** File of each document. */
  readonly files: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

/** Reads the *.yaml, *.yml and *.json files in folders and below them, and single files. */
export function loadSchemaFiles(paths: readonly string[]): SchemaFiles {
  const documents: unknown[] = [];
  const files: string[] = [];
  const problems: ConfigProblem[] = [];
  for (const file of paths.flatMap(below)) {
    const refuse = (message: string): void => {
      problems.push({ kind: "file", object: file, field: "", message });
    };
    try {
      for (const document of parsed(file, refuse)) {
        documents.push(document);
        files.push(file);
      }
    } catch (error) {
      refuse(`cannot be read: ${(error as Error).message}`);
    }
  }
  return { documents, files, problems };
}

function parsed(file: string, refuse: (message: string) => void): unknown[] {
  const text = readFileSync(file, "utf8");
  if (file.endsWith(".json")) return [JSON.parse(text) as unknown];
  const found: unknown[] = [];
  for (const document of parseAllDocuments(text, { prettyErrors: false, logLevel: "error" })) {
    if (!("contents" in document)) continue;
    const [error] = document.errors;
    if (error !== undefined) refuse(`YAML: ${error.message}`);
    else if (document.contents !== null) found.push(document.toJS() as unknown);
  }
  return found;
}

function below(path: string): string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
    .map((name) => join(path, name));
}
