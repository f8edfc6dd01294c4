/** What follows a text: combinations that end with it, and those that go on. */
interface Step {
  readonly ends: Set<string>;
  readonly inner: Map<string, Step>;
}

const step = (): Step => ({ ends: new Set(), inner: new Map() });

/** Combinations of texts that were asked for. A path of maps, so that no text has to be put together for a look. */
export class Seen {
  readonly #root = step();

  /** True the first time. At least one part; parts count by their texts. */
  first(parts: readonly unknown[], textOf: (part: unknown) => string): boolean {
    let at = this.#root;
    const last = parts.length - 1;
    for (let i = 0; ; i++) {
      const part = parts[i];
      const text = typeof part === "string" ? part : textOf(part);
      if (i === last) {
        // One look instead of two: the hash of a text that was put together is what costs.
        const before = at.ends.size;
        return at.ends.add(text).size > before;
      }
      let next = at.inner.get(text);
      if (next === undefined) at.inner.set(text, (next = step()));
      at = next;
    }
  }
}
