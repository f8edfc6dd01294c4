/** What is wrong now, and with which object: named while it lasts, gone when it is mended. */

export interface Fault {
  /** `Kind namespace/name`, or the component's name. */
  readonly object: string;
  /** One CamelCase word. */
  readonly reason: string;
  readonly message: string;
}

export interface StandingFault extends Fault {
  /** RFC 3339; of the first time that this object had a fault of this reason, without a pause. */
  readonly since: string;
}

/** Each source (the renders, a watch, a pod …) states all its faults at once; what it does not name again is mended. */
export class FaultRegistry {
  readonly #now: () => Date;
  readonly #bySource = new Map<string, readonly StandingFault[]>();
  readonly #onChange: (fault: StandingFault, state: "began" | "ended") => void;

  constructor(now: () => Date, onChange: (fault: StandingFault, state: "began" | "ended") => void) {
    this.#now = now;
    this.#onChange = onChange;
  }

  state(source: string, faults: readonly Fault[]): void {
    const before = this.#bySource.get(source) ?? [];
    if (faults.length === 0 && before.length === 0) return;
    const since = this.#now().toISOString();
    const keyOf = ({ object, reason }: Fault): string => `${object}\u0000${reason}`;
    const sinceOf = new Map(before.toReversed().map((old) => [keyOf(old), old.since]));
    const after = faults.map((fault) => ({ ...fault, since: sinceOf.get(keyOf(fault)) ?? since }));
    if (after.length === 0) this.#bySource.delete(source);
    else this.#bySource.set(source, after);
    const told = new Set(before.map((old) => `${keyOf(old)}\u0000${old.message}`));
    for (const fault of after) if (!told.has(`${keyOf(fault)}\u0000${fault.message}`)) this.#onChange(fault, "began");
    const stands = new Set(after.map(keyOf));
    for (const old of before) if (!stands.has(keyOf(old))) this.#onChange(old, "ended");
  }

  /** Faults that stand of one source. */
  count(source: string): number {
    return this.#bySource.get(source)?.length ?? 0;
  }

  /** Oldest first. */
  list(): readonly StandingFault[] {
    return [...this.#bySource.values()].flat().sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
  }
}
