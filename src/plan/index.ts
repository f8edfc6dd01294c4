/** Render plans: identity, files as blocks, differences. */
export { decodePlan, encodePlan, MAX_BLOB_BYTES, type Pause } from "./blob.ts";
export {
  blockOf,
  type BlockSplice,
  cutBlocks,
  cutBytes,
  joinBlocks,
  commonEnds,
  rootDigest,
  splices,
  totalSize,
} from "./chunks.ts";
export { canonicalJson, sha256 } from "./digest.ts";
export { type DiffOptions, diffPlans } from "./diff.ts";
export { type ProvenFile, setProof } from "./set-proof.ts";
export { ChunkedTree, compareKeys, isBorder, treeDifferences, type TreeDifference } from "./keyed-tree.ts";
export type { LoadedFiles } from "./ledger.ts";
export {
  assemblePlan,
  backendDigest,
  emptyTrees,
  fileDigest,
  isServerLine,
  mapDigest,
  PLAN_SCHEMA_VERSION,
  planBackend,
  planFile,
  planProfile,
  type PlanMap,
  type PlanTrees,
  profileDigest,
  meaningfulLines,
  structureDigest,
  summarize,
} from "./plan.ts";
export {
  agentVersion,
  MAX_REASONS,
  moreReasons,
  REFUSED_PLAN,
  reloadReason,
  type ReloadReason,
  tellCause,
  tellHint,
  tellReason,
  UNKNOWN_BASELINE,
  WHOLE_SET,
  WORKER_BEHIND,
} from "./reasons.ts";
export { fewObjects, objectName } from "./makers.ts";
export { RELOAD_RULES } from "./reload-rules.ts";
export { isPayloadSafe } from "./maps.ts";
export { isSettingsMap, settingsMapName } from "./settings.ts";
export {
  mountDiscriminator,
  POST_PROCESSING,
  PREAMBLE,
  SECTION_ORDER,
  sectionKeyword,
  sectionOf,
  structureKey,
  type StructurePiece,
  structurePieces,
} from "./structure.ts";
export type * from "./types.ts";
export type * from "./ops.ts";
export { LINE_LIMIT } from "./payloads.ts";
export { pemBlocks, withoutEmptyLines } from "./pem.ts";
