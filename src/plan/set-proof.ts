/**
 * The proof beside a plan's identity: what its files amount to, from what the agent has verified itself. A sum over the files' own
 * digests, so that neither order nor history counts. It guards against mistakes, such as a difference that meets another set
 * than it was made for; against forgers there is the agents' mutual TLS.
 */
import { sha256 } from "./digest.ts";
import type { FileKind } from "./types.ts";

export interface ProvenFile {
  readonly path: string;
  readonly kind: FileKind;
  /** Root over the blocks. */
  readonly digest: string;
  readonly size: number;
}

const MODULUS = 1n << 256n;

/** Files are not changed once they are made: each is hashed once. */
const leaves = new WeakMap<ProvenFile, bigint>();

function leafOf(file: ProvenFile, reloadOnChange: boolean): bigint {
  let leaf = leaves.get(file);
  if (leaf === undefined) {
    leaf = BigInt(`0x${sha256([file.path, file.kind, file.digest, file.size, reloadOnChange].join("\n"))}`);
    leaves.set(file, leaf);
  }
  return leaf;
}

/** 64 hex digits. `reloads` = whether the file asks for a reload when it changes. */
export function setProof<F extends ProvenFile>(files: Iterable<F>, reloads: (file: F) => boolean): string {
  let sum = 0n;
  for (const file of files) sum += leafOf(file, reloads(file));
  return (sum % MODULUS).toString(16).padStart(64, "0");
}
