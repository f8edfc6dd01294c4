/** A directory with `tls.crt`, `tls.key` and `ca.crt`, read again when its revision changes (Kubernetes turns `..data`). */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createSecureContext } from "node:tls";
import { AgentTreeError } from "../errors.ts";

export interface Credentials {
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly ca: Buffer;
}

const FILES = ["tls.crt", "tls.key", "ca.crt"] as const;

export class CredentialDirectory {
  readonly #dir: string;
  readonly #onUnusable: (error: Error) => void;
  #revision = "";
  #credentials: Credentials | undefined;
  /** Why what lies there now is not in use; "" = it is. */
  #obstacle = "";

  /**
   * `onUnusable` hears once of new files that cannot be used.
   *
   * @throws AgentTreeError when a file is missing, or they do not belong together.
   */
  constructor(dir: string, onUnusable: (error: Error) => void = () => undefined) {
    this.#dir = dir;
    this.#onUnusable = onUnusable;
    this.refresh();
  }

  get current(): Credentials {
    return this.#credentials!;
  }

  /**
   * Looks at the files; true when others are in use than before. Three stats and nothing else while nothing changes: an apply waits for
   * them. What cannot be read or used at the moment, half written as it may be, leaves the former credentials in use, and is looked at
   * again the next time.
   */
  refresh(): boolean {
    try {
      const revision = this.#look();
      if (revision === this.#revision) return false;
      const [cert, key, ca] = FILES.map((name) => readFileSync(join(this.#dir, name))) as [Buffer, Buffer, Buffer];
      // It throws where the key is of another certificate, or one of them is cut short.
      createSecureContext({ cert, key, ca });
      const isTorn = this.#look() !== revision;
      // They turned while they were read.
      if (isTorn && this.#credentials !== undefined) return false;
      this.#credentials = { cert, key, ca };
      this.#revision = isTorn ? "" : revision;
      this.#obstacle = "";
      return true;
    } catch (cause) {
      const error = new AgentTreeError(`certificates in ${this.#dir} cannot be used`, {
        cause,
        hint: "it must hold tls.crt, tls.key and ca.crt that belong together",
      });
      if (this.#credentials === undefined) throw error;
      const obstacle = String(cause);
      if (obstacle !== this.#obstacle) this.#onUnusable(error);
      this.#obstacle = obstacle;
      return false;
    }
  }

  #look(): string {
    return FILES.map((name) => {
      const { ctimeMs, mtimeMs, size, dev, ino } = statSync(join(this.#dir, name));
      return `${dev}:${ino}:${mtimeMs}:${ctimeMs}:${size}`;
    }).join("|");
  }
}
