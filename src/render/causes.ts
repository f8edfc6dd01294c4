/** Objects whose change asks for a run: what is told of who made what the run gives. */
import { fewObjects } from "../plan/index.ts";

/** More are not counted. */
const MOST = 256;

export class Causes {
  readonly #objects = new Set<string>();
  #unknown = false;

  add(object: string): void {
    if (this.#objects.size < MOST) this.#objects.add(object);
  }

  /** Everything runs anew: what of it is another one has nothing to do with a single object. */
  lose(): void {
    this.#unknown = true;
  }

  clear(): void {
    this.#objects.clear();
    this.#unknown = false;
  }

  /** In words; "" where it is not known. */
  static tell(all: readonly Causes[]): string {
    if (all.some((causes) => causes.#unknown)) return "";
    return fewObjects(all.flatMap((causes) => [...causes.#objects]));
  }
}
