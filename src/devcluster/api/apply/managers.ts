/** The managers of an object's fields, as metadata.managedFields holds them. */
import type { ManagedFieldsEntry } from "../objects.ts";
import { fromFieldsV1, isEmptySet, toFieldsV1 } from "./field-set.ts";
import type { FieldSet } from "./field-set.ts";

/** Who manages fields: entries are kept apart by all four. */
export interface ManagerId {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
}

export interface ManagedSet extends ManagerId {
  readonly time: string;
  readonly set: FieldSet;
}

export type Managers = ReadonlyMap<string, ManagedSet>;

export const managerKey = (id: ManagerId): string =>
  JSON.stringify([id.manager, id.operation, id.apiVersion, id.subresource]);

export function readManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers {
  const managers = new Map<string, ManagedSet>();
  for (const entry of entries ?? []) {
    if (typeof entry.manager !== "string") continue;
    const id: ManagerId = {
      manager: entry.manager,
      operation: entry.operation,
      apiVersion: entry.apiVersion,
      subresource: entry.subresource ?? "",
    };
    managers.set(managerKey(id), { ...id, time: entry.time ?? "", set: fromFieldsV1(entry.fieldsV1) });
  }
  return managers;
}

function writeEntry(managed: ManagedSet): ManagedFieldsEntry {
  const { manager, operation, apiVersion, time, set, subresource } = managed;
  const entry: ManagedFieldsEntry = {
    manager,
    operation,
    apiVersion,
    fieldsType: "FieldsV1",
    fieldsV1: toFieldsV1(set),
  };
  if (time !== "") entry.time = time;
  if (subresource !== "") entry.subresource = subresource;
  return entry;
}

/** Apply entries first, each kind in the order of time and name. */
export function writeManagers(managers: Managers): ManagedFieldsEntry[] {
  const rank = (m: ManagedSet): string =>
    `${m.operation === "Apply" ? 0 : 1} ${m.time} ${m.manager} ${m.apiVersion} ${m.subresource}`;
  return [...managers.values()]
    .filter((m) => !isEmptySet(m.set))
    .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .map(writeEntry);
}
