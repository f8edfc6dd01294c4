/** `--schema-dir`: where schemas of resources are, and what is in them. */
import { loadSchemaFiles } from "../config/index.ts";
import { readSchemas, type Schemas } from "../templating/index.ts";
import { ofConfig, type ReportedProblem } from "./problems.ts";

/** What the flags name, or HAPTIC_SCHEMA_DIR. */
export function schemaPaths(flags: readonly string[] | undefined): readonly string[] {
  return flags ?? [process.env["HAPTIC_SCHEMA_DIR"] ?? ""].filter((path) => path !== "");
}

/** Schemas of resources from files; what holds none is told as a note. */
export function schemasIn(paths: readonly string[]): {
  readonly schemas: Schemas;
  readonly problems: readonly ReportedProblem[];
  readonly notes: readonly string[];
} {
  const { documents, files, problems } = loadSchemaFiles(paths);
  const schemas = readSchemas(documents);
  const notes = schemas.unused.map((i) => `${files[i]!}: a document without a schema of a resource`);
  return { schemas, problems: problems.map(ofConfig), notes };
}
