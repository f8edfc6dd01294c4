/** Links and removals that tell the truth also on a file system that fails. */
import { readlinkSync, renameSync, rmSync, symlinkSync } from "node:fs";

/** The last component of what a link names; undefined when there is no link. */
export function readLink(path: string): string | undefined {
  try {
    return linkTarget(path)?.split("/").at(-1);
  } catch {
    return undefined;
  }
}

/** What a link names; undefined when there is none. Throws where the file system cannot tell. */
export function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EINVAL") return undefined;
    throw error;
  }
}

/** Removes what is of no use any more, if the file system lets it go. */
export function discard(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // It is only room that is lost, until the next start.
  }
}

/** Points a link elsewhere by one rename. A file system that fails may have done it all the same: the link itself tells. */
export function turnLink(link: string, target: string): void {
  const next = `${link}.new`;
  rmSync(next, { force: true });
  symlinkSync(target, next);
  try {
    renameSync(next, link);
  } catch (error) {
    if (linkTarget(link) !== target) throw error;
  }
}
