/** What form of answer a client asks for by `Accept`. */
import { StatusError } from "../status.ts";
import type { ApiRequest } from "./request.ts";

export type Form = "object" | "table" | "partial" | "partialList";

/** The first acceptable form: plain JSON, a Table, or metadata only. A client that only takes protobuf gets JSON. */
export function acceptedForm(request: ApiRequest): Form {
  const accept = request.raw.headers.accept ?? "*/*";
  let protobuf = false;
  for (const range of accept.split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const named = new Map(parameters.map((parameter) => parameter.split("=", 2) as [string, string]));
    if (type === "application/vnd.kubernetes.protobuf") protobuf = true;
    if (!["application/json", "application/yaml", "application/*", "*/*"].includes(type)) continue;
    const as = named.get("as");
    if (as === undefined) return "object";
    if (named.get("g") !== "meta.k8s.io") continue;
    if (as === "Table") return "table";
    if (as === "PartialObjectMetadata") return "partial";
    if (as === "PartialObjectMetadataList") return "partialList";
  }
  if (protobuf) return "object";
  throw new StatusError(
    406,
    "NotAcceptable",
    "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/json;stream=watch",
    {},
  );
}
