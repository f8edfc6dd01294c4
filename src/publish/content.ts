/** A file's content as an object stores it: its checksum, and the text or its compressed form. Long work goes in slices. */
import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { constants, zstdCompress } from "node:zlib";
import { PublishError } from "../errors.ts";
import { joinBlocks } from "../plan/index.ts";
import type { Pause, PlanFile } from "../plan/index.ts";

const compress = promisify(zstdCompress);
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 } };

/** Bytes hashed between two pauses: about a millisecond. */
const SLICE = 512 * 1024;
/** No reader has to expect more (CRD reference, configPublishing). */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Below etcd's 1.5 MiB a request, with room for metadata and status. */
export const MAX_STORED_BYTES = 1_250_000;
/** A Secret's data, in bytes: the API server refuses more than 1 MiB. */
export const MAX_SECRET_BYTES = 1_000_000;
/** From here on a text's JSON form is measured, as its escapes may make it too long. */
const NEAR_LIMIT = MAX_STORED_BYTES / 2;

export interface StoredContent {
  readonly content: string;
  readonly compressed: boolean;
}

export interface StoredBytes {
  readonly bytes: Buffer;
  readonly compressed: boolean;
}

/** `sha256:` and the SHA-256 of the whole content. Throws PublishError where a plan does not hold it. */
export async function checksumOf(file: PlanFile, pause: Pause): Promise<string> {
  const hash = createHash("sha256");
  let since = 0;
  for (const block of file.blocks) {
    if (block.bytes.length !== block.size)
      throw new PublishError("Outdated", `the content of ${file.path} is not held`);
    hash.update(block.bytes);
    since += block.size;
    if (since < SLICE) continue;
    since = 0;
    await pause();
  }
  return `sha256:${hash.digest("hex")}`;
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

function tooLarge(file: PlanFile, stored: number, limit: number): PublishError {
  return new PublishError(
    "TooLarge",
    `${file.path} has ${megabytes(file.size)}, compressed ${megabytes(stored)}; one object holds ${megabytes(limit)}`,
    "split it into several files; what is in force is not touched by this",
  );
}

/** Throws PublishError for a file that no reader would take. */
export function assertReadable(file: PlanFile): void {
  if (file.size <= MAX_FILE_BYTES) return;
  throw new PublishError(
    "TooLarge",
    `${file.path} has ${megabytes(file.size)}; a published file has at most 64 MiB`,
    "split it into several files; what is in force is not touched by this",
  );
}

/** As text, or above `threshold` (in bytes) compressed and in base64 where that is shorter. Throws PublishError. */
export async function storedContent(file: PlanFile, threshold: number): Promise<StoredContent> {
  assertReadable(file);
  const bytes = joinBlocks(file.blocks);
  const isText = isUtf8(bytes);
  const fits = (text: string): boolean =>
    bytes.length < NEAR_LIMIT || Buffer.byteLength(JSON.stringify(text)) <= MAX_STORED_BYTES;
  if (isText && bytes.length <= threshold && bytes.length <= MAX_STORED_BYTES) {
    const content = bytes.toString("utf8");
    if (fits(content)) return { content, compressed: false };
  }
  const content = (await compress(bytes, ZSTD)).toString("base64");
  if (isText && content.length >= bytes.length && bytes.length <= MAX_STORED_BYTES) {
    const text = bytes.toString("utf8");
    if (fits(text)) return { content: text, compressed: false };
  }
  if (content.length > MAX_STORED_BYTES) throw tooLarge(file, content.length, MAX_STORED_BYTES);
  return { content, compressed: true };
}

/** As a Secret's data has it: above `threshold` the bytes are compressed, without base64 of their own. Throws PublishError. */
export async function storedBytes(file: PlanFile, threshold: number): Promise<StoredBytes> {
  assertReadable(file);
  const bytes = joinBlocks(file.blocks);
  if (bytes.length <= Math.min(threshold, MAX_SECRET_BYTES)) return { bytes, compressed: false };
  const packed = await compress(bytes, ZSTD);
  if (packed.length >= bytes.length && bytes.length <= MAX_SECRET_BYTES) return { bytes, compressed: false };
  if (packed.length > MAX_SECRET_BYTES) throw tooLarge(file, packed.length, MAX_SECRET_BYTES);
  return { bytes: packed, compressed: true };
}
