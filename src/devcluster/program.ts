/** How this program starts itself again: the same Node, the same flags, the source or the bundle that runs now. */
import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";

/** The flags that bin/haptic.mjs gives; a test or a script may run without them, what it starts does not. */
const FLAGS = [
  "--disallow-code-generation-from-strings",
  "--disable-proto=throw",
  "--max-semi-space-size=4",
  `--v8-pool-size=${Math.max(1, Math.min(4, availableParallelism() - 1))}`,
  "--enable-source-maps",
];

/** src/main.ts beside us in the repository, main.mjs above us in the bundle. */
function entryPoint(): string {
  for (let folder = import.meta.dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    const found = ["main.ts", "main.mjs"].map((name) => join(folder, name)).find((file) => existsSync(file));
    if (found !== undefined) return found;
  }
  throw new Error("neither main.ts nor main.mjs is above this file");
}

/** The command line of `haptic ARGS…`, ready for spawn. */
export function hapticCommand(args: readonly string[]): [command: string, ...args: string[]] {
  return [process.execPath, ...FLAGS, entryPoint(), ...args];
}
