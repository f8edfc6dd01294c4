/** Options of a write from its query. */
import type { Fields } from "../objects.ts";
import type { WriteOptions } from "../operations/context.ts";
import { fieldForbidden, fieldNotSupported, fieldRequired, optionsInvalid } from "../status.ts";
import type { ApiRequest } from "./request.ts";

type Kind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

/** The options as webhooks are told them. */
function sentOptions(query: URLSearchParams): Fields {
  const sent: Fields = {};
  if (query.has("dryRun")) sent["dryRun"] = query.getAll("dryRun");
  for (const name of ["fieldManager", "fieldValidation"]) {
    const value = query.get(name);
    if (value !== null) sent[name] = value;
  }
  return sent;
}

export function writeOptions(request: ApiRequest, kind: Kind, subresource: "" | "status", apply = false): WriteOptions {
  const { query } = request;
  const fieldValidation = query.get("fieldValidation") ?? "Warn";
  if (fieldValidation !== "Strict" && fieldValidation !== "Warn" && fieldValidation !== "Ignore") {
    throw optionsInvalid(kind, fieldNotSupported("fieldValidation", fieldValidation, ["", "Ignore", "Strict", "Warn"]));
  }
  const dryRun = query.getAll("dryRun");
  if (dryRun.some((value) => value !== "All")) {
    throw optionsInvalid(kind, fieldNotSupported("dryRun", dryRun, ["All"]));
  }
  const manager = query.get("fieldManager") ?? "";
  if (apply && manager === "") throw optionsInvalid(kind, fieldRequired("fieldManager", "is required for apply patch"));
  if (!apply && query.get("force") !== null) {
    throw optionsInvalid(kind, fieldForbidden("force", "may not be specified for non-apply patch"));
  }
  const agent = (request.raw.headers["user-agent"] ?? "").split("/")[0] ?? "";
  return {
    fieldManager: manager || agent || "unknown",
    fieldValidation,
    dryRun: dryRun.length > 0,
    force: query.get("force") === "true",
    subresource,
    sent: sentOptions(query),
    warn: (text) => {
      if (!request.warnings.includes(text)) request.warnings.push(text);
    },
  };
}
