/** How this program starts itself again: the same Node, the same flags, the source or the bundle that runs now. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeFlags } from "../../bin/node-flags.mjs";

/** What chooses HTTP Basic, which controller and agent refuse beside the certificates that they get here. */
export const WITHOUT_BASIC = {
  DATAPLANE_USERNAME: undefined,
  DATAPLANE_PASSWORD: undefined,
  SECRET_NAME: undefined,
} as const;

/** src/main.ts beside us in the repository, main.mjs above us in the bundle. */
function entryPoint(): string {
  for (let folder = import.meta.dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    const found = ["main.ts", "main.mjs"].map((name) => join(folder, name)).find((file) => existsSync(file));
    if (found !== undefined) return found;
  }
  throw new Error("neither main.ts nor main.mjs is above this file");
}

/** The command line of `haptic ARGS…`, ready for spawn. A test or a script may run without the flags, what it starts does not. */
export function hapticCommand(args: readonly string[]): [command: string, ...args: string[]] {
  const entry = entryPoint();
  return [process.execPath, ...nodeFlags(args[0]), entry, ...args];
}
