/** The verbs of a resource. */
import type { ApiObject } from "../objects.ts";
import { asked } from "../admission/index.ts";
import { remove, deleteOptions } from "../operations/delete.ts";
import type { DeleteOptions } from "../operations/delete.ts";
import { shownBytes, shownObject } from "../operations/encode.ts";
import type { ApiState, WriteOptions } from "../operations/context.ts";
import { apply, create, patch, read, update } from "../operations/write.ts";
import type { Written } from "../operations/write.ts";
import { jsonPatch } from "../patch/json-patch.ts";
import { mergePatch } from "../patch/merge-patch.ts";
import { strategicMerge } from "../patch/strategic-merge.ts";
import type { View } from "../resources/definition.ts";
import { StatusError, badRequest, notFound } from "../status.ts";
import type { StoredVersion } from "../storage/record.ts";
import { partialMetadata, tableOf, tableRow } from "../tables/table.ts";
import type { IncludeObject } from "../tables/table.ts";
import { mediaType, readPatch, readValue, unsupportedPatch } from "./body.ts";
import { lagging, readLagging } from "./lagging.ts";
import { listBytes, listPage, readRevision, tooLarge } from "./list.ts";
import { acceptedForm } from "./negotiate.ts";
import type { Form } from "./negotiate.ts";
import type { ApiRequest } from "./request.ts";
import { pageNotFound, sendBytes, sendJson } from "./respond.ts";
import { serveScale } from "./scale.ts";
import { selectionOf } from "./selection.ts";
import type { Target } from "./target.ts";
import { serveWatch } from "./watch.ts";
import type { Watches } from "./watch.ts";
import { writeOptions } from "./write-options.ts";

const notAllowed = (): StatusError =>
  new StatusError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});

const includeOf = (query: URLSearchParams): IncludeObject => {
  const value = query.get("includeObject");
  return value === "None" || value === "Object" ? value : "Metadata";
};

/** Sends one object in the form the client wants. */
function sendObject(
  state: ApiState,
  request: ApiRequest,
  view: View,
  stored: StoredVersion,
  form: Form,
  code = 200,
): void {
  const object = shownObject(view, stored);
  if (form === "table") {
    const metadata = { resourceVersion: object.metadata.resourceVersion ?? "" };
    sendJson(request, code, tableOf(view, metadata, [tableRow(view, object, state.now(), includeOf(request.query))]));
  } else if (form === "partial") sendJson(request, code, partialMetadata(object));
  else sendBytes(request, code, Buffer.concat([shownBytes(view, stored), NEWLINE]));
}
const NEWLINE = Buffer.from("\n");

const isWatch = (request: ApiRequest, target: Target): boolean =>
  target.watch || request.query.get("watch") === "true" || request.query.get("watch") === "1";

function list(state: ApiState, request: ApiRequest, view: View, target: Target, watches: Watches): void {
  const form = acceptedForm(request);
  const selection = selectionOf(view, target, request.query);
  if (isWatch(request, target)) {
    serveWatch(state, request, { view, selection, form, include: includeOf(request.query) }, watches);
    return;
  }
  const page = listPage(state, view, selection, lagging(state, view, request));
  if (form === "object") {
    sendBytes(request, 200, listBytes(view, page));
    return;
  }
  const objects = page.records.map((record) => shownObject(view, record));
  if (form === "table") {
    const now = state.now();
    const rows = objects.map((object) => tableRow(view, object, now, includeOf(request.query)));
    sendJson(request, 200, tableOf(view, page.metadata, rows));
  } else {
    const items = objects.map(partialMetadata);
    sendJson(request, 200, {
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      metadata: page.metadata,
      items,
    });
  }
}

function get(state: ApiState, request: ApiRequest, view: View, target: Target, name: string): void {
  const form = acceptedForm(request);
  const wanted = request.query.get("resourceVersion") ?? "";
  if (wanted !== "" && readRevision(wanted) > state.database.revision) {
    throw tooLarge(Number(wanted), state.database.revision);
  }
  const { behind } = request.mishaps;
  const namespace = target.namespace ?? "";
  const stored = behind === 0 ? read(state, view, namespace, name) : readLagging(state, view, namespace, name, behind);
  sendObject(state, request, view, stored, form);
}

function patchFunction(type: string, view: View, body: unknown): (current: ApiObject) => unknown {
  switch (type) {
    case "application/json-patch+json":
      return (current) => jsonPatch(current, body);
    case "application/merge-patch+json":
      return (current) => mergePatch(current, body);
    case "application/strategic-merge-patch+json":
      if (view.definition.builtIn) return (current) => strategicMerge(current, body, view.type);
      break;
  }
  throw unsupportedPatch(view.definition.builtIn, type);
}

async function servePatch(
  state: ApiState,
  request: ApiRequest,
  view: View,
  target: Target,
  name: string,
  subresource: "" | "status",
): Promise<Written> {
  const type = mediaType(request);
  const isApply = type === "application/apply-patch+yaml";
  if (!isApply) patchFunction(type, view, undefined);
  const body = await readPatch(request);
  const options: WriteOptions = writeOptions(request, "PatchOptions", subresource, isApply);
  const namespace = target.namespace ?? "";
  const steps = isApply
    ? apply(state, view, namespace, name, body, options)
    : patch(state, view, namespace, name, patchFunction(type, view, body), options);
  return asked(state, steps);
}

async function readDeleteOptions(request: ApiRequest, view: View, collection: boolean): Promise<DeleteOptions> {
  return deleteOptions(await readValue(request), request.query, {
    collection,
    propagationPolicy: view.definition.orphansByDefault ? "Orphan" : "Background",
    warn: (text) => void request.warnings.push(text),
  });
}

async function serveDelete(
  state: ApiState,
  request: ApiRequest,
  view: View,
  target: Target,
  name: string,
): Promise<void> {
  const options = await readDeleteOptions(request, view, false);
  const { stored, gone } = await asked(state, remove(state, view, target.namespace ?? "", name, options));
  const { definition } = view;
  if (!gone || definition.deleteAnswersObject) {
    sendObject(state, request, view, stored, "object");
    return;
  }
  sendJson(request, 200, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name,
      ...(definition.group === "" ? {} : { group: definition.group }),
      kind: definition.plural,
      uid: stored.object.metadata.uid,
    },
  });
}

async function deleteCollection(state: ApiState, request: ApiRequest, view: View, target: Target): Promise<void> {
  const options = await readDeleteOptions(request, view, true);
  const page = listPage(state, view, selectionOf(view, target, request.query), request.query);
  for (const { namespace, object } of page.records) {
    await asked(state, remove(state, view, namespace, object.metadata.name, options)).catch((error: unknown) => {
      // gone in the meantime is as good as deleted
      if (!(error instanceof StatusError) || error.code !== 404) throw error;
    });
  }
  sendBytes(request, 200, listBytes(view, page));
}

async function serveCollection(
  state: ApiState,
  request: ApiRequest,
  view: View,
  target: Target,
  watches: Watches,
): Promise<void> {
  switch (request.method) {
    case "GET":
    case "HEAD":
      list(state, request, view, target, watches);
      return;
    case "POST": {
      if (view.definition.namespaced && target.namespace === undefined) throw notAllowed();
      const options = writeOptions(request, "CreateOptions", "");
      const body = await readValue(request);
      const written = await asked(state, create(state, view, target.namespace ?? "", body, options));
      sendObject(state, request, view, written.stored, acceptedForm(request), 201);
      return;
    }
    case "DELETE":
      await deleteCollection(state, request, view, target);
      return;
    case "PUT":
      if (!view.definition.builtIn) throw badRequest("name must be provided");
      throw notAllowed();
    default:
      throw notAllowed();
  }
}

async function serveObject(
  state: ApiState,
  request: ApiRequest,
  view: View,
  target: Target,
  name: string,
): Promise<void> {
  const subresource = target.subresource === "status" ? "status" : "";
  switch (request.method) {
    case "GET":
    case "HEAD":
      get(state, request, view, target, name);
      return;
    case "PUT": {
      const body: unknown = await readValue(request);
      const options = writeOptions(request, "UpdateOptions", subresource);
      const written = await asked(state, update(state, view, target.namespace ?? "", name, body, options));
      sendObject(state, request, view, written.stored, acceptedForm(request), written.created ? 201 : 200);
      return;
    }
    case "PATCH": {
      const written = await servePatch(state, request, view, target, name, subresource);
      sendObject(state, request, view, written.stored, acceptedForm(request), written.created ? 201 : 200);
      return;
    }
    case "DELETE":
      if (subresource !== "") throw notAllowed();
      await serveDelete(state, request, view, target, name);
      return;
    default:
      throw notAllowed();
  }
}

/** Answers a request for a resource. */
export async function serveResource(
  state: ApiState,
  request: ApiRequest,
  target: Target,
  watches: Watches,
): Promise<void> {
  const view = state.registry.find(target.apiVersion, target.plural);
  if (view === undefined || view.verbs.length === 0) {
    pageNotFound(request);
    return;
  }
  if (view.deprecation !== undefined) request.warnings.push(view.deprecation);
  const { definition } = view;
  if (target.name === undefined || target.watch) {
    await serveCollection(state, request, view, target, watches);
    return;
  }
  const sub = target.subresource;
  if (sub === "scale" && definition.scale !== undefined) {
    await serveScale(state, request, view, definition.scale, target.namespace ?? "", target.name);
  } else if (sub === "" || (sub === "status" && definition.status)) {
    await serveObject(state, request, view, target, target.name);
  } else if (!definition.builtIn && (sub === "status" || sub === "scale")) {
    throw notFound(definition, target.name);
  } else pageNotFound(request);
}
