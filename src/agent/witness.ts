/** Sees what the agent does: hears its notes, judges its answers by its rules, and has both counted where metrics are served. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { ApplyResult } from "./api.ts";
import type { Holding } from "./holding.ts";
import { brokenBy, type Sight } from "./invariants.ts";
import type { AgentMetrics } from "./metrics.ts";
import type { AgentNote, Invariant } from "./notes.ts";
import { PRIVATE_DIR } from "./paths.ts";
import type { Answer } from "./ticket.ts";

export class Witness {
  /** The rule that was broken last. */
  broken: Invariant | undefined;
  readonly #log: Logger;
  #metrics: AgentMetrics | undefined;
  #reloads = 0;
  /** Told before somebody counted. */
  #early: AgentNote[] | undefined = [];

  constructor(log: Logger) {
    this.#log = log;
  }

  /** From now on `metrics` counts, also what was told before; undefined = nobody ever does. */
  countWith(metrics: AgentMetrics | undefined): void {
    this.#metrics = metrics;
    for (const note of this.#early ?? []) metrics?.note(note);
    this.#early = undefined;
  }

  note(note: AgentNote): void {
    if (note.what === "reload" && note.result === "loaded") this.#reloads += 1;
    if (note.what === "broken") {
      this.broken = note.invariant;
      this.#log.error({ invariant: note.invariant }, "the agent broke a rule of its own");
    }
    if (note.what === "divergence")
      this.#log.warn(
        { object: note.object, difference: note.text },
        "the worker is not what its operations were to make of it: a reload follows",
      );
    this.#early?.push(note);
    this.#metrics?.note(note);
  }

  sight(holding: Holding): Sight {
    return { generation: holding.model.generation, worker: holding.session?.info, reloads: this.#reloads };
  }

  /** An apply was answered. */
  answered(answer: Answer): void {
    this.#metrics?.answered(answer);
  }

  /** An apply went through: is it what its answer says? */
  judge(result: ApplyResult, before: Sight, after: Sight): void {
    for (const invariant of brokenBy(result, before, after)) this.note({ what: "broken", invariant });
  }

  /** The sets, their staged parts and the links to them must lie in one file system, so that renames and hard links work. */
  checkMounts(baseDir: string): void {
    const folders = [baseDir, join(baseDir, PRIVATE_DIR, "sets"), join(baseDir, PRIVATE_DIR, "staging")];
    if (new Set(folders.map((folder) => statSync(folder).dev)).size > 1)
      this.note({ what: "broken", invariant: "mount_probe_found_every_mount" });
  }

  /** After `verify=1`: are the files what they shall be, and is the journal as short as it can be? */
  checkFiles(holding: Holding, damaged: readonly string[]): void {
    if (damaged.length === 0 && this.broken === "disk_is_the_desired_set") this.broken = undefined;
    if (damaged.length > 0) {
      this.#log.error(
        { files: damaged.slice(0, 20), count: damaged.length },
        "files were changed or lost beside the agent",
      );
      this.note({ what: "broken", invariant: "disk_is_the_desired_set" });
    }
    if (holding.journalLingers) this.note({ what: "broken", invariant: "journal_only_while_diverged" });
  }
}
