/** Loads every chart of `machines/`, in the order of their file names: each exported value that is an XState machine. */
import { readdirSync } from "node:fs";
import { StateMachine } from "xstate";
import type { AnyStateMachine } from "xstate";

export interface LoadedMachine {
  readonly file: string;
  readonly machine: AnyStateMachine;
  /** Events of the bus that the component reads: the file's export `NAMEReads`. */
  readonly reads: readonly string[];
}

const ours = new URL("../machines/", import.meta.url);

/** Throws what an import throws: a transition to a state that does not exist fails here. `directory` ends with a slash. */
export async function loadMachines(directory: URL = ours): Promise<readonly LoadedMachine[]> {
  const loaded: LoadedMachine[] = [];
  for (const file of readdirSync(directory)
    .filter((name) => name.endsWith(".ts"))
    .sort()) {
    const exports = (await import(new URL(file, directory).href)) as Record<string, unknown>;
    for (const value of Object.values(exports)) {
      if (!(value instanceof StateMachine)) continue;
      loaded.push({ file, machine: value, reads: (exports[`${value.id}Reads`] ?? []) as string[] });
    }
  }
  return loaded;
}
