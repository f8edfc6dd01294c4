/** Is what came a manifest within the limits? Types, numbers and paths; the fence and the digests come later. */
import { AgentRequestError } from "../errors.ts";
import { IDENTITY_VERSION, LIMITS, type BlockRef, type Manifest, type ManifestFile, type Token } from "./api.ts";
import { checkOp } from "./manifest-ops.ts";
import { checkPath, checkPathSet } from "./paths.ts";

const KINDS = new Set(["config", "map", "cert", "ca", "crtlist", "general"]);
const MODES = new Set(["auto", "reload", "revert_lkg"]);
const HEX64 = /^[0-9a-f]{64}$/;

function need(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AgentRequestError(`manifest: ${message}`);
}

/** A block's size is 32 bits of the root that its file is known by. */
const BLOCK_BYTES = 0xffff_ffff;

const isRecord = (value: unknown): boolean => typeof value === "object" && value !== null;
const isToken = (value: Token | undefined): boolean => isCount(value?.leader_epoch) && isCount(value?.render_seq);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** One line of at most 256 characters. */
// oxlint-disable-next-line no-control-regex
const PLAN_ID = /^[^\u0000-\u001f\u007f]{0,256}$/;
const isPlanId = (value: unknown): boolean => typeof value === "string" && PLAN_ID.test(value);

/** @throws AgentRequestError naming the field. */
export function checkManifest(manifest: Manifest, reserved: ReadonlySet<string>): void {
  need(typeof manifest === "object" && manifest !== null && !Array.isArray(manifest), "not an object");
  need(
    manifest.identity_version === IDENTITY_VERSION,
    `identity_version ${manifest.identity_version} is not known here`,
  );
  need(MODES.has(manifest.mode), `mode ${JSON.stringify(manifest.mode)} is not known here`);
  need(isCount(manifest.plan_schema_version), "plan_schema_version is not a whole number");
  need(isPlanId(manifest.plan_id) && manifest.plan_id !== "", "plan_id is missing or no plain text");
  need(isPlanId(manifest.expected_prev_plan_id), "expected_prev_plan_id is missing or no plain text");
  need(isToken(manifest.token), "token is not two whole numbers");
  if (manifest.expected_prev_token !== undefined)
    need(isToken(manifest.expected_prev_token), "expected_prev_token is not two whole numbers");
  for (const field of ["expected_worker_ops_plan_id", "worker_ops_plan_id", "validated_plan_id"] as const)
    need(manifest[field] === undefined || isPlanId(manifest[field]), `${field} is no plain text`);
  need(Array.isArray(manifest.ops) && Array.isArray(manifest.in_place_ops), "ops and in_place_ops are not lists");
  need(
    manifest.ops.length + manifest.in_place_ops.length <= LIMITS.opsPerBatch,
    `more than ${LIMITS.opsPerBatch} operations`,
  );
  checkBatches(manifest.op_batches);
  checkProofs(manifest);
  need(
    manifest.files === undefined || (manifest.changed === undefined && manifest.removed === undefined),
    "files and changed/removed exclude each other",
  );
  const { changed = [], removed = [] } = manifest;
  const files = manifest.files === undefined ? changed : manifest.files;
  need(Array.isArray(files) && Array.isArray(removed), "files, changed and removed are not lists");
  need(files.length + removed.length <= LIMITS.files, `more than ${LIMITS.files} files`);
  for (const file of files) checkFile(file, reserved);
  for (const path of removed) checkPath(path, reserved);
  const paths = [...files.map((file) => file.path), ...removed];
  need(new Set(paths).size === paths.length, "a path comes twice");
  checkPathSet(files.map((file) => file.path));
  for (const op of [...manifest.ops, ...manifest.in_place_ops, ...(manifest.op_batches ?? []).flat()])
    checkOp(op, reserved);
}

/** The batches after the first one. */
function checkBatches(batches: Manifest["op_batches"]): void {
  if (batches === undefined) return;
  need(Array.isArray(batches) && batches.every((batch) => Array.isArray(batch)), "op_batches is not a list of lists");
  need(batches.length < LIMITS.opBatches, `more than ${LIMITS.opBatches} batches of operations`);
  need(
    batches.every((batch) => batch.length > 0 && batch.length <= LIMITS.opsPerBatch),
    `a batch is empty or holds more than ${LIMITS.opsPerBatch} operations`,
  );
}

const PROOFS = [
  "plan_proof",
  "expected_prev_plan_proof",
  "expected_worker_ops_plan_proof",
  "worker_ops_plan_proof",
  "validated_plan_proof",
] as const;

function checkProofs(manifest: Manifest): void {
  for (const field of PROOFS) {
    const proof = manifest[field];
    // "" = the controller knows none.
    need(proof === undefined || proof === "" || HEX64.test(proof), `${field} is not 64 hex digits`);
  }
}

function checkFile(file: ManifestFile, reserved: ReadonlySet<string>): void {
  need(isRecord(file) && !Array.isArray(file), "a file is not an object");
  checkPath(file.path, reserved);
  need(KINDS.has(file.kind), `${file.path}: kind ${JSON.stringify(file.kind)} is not known here`);
  need(HEX64.test(file.digest), `${file.path}: digest is not SHA-256 in hex`);
  need(isCount(file.size), `${file.path}: size is not a whole number`);
  need(typeof file.reload_on_change === "boolean", `${file.path}: reload_on_change is not a boolean`);
  if (file.blocks !== undefined) checkBlocks(file.path, file.blocks);
  if (file.patch === undefined) return;
  need(
    isRecord(file.patch) && HEX64.test(file.patch.base_digest) && Array.isArray(file.patch.splices),
    `${file.path}: patch is not base_digest and splices`,
  );
  for (const splice of file.patch.splices) {
    need(
      isRecord(splice) && isCount(splice.index) && isCount(splice.remove),
      `${file.path}: a splice is not index, remove and insert`,
    );
    checkBlocks(file.path, splice.insert);
  }
}

function checkBlocks(path: string, blocks: readonly BlockRef[]): void {
  need(Array.isArray(blocks), `${path}: blocks are not a list`);
  for (const ref of blocks) {
    need(
      isRecord(ref) && HEX64.test(ref.digest) && isCount(ref.size) && ref.size <= BLOCK_BYTES,
      `${path}: a block is not digest and size`,
    );
  }
}
