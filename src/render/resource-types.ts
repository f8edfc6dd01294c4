/** What the specification says of watched resources and of groups, for the checker and the host. */
import type { ObjectType, Schemas } from "../templating/index.ts";
import type { RenderSpec } from "./outline.ts";

/** Watched resources in order, with the types of their objects where schemas are known and templates can name them. */
export function resourceTypes(
  spec: RenderSpec,
  schemas: Schemas | undefined,
): ReadonlyMap<string, ObjectType | undefined> {
  const types = new Map<string, ObjectType | undefined>();
  for (const alias of Object.keys(spec.watchedResources ?? {}).sort()) {
    const { apiVersion, resources } = spec.watchedResources?.[alias] ?? {};
    const known = schemas !== undefined && apiVersion !== undefined && resources !== undefined;
    const nameable = /^[\p{L}_][\p{L}\p{N}_]*$/u.test(alias);
    types.set(alias, known && nameable ? schemas.resource(apiVersion, resources, alias) : undefined);
  }
  return types;
}

/** Groups of incremental snippets with the effect publishValue. */
export function publishingGroups(spec: RenderSpec): ReadonlySet<string> {
  const groups = new Set<string>();
  for (const { incremental } of Object.values(spec.templateSnippets ?? {}))
    if (incremental?.group !== undefined && incremental.effects?.includes("publishValue") === true)
      groups.add(incremental.group);
  return groups;
}
