/** Digests of blocks and of files as lists of blocks, as the manifest defines them. */
import { hash } from "node:crypto";

export { rootDigest } from "../plan/index.ts";

/** Lower-case hex SHA-256 of bytes. */
export function sha256(bytes: Uint8Array): string {
  return hash("sha256", bytes, "hex");
}
