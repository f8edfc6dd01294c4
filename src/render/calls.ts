/**
 * Calls of templates whose consequences lie outside the render: they are checked and recorded, with the run that made them.
 * What a call asks for may be carried out by others; a record says what was asked.
 */
import { plainJson, TemplateFault } from "../templating/index.ts";
import type { ObjectReference, RecordedCall, StatusVariant } from "./types.ts";

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The identity of a resource as the store returned it. */
export function referenceOf(resource: unknown, call: string): ObjectReference {
  const object = isMap(resource) ? resource : {};
  const metadata = isMap(object["metadata"]) ? object["metadata"] : {};
  if (text(object["kind"]) === "" || text(metadata["name"]) === "")
    throw new TemplateFault(
      `${call} wants a resource for its first argument`,
      "give an object as the store returned it",
    );
  return {
    apiVersion: text(object["apiVersion"]),
    kind: text(object["kind"]),
    namespace: text(metadata["namespace"]),
    name: text(metadata["name"]),
    uid: text(metadata["uid"]),
    resourceVersion: text(metadata["resourceVersion"]),
  };
}

const shown = ({ kind, namespace, name }: ObjectReference): string =>
  `${kind} ${namespace === "" ? "" : `${namespace}/`}${name}`;

const VARIANTS: readonly StatusVariant[] = ["rendered", "deployed", "renderFailed", "deployFailed"];

/** `statusPatch(resource, variants)`: what `.status` shall hold, by the outcome of the render. */
export function statusPatchCall(resource: unknown, variants: unknown): RecordedCall {
  const object = referenceOf(resource, "statusPatch");
  if (!isMap(variants) || Object.keys(variants).length === 0)
    throw new TemplateFault("statusPatch wants a map of variants", `its keys are ${VARIANTS.join(", ")}`);
  const contents: Partial<Record<StatusVariant, Readonly<Record<string, unknown>>>> = {};
  for (const [name, content] of Object.entries(variants)) {
    const variant = VARIANTS.find((known) => known === name);
    if (variant === undefined)
      throw new TemplateFault(
        `statusPatch: unknown variant ${JSON.stringify(name)}`,
        `known are ${VARIANTS.join(", ")}`,
      );
    if (!isMap(content))
      throw new TemplateFault(`statusPatch: the variant ${name} is no map`, "give what stands below .status");
    if ("status" in content && Object.keys(content).length === 1)
      throw new TemplateFault(`statusPatch: the variant ${name} holds a status`, "give what stands below .status");
    contents[variant] = plainJson(content) as Readonly<Record<string, unknown>>;
  }
  const names = VARIANTS.filter((variant) => contents[variant] !== undefined);
  return { call: "statusPatch", subject: `${shown(object)} (${names.join(", ")})`, object, variants: contents };
}

/** `deriveResource(name, item, path, value)`: the copy shall stand in place of the item for later reads. */
export function deriveCall(alias: string, item: unknown, path: string, derived: unknown): RecordedCall {
  const object = referenceOf(item, "deriveResource");
  const subject = `${alias}: ${shown(object)} ${path}`;
  return { call: "deriveResource", subject, alias, object, path, derived: plainJson(derived) };
}

/** What a component publishes in a cell of its group, or gives for it as unique text. */
export function publishCall(
  call: "shared.Publish" | "shared.PublishRanked" | "shared.Unique" | "planRegistry.BackendWhenAny",
  cell: string,
  key: string,
  value: unknown,
  rank = "",
): RecordedCall {
  if (cell === "") throw new TemplateFault(`${call}: the cell has no name`);
  return { call, subject: `${cell} ${key}`, cell, key, value: plainJson(value), rank };
}
