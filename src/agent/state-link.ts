/** Where the agent's own state can be read: a link into the set in force, whose part it is. */
import { lstatSync, mkdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { linkTarget, turnLink } from "./links.ts";
import { CURRENT_LINK, STATE_FILE } from "./paths.ts";

/**
 * The state lies in each set, so that files and what is said of them turn by one rename; the link always leads to that of the set in
 * force. Nothing is read through it. Returns why there is none; undefined = it is there.
 */
export function linkState(baseDir: string, stateFile: string): string | undefined {
  const state = join(baseDir, CURRENT_LINK, STATE_FILE);
  const isInside = stateFile.startsWith(`${baseDir}/`);
  const target = isInside ? relative(dirname(stateFile), state) : state;
  try {
    const present = lstatSync(stateFile, { throwIfNoEntry: false });
    if (present !== undefined && !(present.isSymbolicLink() && isStateOf(linkTarget(stateFile))))
      return "something else is there, and stays";
    if (present !== undefined && linkTarget(stateFile) === target) return undefined;
    mkdirSync(dirname(stateFile), { recursive: true });
    turnLink(stateFile, target);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A link that an agent made. */
const isStateOf = (target: string | undefined): boolean => target?.endsWith(join(CURRENT_LINK, STATE_FILE)) === true;
