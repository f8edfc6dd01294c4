/** Profiles that anything declares, and those that a backend uses though nothing declares them. */
import { ChunkedTree, cutBlocks, profileDigest } from "../plan/index.ts";
import type { Block, PlanProfile } from "../plan/types.ts";
import type { Declared } from "./plan-registry.ts";

interface Entry {
  readonly profile: PlanProfile;
  declared: number;
  /** Declarations that put the text in a place of their own. */
  placed: number;
}

export class Profiles {
  tree: ChunkedTree<PlanProfile> = ChunkedTree.empty(profileDigest);
  readonly undeclared = new Set<string>();
  readonly #entries = new Map<string, Entry>();
  readonly #users = new Map<string, number>();
  #touched = new Set<string>();
  #blocks: readonly Block[] = [];
  #grouped = 0;
  #stale = false;

  declare(before: Declared, after: Declared): void {
    for (const name of before.profiles.keys()) {
      const entry = this.#entries.get(name);
      if (entry === undefined) continue;
      entry.declared--;
      if (before.placedProfiles.has(name)) entry.placed--;
      this.#touched.add(name);
    }
    for (const [name, profile] of after.profiles) {
      let entry = this.#entries.get(name);
      // A profile placed by hand may change its text under its name; one of the group cannot.
      if (entry === undefined || entry.profile.digest !== profile.digest) {
        entry = { profile, declared: entry?.declared ?? 0, placed: entry?.placed ?? 0 };
        this.#entries.set(name, entry);
      }
      entry.declared++;
      if (after.placedProfiles.has(name)) entry.placed++;
      this.#touched.add(name);
    }
  }

  use(before: string | undefined, after: string | undefined): void {
    if (before === after) return;
    if (before !== undefined) this.#users.set(before, (this.#users.get(before) ?? 0) - 1);
    if (after !== undefined) this.#users.set(after, (this.#users.get(after) ?? 0) + 1);
    for (const name of [before, after]) if (name !== undefined) this.#touched.add(name);
  }

  settle(): void {
    const changes = new Map<string, PlanProfile | undefined>();
    for (const name of this.#touched) {
      const entry = this.#entries.get(name);
      const declared = entry !== undefined && entry.declared > 0;
      if (!declared) this.#entries.delete(name);
      changes.set(name, declared ? entry.profile : undefined);
      if ((this.#users.get(name) ?? 0) <= 0) this.#users.delete(name);
      if (this.#users.has(name) && !declared) this.undeclared.add(name);
      else this.undeclared.delete(name);
    }
    this.#touched = new Set();
    const next = this.tree.update(changes);
    if (next !== this.tree) this.#stale = true;
    this.tree = next;
  }

  /** Number of profiles that belong into the group. */
  get grouped(): number {
    this.#refresh();
    return this.#grouped;
  }

  /** Text of the group: all profiles without a place of their own, by name. */
  groupBlocks(): readonly Block[] {
    this.#refresh();
    return this.#blocks;
  }

  #refresh(): void {
    if (!this.#stale) return;
    let text = "";
    this.#grouped = 0;
    for (const [name, profile] of this.tree.entries()) {
      if ((this.#entries.get(name)?.placed ?? 0) > 0) continue;
      this.#grouped++;
      text += profile.text;
    }
    this.#blocks = cutBlocks(text);
    this.#stale = false;
  }
}
