/**
 * The output of one incremental snippet, instance by instance, in the order of namespace and name: a keyed tree whose
 * chunks are the file's blocks, so that one changed instance costs one block.
 */
import { bytesOfText } from "../templating/index.ts";
import { ChunkedTree, commonEnds, cutBytes } from "../plan/index.ts";
import type { Block, TreeChunk } from "../plan/types.ts";
import { endsLine } from "./lines.ts";
import type { Slices } from "./slices.ts";

/** Values are text. Nobody asks such a tree for its digest: two texts are told apart by themselves. */
export type MountTree = ChunkedTree<string>;

export function emptyMount(): MountTree {
  return ChunkedTree.empty<string>((text) => text);
}

/** A tree's text as one list of blocks. */
export interface MountBlocks {
  readonly tree: MountTree;
  readonly blocks: readonly Block[];
  /** Index of the first block of each chunk, and behind them the number of blocks. */
  readonly starts: readonly number[];
  /** Whether each block ends a line. */
  readonly whole: boolean;
}

/** `before` = those of a former tree of the same snippet: of chunks that both have nothing is looked at. */
export async function mountBlocks(
  tree: MountTree,
  before: MountBlocks | undefined,
  slices: Slices,
): Promise<MountBlocks> {
  const [head, tail] = before === undefined ? [0, 0] : commonEnds(before.tree.chunks, tree.chunks);
  const starts = before?.starts.slice(0, head) ?? [];
  let blocks = before?.blocks.slice(0, before.starts[head]) ?? [];
  let whole = before?.whole !== false;
  for (let i = head; i < tree.chunks.length - tail; i++) {
    starts.push(blocks.length);
    for (const block of chunkBlocks(tree.chunks[i] as TreeChunk<string>)) {
      blocks.push(block);
      whole &&= endsLine(block);
    }
    if (slices.due()) await slices.breathe();
  }
  if (before !== undefined && tail > 0) {
    const from = before.starts[before.tree.chunks.length - tail] as number;
    const moved = blocks.length - from;
    for (let i = before.tree.chunks.length - tail; i < before.tree.chunks.length; i++)
      starts.push((before.starts[i] as number) + moved);
    blocks = blocks.concat(before.blocks.slice(from));
  }
  starts.push(blocks.length);
  // What did not end a line may be among those that went.
  return { tree, blocks, starts, whole: before?.whole === false ? blocks.every(endsLine) : whole };
}

/** The blocks of a chunk: one, unless its text is long. */
function chunkBlocks(chunk: TreeChunk<string>): readonly Block[] {
  let text = "";
  for (const value of chunk.values) text += value;
  return cutBytes(bytesOfText(text));
}
