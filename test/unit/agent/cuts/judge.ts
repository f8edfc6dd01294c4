/** The tests' side of the judge's program. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { JudgeOrder, Judgement } from "./judge-process.ts";

export class Judge {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, "judge-process.ts"), { execArgv: [] });

  know(id: string, files: Readonly<Record<string, string>>): void {
    this.#child.send({ do: "know", id, files } satisfies JudgeOrder);
  }
  forget(id: string): void {
    this.#child.send({ do: "forget", id } satisfies JudgeOrder);
  }
  async judge(base: string): Promise<Judgement> {
    this.#child.send({ do: "judge", base } satisfies JudgeOrder);
    return ((await once(this.#child, "message")) as [Judgement])[0];
  }
  close(): void {
    this.#child.kill();
  }
}
