/** Combinations of texts that were asked for. A path of maps, so that no text has to be put together for a look. */
export class Seen {
  readonly #ends = new Set<string>();
  readonly #inner = new Map<string, Seen>();

  /** True the first time; at least one part. */
  first(parts: readonly string[]): boolean {
    let at: Seen = this;
    for (let i = 0; i < parts.length - 1; i++) {
      let next = at.#inner.get(parts[i]!);
      if (next === undefined) at.#inner.set(parts[i]!, (next = new Seen()));
      at = next;
    }
    const last = parts.at(-1)!;
    if (at.#ends.has(last)) return false;
    at.#ends.add(last);
    return true;
  }
}
