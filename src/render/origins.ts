/** Who made the parts of a plan: noted as they change, and told in reasons of reloads. */
import type { PlanConfiguration, PlanOrigins } from "../plan/types.ts";

/** The oldest are forgotten first. */
const MOST = 1000;

export class OriginBook {
  #origins: PlanOrigins;
  #changes = new Map<string, string>();
  #by = "";

  constructor(configuration: PlanConfiguration) {
    this.#origins = { configuration, objects: new Map() };
  }

  /** What is noted from here on was made by these objects; "" = nobody knows. */
  begin(by: string): void {
    this.#by = by;
  }

  /** Whether anything would be told. */
  get knows(): boolean {
    return this.#by !== "";
  }

  note(part: string, by = this.#by): void {
    this.#changes.set(part, by);
  }

  /** Of all that was noted; the same object as long as nothing was. */
  get origins(): PlanOrigins {
    if (this.#changes.size > 0) {
      const objects = new Map(this.#origins.objects);
      for (const [part, by] of this.#changes) {
        objects.delete(part);
        if (by !== "") objects.set(part, by);
      }
      for (const part of objects.keys()) {
        if (objects.size <= MOST) break;
        objects.delete(part);
      }
      this.#changes = new Map();
      this.#origins = { ...this.#origins, objects };
    }
    return this.#origins;
  }
}
