/** Combinations of texts that were asked for. A path of maps, so that no text has to be put together for a look. */
export class Seen {
  readonly #ends = new Set<string>();
  readonly #inner = new Map<string, Seen>();

  /** True the first time. At least one part; parts count by their texts. */
  first(parts: readonly unknown[], textOf: (part: unknown) => string): boolean {
    let at: Seen = this;
    const last = parts.length - 1;
    for (let i = 0; ; i++) {
      const part = parts[i];
      const text = typeof part === "string" ? part : textOf(part);
      if (i === last) {
        if (at.#ends.has(text)) return false;
        at.#ends.add(text);
        return true;
      }
      let next = at.#inner.get(text);
      if (next === undefined) at.#inner.set(text, (next = new Seen()));
      at = next;
    }
  }
}
