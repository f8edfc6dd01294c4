/** The files that templates register beside their own output, over all roots. */
import { cutBytes, planFile } from "../plan/index.ts";
import { bytesOfText } from "../templating/index.ts";
import type { PlanFile } from "../plan/types.ts";
import type { AssemblyProblem } from "./assembly.ts";
import { wholeLines } from "./lines.ts";
import { type RegisteredFile, sameFile } from "./registered-files.ts";
import type { Root } from "./unit.ts";

interface Held {
  readonly file: RegisteredFile;
  readonly plan: PlanFile;
}

export class RegisteredSet {
  problems: readonly AssemblyProblem[] = [];
  #held = new Map<string, Held>();

  /** Gathers what the roots' last runs registered; files to set, or to remove. A file that stayed is not made again. */
  update(roots: readonly Root[]): Map<string, PlanFile | undefined> {
    const problems: AssemblyProblem[] = [];
    const next = new Map<string, Held>();
    const crtLists = new Map(roots.flatMap(({ result }) => [...result.declared.crtLists]));
    const own = new Map(roots.map((root) => [root.spec.path, root.spec.template]));
    for (const { spec, result } of roots) {
      const refuse = (path: string, why: string): void => {
        problems.push({
          template: spec.template,
          message: `${path} is registered, but ${why}`,
          hint: "give one of the two another name",
        });
      };
      for (const [path, file] of result.files) {
        const other = next.get(path);
        const template = own.get(path);
        if (template !== undefined) refuse(path, `${template} makes it too`);
        else if (other === undefined) next.set(path, this.#hold(file, crtLists.get(path) ?? true));
        else if (!sameFile(other.file, file)) refuse(path, "another template registers it with other content");
      }
    }
    const changes = new Map<string, PlanFile | undefined>();
    for (const path of this.#held.keys()) if (!next.has(path)) changes.set(path, undefined);
    for (const [path, { plan }] of next) if (this.#held.get(path)?.plan !== plan) changes.set(path, plan);
    this.#held = next;
    this.problems = problems;
    return changes;
  }

  #hold(file: RegisteredFile, defaultFirst: boolean): Held {
    const known = this.#held.get(file.path);
    if (known !== undefined && sameFile(known.file, file) && (known.plan.defaultFirst ?? true) === defaultFirst)
      return known;
    const blocks = wholeLines(cutBytes(bytesOfText(file.content)));
    const plan = planFile(file.path, file.kind, blocks, { reloadOnChange: file.reloadOnPush });
    return { file, plan: file.kind === "crtlist" && !defaultFirst ? { ...plan, defaultFirst } : plan };
  }
}
