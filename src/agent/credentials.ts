/** A directory with `tls.crt`, `tls.key` and `ca.crt`, read again when its revision changes (Kubernetes turns `..data`). */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { AgentTreeError } from "../errors.ts";

export interface Credentials {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

const FILES = ["tls.crt", "tls.key", "ca.crt"] as const;

export class CredentialDirectory {
  readonly #dir: string;
  #revision = "";
  #credentials: Credentials | undefined;

  /** @throws AgentTreeError when a file is missing. */
  constructor(dir: string) {
    this.#dir = dir;
    this.refresh();
  }

  get current(): Credentials {
    return this.#credentials!;
  }

  /**
   * Looks at the files; true when others are there than before. Three stats and nothing else: an apply waits for them. A
   * directory that cannot be read at the moment leaves the former credentials in use.
   */
  refresh(): boolean {
    let revision: string;
    let next: Credentials;
    try {
      revision = FILES.map((name) => {
        const { ctimeMs, mtimeMs, size, dev, ino } = statSync(join(this.#dir, name));
        return `${dev}:${ino}:${mtimeMs}:${ctimeMs}:${size}`;
      }).join("|");
      if (revision === this.#revision) return false;
      const [cert, key, ca] = FILES.map((name) => readFileSync(join(this.#dir, name))) as [Buffer, Buffer, Buffer];
      next = { cert, key, ca };
    } catch (error) {
      if (this.#credentials !== undefined) return false;
      throw new AgentTreeError(`certificates in ${this.#dir} cannot be read`, {
        cause: error,
        hint: "it must hold tls.crt, tls.key and ca.crt",
      });
    }
    this.#revision = revision;
    this.#credentials = next;
    return true;
  }
}
