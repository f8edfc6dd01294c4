/** The scale subresource: an autoscaling/v1 Scale that stands for a number in the object. */
import { at, isFields, setOwn } from "../objects.ts";
import type { ApiObject, Fields } from "../objects.ts";
import { shownObject } from "../operations/encode.ts";
import type { ApiState } from "../operations/context.ts";
import { asked } from "../admission/index.ts";
import type { Disguise } from "../operations/asking.ts";
import { patch, read } from "../operations/write.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import type { ScalePaths, View } from "../resources/definition.ts";
import { modified } from "../status.ts";
import { mediaType, readPatch, readValue, unsupportedPatch } from "./body.ts";
import type { ApiRequest } from "./request.ts";
import { sendJson } from "./respond.ts";
import { writeOptions } from "./write-options.ts";

function selectorText(object: ApiObject, paths: ScalePaths, view: View): string | undefined {
  if (!view.definition.builtIn) {
    const text = paths.selector === undefined ? undefined : at(object, ...paths.selector);
    return typeof text === "string" && text !== "" ? text : undefined;
  }
  const labels = at(object, "spec", "selector", "matchLabels");
  return isFields(labels)
    ? Object.entries(labels)
        .map(([key, value]) => `${key}=${String(value)}`)
        .join(",")
    : undefined;
}

function scaleOf(object: ApiObject, paths: ScalePaths, view: View): Fields {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = at(object, ...paths.spec);
  const current = at(object, ...paths.status);
  const selector = selectorText(object, paths, view);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: typeof replicas === "number" && replicas !== 0 ? { replicas } : {},
    status: { replicas: typeof current === "number" ? current : 0, ...(selector === undefined ? {} : { selector }) },
  };
}

function withNumber(value: unknown, path: readonly string[], number: number): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return number;
  const copy: Fields = isFields(value) ? { ...value } : {};
  setOwn(copy, key, withNumber(copy[key], rest, number));
  return copy;
}

function replicasOf(scale: unknown): number {
  const replicas = at(scale, "spec", "replicas");
  return typeof replicas === "number" ? replicas : 0;
}

async function wantedScale(request: ApiRequest, current: Fields): Promise<unknown> {
  if (request.method === "PUT") return readValue(request);
  const type = mediaType(request);
  const body = await readPatch(request);
  if (type === "application/json-patch+json") return jsonPatch(current, body);
  if (type === "application/merge-patch+json" || type === "application/strategic-merge-patch+json")
    return mergePatch(current, body);
  throw unsupportedPatch(false, type);
}

export async function serveScale(
  state: ApiState,
  request: ApiRequest,
  view: View,
  paths: ScalePaths,
  namespace: string,
  name: string,
): Promise<void> {
  const current = scaleOf(shownObject(view, read(state, view, namespace, name)), paths, view);
  if (request.method === "GET") {
    sendJson(request, 200, current);
    return;
  }
  const wanted = await wantedScale(request, current);
  const version = at(wanted, "metadata", "resourceVersion");
  const disguise: Disguise = {
    subresource: "scale",
    kind: { group: "autoscaling", version: "v1", kind: "Scale" },
    show: (object) => scaleOf(object, paths, view),
    read: (object, scale) => withNumber(object, paths.spec, replicasOf(scale)) as ApiObject,
  };
  const plain = writeOptions(request, request.method === "PUT" ? "UpdateOptions" : "PatchOptions", "");
  const replicas = replicasOf(wanted);
  const steps = patch(
    state,
    view,
    namespace,
    name,
    (object) => {
      if (request.method === "PUT" && typeof version === "string" && version !== object.metadata.resourceVersion) {
        throw modified(view.definition, name);
      }
      return withNumber(object, paths.spec, replicas);
    },
    { ...plain, disguise },
  );
  const written = await asked(state, steps);
  sendJson(request, 200, scaleOf(shownObject(view, written.stored), paths, view));
}
