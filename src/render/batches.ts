/** Large updates of trees in pieces, so that none holds the event loop. */
import type { ChunkedTree } from "../plan/index.ts";
import type { Slices } from "./slices.ts";

const BATCH = 256;

/** Like `tree.update(changes)`. The order of the pieces does not show in the result: a tree depends on its content alone. */
export async function updateInSlices<V>(
  tree: ChunkedTree<V>,
  changes: ReadonlyMap<string, V | undefined>,
  slices: Slices,
): Promise<ChunkedTree<V>> {
  if (changes.size <= BATCH * 2) return tree.update(changes);
  // Sorted, so that a piece touches neighbouring chunks only.
  const keys = [...changes.keys()].sort();
  let result = tree;
  for (let i = 0; i < keys.length; i += BATCH) {
    const piece = new Map<string, V | undefined>();
    for (const key of keys.slice(i, i + BATCH)) piece.set(key, changes.get(key));
    result = result.update(piece);
    if (slices.due()) await slices.breathe();
  }
  return result;
}
