/** Runs generated programs through engine and oracle until something differs. */
import { families } from "../../src/templating/index.ts";
import { compileFiles, difference, parseFiles, runEngine, runOracle } from "./compare.ts";
import { frozen, inputs } from "./generate/data.ts";
import { Coverage } from "./generate/expressions.ts";
import { generate, type Generated } from "./generate/program.ts";
import { Random } from "./generate/random.ts";

/** Functions of the product, and the builtins that the generator calls by name. */
export const functionNames: readonly string[] = families.flatMap(({ functions }) => functions.map(({ name }) => name));

export interface Tally {
  programs: number;
  compiled: number;
  /** Ran to the end or to an error that both sides name alike. */
  agreed: number;
  /** Too large for the oracle. */
  left: number;
}

/** What a program looks like in a report. */
export function programText({ files }: Generated): string {
  return Object.entries(files)
    .map(([name, text]) => `--- ${name}\n${text}\n`)
    .join("");
}

export interface Options {
  /** Seed of the first program; the next have the next numbers. */
  readonly seed: number;
  readonly coverage?: Coverage;
  readonly size?: number;
  readonly inputs?: number;
  readonly functions?: readonly string[];
}

/** Programs one after the other; each step gives the first difference, or undefined. */
export function* agreement(options: Options, tally: Tally): Generator<string | undefined, never, void> {
  const { coverage = new Coverage(), size = 8, inputs: many = 1, functions = functionNames } = options;
  for (let seed = options.seed; ; seed++) {
    const program = generate(seed, coverage, functions, size);
    tally.programs++;
    const set = compileFiles(program.files);
    if (set.problems.length > 0) {
      yield undefined;
      continue;
    }
    tally.compiled++;
    const tree = parseFiles(program.files);
    let found: string | undefined;
    for (let i = 0; i < many && found === undefined; i++) {
      const data = frozen(inputs(new Random(seed * 31 + i)));
      const engine = runEngine(set, data, (seed + i) % 2 === 0);
      const oracle = runOracle(tree, data);
      coverage.add(oracle.met);
      if (oracle.stop?.kind === "unsupported") {
        tally.left++;
        continue;
      }
      found = difference(engine, oracle);
      if (found === undefined) tally.agreed++;
      else found = `seed ${seed}, input ${i}\n${found}\n${programText(program)}`;
    }
    yield found;
  }
}
