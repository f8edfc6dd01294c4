/** Options of a write from its query. */
import type { WriteOptions } from "../operations/context.ts";
import { StatusError } from "../status.ts";
import type { ApiRequest } from "./request.ts";

type Kind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

const invalid = (kind: Kind, text: string): StatusError =>
  new StatusError(422, "Invalid", `${kind}.meta.k8s.io "" is invalid: ${text}`);

export function writeOptions(request: ApiRequest, kind: Kind, subresource: "" | "status", apply = false): WriteOptions {
  const { query } = request;
  const fieldValidation = query.get("fieldValidation") ?? "Warn";
  if (fieldValidation !== "Strict" && fieldValidation !== "Warn" && fieldValidation !== "Ignore") {
    throw invalid(
      kind,
      `fieldValidation: Unsupported value: ${JSON.stringify(fieldValidation)}: supported values: "", "Ignore", "Strict", "Warn"`,
    );
  }
  const dryRun = query.getAll("dryRun");
  if (dryRun.some((value) => value !== "All")) {
    throw invalid(kind, `dryRun: Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`);
  }
  const manager = query.get("fieldManager") ?? "";
  if (apply && manager === "") throw invalid(kind, "fieldManager: Required value: is required for apply patch");
  if (!apply && query.get("force") !== null) {
    throw invalid(kind, "force: Forbidden: may not be specified for non-apply patch");
  }
  const agent = (request.raw.headers["user-agent"] ?? "").split("/")[0] ?? "";
  return {
    fieldManager: manager || agent || "unknown",
    fieldValidation,
    dryRun: dryRun.length > 0,
    force: query.get("force") === "true",
    subresource,
    warn: (text) => {
      if (!request.warnings.includes(text)) request.warnings.push(text);
    },
  };
}
