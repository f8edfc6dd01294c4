/** `shared`: values that the roots of one render compute once. */

export class SharedValues {
  readonly #values = new Map<string, unknown>();
  readonly #seen = new Set<string>();
  /** Called at each use: who shares is re-run together with all others that share. */
  onUse: () => void = () => {};

  get(key: string): unknown {
    this.onUse();
    return this.#values.get(key) ?? null;
  }

  has(key: string): boolean {
    this.onUse();
    return this.#values.has(key);
  }

  set(key: string, value: unknown): void {
    this.#values.set(key, value);
  }

  /** True the first time that these parts are seen. */
  firstSeen(parts: readonly unknown[]): boolean {
    this.onUse();
    const key = JSON.stringify(parts.map((part) => part ?? ""));
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }
}
