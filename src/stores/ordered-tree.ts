/**
 * A B+ tree from text to values whose versions are immutable. `version()` costs nothing: it gives every node away, and the
 * next write copies the nodes on its path, once; writes between two versions work in place.
 */

/** Most entries of a leaf and most children of a branch. 64 keeps a copied path near one microsecond. */
const MAX = 64;
const MIN = MAX / 4;
const MOST_ARGUMENTS = 8_192;

interface Leaf<V> {
  readonly leaf: true;
  readonly owner: object;
  readonly keys: string[];
  readonly values: V[];
}

interface Branch<V> {
  readonly leaf: false;
  readonly owner: object;
  /** Lower bound of each child; the very first of the tree is "". */
  readonly keys: string[];
  readonly values: Node<V>[];
}

type Node<V> = Leaf<V> | Branch<V>;

/** One immutable version. */
export class TreeVersion<V> {
  readonly #root: Node<V>;
  readonly size: number;

  constructor(root: Node<V>, size: number) {
    this.#root = root;
    this.size = size;
  }

  get(key: string): V | undefined {
    let node = this.#root;
    while (!node.leaf) node = node.values[childOf(node.keys, key)]!;
    const at = lowerBound(node.keys, key);
    return node.keys[at] === key ? node.values[at] : undefined;
  }

  /** Every value in the order of the keys. */
  values(): V[] {
    const leaves: V[][] = [];
    collectLeaves(this.#root, leaves);
    let out: V[] = [];
    // concat() of arrays is one copy of memory each; pushing 50,000 values takes four times as long.
    for (let i = 0; i < leaves.length; i += MOST_ARGUMENTS) out = out.concat(...leaves.slice(i, i + MOST_ARGUMENTS));
    return out;
  }

  /** The values whose key begins with `prefix`, in order. */
  withPrefix(prefix: string): V[] {
    const out: V[] = [];
    collectPrefix(this.#root, prefix, out);
    return out;
  }
}

function collectLeaves<V>(node: Node<V>, out: V[][]): void {
  if (node.leaf) out.push(node.values);
  else for (const child of node.values) collectLeaves(child, out);
}

/** Returns false when a key beyond the prefix was seen, so that the caller stops. */
function collectPrefix<V>(node: Node<V>, prefix: string, out: V[]): boolean {
  if (node.leaf) {
    for (let i = lowerBound(node.keys, prefix); i < node.keys.length; i++) {
      if (!node.keys[i]!.startsWith(prefix)) return false;
      out.push(node.values[i]!);
    }
    return true;
  }
  for (let i = childOf(node.keys, prefix); i < node.values.length; i++) {
    if (!collectPrefix(node.values[i]!, prefix, out)) return false;
  }
  return true;
}

/** Index of the first key that is not below `key`. */
function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Index of the child whose range holds `key`. */
function childOf(keys: readonly string[], key: string): number {
  let low = 1;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! <= key) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The writable head of the versions. */
export class OrderedTree<V> {
  #owner: object = {};
  #root: Node<V> = { leaf: true, owner: this.#owner, keys: [], values: [] };
  #size = 0;
  #version: TreeVersion<V> | undefined;

  get size(): number {
    return this.#size;
  }

  /** The present content for good; later writes are not seen in it. O(1). */
  version(): TreeVersion<V> {
    if (this.#version === undefined) {
      this.#version = new TreeVersion(this.#root, this.#size);
      this.#owner = {};
    }
    return this.#version;
  }

  set(key: string, value: V): void {
    this.#version = undefined;
    const root = this.#owned(this.#root);
    const right = this.#insert(root, key, value);
    this.#root =
      right === undefined
        ? root
        : { leaf: false, owner: this.#owner, keys: ["", right.keys[0]!], values: [root, right] };
  }

  delete(key: string): boolean {
    this.#version = undefined;
    let root = this.#owned(this.#root);
    const found = this.#remove(root, key);
    while (!root.leaf && root.values.length === 1) root = this.#owned(root.values[0]!);
    this.#root = root;
    return found;
  }

  #owned<N extends Node<V>>(node: N): N {
    if (node.owner === this.#owner) return node;
    return {
      leaf: node.leaf,
      owner: this.#owner,
      keys: node.keys.slice(),
      values: node.values.slice(),
    } as unknown as N;
  }

  /** Inserts below an owned node; returns the right half when the node had to be split. */
  #insert(node: Node<V>, key: string, value: V): Node<V> | undefined {
    if (node.leaf) {
      const at = lowerBound(node.keys, key);
      if (node.keys[at] === key) {
        node.values[at] = value;
        return undefined;
      }
      node.keys.splice(at, 0, key);
      node.values.splice(at, 0, value);
      this.#size++;
    } else {
      const at = childOf(node.keys, key);
      const child = this.#owned(node.values[at]!);
      node.values[at] = child;
      const right = this.#insert(child, key, value);
      if (right === undefined) return undefined;
      node.keys.splice(at + 1, 0, right.keys[0]!);
      node.values.splice(at + 1, 0, right);
    }
    return node.keys.length > MAX ? this.#split(node) : undefined;
  }

  #split(node: Node<V>): Node<V> {
    const half = node.keys.length >>> 1;
    const keys = node.keys.splice(half);
    if (node.leaf) return { leaf: true, owner: this.#owner, keys, values: node.values.splice(half) };
    return { leaf: false, owner: this.#owner, keys, values: node.values.splice(half) };
  }

  #remove(node: Node<V>, key: string): boolean {
    if (node.leaf) {
      const at = lowerBound(node.keys, key);
      if (node.keys[at] !== key) return false;
      node.keys.splice(at, 1);
      node.values.splice(at, 1);
      this.#size--;
      return true;
    }
    const at = childOf(node.keys, key);
    const child = this.#owned(node.values[at]!);
    node.values[at] = child;
    const found = this.#remove(child, key);
    if (found && child.keys.length < MIN && node.values.length > 1) this.#mergeChild(node, at);
    return found;
  }

  /** Joins a small child with a neighbour, and cuts the pair again when it is too large. */
  #mergeChild(node: Branch<V>, at: number): void {
    const left = at > 0 ? at - 1 : at;
    const a = this.#owned(node.values[left]!);
    const b = node.values[left + 1]!;
    node.values[left] = a;
    // The first bound of a branch that is not the leftmost is the one that its parent knows it by: both come from a split.
    a.keys.push(...b.keys);
    (a.values as unknown[]).push(...b.values);
    if (a.keys.length <= MAX) {
      node.keys.splice(left + 1, 1);
      node.values.splice(left + 1, 1);
      return;
    }
    const right = this.#split(a);
    node.keys[left + 1] = right.keys[0]!;
    node.values[left + 1] = right;
  }
}
