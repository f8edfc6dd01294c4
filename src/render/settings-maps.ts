/** The map files of settings: for each setting that a profile reads, the values of all backends that have one. */
import { planFile, settingsMapName } from "../plan/index.ts";
import type { PlanFile } from "../plan/types.ts";
import { updateInSlices } from "./batches.ts";
import { emptyMount, type MountBlocks, mountBlocks, type MountTree } from "./mount.ts";
import type { PathResolver } from "./paths.ts";
import type { BackendDeclaration, Declared } from "./plan-registry.ts";
import type { Slices } from "./slices.ts";

interface Setting {
  /** Runs that declare it. */
  runs: number;
  values: MountTree;
  blocks: MountBlocks | undefined;
  file: PlanFile | undefined;
}

export class SettingsMaps {
  readonly #paths: PathResolver;
  readonly #settings = new Map<string, Setting>();
  /** Setting → backend → its line; "" takes it away. */
  #changes = new Map<string, Map<string, string | undefined>>();

  constructor(paths: PathResolver) {
    this.#paths = paths;
  }

  declare(before: Declared, after: Declared): void {
    for (const name of before.settings) this.#of(name).runs--;
    for (const name of after.settings) this.#of(name).runs++;
  }

  /** Another declaration of a backend counts now. */
  turn(name: string, before: BackendDeclaration | undefined, after: BackendDeclaration | undefined): void {
    for (const [setting, value] of before?.settings ?? []) if (value !== "") this.#change(setting, name, undefined);
    for (const [setting, value] of after?.settings ?? [])
      if (value !== "") this.#change(setting, name, `${name} ${value}\n`);
  }

  /** Files to set, or to remove. */
  async settle(slices: Slices): Promise<ReadonlyMap<string, PlanFile | undefined>> {
    const files = new Map<string, PlanFile | undefined>();
    const changes = this.#changes;
    this.#changes = new Map();
    for (const [name, setting] of this.#settings) {
      const changed = changes.get(name);
      if (changed !== undefined) setting.values = await updateInSlices(setting.values, changed, slices);
      const path = this.#paths.resolve(settingsMapName(name), "map");
      if (setting.runs <= 0) {
        if (setting.values.size === 0) this.#settings.delete(name);
        if (setting.file !== undefined) files.set(path, undefined);
        setting.file = undefined;
      } else if (changed !== undefined || setting.file === undefined) {
        setting.blocks = await mountBlocks(setting.values, setting.blocks, slices);
        setting.file = planFile(path, "map", setting.blocks.blocks);
        files.set(path, setting.file);
      }
      if (slices.due()) await slices.breathe();
    }
    return files;
  }

  #of(name: string): Setting {
    let setting = this.#settings.get(name);
    if (setting === undefined) {
      setting = { runs: 0, values: emptyMount(), blocks: undefined, file: undefined };
      this.#settings.set(name, setting);
    }
    return setting;
  }

  #change(setting: string, backend: string, line: string | undefined): void {
    this.#of(setting);
    const changes = this.#changes.get(setting);
    if (changes === undefined) this.#changes.set(setting, new Map([[backend, line]]));
    else changes.set(backend, line);
  }
}
