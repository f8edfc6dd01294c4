/** The lines of a watch, each made once per change and view however many watch. */
import type { ApiObject } from "../objects.ts";
import { shownBytes, shownObject } from "../operations/encode.ts";
import type { View } from "../resources/definition.ts";
import type { Change, StoredVersion } from "../storage/record.ts";
import { storedVersion } from "../storage/record.ts";
import type { Selection } from "./selection.ts";
import { selects } from "./selection.ts";

export type EventType = "ADDED" | "MODIFIED" | "DELETED";

export interface WatchEvent {
  readonly type: EventType;
  readonly stored: StoredVersion;
}

const NEWLINE = Buffer.from("}\n");
const heads: Readonly<Record<EventType, Buffer>> = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};

interface Lines {
  ADDED?: Buffer;
  MODIFIED?: Buffer;
  DELETED?: Buffer;
}

const LINES = Symbol("lines");
interface WithLines {
  [LINES]?: Map<View, Lines>;
}

/** The line of an event; the same bytes for all watches of the view. */
export function eventLine(view: View, event: WatchEvent): Buffer {
  const cache = ((event.stored as WithLines)[LINES] ??= new Map());
  let lines = cache.get(view);
  if (lines === undefined) cache.set(view, (lines = {}));
  return (lines[event.type] ??= Buffer.concat([heads[event.type], shownBytes(view, event.stored), NEWLINE]));
}

/** The state before a change with the revision of the change: what a watch shows of an object that left its selection. */
function leaving(change: Change, before: StoredVersion): StoredVersion {
  let made = change.encodings.get(leaving) as StoredVersion | undefined;
  if (made === undefined) {
    const object: ApiObject = {
      ...before.object,
      metadata: { ...before.object.metadata, resourceVersion: String(change.revision) },
    };
    made = storedVersion(before.key, object, change.revision);
    change.encodings.set(leaving, made);
  }
  return made;
}

/** What a watch with this selection is told of a change; undefined = nothing. */
export function eventOf(view: View, change: Change, selection: Selection): WatchEvent | undefined {
  const { before, after, deleted } = change;
  if (selection.namespace !== undefined && view.definition.namespaced && after.namespace !== selection.namespace)
    return undefined;
  if (selection.everything) {
    return { type: deleted ? "DELETED" : before === undefined ? "ADDED" : "MODIFIED", stored: after };
  }
  const was = before !== undefined && selects(selection, shownObject(view, before));
  const is = !deleted && selects(selection, shownObject(view, after));
  if (deleted) return was ? { type: "DELETED", stored: after } : undefined;
  if (was && is) return { type: "MODIFIED", stored: after };
  if (is) return { type: "ADDED", stored: after };
  return was && before !== undefined ? { type: "DELETED", stored: leaving(change, before) } : undefined;
}
