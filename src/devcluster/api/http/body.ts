/** Decoding of request bodies: JSON (also without a Content-Type), YAML and the protobuf of typed clients. */
import { parseAllDocuments } from "yaml";
import { decodeProtobuf, isProtobuf } from "../protobuf/envelope.ts";
import { StatusError, badRequest } from "../status.ts";
import { readBody } from "./request.ts";
import type { ApiRequest } from "./request.ts";

const unsupported = (types: string): StatusError =>
  new StatusError(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${types}`,
  );

export const mediaType = (request: ApiRequest): string =>
  (request.raw.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch (error) {
    throw badRequest(`couldn't get version/kind; json parse error: ${error instanceof Error ? error.message : ""}`);
  }
}

/** YAML as Kubernetes reads it (1.1: `on` is a boolean). */
export function parseYaml(text: string): unknown[] {
  return parseAllDocuments(text, { version: "1.1", merge: true }).map((document) => {
    const fault = document.errors[0];
    if (fault !== undefined) throw badRequest(`error converting YAML to JSON: yaml: ${fault.message.split("\n")[0]}`);
    return document.toJS() as unknown;
  });
}

function parse(bytes: Buffer, type: string): unknown {
  if (type === "application/vnd.kubernetes.protobuf" || isProtobuf(bytes)) return decodeProtobuf(bytes);
  if (type === "" || type === "application/json" || type.endsWith("+json")) return parseJson(bytes);
  if (type === "application/yaml" || type === "application/x-yaml") return parseYaml(bytes.toString("utf8"))[0];
  throw unsupported("application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

/** The body's value; undefined for none. */
export async function readValue(request: ApiRequest): Promise<unknown> {
  const bytes = await readBody(request);
  return bytes.length === 0 ? undefined : parse(bytes, mediaType(request));
}

/** The body of a PATCH: always JSON but for server-side apply, which is YAML. */
export async function readPatch(request: ApiRequest): Promise<unknown> {
  const bytes = await readBody(request);
  if (mediaType(request) !== "application/apply-patch+yaml") {
    try {
      return JSON.parse(bytes.toString("utf8")) as unknown;
    } catch {
      throw badRequest("invalid JSON patch");
    }
  }
  const text = bytes.toString("utf8");
  return text.trimStart().startsWith("{") ? parseJson(bytes) : parseYaml(text)[0];
}

/** A patch of a type that exists but not for this resource, or of none that exists. */
export const unsupportedPatch = (strategic: boolean, type = ""): StatusError => {
  if (!type.includes("patch+")) return new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
  return unsupported(
    [
      "application/json-patch+json",
      "application/merge-patch+json",
      ...(strategic ? ["application/strategic-merge-patch+json"] : []),
      "application/apply-patch+yaml",
    ].join(", "),
  );
};
