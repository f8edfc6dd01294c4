/** Status writes by server-side apply. */
import type { KubeObject } from "../stores/types.ts";
import { FIELD_MANAGER } from "./client.ts";
import type { KubeClient, ResourceTarget } from "./types.ts";

/**
 * Applies `status` of one object through its status subresource: what this manager said before and leaves out now is
 * removed, other managers' fields stay; fields in dispute are taken. Throws KubeError.
 */
export function applyStatus(
  client: KubeClient,
  target: ResourceTarget & { readonly kind: string },
  name: string,
  status: unknown,
  options: { readonly fieldManager?: string; readonly signal?: AbortSignal } = {},
): Promise<KubeObject> {
  const { namespace } = target;
  const object: KubeObject = {
    apiVersion: target.apiVersion,
    kind: target.kind,
    metadata: { name, ...(namespace !== undefined && { namespace }) },
    status,
  };
  return client.apply(target, object, {
    subresource: "status",
    fieldManager: options.fieldManager ?? FIELD_MANAGER,
    force: true,
    ...(options.signal !== undefined && { signal: options.signal }),
  });
}
