/** The controller's own plan, kept for it as an opaque blob: a new leader reads there what the pod holds. */
import { readFile, rename, rm, writeFile } from "node:fs/promises";

/** The file holds the plan's id, a line feed, and the blob. */
export class PlanStore {
  readonly #path: string;
  #planId: string | undefined;
  #stored = 0;

  constructor(path: string) {
    this.#path = path;
  }

  async load(): Promise<void> {
    const bytes = await readFile(this.#path).catch(() => undefined);
    const end = bytes?.indexOf(0x0a) ?? -1;
    this.#planId = bytes === undefined || end < 0 ? undefined : bytes.toString("utf8", 0, end);
  }

  /** Whether a blob of this plan is stored. */
  holds(planId: string): boolean {
    return planId !== "" && this.#planId === planId;
  }

  async store(planId: string, blob: Uint8Array): Promise<void> {
    this.#stored += 1;
    // Two that come at once do not mix, and a link that somebody laid there is not followed.
    const next = `${this.#path}.${this.#stored}.new`;
    await rm(next, { force: true });
    try {
      await writeFile(next, [Buffer.from(`${planId}\n`), blob], { mode: 0o600, flag: "wx" });
      await rename(next, this.#path);
    } catch (error) {
      await rm(next, { force: true }).catch(() => undefined);
      throw error;
    }
    this.#planId = planId;
  }

  async read(planId: string): Promise<Buffer | undefined> {
    if (!this.holds(planId)) return undefined;
    const bytes = await readFile(this.#path).catch(() => undefined);
    const end = bytes?.indexOf(0x0a) ?? -1;
    return bytes === undefined || bytes.toString("utf8", 0, end) !== planId ? undefined : bytes.subarray(end + 1);
  }
}
