/** Stores: trimmed, indexed copies of watched objects with immutable snapshots. A pure library. */
export type { AliasView, KubeObject, StoreChange, StoreOptions, StoreSnapshot } from "./types.ts";
export {
  allValues,
  firstValue,
  parseJsonPath,
  trims,
  withoutPath,
  type JsonPath,
  type PathSegment,
} from "./json-path.ts";
export { parseFieldSelector, type FieldSelector } from "./field-selector.ts";
export { deepFreeze, sameContent, sameJson } from "./content.ts";
export { CHANGE_LOG_LIMIT, ObjectStore, objectId } from "./object-store.ts";
export { createStoreSet, type StoreSet } from "./store-set.ts";
export { storeKey, streamKey, type Shared, type StreamIdentity } from "./sharing.ts";
