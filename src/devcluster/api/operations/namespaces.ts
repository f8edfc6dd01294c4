/** Namespaces: creating in a missing or terminating one is refused; a deleted one takes its content along. */
import type { ResourceDefinition } from "../resources/definition.ts";
import { StatusError, notFound, qualified } from "../status.ts";
import type { ApiState } from "./context.ts";

export const namespaces = { group: "", plural: "namespaces" } as const;

/** Refuses to create in a namespace that is missing or going. */
export function checkNamespace(state: ApiState, resource: ResourceDefinition, namespace: string, name: string): void {
  const stored = state.database.store(namespaces).get(namespace);
  if (stored === undefined) throw notFound(namespaces, namespace);
  if (stored.object.metadata.deletionTimestamp === undefined) return;
  throw new StatusError(
    403,
    "Forbidden",
    `${qualified(resource.plural, resource.group)} ${JSON.stringify(name)} is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
    {
      name,
      ...(resource.group === "" ? {} : { group: resource.group }),
      kind: resource.plural,
      causes: [
        {
          reason: "NamespaceTerminating",
          message: `namespace ${namespace} is being terminated`,
          field: "metadata.namespace",
        },
      ],
    },
  );
}
