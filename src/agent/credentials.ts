/** A directory with `tls.crt`, `tls.key` and `ca.crt`, read again when its revision changes. */
import { lstatSync, readFileSync, readlinkSync, type Stats, statSync } from "node:fs";
import { basename, join } from "node:path";
import { AgentTreeError } from "../errors.ts";

export interface Credentials {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

const FILES = ["tls.crt", "tls.key", "ca.crt"] as const;

/** A folder that the kubelet made, whose files never change; it stands beside the link. */
const REVISION = /^\.\.[^/]+$/;

const revisionOf = ({ dev, ino, mtimeMs, ctimeMs, size }: Stats): string =>
  `${dev}:${ino}:${mtimeMs}:${ctimeMs}:${size}`;

export class CredentialDirectory {
  readonly #dir: string;
  /** The link that the kubelet turns when a mounted Secret changes; the files are links through it. */
  readonly #turning: string;
  /** All three files hang on that link, which is the directory itself where it was given so. */
  #isMounted = false;
  #revision = "";
  #credentials: Credentials | undefined;

  /** @throws AgentTreeError when a file is missing. */
  constructor(dir: string) {
    this.#dir = dir;
    this.#turning = basename(dir) === "..data" ? dir : join(dir, "..data");
    this.refresh();
  }

  get current(): Credentials {
    return this.#credentials!;
  }

  /**
   * Looks at the files; true when others are there than before. One look at the link of a mounted Secret, three at files of another
   * kind, and nothing else: an apply waits for them. A directory that cannot be read at the moment leaves the former credentials in use.
   */
  refresh(): boolean {
    try {
      const revision = this.#seen();
      if (revision === this.#revision) return false;
      const [cert, key, ca] = FILES.map((name) => readFileSync(join(this.#dir, name))) as [Buffer, Buffer, Buffer];
      this.#credentials = { cert, key, ca };
      this.#revision = revision;
      return true;
    } catch (error) {
      if (this.#credentials !== undefined) return false;
      throw new AgentTreeError(`certificates in ${this.#dir} cannot be read`, {
        cause: error,
        hint: "it must hold tls.crt, tls.key and ca.crt",
      });
    }
  }

  #seen(): string {
    if (this.#isMounted) {
      const link = lstatSync(this.#turning, { throwIfNoEntry: false });
      if (link !== undefined && revisionOf(link) === this.#revision) return this.#revision;
    }
    this.#isMounted =
      REVISION.test(targetOf(this.#turning)) &&
      (this.#turning === this.#dir || FILES.every((name) => targetOf(join(this.#dir, name)) === `..data/${name}`));
    if (this.#isMounted) return revisionOf(lstatSync(this.#turning));
    return FILES.map((name) => revisionOf(statSync(join(this.#dir, name)))).join("|");
  }
}

/** What a link names; "" for everything else. */
function targetOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
