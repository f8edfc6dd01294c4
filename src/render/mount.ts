/**
 * The output of one incremental snippet, instance by instance, in the order of namespace and name: a keyed tree whose
 * chunks are the file's blocks, so that one changed instance costs one block.
 */
import { bytesOfText } from "../templating/index.ts";
import { ChunkedTree, cutBytes, sha256 } from "../plan/index.ts";
import type { Block, Digest, TreeChunk } from "../plan/types.ts";

export interface MountText {
  readonly text: string;
  readonly digest: Digest;
}

export type MountTree = ChunkedTree<MountText>;

export function emptyMount(): MountTree {
  return ChunkedTree.empty<MountText>((value) => value.digest);
}

export function mountText(text: string): MountText {
  return { text, digest: text === "" ? "" : sha256(text) };
}

const blocks = new WeakMap<TreeChunk<MountText>, readonly Block[]>();

/** The blocks of a chunk: one, unless its text is long; none when all of it is empty. Kept with the chunk. */
export function chunkBlocks(chunk: TreeChunk<MountText>): readonly Block[] {
  let made = blocks.get(chunk);
  if (made === undefined) {
    let text = "";
    for (const value of chunk.values) text += value.text;
    made = cutBytes(bytesOfText(text));
    blocks.set(chunk, made);
  }
  return made;
}
