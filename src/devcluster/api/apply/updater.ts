/** What a write does to the ownership of fields: updates take what they change, an apply claims what it names. */
import { deepEqual } from "../objects.ts";
import type { TypeNode } from "../schema/type-node.ts";
import { compareValues, fieldsOf } from "./compare.ts";
import {
  FieldSetBuilder,
  differenceOf,
  emptySet,
  intersectionOf,
  isEmptySet,
  pathText,
  pathsOf,
  sameSet,
  unionOf,
  withoutBelow,
} from "./field-set.ts";
import type { FieldSet } from "./field-set.ts";
import { managerKey } from "./managers.ts";
import type { ManagedSet, ManagerId, Managers } from "./managers.ts";
import { mergeConfiguration, removeGivenUp } from "./merge.ts";

/** Fields that the server keeps and nobody owns. */
const serverFields: FieldSet = (() => {
  const builder = new FieldSetBuilder();
  const names = [
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "generation",
    "managedFields",
    "resourceVersion",
  ];
  for (const name of names) builder.add(["f:metadata", `f:${name}`]);
  return builder.build();
})();
const serverContainers: FieldSet = (() => {
  const builder = new FieldSetBuilder();
  for (const path of [["f:apiVersion"], ["f:kind"], ["f:metadata"]]) builder.add(path);
  return builder.build();
})();

const owned = (set: FieldSet, reset: FieldSet): FieldSet =>
  differenceOf(withoutBelow(withoutBelow(set, serverFields), reset), serverContainers);

export interface FieldConflict {
  readonly manager: string;
  readonly apiVersion: string;
  readonly operation: "Apply" | "Update";
  /** `.spec.color`. */
  readonly field: string;
  readonly subresource: string;
  readonly time: string;
}

/** Refusal of an apply without force. */
export class ApplyConflict extends Error {
  readonly conflicts: readonly FieldConflict[];
  constructor(conflicts: readonly FieldConflict[]) {
    super("conflicts");
    this.conflicts = conflicts;
  }
}

export interface WriteOfFields {
  readonly type: TypeNode;
  readonly managers: Managers;
  readonly writer: ManagerId;
  /** Time stamp of an entry that changes, seconds. */
  readonly time: string;
  /** Fields that this endpoint does not write (status on the main one, all else on the status one). */
  readonly reset: FieldSet;
}

/** Takes what changed between the two objects from all others. */
function takeFromOthers(
  before: unknown,
  after: unknown,
  write: WriteOfFields,
  force: boolean,
): [Map<string, ManagedSet>, FieldSet, FieldSet] {
  const compared = compareValues(before, after, write.type);
  const changed = unionOf(compared.modified, compared.added);
  const writer = managerKey(write.writer);
  const managers = new Map(write.managers);
  const conflicts: FieldConflict[] = [];
  for (const [key, managed] of write.managers) {
    if (key === writer) continue;
    const clash = intersectionOf(managed.set, changed);
    for (const path of pathsOf(clash)) {
      const { manager, apiVersion, operation, subresource, time } = managed;
      conflicts.push({ manager, apiVersion, operation, subresource, time, field: pathText(path) });
    }
    const set = differenceOf(differenceOf(managed.set, clash), compared.removed);
    if (isEmptySet(set)) managers.delete(key);
    else if (!sameSet(set, managed.set)) managers.set(key, { ...managed, set });
  }
  if (!force && conflicts.length > 0) throw new ApplyConflict(conflicts);
  return [managers, changed, compared.removed];
}

function store(managers: Map<string, ManagedSet>, write: WriteOfFields, set: FieldSet): void {
  const key = managerKey(write.writer);
  const known = write.managers.get(key);
  if (isEmptySet(set)) managers.delete(key);
  else if (known === undefined || !sameSet(known.set, set))
    managers.set(key, { ...write.writer, time: write.time, set });
}

/** Managers after a POST, PUT or PATCH. */
export function updateManagers(before: unknown, after: unknown, write: WriteOfFields): Managers {
  const [managers, changed, removed] = takeFromOthers(before, after, write, true);
  const known = write.managers.get(managerKey(write.writer))?.set ?? emptySet;
  store(managers, write, owned(unionOf(differenceOf(known, removed), changed), write.reset));
  return managers;
}

/** The object and the managers after a server-side apply; throws ApplyConflict. */
export function applyConfiguration(
  live: unknown,
  config: unknown,
  write: WriteOfFields,
  force: boolean,
): { readonly object: unknown; readonly managers: Managers } {
  const key = managerKey(write.writer);
  const last = write.managers.get(key)?.set ?? emptySet;
  const set = owned(fieldsOf(config, write.type), write.reset);
  let object = mergeConfiguration(live, config, write.type);
  if (!isEmptySet(last)) {
    let union = set;
    for (const [other, managed] of write.managers) if (other !== key) union = unionOf(union, managed.set);
    object = removeGivenUp(object, write.type, last, union);
  }
  const [managers] = takeFromOthers(live, object, write, force);
  // an apply that changes nothing of the object leaves the time of its entry as it is, or none
  const time = deepEqual(live, object) ? (write.managers.get(key)?.time ?? "") : write.time;
  store(managers, { ...write, time }, set);
  return { object, managers };
}
