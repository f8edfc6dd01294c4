/**
 * Which declaration of a backend counts: root templates first, then components by snippet, source, namespace, name and
 * order of the calls. A later declaration of the same name waits behind the winner.
 */
import type { BackendDeclaration } from "./plan-registry.ts";

export interface Candidate<Owner> {
  readonly owner: Owner;
  /** Sorts owners; "" for root templates. */
  readonly order: string;
  readonly backend: BackendDeclaration;
}

export interface WinnerChange<Owner> {
  readonly name: string;
  readonly before: Candidate<Owner> | undefined;
  readonly after: Candidate<Owner> | undefined;
}

export class BackendContest<Owner> {
  readonly #candidates = new Map<string, Candidate<Owner>[]>();
  readonly #winners = new Map<string, Candidate<Owner>>();
  #touched = new Set<string>();

  /** Replaces what an owner declares. Within one owner the first declaration of a name counts. */
  declare(
    owner: Owner,
    order: string,
    before: readonly BackendDeclaration[],
    after: readonly BackendDeclaration[],
  ): void {
    for (const backend of before) {
      this.#touched.add(backend.name);
      const list = this.#candidates.get(backend.name)?.filter((candidate) => candidate.owner !== owner) ?? [];
      if (list.length === 0) this.#candidates.delete(backend.name);
      else this.#candidates.set(backend.name, list);
    }
    for (const backend of after) {
      this.#touched.add(backend.name);
      const candidate = { owner, order, backend };
      const list = this.#candidates.get(backend.name);
      if (list === undefined) {
        this.#candidates.set(backend.name, [candidate]);
        continue;
      }
      let at = list.length;
      while (at > 0 && (list[at - 1] as Candidate<Owner>).order > order) at--;
      list.splice(at, 0, candidate);
    }
  }

  wins(backend: BackendDeclaration): boolean {
    return this.#winners.get(backend.name)?.backend === backend;
  }

  /** Settles what was touched since the last call; names whose winner is another declaration than before. */
  settle(): WinnerChange<Owner>[] {
    const changes: WinnerChange<Owner>[] = [];
    for (const name of this.#touched) {
      const before = this.#winners.get(name);
      const after = this.#candidates.get(name)?.[0];
      if (before?.backend === after?.backend) continue;
      if (after === undefined) this.#winners.delete(name);
      else this.#winners.set(name, after);
      changes.push({ name, before, after });
    }
    this.#touched = new Set();
    return changes;
  }
}
