/** What a view shows of a stored version: the object and its bytes, each made once. */
import type { ApiObject } from "../objects.ts";
import type { View } from "../resources/definition.ts";
import { applyDefaults, prune } from "../schema/structural.ts";
import { storedVersion } from "../storage/record.ts";
import type { StoredVersion } from "../storage/record.ts";

interface Encoding {
  readonly object: ApiObject;
  bytes: Buffer | undefined;
}

function convert(view: View, object: ApiObject): ApiObject {
  if (view.fromStored !== undefined) return view.fromStored(object);
  if (view.schema === undefined) return object;
  const shown = structuredClone(
    object.apiVersion === view.apiVersion ? object : (prune(object, view.schema, "", [], true) as ApiObject),
  );
  shown.apiVersion = view.apiVersion;
  // a default that the schema gained later shows at once; other versions' defaults are not filled in on read
  if (object.apiVersion === view.apiVersion) applyDefaults(shown, view.schema);
  return shown;
}

function encodingOf(view: View, stored: StoredVersion): Encoding {
  let encoding = stored.encodings.get(view) as Encoding | undefined;
  if (encoding === undefined) {
    const plain = view.schema === undefined && view.fromStored === undefined;
    encoding = { object: plain ? stored.object : convert(view, stored.object), bytes: undefined };
    stored.encodings.set(view, encoding);
  }
  return encoding;
}

/** The object in the view's version. Not to be changed. */
export const shownObject = (view: View, stored: StoredVersion): ApiObject => encodingOf(view, stored).object;

/** Its JSON. */
export function shownBytes(view: View, stored: StoredVersion): Buffer {
  const encoding = encodingOf(view, stored);
  return (encoding.bytes ??= Buffer.from(JSON.stringify(encoding.object)));
}

/** The object as it is stored. */
export function toStored(view: View, object: ApiObject): ApiObject {
  if (view.toStored !== undefined) return view.toStored(object);
  if (view.definition.builtIn || view.version === view.definition.storageVersion) return object;
  return { ...object, apiVersion: `${view.definition.group}/${view.definition.storageVersion}` };
}

/** An object of one version as another version of the same resource shows it. */
export const convertedObject = (from: View, to: View, object: ApiObject): ApiObject =>
  shownObject(to, storedVersion("", toStored(from, object), 0));
