/** The store for code in the same process: the operations of the HTTP API without HTTP and without webhooks. */
import type { ApiObject } from "./objects.ts";
import { unasked } from "./operations/asking.ts";
import { defaultWriteOptions } from "./operations/context.ts";
import type { ApiState, WriteOptions } from "./operations/context.ts";
import { defaultDeleteOptions, remove } from "./operations/delete.ts";
import { shownObject } from "./operations/encode.ts";
import { apply, create, patch, read, update } from "./operations/write.ts";
import type { View } from "./resources/definition.ts";
import { mergePatch } from "./patch/merge-patch.ts";
import { StatusError, badRequest } from "./status.ts";
import { rangeOf } from "./storage/sorted-records.ts";

/** Names an object. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** Default: `default`; ignored for cluster-scoped kinds. */
  readonly namespace?: string;
}

interface Given {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly generateName?: string; readonly namespace?: string };
}

export class ObjectsApi {
  readonly #state: ApiState;
  readonly #options: WriteOptions;

  constructor(state: ApiState, fieldManager: string) {
    this.#state = state;
    this.#options = { ...defaultWriteOptions, fieldManager, fieldValidation: "Strict", force: true };
  }

  /** POST. Objects returned here are shared: do not change them. */
  create(object: object): ApiObject {
    const { view, namespace, body } = this.#given(object);
    return shownObject(view, unasked(create(this.#state, view, namespace, body, this.#options)).stored);
  }

  /** Server-side apply with force. */
  apply(object: object): ApiObject {
    const { view, namespace, body, name } = this.#given(object);
    return shownObject(view, unasked(apply(this.#state, view, namespace, name, body, this.#options)).stored);
  }

  /** PUT. */
  replace(object: object, subresource: "" | "status" = ""): ApiObject {
    const { view, namespace, body, name } = this.#given(object);
    return shownObject(
      view,
      unasked(update(this.#state, view, namespace, name, body, { ...this.#options, subresource })).stored,
    );
  }

  /** Merge patch. */
  patch(target: ObjectName, change: unknown, subresource: "" | "status" = ""): ApiObject {
    const view = this.#view(target.apiVersion, target.kind);
    const options = { ...this.#options, subresource };
    const namespace = this.#namespace(view, target);
    const steps = patch(this.#state, view, namespace, target.name, (object) => mergePatch(object, change), options);
    return shownObject(view, unasked(steps).stored);
  }

  /** The object, or undefined. */
  get(target: ObjectName): ApiObject | undefined {
    const view = this.#view(target.apiVersion, target.kind);
    try {
      return shownObject(view, read(this.#state, view, this.#namespace(view, target), target.name));
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return undefined;
      throw error;
    }
  }

  list(apiVersion: string, kind: string, namespace?: string): readonly ApiObject[] {
    const view = this.#view(apiVersion, kind);
    const records = this.#state.database.store(view.definition).records();
    const [from, to] = rangeOf(records, view.definition.namespaced ? namespace : undefined);
    return records.slice(from, to).map((record) => shownObject(view, record));
  }

  /** DELETE in the background; false when there is no such object. */
  delete(target: ObjectName): boolean {
    const view = this.#view(target.apiVersion, target.kind);
    try {
      unasked(remove(this.#state, view, this.#namespace(view, target), target.name, defaultDeleteOptions));
      return true;
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return false;
      throw error;
    }
  }

  /** Whether the kind is served (a CustomResourceDefinition's is, right after it is established). */
  serves(apiVersion: string, kind: string): boolean {
    return this.#state.registry.findKind(apiVersion, kind) !== undefined;
  }

  isNamespaced(apiVersion: string, kind: string): boolean {
    return this.#view(apiVersion, kind).definition.namespaced;
  }

  #given(object: object): { view: View; namespace: string; name: string; body: Given } {
    const body = object as Given;
    const view = this.#view(body.apiVersion, body.kind);
    const namespace = this.#namespace(view, { namespace: body.metadata.namespace });
    return { view, namespace, name: body.metadata.name ?? "", body };
  }

  #view(apiVersion: string, kind: string): View {
    const view = this.#state.registry.findKind(apiVersion, kind);
    if (view === undefined)
      throw badRequest(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`);
    return view;
  }

  #namespace(view: View, target: { readonly namespace?: string | undefined }): string {
    return view.definition.namespaced ? (target.namespace ?? "default") : "";
  }
}
