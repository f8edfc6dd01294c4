/** From a request's body to an object of a kind: strict check, pruning, defaults. */
import { isFields } from "../objects.ts";
import type { ApiObject, Fields } from "../objects.ts";
import type { View } from "../resources/definition.ts";
import { DecodeError, decodeObject } from "../schema/go-codec.ts";
import { objectMetaType } from "../schema/compact-types.ts";
import type { StructNode } from "../schema/type-node.ts";
import { applyDefaults, dropNulls, prune } from "../schema/structural.ts";
import { badRequest } from "../status.ts";
import type { WriteOptions } from "./context.ts";

const cannotHandle = (view: View, why: string, version = view.version): Error =>
  badRequest(
    `${view.definition.kind} in version ${JSON.stringify(version)} cannot be handled as a ${view.definition.kind}: ${why}`,
  );

const metadataOnly: StructNode = {
  kind: "struct",
  name: "",
  fields: new Map([["metadata", { type: objectMetaType, number: 1, presence: "always", retainKeys: false }]]),
  atomic: false,
  open: false,
  inlined: new Map(),
};

function decodeMetadata(value: unknown, unknown: string[]): Fields {
  const report = { unknown: [] as string[] };
  const { metadata } = decodeObject({ metadata: isFields(value) ? value : {} }, metadataOnly, report) as {
    metadata: Fields;
  };
  unknown.push(...report.unknown);
  return metadata;
}

function decodeCustom(view: View, body: Fields, unknown: string[]): ApiObject {
  const schema = view.schema ?? {};
  const pruned = prune(body, schema, "", unknown, true) as Fields;
  const copy = structuredClone(pruned) as ApiObject;
  copy.metadata = decodeMetadata(body["metadata"], unknown) as unknown as ApiObject["metadata"];
  applyDefaults(copy, schema);
  dropNulls(copy, schema);
  return copy;
}

/**
 * The object that `body` stands for in the view's version, with `kind` and `apiVersion` set. Unknown fields are refused, told or
 * dropped as `fieldValidation` says.
 */
export function decode(view: View, body: unknown, options: WriteOptions, old?: ApiObject): ApiObject {
  if (!isFields(body)) throw badRequest(`couldn't get version/kind; json parse error: json: cannot unmarshal`);
  const typed = { ...body, kind: view.definition.kind, apiVersion: view.apiVersion };
  const unknown: string[] = [];
  let object: ApiObject;
  if (view.schema === undefined) {
    try {
      object = decodeObject(typed, view.type, { unknown }) as ApiObject;
    } catch (error) {
      if (error instanceof DecodeError) throw Object.assign(cannotHandle(view, error.message), { cause: error });
      throw error;
    }
    view.definition.rules.defaults?.(object, old);
  } else {
    try {
      object = decodeCustom(view, typed, unknown);
    } catch (error) {
      if (error instanceof DecodeError) throw Object.assign(cannotHandle(view, error.message), { cause: error });
      throw error;
    }
  }
  reportUnknown(view, unknown, options);
  return object;
}

export function reportUnknown(view: View, unknown: readonly string[], options: WriteOptions): void {
  if (unknown.length === 0 || options.fieldValidation === "Ignore") return;
  const texts = unknown.map((path) => `unknown field ${JSON.stringify(path)}`);
  if (options.fieldValidation === "Strict") {
    const why = `strict decoding error: ${texts.join(", ")}`;
    throw Object.assign(cannotHandle(view, why), { cause: new DecodeError(why) });
  }
  for (const text of texts) options.warn(text);
}

/** Checks what a body says about itself against where it is sent. */
export function checkIdentity(view: View, body: unknown, namespace: string, name: string | undefined): void {
  if (!isFields(body)) return;
  const { apiVersion, kind } = body;
  if (typeof apiVersion === "string" && apiVersion !== "" && apiVersion !== view.apiVersion) {
    if (view.definition.builtIn) {
      throw cannotHandle(
        view,
        `no kind ${JSON.stringify(kind ?? "")} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`,
        apiVersion.split("/").at(-1),
      );
    }
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${view.apiVersion})`,
    );
  }
  if (typeof kind === "string" && kind !== "" && kind !== view.definition.kind) {
    throw badRequest(
      `${kind} in version ${JSON.stringify(view.version)} cannot be handled as a ${view.definition.kind}: converting (${view.version}.${kind}) to (${view.definition.group.split(".")[0] || "core"}.${view.definition.kind}): unknown conversion`,
    );
  }
  if (view.schema !== undefined && (apiVersion === undefined || kind === undefined)) {
    const text = JSON.stringify(body);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${view.definition.kind}): Object 'Kind' is missing in '${text}' (${text})`,
    );
  }
  const metadata = isFields(body["metadata"]) ? body["metadata"] : {};
  const inBody = metadata["namespace"];
  if (view.definition.namespaced && typeof inBody === "string" && inBody !== "" && inBody !== namespace) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (
    name !== undefined &&
    typeof metadata["name"] === "string" &&
    metadata["name"] !== "" &&
    metadata["name"] !== name
  ) {
    throw badRequest(`the name of the object (${metadata["name"]}) does not match the name on the URL (${name})`);
  }
}
