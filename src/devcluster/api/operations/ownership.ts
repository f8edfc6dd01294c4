/** metadata.managedFields of a write. */
import { FieldSetBuilder } from "../apply/field-set.ts";
import type { FieldSet } from "../apply/field-set.ts";
import { readManagers, writeManagers } from "../apply/managers.ts";
import type { ManagerId } from "../apply/managers.ts";
import { ApplyConflict, applyConfiguration, updateManagers } from "../apply/updater.ts";
import type { FieldConflict, WriteOfFields } from "../apply/updater.ts";
import { typedErrors } from "../apply/typed-check.ts";
import type { ApiObject, Fields } from "../objects.ts";
import { secondsTime } from "../objects.ts";
import type { View } from "../resources/definition.ts";
import { zeroOf } from "../schema/go-codec.ts";
import { StatusError, internalError } from "../status.ts";
import type { ApiState, WriteOptions } from "./context.ts";

const pathSet = (...paths: readonly (readonly string[])[]): FieldSet => {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.add(path);
  return builder.build();
};
const nothing = pathSet();
const statusFields = pathSet(["f:status"]);

/** Fields that a write to the endpoint leaves alone and so cannot own. */
function resetFields(view: View, subresource: string): FieldSet {
  if (subresource === "status") {
    const paths = [...view.type.fields.keys()].filter((name) => name !== "status").map((name) => [`f:${name}`]);
    if (!view.definition.statusTakesMetadata) return pathSet(...paths);
    return pathSet(...paths.filter(([field]) => field !== "f:metadata"));
  }
  return view.definition.status ? statusFields : nothing;
}

/** What an object of this kind is before anything is written to it. */
function emptyObject(view: View): unknown {
  const head = { apiVersion: view.apiVersion, kind: view.definition.kind };
  if (view.schema !== undefined) return head;
  return { ...head, ...(zeroOf(view.type) as Fields) };
}

function writeOf(
  view: View,
  old: ApiObject | undefined,
  state: ApiState,
  options: WriteOptions,
  apply: boolean,
): WriteOfFields {
  const writer: ManagerId = {
    manager: options.fieldManager.slice(0, 128),
    operation: apply ? "Apply" : "Update",
    apiVersion: view.apiVersion,
    subresource: options.subresource,
  };
  return {
    type: view.type,
    managers: readManagers(old?.metadata.managedFields),
    writer,
    time: secondsTime(state.now()),
    reset: resetFields(view, options.subresource),
  };
}

/** Sets the managed fields of `object`, which replaces `old`, in place. */
export function ownUpdate(
  view: View,
  old: ApiObject | undefined,
  object: ApiObject,
  state: ApiState,
  options: WriteOptions,
): void {
  const sent = object.metadata.managedFields;
  const cleared =
    old !== undefined && sent !== undefined && (sent.length === 0 || Object.keys(sent[0] ?? {}).length === 0);
  if (cleared) {
    delete object.metadata.managedFields;
    return;
  }
  // what the client sends as managedFields is taken over (a JSON patch may rewrite it), else the old ones stand
  const write = writeOf(view, sent === undefined ? old : object, state, options, false);
  const managers = updateManagers(old ?? emptyObject(view), object, write);
  const entries = writeManagers(managers);
  if (entries.length > 0) object.metadata.managedFields = entries;
  else delete object.metadata.managedFields;
}

function conflictText(conflict: FieldConflict): string {
  const using = conflict.operation === "Update" ? ` using ${conflict.apiVersion}` : "";
  const sub = conflict.subresource === "" ? "" : ` with subresource ${JSON.stringify(conflict.subresource)}`;
  return `conflict with ${JSON.stringify(conflict.manager)}${sub}${using}`;
}

function conflictStatus(error: ApplyConflict): StatusError {
  const groups = new Map<string, string[]>();
  for (const conflict of error.conflicts) {
    const text = conflictText(conflict);
    groups.set(text, [...(groups.get(text) ?? []), conflict.field]);
  }
  const count = error.conflicts.length;
  const only = error.conflicts[0];
  const text =
    count === 1 && only !== undefined
      ? `${conflictText(only)}: ${only.field}`
      : [...groups]
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(
            ([who, fields]) =>
              `${who.replace("conflict with", "conflicts with")}:\n${fields.map((f) => `- ${f}`).join("\n")}`,
          )
          .join("\n");
  return new StatusError(409, "Conflict", `Apply failed with ${count} conflict${count === 1 ? "" : "s"}: ${text}`, {
    causes: error.conflicts.map((c) => ({ reason: "FieldManagerConflict", message: conflictText(c), field: c.field })),
  });
}

/** The object after a server-side apply of `config` onto `live`, managed fields included. `sentNamespace`: as the client wrote it, for messages. */
export function applyOnto(
  view: View,
  live: ApiObject | undefined,
  config: ApiObject,
  sentNamespace: string,
  state: ApiState,
  options: WriteOptions,
): ApiObject {
  const errors = typedErrors(config, view.type);
  if (errors.length > 0) {
    const where = `${sentNamespace}/${config.metadata.name}`;
    const version = view.apiVersion.includes("/") ? view.apiVersion : `/${view.apiVersion}`;
    const list = errors.length === 1 ? errors[0] : `errors:\n${errors.map((e) => `  ${e}`).join("\n")}`;
    throw internalError(
      `failed to create typed patch object (${where}; ${version}, Kind=${view.definition.kind}): ${list}`,
    );
  }
  const write = writeOf(view, live, state, options, true);
  try {
    const applied = applyConfiguration(live ?? emptyObject(view), config, write, options.force);
    const object = applied.object as ApiObject;
    const entries = writeManagers(applied.managers);
    const metadata = { ...object.metadata };
    if (entries.length > 0) metadata.managedFields = entries;
    else delete metadata.managedFields;
    return { ...object, metadata };
  } catch (error) {
    if (error instanceof ApplyConflict) throw conflictStatus(error);
    throw error;
  }
}
