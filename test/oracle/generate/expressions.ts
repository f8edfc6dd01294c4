/** Expressions of generated programs, by the static type that is wanted, so that most of them compile and run. */
import { CALLS, WHOLE } from "./functions.ts";
import { HOSTILE } from "./data.ts";
import type { Random } from "./random.ts";

export interface Variable {
  readonly name: string;
  readonly type: string;
  /** Loop counters and globals are not assigned. */
  readonly fixed: boolean;
}

const STRINGS = [
  "",
  "a",
  "web",
  "x,y,z",
  "a b c",
  "Über",
  "é😀",
  "10",
  "007",
  "/etc/a.map",
  "host.example.com",
  "line\\nnext",
  "tab\\there",
  "  pad ",
  "__proto__",
  'q\\"q',
];
const SEPARATORS = [",", " ", "/", ".", "", "é", "ab"];
const PATTERNS = ["^web", "a.c", "[0-9]+$", "x|y", "(a|b)*c", "\\\\.", "^$", "é", "[", "^a b$", "10$"];
const GLOBS = ["*", "web*", "a?b", "[a-w]*", "x/*", "*.com", ""];
const FORMATS: readonly (readonly [string, readonly string[]])[] = [
  ["%d-%s", ["int", "string"]],
  ["%05d|%-6s|", ["int", "string"]],
  ["%x %X %o %b", ["int", "int", "int", "int"]],
  ["%v %v", ["any", "scalar"]],
  ["%q %t", ["string", "bool"]],
  ["%6.2f%%", ["float64"]],
  ["%.1f %v", ["int", "float64"]],
  ["%+d % d", ["int", "int"]],
  ["%x", ["string"]],
  ["%.2s", ["string"]],
  ["%d", ["string"]],
  ["%s %s", ["string"]],
  ["none", ["int"]],
];
const DOCUMENTS = [
  "[9007199254740993, -4611686018427387905]",
  '{"a": [1, "two", null], "b": {"c": true}}',
  "[1, 2.5, -3]",
  '"text"',
  "12",
  "{",
  '{"a": 1, "a": 2}',
  "[1, 2",
  '{"__proto__": 1, "constructor": {"x": 2}}',
  "null",
];
const PATHS = [
  "name",
  "w",
  "spec.port",
  "$.spec.host",
  "tags.[0]",
  "spec.deep.list.[1]",
  "missing.x",
  "constructor",
  "__proto__",
];
const JSONPATHS = [
  "$.name",
  "{.spec.port}",
  "$.tags[0]",
  "$.tags[*]",
  "$.spec['deep'].list[1]",
  "$.spec.*",
  "$",
  ".missing[3].x",
  "$['__proto__']",
  "$.constructor",
];
const NETWORKS = ["10.0.0.0/29", "10.0.0.4", "10.0.0.0/30", "192.168.1.0/28", "192.168.1.7/32", "10.0.0.1"];
const KEYS = ["name", "w", "f", "on", "tags", "spec", "missing", "none", "n", ...HOSTILE.slice(0, 10)];
const MEMBERS = ["name", "w", "f", "on", "missing", "spec", "constructor", "toString", "then", "length_"];

/** Counts that steer the generator to what it met least. */
export class Coverage {
  readonly met = new Map<string, number>();

  add(counts: ReadonlyMap<string, number>): void {
    for (const [what, n] of counts) this.met.set(what, (this.met.get(what) ?? 0) + n);
  }

  of(what: string): number {
    return this.met.get(what) ?? 0;
  }
}

export abstract class Expressions {
  protected readonly r: Random;
  protected readonly coverage: Coverage;
  protected readonly functions: readonly string[];
  protected scopes: Variable[][] = [[]];
  /** Inside what natives call nothing may change or wait. */
  protected pure = 0;
  private counter = 0;

  constructor(random: Random, coverage: Coverage, functions: readonly string[]) {
    this.r = random;
    this.coverage = coverage;
    this.functions = functions.filter((name) => Object.hasOwn(CALLS, name) || Object.hasOwn(WHOLE, name));
  }

  protected fresh(prefix: string): string {
    return `${prefix}${++this.counter}`;
  }

  protected introduce(name: string, type: string, fixed = false): void {
    this.scopes.at(-1)!.push({ name, type, fixed });
  }

  protected variables(type: string, assignable = false): Variable[] {
    return this.scopes.flat().filter((v) => v.type === type && !(assignable && v.fixed));
  }

  protected scoped<T>(work: () => T): T {
    this.scopes.push([]);
    try {
      return work();
    } finally {
      this.scopes.pop();
    }
  }

  protected quoted(s: string): string {
    return `"${s}"`;
  }

  /** Text of an expression of the type; more of `depth`, more nesting. */
  e(type: string, depth: number): string {
    const { r } = this;
    const own = this.variables(type);
    if (own.length > 0 && r.chance(depth <= 0 ? 0.7 : 0.35)) return r.pick(own).name;
    if (depth > 0 && r.chance(0.08)) return `(${this.e(type, depth - 1)})`;
    if (depth > 0 && r.chance(0.4)) {
      const call = this.callOf(type, depth - 1);
      if (call !== undefined) return call;
    }
    switch (type) {
      case "int":
        return this.int(depth);
      case "float64":
        return this.float(depth);
      case "string":
        return this.string(depth);
      case "bool":
        return this.bool(depth);
      case "any":
        return this.any(depth);
      case "func":
        return this.closure(depth);
      default:
        return type.startsWith("[]") ? this.list(type, depth) : this.map(type, depth);
    }
  }

  private int(depth: number): string {
    const { r } = this;
    const e = (t: string): string => this.e(t, depth - 1);
    switch (depth <= 0 ? 0 : r.int(13)) {
      case 0:
      case 1:
        return r.pick(
          [
            "0",
            "1",
            "2",
            "3",
            "7",
            "10",
            "42",
            "100",
            "0x1f",
            "0o17",
            "0b101",
            "1_000",
            "017",
            "65",
            "9007199254740993",
            "4611686018427387904",
          ].slice(0, r.chance(0.25) ? 16 : 13),
        );
      case 2:
        return `${e("int")} ${r.pick(["+", "-", "*"])} ${this.operand("int", depth)}`;
      case 3:
        return `${this.operand("int", depth)} ${r.pick(["/", "%"])} ${r.chance(0.85) ? r.pick(["2", "3", "7", "10"]) : this.operand("int", depth)}`;
      case 4:
        return `(${this.operand("int", depth)} ${r.pick(["&", "|", "^", "&^"])} ${this.operand("int", depth)})`;
      case 5:
        return `${this.operand("int", depth)} ${r.pick(["<<", ">>"])} ${r.int(r.chance(0.1) ? 70 : 8)}`;
      case 6:
        return `${r.pick(["-", "+", "^"])}${this.operand("int", depth)}`;
      case 7:
        return `len(${r.chance(0.6) ? e("string") : this.e(r.pick(["[]any", "[]string", "map[string]any"]), depth - 1)})`;
      case 8:
        return r.chance(0.5)
          ? `int(ratio ${r.pick(["+", "-", "*"])} ${this.operand("float64", depth)})`
          : `int(${this.operand("int", depth)})`;
      case 9:
        return `append(${this.e("[]int", depth - 1)}, ${r.int(9)})[${this.index()}]`;
      case 10:
        return `${this.map("map[string]int", depth)}${r.chance(0.5) ? `[${this.key()}]` : `.${r.pick(MEMBERS)}`}`;
      case 11:
        return r.chance(0.5)
          ? `toint(${this.e("any", depth - 1)})`
          : `int("${r.pick(["abc", "xyz", "09"])}"[${r.int(3)}])`;
      default:
        return r.chance(0.3)
          ? `int(${r.pick(["'a'", "'é'", "'\\n'"])})`
          : `int(${r.pick(["uint8", "int32", "int64", "uint16"])}(${r.int(120)}))`;
    }
  }

  /** An operand that binds tighter than anything around it. */
  private operand(type: string, depth: number): string {
    const text = this.e(type, depth - 1);
    return /^[\w.]+$/.test(text) ? text : `(${text})`;
  }

  private index(): string {
    return this.r.chance(0.92) ? "0" : this.r.pick(["5", "99", "count"]);
  }

  private float(depth: number): string {
    const { r } = this;
    switch (depth <= 0 ? 0 : r.int(5)) {
      case 0:
        return r.pick(["0.5", "1.25", "3.75", "100.0625", ".5", "1e2", "2.5e-3", "123456789.125"]);
      case 1:
        return `${this.operand("float64", depth)} ${r.pick(["+", "-", "*", "/"])} ${this.operand("float64", depth)}`;
      case 2:
        return `float64(${this.operand("int", depth)})`;
      case 3:
        return `-${this.operand("float64", depth)}`;
      default:
        return `${this.operand("float64", depth)} ${r.pick(["+", "*"])} ${r.pick(["1", "2", "0.5"])}`;
    }
  }

  private string(depth: number): string {
    const { r } = this;
    const e = (t: string): string => this.e(t, depth - 1);
    switch (depth <= 0 ? r.int(2) : r.int(11)) {
      case 0:
        return this.quoted(r.pick(STRINGS));
      case 1:
        return r.chance(0.2) ? `\`raw "text" ${r.pick(["\\n", "é", "x"])}\`` : this.quoted(r.pick(STRINGS));
      case 2:
      case 3:
        return `${e("string")} + ${this.operand("string", depth)}`;
      case 4:
        return `${e("string")} + ${this.operand(r.pick(["int", "any", "bool", "float64"]), depth)}`;
      case 5:
        return `${this.quoted(r.pick(["abcdef", "héllo", "0123"]))}[${r.pick(["0:1", ":3", "1:", ":", "3:3", "0:0"])}]`;
      case 6:
        return `${this.operand("string", depth)}[:${r.chance(0.92) ? "0" : r.pick(["1", "99"])}]`;
      case 7:
        return r.chance(0.5)
          ? `string(${r.pick(["65", "0x1F600", "233", "'x'"])})`
          : `string(${r.pick(["[]byte", "[]rune"])}(${this.quoted(r.pick(["abc", "héllo", "é😀"]))})${r.pick(["", "[1:]", "[:2]"])})`;
      case 8:
        return `append(${this.e("[]string", depth - 1)}, "last")[${this.index()}]`;
      case 9:
        return `map[string]string{"a": ${e("string")}}${r.pick([".a", '["a"]', ".b", '["constructor"]', ".constructor"])}`;
      default:
        return r.chance(0.6)
          ? `(${r.pick(["one.name", "one.w", "cfg.n", "one.spec.host", "cfg.none"])} | tostring())`
          : `toJSON(${e("any")})`;
    }
  }

  private bool(depth: number): string {
    const { r } = this;
    if (depth <= 0) return r.pick(["true", "false"]);
    const type = r.pick(["int", "string", "float64", "any"]);
    switch (r.int(11)) {
      case 0:
        return r.pick(["true", "false"]);
      case 1:
      case 2: {
        const t = r.pick(["int", "string", "float64"]);
        return `${this.operand(t, depth)} ${r.pick(["==", "!=", "<", "<=", ">", ">="])} ${this.operand(t, depth)}`;
      }
      case 3:
        return `${this.operand("bool", depth)} ${r.pick(["&&", "||"])} ${this.operand("bool", depth)}`;
      case 4:
        return `${this.operand(type, depth)} ${r.pick(["and", "or"])} ${this.operand(r.pick(["int", "[]any", "map[string]any", "bool"]), depth)}`;
      case 5:
        return r.chance(0.5)
          ? `!${this.operand("bool", depth)}`
          : `not ${this.operand(r.pick(["any", "string", "[]string", "int"]), depth)}`;
      case 6:
        return `${this.operand("[]string", depth)} ${r.pick(["contains", "not contains"])} ${this.operand("string", depth)}`;
      case 7:
        return r.chance(0.5)
          ? `${this.operand("string", depth)} contains ${r.chance(0.8) ? this.operand("string", depth) : "'a'"}`
          : `${this.operand("map[string]any", depth)} contains ${this.key()}`;
      case 8:
        return `${this.operand("any", depth)} ${r.pick(["==", "!="])} ${r.pick(["nil", "1", '"web"', "true", this.operand(r.pick(["int", "string"]), depth)])}`;
      case 9:
        return `${r.pick(["cfg.n", "one.w", "count"])} ${r.pick(["<", ">="])} ${this.operand("int", depth)}`;
      default:
        return `${this.operand(r.pick(["[]any", "map[string]any"]), depth)} ${r.pick(["==", "!="])} nil`;
    }
  }

  private any(depth: number): string {
    const { r } = this;
    switch (depth <= 0 ? r.int(4) : r.int(13)) {
      case 0:
        return r.pick([
          "one.name",
          "one.w",
          "one.f",
          "one.on",
          "one.spec.port",
          "one.spec.host",
          "cfg.n",
          "cfg.none",
          "one.missing.deeper",
        ]);
      case 1:
        return `cfg${r.pick([".name", ".n", ".on", '["name"]', ".tags"])}`;
      case 2:
        return `hostile${r.chance(0.5) ? `[${this.key()}]` : `.${r.pick(["constructor", "toString", "__proto__", "then", "length", "missing"])}`}`;
      case 3:
        return r.pick(["d", "one", "one.spec", "one.tags"]);
      case 4:
        return `${this.operand("map[string]any", depth)}[${this.key()}]`;
      case 5:
        return `append(${this.e("[]any", depth - 1)}, ${this.e("string", 0)})[${this.index()}]`;
      case 6:
        return "fallback(one.tags, 1)";
      case 7:
        return `${r.pick(["one.w", "cfg.n", "one.spec.port"])} ${r.pick(["+", "-", "*", "/", "%", "&", "<<"])} ${r.pick(["2", "3", "10", this.operand("int", depth)])}`;
      case 8:
        return `${r.pick(["one.name", "one.w", "one.missing", "cfg.name"])} + ${r.pick(["one.name", "1", "cfg.n", "one.tags", "one.f"])}`;
      case 9:
        return `fallback(${this.e("any", depth - 1)}, ${this.e(r.pick(["string", "int", "bool"]), depth - 1)})`;
      case 10:
        return `-${r.pick(["one.f", "one.w", "cfg.n"])}`;
      case 11: {
        const [value, type] = r.pick([
          ["one.name", "string"],
          ["one.spec", "map[string]any"],
          ["one.tags", "[]any"],
          ["cfg.n", "int"],
          ["one.on", "bool"],
          ["one.w", "string"],
        ] as const);
        return `fallback(${value}.(${type}), 1)`;
      }
      default:
        return `one.spec.deep.list[${this.index()}]`;
    }
  }

  protected key(): string {
    return this.r.chance(0.7) ? JSON.stringify(this.r.pick(KEYS)) : this.e("string", 0);
  }

  private list(type: string, depth: number): string {
    const { r } = this;
    const element = type.slice(2);
    const items = (n: number): string =>
      Array.from({ length: n }, () =>
        this.e(element === "any" ? r.pick(["int", "string", "bool", "any"]) : element, depth - 1),
      ).join(", ");
    switch (depth <= 0 ? 0 : r.int(6)) {
      case 1:
        return `append(${this.e(type, depth - 1)}, ${items(1 + r.int(2))})`;
      case 2:
        return `append(${this.e(type, depth - 1)}, ${this.e(type, depth - 1)}...)`;
      case 3:
        return `${this.operand(type, depth)}[${r.pick([":", "0:", ":0"])}]`;
      case 4:
        return type === "[]any"
          ? r.pick(["items", "toSlice(one.tags)", "one.tags.([]any)"])
          : `make(${type}, ${r.int(3)})`;
      default:
        return `${type}{${items(r.int(4))}}`;
    }
  }

  private map(type: string, depth: number): string {
    const { r } = this;
    const element = type.slice(type.indexOf("]") + 1);
    const keys = [...new Set(Array.from({ length: r.int(4) }, () => r.pick(KEYS)))];
    if (depth > 0 && type === "map[string]any" && r.chance(0.3))
      return r.pick(["cfg", "hostile", "one.spec.(map[string]any)", "make(map[string]any)"]);
    return `${type}{${keys.map((key) => `${JSON.stringify(key)}: ${this.e(element === "any" ? r.pick(["int", "string", "[]any", "any"]) : element, depth - 1)}`).join(", ")}}`;
  }

  /** `func(a any) any` as a literal, a lambda or a native's name. */
  protected closure(depth: number): string {
    const { r } = this;
    this.pure++;
    try {
      return this.scoped(() => {
        const p = this.fresh("p");
        this.introduce(p, "any", true);
        const body = this.e(r.pick(["string", "int", "any", "bool"]), Math.min(depth, 2) - 1);
        if (r.chance(0.5)) return `${p} => ${body}`;
        if (r.chance(0.5)) return `func(${p} any) any { return ${body} }`;
        return `func(${p} any) any { if ${this.e("bool", 1)} { return ${p} }; return ${body} }`;
      });
    } finally {
      this.pure--;
    }
  }

  // --- calls of functions ----------------------------------------------------------------------------------------------

  /** Text of a call of one of the functions that were met least. */
  protected callOf(type: string | undefined, depth: number): string | undefined {
    const { r } = this;
    const fit = this.functions.filter(
      (name) =>
        !["fail", "certificate_info"].includes(name) &&
        (type === undefined ||
          CALLS[name]?.endsWith(`-> ${type}`) === true ||
          (depth > 0 && WHOLE[name]?.some((w) => w[1] === type) === true)),
    );
    if (fit.length === 0) return undefined;
    const names = Array.from({ length: 4 }, () => r.pick(fit));
    names.sort((a, b) => this.coverage.of(`function ${a}`) - this.coverage.of(`function ${b}`));
    return this.callText(names[0]!, depth, type);
  }

  callText(name: string, depth: number, type?: string): string {
    const { r } = this;
    const whole = WHOLE[name];
    if (whole !== undefined) {
      const [text] = r.pick(type === undefined ? whole : whole.filter((w) => w[1] === type));
      return text.replace(/\{([\w[\]]+)\}/g, (_all, kind: string) => this.argument(kind, depth));
    }
    const kinds = CALLS[name]!.split(" -> ")[0]!
      .split(" ")
      .filter((kind) => kind !== "");
    const args: string[] = [];
    for (const kind of kinds) {
      if (kind.endsWith("?")) {
        if (args.length < kinds.indexOf(kind) || r.chance(0.4)) break;
        args.push(this.argument(kind.slice(0, -1), depth));
      } else if (kind.endsWith("*"))
        for (let i = r.int(4); i > 0; i--) args.push(this.argument(kind.slice(0, -1), depth));
      else args.push(...(kind === "format" ? this.format(depth) : [this.argument(kind, depth)]));
    }
    if (name === "selectattr" && r.chance(0.6))
      args.push(
        ...r.pick([
          ['"eq"', "2"],
          ['"ne"', '"web"'],
          ['"in"', '[]any{"web", 1, true}'],
        ]),
      );
    if (args.length > 0 && r.chance(0.4) && !/^func|=>/.test(args[0]!)) {
      const first = /^[\w.]+$|^"[^"]*"$|^\w+\([^()]*\)$/.test(args[0]!) ? args[0]! : `(${args[0]!})`;
      return `(${first} | ${name}(${args.slice(1).join(", ")}))`;
    }
    return `${name}(${args.join(", ")})`;
  }

  private format(depth: number): string[] {
    const [format, types] = this.r.pick(FORMATS);
    return [JSON.stringify(format), ...types.map((type) => this.argument(type, depth))];
  }

  private argument(kind: string, depth: number): string {
    const { r } = this;
    const e = (t: string): string => this.e(t, depth - 1);
    const q = (list: readonly string[]): string => JSON.stringify(r.pick(list));
    switch (kind) {
      case "scalar":
        return r.chance(0.6)
          ? e("string")
          : r.chance(0.6)
            ? e("int")
            : r.pick(["one.name", "one.w", "one.f", "cfg.on", "nil", "count", "true"]);
      case "value":
      case "maybe":
        return r.chance(0.3) ? "nil" : e(r.pick(["any", "string", "int", "[]any", "map[string]any"]));
      case "object":
        return r.pick(["one", "one", "cfg", "hostile", "d", "one.spec", e("map[string]any")]);
      case "objects":
        return r.chance(0.85)
          ? "items"
          : r.pick(["[]any{one, cfg}", "[]any{}", "nil", '[]any{map[string]any{"name": "z", "w": 1}, one}']);
      case "key":
        return this.key();
      case "digits":
        return r.chance(0.7)
          ? r.pick(['"2.5"', '"10"', '"-3e2"', '".5"', '"+7"', "nil", "count", "ratio", '"x"'])
          : e("int");
      case "words":
        return q(["hello world", "max-conn rate", "fooBar x2", "ÜBER café", "one", ""]);
      case "text":
        return q(["a", "b,", ",", "web", "é"]);
      case "separator":
        return q(SEPARATORS);
      case "small":
        return r.chance(0.85) ? String(r.int(6)) : r.pick(["-1", "count", "12"]);
      case "smallFloat":
        return r.pick(["1.5", "2.0", "0.25", "ratio"]);
      case "width":
        return r.pick(["2", "0", '"> "', "4"]);
      case "lines":
        return q(["a\nb\n\nc", "one", "", "x\n  y\n \nz\n"]);
      case "list":
        return r.chance(0.7)
          ? e(r.pick(["[]string", "[]any", "[]int"]))
          : r.pick(["one.tags", "hosts", "nums", "nil", '"no list"']);
      case "scalars":
        return r.chance(0.6) ? e("[]string") : r.pick(['[]any{1, "a", true, nil}', "nums", "hosts", "one.tags"]);
      case "path":
        return q(PATHS);
      case "byKey":
        return r.chance(0.5)
          ? q(["name", "w", "spec.port", "on"])
          : r.pick(["x => x.name", "x => x.w", "func(x any) any { return len(tostring(x.name)) }"]);
      case "attr":
        return q(["name", "w", "on", "missing", "constructor"]);
      case "criteria":
        return r.pick([
          '[]string{"$.name"}',
          '[]string{"w:desc", "name"}',
          '"f"',
          '[]any{"$.w:exists:desc", "$.name"}',
          '[]string{"tags | length", "name:desc"}',
          "func(a any, b any) int { return toint(a.w) - toint(b.w) }",
          "func(a any, b any) bool { return toint(a.w) < toint(b.w) }",
          '[]string{"spec.deep.list.[1]"}',
        ]);
      case "mapper":
        return this.closure(depth);
      case "predicate":
        return r.chance(0.5)
          ? this.closure(depth)
          : r.pick(["x => x", 'x => x == "web"', "x => not x", "x => isNil(x)"]);
      case "pattern":
        return `"${r.pick(PATTERNS)}"`;
      case "version":
        return q(["3.4.1", "3.2", "v2.10", "3", "x", "10.0"]);
      case "glob":
        return q(GLOBS);
      case "flatMap":
        return r.pick([
          'map[string]any{"a": 1, "b": true}',
          "nil",
          'map[string]any{"x": "y", "__proto__": 2}',
          "one",
          "map[string]any{}",
        ]);
      case "encoded":
        return r.chance(0.7)
          ? q(["aGVsbG8=", "aMOpbGxv", "", "YQ==", "YWI=\n"])
          : r.pick([`b64encode(${e("string")})`, '"?"', '"a"']);
      case "document":
        return `\`${r.pick(DOCUMENTS)}\``;
      case "jsonpath":
        return q(JSONPATHS);
      case "networks":
        return `[]string{${Array.from({ length: r.int(4) }, () => q(NETWORKS)).join(", ")}}`;
      case "digit":
        return String(r.int(10));
      case "base":
        return r.chance(0.95) ? r.pick(["2", "10", "16", "36"]) : "37";
      case "fe":
        return r.pick(["f", "e"]);
      case "precision":
        return r.pick(["-1", "0", "2", "5"]);
      case "digitsText":
        return q(["10", "-11", "0", "ff", "2.5", "zz", "", "9223372036854775808", "+7", "1_0"]);
      case "blank":
        return r.pick(["", " ", "\t"]);
      case "word":
        return r.pick(["2026-01-31", "5s", "x", "90m", "1h1ms", ""]);
      case "setPath":
        return r.pick(["$.name", "spec.port", "$.new.deep.x", "__proto__", "name.x"]);
      case "status":
        return r.pick(["True", "False", "Unknown", "Maybe"]);
      case "reason":
        return r.pick(["Accepted", "NotReady", "not ready"]);
      case "conditionType":
        return r.pick(["Ready", "Other"]);
      case "maybeInt":
        return r.pick(["nil", "3", "count"]);
      case "ratio":
        return "ratio";
      case "pem":
        return r.pick(["pems.crt", "pems.key", "pems.other", '"x"', "pems.crt", "pems.key"]);
      default:
        return e(kind);
    }
  }
}
