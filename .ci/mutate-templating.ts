/**
 * Proves the property suite of the template engine: puts one fault at a time into a copy of the engine and looks whether
 * test/oracle/judge-process.ts notices. Faults are drawn by a seed from all operators, guards and runtime calls of the emitted
 * code: runtime calls left out and operators turned in what check/ and emit/ write, guards and operators turned in runtime/.
 *
 *     node .ci/mutate-templating.ts [--faults 50] [--seed 1] [--programs 4000] [--least 48] [--list]
 *
 * Exit 1 when fewer than `--least` are caught. `EQUIVALENT` names those that change nothing a template can see, and why.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Random } from "../test/oracle/generate/random.ts";

const root = join(import.meta.dirname, "..");
const { values: flags } = parseArgs({
  options: {
    faults: { type: "string", default: "50" },
    seed: { type: "string", default: "1" },
    programs: { type: "string", default: "4000" },
    least: { type: "string", default: "48" },
    list: { type: "boolean", default: false },
  },
});

interface Fault {
  readonly file: string;
  readonly at: number;
  readonly length: number;
  readonly text: string;
  readonly what: string;
}

/** Places that only make code faster, place messages or hold costs, by file and a piece of the line. */
const EQUIVALENT: readonly (readonly [file: string, piece: RegExp, why: string])[] = [
  [
    "operations.ts",
    /if \(typeof v !== "object" \|\| v === null\) return v;/,
    "plain: other values come through the lines below as they are",
  ],
  ["runtime.ts", /profile/, "only what a profile says"],
  [
    "output.ts",
    /\$\.made\(|^ *: \["\$\.show\("/,
    "provenance: written only where it is asked for, and its unit tests hold it",
  ],
  ["calls.ts", /\$\.noted\(/, "provenance, likewise"],
  ["operators.ts", /length > 1024/, "costs: which text is charged for; the runaways hold it"],
  ["bytes.ts", /- 0xdc00\]/, "a byte is taken modulo 256, and twice 0xdc00 is a multiple of it"],
  ["collections.ts", /isView\(list\)/, "a list taken whole is itself: another view of it does the same"],
  ["collections.ts", /length === capacity/, "what a message calls the length"],
  ["collections.ts", /index === undefined \|\| \(typeof index/, "which of two messages a bad index has"],
  [
    "text.ts",
    /return (StructValue\.typeName|`|.*"(nil|string|bool|int|float64|func|host object|error|\[\]any)";)/,
    "kindOf: names of kinds for messages",
  ],
  [".", /stackTraceLimit|\bhint\b|throw new|kindOf|typeName|message|^\s*\*|^\s*\/\//, "only what a message says"],
  [
    ".",
    /charge|newEntry|#entries|#grow|#room|#total|budget|MAX_|MOST_|LOOKS|heap|weight/i,
    "costs: test/oracle/bounds.ts and the unit tests hold them",
  ],
];

type Part = { readonly kind: "code" | "text"; readonly from: number; readonly to: number };

/** A source text as code, and the insides of its string and template literals. */
function parts(source: string): Part[] {
  const found: Part[] = [];
  let [from, i] = [0, 0];
  const cut = (kind: Part["kind"], to: number): void => {
    if (to > from) found.push({ kind, from, to });
  };
  const templates: number[] = [];
  let depth = 0;
  const readTemplate = (): void => {
    from = i;
    while (i < source.length && source[i] !== "`") {
      if (source[i] === "\\") i++;
      else if (source.startsWith("${", i)) {
        cut("text", i);
        i += 2;
        templates.push(depth);
        depth = 0;
        from = i;
        return;
      }
      i++;
    }
    cut("text", i);
    from = ++i;
  };
  while (i < source.length) {
    const c = source[i]!;
    if (source.startsWith("//", i) || source.startsWith("/*", i)) {
      cut("code", i);
      i = source.startsWith("//", i) ? source.indexOf("\n", i) : source.indexOf("*/", i) + 2;
      from = i;
    } else if (c === '"' || c === "'") {
      cut("code", i);
      from = ++i;
      while (source[i] !== c) i += source[i] === "\\" ? 2 : 1;
      cut("text", i);
      from = ++i;
    } else if (c === "`") {
      cut("code", i++);
      readTemplate();
    } else if (c === "/" && /[(,=:[!&|?{};\n]\s*$/.test(source.slice(Math.max(0, i - 20), i))) {
      cut("code", i);
      for (let inClass = false; source[++i] !== "/" || inClass;) {
        if (source[i] === "\\") i++;
        else if (source[i] === "[") inClass = true;
        else if (source[i] === "]") inClass = false;
      }
      from = ++i;
    } else if (c === "{") {
      depth++;
      i++;
    } else if (c === "}" && depth === 0 && templates.length > 0) {
      cut("code", i++);
      depth = templates.pop()!;
      readTemplate();
    } else {
      if (c === "}") depth--;
      i++;
    }
  }
  cut("code", i);
  return found;
}

const TURNED: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "&&": "||",
  "||": "&&",
  "<": ">=",
  ">": "<=",
  "<=": ">",
  ">=": "<",
  "+": "-",
  "-": "+",
  "??": "&&",
};
const PROSE = /[a-z']{2,} [a-z']{2,}/;
const KEYWORDS = /\b(let|const|for|if|else|return|function|yield|break|continue|switch|case|new)\b/g;

function faultsOf(file: string, emits: boolean): Fault[] {
  const source = readFileSync(join(root, file), "utf8");
  const lineOf = (at: number): string => source.slice(source.lastIndexOf("\n", at - 1) + 1, source.indexOf("\n", at));
  const number = (at: number): number => source.slice(0, at).split("\n").length;
  const found: Fault[] = [];
  const add = (at: number, length: number, text: string, what: string): void => {
    if (!EQUIVALENT.some(([part, piece]) => file.includes(part) && piece.test(lineOf(at))))
      found.push({ file, at, length, text, what: `${file}:${number(at)} ${what}` });
  };
  const operators = (from: number, to: number): void => {
    for (const { 0: all, 1: op, index } of source.slice(from, to).matchAll(/ (===|!==|&&|\|\||<=|>=|<|>|\+|-|\?\?) /g))
      add(from + index, all.length, ` ${TURNED[op!]!} `, `${op} → ${TURNED[op!]}`);
  };
  for (const { kind, from, to } of parts(source)) {
    const text = source.slice(from, to);
    if (emits && kind === "text" && !PROSE.test(text.replace(KEYWORDS, ""))) {
      for (const { 0: all, index } of text.matchAll(/(?:\$\.\w+\(\)?|R_\w+\(\$, )/g)) {
        const bare = all.endsWith("()");
        add(from + index, all.length, bare ? "0" : "(", `${all} left out`);
      }
      operators(from, to);
    }
    if (!emits && kind === "code") {
      operators(from, to);
      for (const { 0: all, index } of text.matchAll(/\bif \(/g)) {
        const open = from + index + all.length;
        let [end, depth] = [open, 1];
        for (; end < source.length && depth > 0; end++) depth += source[end] === "(" ? 1 : source[end] === ")" ? -1 : 0;
        const condition = source.slice(open, end - 1);
        if (/["'`/]/.test(condition.replace(/"\w*"/g, ""))) continue;
        add(open, condition.length, `!(${condition})`, `if (${condition}) turned`);
      }
    }
  }
  return found;
}

function all(): Fault[] {
  const folder = (name: string): string[] =>
    readdirSync(join(root, "src/templating", name))
      .filter((file) => file.endsWith(".ts"))
      .sort()
      .map((file) => `src/templating/${name}/${file}`);
  const declares = /(declarations|types|scope|constants|unit|code)\.ts$/;
  const aside = /(realm|watchdog|limits|faults|budget)\.ts$/;
  return [
    ...[...folder("check"), ...folder("emit")]
      .filter((file) => !declares.test(file))
      .flatMap((file) => faultsOf(file, true)),
    ...folder("runtime")
      .filter((file) => !aside.test(file))
      .flatMap((file) => faultsOf(file, false)),
  ];
}

/** What a judge may take of the processor, in seconds; it takes about ten. How long it waits for it does not matter. */
const PROCESSOR_S = 90;

const faults = all();
process.stdout.write(`${faults.length} places for a fault\n`);
if (flags.list) {
  for (const { what } of faults) process.stdout.write(`${what}\n`);
  process.exit();
}

const copy = mkdtempSync(join(tmpdir(), "haptic-faults-"));
try {
  for (const path of ["src/templating", "src/errors.ts", "test/oracle", "package.json"]) {
    mkdirSync(join(copy, path, ".."), { recursive: true });
    cpSync(join(root, path), join(copy, path), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const judge = (): { readonly caught: boolean; readonly why: string } => {
    const { status, stdout, stderr } = spawnSync(
      "/bin/sh",
      [
        "-c",
        `ulimit -t ${PROCESSOR_S}; exec "$0" "$@"`,
        process.execPath,
        "--disallow-code-generation-from-strings",
        "--disable-proto=throw",
        "--max-old-space-size=1024",
        join(copy, "test/oracle/judge-process.ts"),
        "--programs",
        flags.programs,
        "--seed",
        flags.seed,
      ],
      { encoding: "utf8", maxBuffer: 64 * 2 ** 20 },
    );
    const why =
      status === null ? "ran out of time" : (`${stdout}${stderr}`.split("\n").find((line) => /\w/.test(line)) ?? "");
    return { caught: status !== 0, why };
  };
  const untouched = judge();
  if (untouched.caught) throw new Error(`the suite fails without a fault: ${untouched.why}`);
  const random = new Random(Number(flags.seed));
  const drawn = new Set<Fault>();
  while (drawn.size < Math.min(Number(flags.faults), faults.length)) drawn.add(random.pick(faults));
  let caught = 0;
  for (const fault of drawn) {
    const target = join(copy, fault.file);
    const source = readFileSync(target, "utf8");
    writeFileSync(target, source.slice(0, fault.at) + fault.text + source.slice(fault.at + fault.length));
    const result = judge();
    writeFileSync(target, source);
    if (result.caught) caught++;
    process.stdout.write(
      `${result.caught ? "caught " : "MISSED "} ${fault.what}${result.caught ? `: ${result.why.slice(0, 100)}` : ""}\n`,
    );
  }
  process.stdout.write(
    `${caught} of ${drawn.size} faults caught (seed ${flags.seed}, ${flags.programs} programs each)\n`,
  );
  process.exitCode = caught >= Number(flags.least) ? 0 : 1;
} finally {
  rmSync(copy, { recursive: true, force: true });
}
