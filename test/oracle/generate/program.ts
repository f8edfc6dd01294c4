/** Whole generated programs: statements, macros, and the files that `main` renders and imports. */
import { Expressions, type Coverage, type Variable } from "./expressions.ts";
import { Random } from "./random.ts";

export interface Generated {
  readonly files: Readonly<Record<string, string>>;
}

const TEXTS = [
  "a\n",
  "  indented\n",
  " ",
  "text é {x} ",
  "\n\n",
  "backend x\n  mode http\n",
  "}} %} #",
  "'\"\\`${1}\n",
  "\t",
];
const VARIABLE_TYPES = [
  "int",
  "int",
  "string",
  "string",
  "bool",
  "float64",
  "any",
  "[]any",
  "[]string",
  "[]int",
  "map[string]any",
  "map[string]int",
];
/** Types that `{{ }}` can show. */
const SHOWN = ["int", "string", "string", "float64", "bool", "any"];

interface Macro {
  readonly name: string;
  readonly params: readonly string[];
  readonly variadic: string | undefined;
}

export class ProgramGenerator extends Expressions {
  private files: Record<string, string> = {};
  private macros: Macro[] = [];
  private loops: (string | undefined)[] = [];
  private room = 0;
  private inMacro = false;
  /** Statements are written as tags, or inside `{%% %%}` as code. */
  private code = false;

  /** `size` bounds the statements, `calls` those of programs that only call functions. */
  make(size: number, calls = 8): Generated {
    this.files = {};
    this.macros = [];
    this.loops = [];
    this.scopes = [this.globals()];
    this.inMacro = false;
    this.code = false;
    const { r } = this;
    if (r.chance(0.3)) this.files["snip-a"] = this.isolated(3);
    if (r.chance(0.2)) this.files["snip-b"] = this.isolated(2);
    if (r.chance(0.2)) this.files["dir/x"] = this.isolated(2);
    let head = "";
    if (r.chance(0.25)) head += this.library();
    this.scopes.push([]);
    this.room = size;
    // Some programs are nothing but calls of the functions met least; a few end with an error of their own.
    const what = r.next();
    const body =
      what < 0.4
        ? this.calls(calls + r.int(calls))
        : what < 0.65
          ? this.rare(3 + r.int(4))
          : this.statements(2 + r.int(size), 3);
    const end = r.chance(0.14) ? this.tag(`${r.pick(["fail", "panic"])}(${this.e("string", 1)})`) : "";
    let main = head + body + end;
    if (r.chance(0.07) && !head.includes("import")) main = this.extending(main);
    this.files["main"] = main;
    return { files: this.files };
  }

  /** The program as the layout that a short `main` extends. */
  private extending(layout: string): string {
    this.files["layout"] =
      `${layout}{{ Body(3) }}{{ Absent() default "none" }}${this.r.chance(0.5) ? "{{ Title }}" : ""}`;
    return `{% extends "${this.r.pick(["layout", "/layout"])}" %}\n{% var Title = "t" %}\n{% macro Body(n int) %}body {{ n }} {{ Title }}{% end %}\n`;
  }

  private calls(n: number): string {
    return Array.from({ length: n }, () => `{{ ${this.callShown()} }}\n`).join("");
  }

  /** Statements and operators that whole programs meet seldom, the least met first. */
  private rare(n: number): string {
    const { r } = this;
    const int = (): string => `(${this.e("int", 1)})`;
    const bool = (): string => `(${this.e("bool", 1)})`;
    const operators = ["&", "|", "^", "&^", "<<", ">>", "%", "/"].map((op): readonly [string, () => string] => [
      `operator ${op}`,
      () => `{{ ${int()} ${op} ${["<<", ">>", "/", "%"].includes(op) ? 1 + r.int(9) : int()} }}`,
    ]);
    const comparisons = ["<=", ">=", "<", "!="].map((op): readonly [string, () => string] => [
      `operator ${op}`,
      () => `{{ ${int()} ${op} ${int()} }}`,
    ]);
    const logic = ["and", "or", "&&", "||"].map((op): readonly [string, () => string] => [
      `operator ${op}`,
      () => `{{ ${bool()} ${op} ${bool()} }}`,
    ]);
    const all: readonly (readonly [string, () => string])[] = [
      ...operators,
      ...comparisons,
      ...logic,
      ["operator contains", () => `{{ ${this.e("string", 1)} contains "a" }}`],
      [
        "block",
        () =>
          `{%%\nvar b = ${this.braced(this.e("int", 1), "1")}\n{\nb := "in"\nshow b\n}\nshow b\n%%}`.replaceAll(
            /\bb\b/g,
            this.fresh("b"),
          ),
      ],
      ["inherit_context", () => this.inherited()],
      ["type func", () => this.recursion()],
      ["value call", () => this.closures()],
      ["selector comma ok", () => this.commaOk()],
      ["fallthrough", () => this.switchOf(2)],
      ["assert", () => `{{ one.name.(string) }}`],
      ["macro call", () => `${this.macro(this.fresh("M"))}${this.macroCall()}`],
      ["store to index", () => this.mapWork()],
      ["function delete", () => this.mapWork()],
      [
        "fallthrough",
        () =>
          `{% switch %}{% case ${bool()} %}a{% fallthrough %}{% case false %}b{% fallthrough %}{% default %}c{% end %}`,
      ],
      [
        "selector comma ok",
        () =>
          `{% var ${["x"].map((x) => this.fresh(x)).join()}, ok = one.${r.pick(["name", "missing", "constructor"])} %}{{ ok }}`.replaceAll(
            /\bok\b/g,
            this.fresh("ok"),
          ),
      ],
      ["update", () => this.assignment()],
      ["type struct", () => this.struct()],
      ["type", () => this.struct()],
      ["type array", () => this.array()],
      ["type pointer", () => this.pointer()],
      ["store through pointer", () => this.pointer()],
      ["function new", () => this.pointer()],
      ["function cap", () => this.aliases()],
      ["function copy", () => this.aliases()],
      ["using", () => this.using()],
      ["iota", () => this.constants()],
      ["const", () => this.constants()],
      [
        "render_glob",
        () =>
          `{{ render_glob "${r.pick(["snip-*", "none-*", "dir/?", "*-[a]", "dir/*"])}"${r.chance(0.3) ? ' default "none"' : ""} }}`,
      ],
      [
        "dynamic render",
        () => {
          const otherwise = this.e("string", 1);
          const v = this.fresh("v");
          return r.chance(0.5)
            ? `{{ render ${r.pick(["title_", '("snip" + "-a")', '(one.name + "-a")'])} default ${otherwise} }}`
            : `{% var ${v} = render ${r.pick(["title_", "(toLower(`SNIP-`) + `a`)"])} default ${otherwise} %}{{ ${v} }}`;
        },
      ],
      ["rune", () => `{{ int('é') }}{{ ${this.e("string", 1)} contains 'b' }}`],
      ["type pointer", () => this.pointer()],
    ];
    let out = "";
    for (let i = 0; i < n; i++) {
      const some = Array.from({ length: 4 }, () => r.pick(all));
      some.sort(([a], [b]) => this.coverage.of(a) - this.coverage.of(b));
      out += some[0]![1]();
    }
    return out;
  }

  private struct(): string {
    const { r } = this;
    const [T, a, b] = [this.fresh("T"), this.fresh("s"), this.fresh("s")];
    const literal = r.pick([
      `${T}{Name: ${this.e("string", 1)}, N: ${this.e("int", 1)}}`,
      `${T}{N: ${this.e("int", 1)}}`,
      `${T}{}`,
      `${T}{${this.e("string", 1)}, ${this.e("int", 1)}, nil}`,
    ]);
    return (
      `{% type ${T} struct { Name string; N int; More []${T} } %}` +
      `{% var ${a} = ${literal} %}{% var ${b} = ${a} %}{% ${b}.N += ${1 + r.int(5)} %}{% ${a}.Name = ${this.e("string", 1)} %}` +
      `{% ${a}.More = append(${a}.More, ${b}) %}{% ${b}.Name += "!" %}` +
      `{{ ${a}.Name }} {{ ${a}.N }} {{ ${b}.Name }} {{ ${b}.N }} {{ len(${a}.More) }} {{ ${a}.More[0].Name }}`
    );
  }

  private array(): string {
    const { r } = this;
    const [a, b, v] = [this.fresh("a"), this.fresh("a"), this.fresh("v")];
    const literal = r.pick([
      "[3]int{1, 2, 3}",
      "[...]int{4, 5}",
      "[4]int{2: 7}",
      "[3]int{}",
      `[2]int{${this.e("int", 1)}}`,
    ]);
    return (
      `{% var ${a} = ${literal} %}{% var ${b} = ${a} %}{% ${b}[${r.int(2)}] = ${this.e("int", 1)} %}` +
      `{% ${a}[0]++ %}{{ ${a}[0] }}-{{ ${b}[0] }}-{{ len(${a}) }}{% for _, ${v} := range ${b} %},{{ ${v} }}{% end %}` +
      (r.chance(0.5)
        ? `{% var ${v} = ${a}[:${r.pick(["1", "2", "2"])}] %}{% ${v}[0] = 99 %}{{ ${a}[0] }}{{ len(${v}) }}`
        : "")
    );
  }

  private pointer(): string {
    const { r } = this;
    const [T, x, p, q] = [this.fresh("T"), this.fresh("x"), this.fresh("p"), this.fresh("q")];
    switch (r.int(5)) {
      case 0:
        return `{% var ${x} = ${this.e("int", 1)} %}{% var ${p} = &${x} %}{% *${p} = *${p} + 1 %}{{ ${x} }}{% ${x} = 5 %}{{ *${p} }}`;
      case 1:
        return `{% type ${T} struct { N int; Next *${T} } %}{% var ${p} = &${T}{N: ${this.e("int", 1)}} %}{% var ${q} = ${p} %}{% ${q}.N++ %}{% ${p}.Next = &${T}{N: 3} %}{{ ${p}.N }}{{ ${p}.Next.N }}{{ ${p}.Next.Next == nil }}`;
      case 2:
        return `{% var ${p} = new(${r.pick(["int", "int64"])}) %}{% *${p} += 3 %}{{ *${p} }}`;
      case 3:
        return `{% var ${x} = []int{1, 2} %}{% var ${p} = &${x}[1] %}{% *${p} = 9 %}{{ ${x} | join(",") }}`;
      default:
        return `{% var ${p} = new(string) %}{% *${p} = ${this.e("string", 1)} %}{% var ${q} *string = ${p} %}{% *${q} += "." %}{{ *${p} }}{{ ${q} != nil }}`;
    }
  }

  /** Slices that share what they hold. */
  private aliases(): string {
    const { r } = this;
    const [a, b] = [this.fresh("a"), this.fresh("b")];
    const cut = r.pick(["[:2]", "[1:3]", "[1:2:2]", "[:3]", "[2:]", "[:0:1]"]);
    const change = r.pick([
      `{% ${b} = append(${b}, 9) %}`,
      `{% ${b} = append(${b}, 8, 9, 10) %}`,
      `{% if len(${b}) > 0 %}{% ${b}[0] = 7 %}{% end %}`,
      `{{ copy(${b}, []int{5, 6}) }}`,
      `{{ copy(${b}, ${a}) }}`,
      `{% ${b} = append(${b}, ${a}...) %}`,
    ]);
    return (
      `{% var ${a} = []int{1, 2, 3, 4} %}{% var ${b} = ${a}${cut} %}{{ cap(${b}) }}${change}${r.chance(0.5) ? change : ""}` +
      `{{ ${a} | join(",") }};{{ ${b} | join(",") }};{{ len(${b}) }}`
    );
  }

  private using(): string {
    const { r } = this;
    const v = this.fresh("v");
    const body = this.scoped(() => this.statements(2, 1));
    switch (r.int(4)) {
      case 0:
        return `{% show itea; using %}${body}{% end using %}`;
      case 1:
        return `{% var ${v} = itea + "!"; using %}${body}{% end %}{{ ${v} }}`;
      case 2:
        return `{% show itea("a") + itea("b"); using macro(p string) %}<{{ p }}>${r.pick(["x", "\n", "{{ len(p) }}"])}{% end %}`;
      default:
        return `{% show toUpper(itea), 1; using %}${body}{% end %}`;
    }
  }

  private constants(): string {
    const [a, b, c] = [this.fresh("A"), this.fresh("A"), this.fresh("A")];
    return `{%%\nconst (\n${a} = ${this.r.pick(["iota", "iota + 1", "1 << iota", "iota * 10"])}\n${b}\n${c}\n)\nshow ${a}, ${b}, ${c}\n%%}`;
  }

  private globals(): Variable[] {
    const of = (type: string, ...names: string[]): Variable[] => names.map((name) => ({ name, type, fixed: true }));
    return [
      ...of("any", "d", "one"),
      ...of("[]any", "items"),
      ...of("map[string]any", "cfg", "hostile"),
      ...of("[]string", "hosts"),
      ...of("[]int", "nums"),
      ...of("string", "title_"),
      ...of("int", "count"),
      ...of("float64", "ratio"),
      ...of("bool", "flag"),
    ];
  }

  /** A file with a scope of its own. */
  private isolated(size: number): string {
    const outer = [this.scopes, this.macros, this.loops, this.inMacro, this.code] as const;
    this.scopes = [this.globals(), []];
    this.macros = [];
    this.loops = [];
    this.inMacro = false;
    this.code = false;
    this.room = size;
    const text = this.statements(size, 2);
    [this.scopes, this.macros, this.loops, this.inMacro, this.code] = outer;
    return text;
  }

  /** An imported file with macros; gives the import. */
  private library(): string {
    const outer = this.scopes;
    this.scopes = [this.globals(), []];
    this.macros = [];
    this.room = 4;
    const shared = this.fresh("lib");
    let text = this.r.chance(0.5) ? `{% var ${shared} = ${this.e("string", 1)} %}\n` : "";
    if (text !== "") this.introduce(shared, "string", true);
    const made: Macro[] = [];
    for (let i = 1 + this.r.int(2); i > 0; i--) {
      text += `${this.macro(`Lib${this.fresh("")}`)}\n`;
      made.push(this.macros.at(-1)!);
    }
    this.scopes = outer;
    this.files["lib"] = text;
    const [form, prefix] = this.r.pick([
      [`import "lib" for ${made.map((m) => m.name).join(", ")}`, ""],
      ['import "lib"', ""],
      ['import lib_ "lib"', "lib_."],
      ['import . "/lib"', ""],
    ] as const);
    this.macros = made.map((m) => ({ ...m, name: prefix + m.name }));
    return `{% ${form} %}\n`;
  }

  // --- how statements are written --------------------------------------------------------------------------------------

  private tag(statement: string): string {
    if (this.code) return `${statement}\n`;
    const { r } = this;
    const left = r.chance(0.15) ? "{%-" : "{%";
    const right = r.chance(0.15) ? "-%}" : "%}";
    return `${left} ${statement} ${right}${r.chance(0.3) ? "\n" : ""}`;
  }

  /** `head` with bodies; `words` are what stands between them. */
  private blocks(
    head: string,
    parts: readonly { readonly word?: string; readonly body: string }[],
    name: string,
  ): string {
    if (!this.code) {
      const inner = parts.map(({ word, body }) => (word === undefined ? "" : this.tag(word)) + body).join("");
      return this.tag(head) + inner + this.tag(this.r.chance(0.3) ? `end ${name}` : "end");
    }
    return `${head} {\n${parts.map(({ word, body }) => (word === undefined ? "" : `} ${word} {\n`) + body).join("")}}\n`;
  }

  private text(): string {
    const s = this.r.pick(TEXTS);
    return this.code ? `show ${JSON.stringify(s)}\n` : s.replace("}} %} #", "}} %} ");
  }

  private shown(expression: string): string {
    if (this.code) return `show ${expression}\n`;
    if (this.r.chance(0.1)) return this.tag(`show ${expression}, ${this.e("string", 1)}`);
    return this.r.chance(0.1) ? `{{- ${expression} -}}` : `{{ ${expression} }}`;
  }

  /** An `any` is mostly shown as JSON: what it holds may not be showable. */
  private shownOf(type: string, depth: number): string {
    const text = this.e(type, depth);
    return this.shown(type === "any" && this.r.chance(0.8) ? `toJSON(${text})` : text);
  }

  private statements(n: number, depth: number): string {
    let out = "";
    for (let i = 0; i < n; i++) {
      if (this.room-- < -8) break;
      out += this.statement(depth);
      if (!this.code && this.r.chance(0.3)) out += this.r.pick([" ", "\n", ",", ";"]);
    }
    return out;
  }

  private body(depth: number): string {
    const { length } = this.macros;
    const text = this.scoped(() => this.statements(1 + this.r.int(3), depth - 1));
    this.macros.length = length;
    return text;
  }

  private statement(depth: number): string {
    const { r } = this;
    switch (r.int(depth > 0 ? 29 : 12)) {
      case 0:
        return this.text();
      case 1:
      case 2:
      case 3:
        return this.shownOf(r.pick(SHOWN), 3);
      case 4:
      case 5:
        return this.variable();
      case 6:
      case 7:
        return this.assignment();
      case 8:
        return this.commaOk();
      case 9:
        return this.shown(this.callShown());
      case 10:
        return this.mapWork();
      case 11:
        return this.pairs();
      case 12:
      case 13:
        return this.condition(depth);
      case 14:
      case 15:
        return this.range(depth);
      case 16:
        return this.counted(depth);
      case 17:
        return this.endless(depth);
      case 18:
      case 19:
        return this.switchOf(depth);
      case 20:
        return this.typeSwitch(depth);
      case 21:
        return this.inMacro || this.code || this.loops.length > 0
          ? this.shown(this.e("int", 2))
          : this.macro(this.fresh("M"));
      case 22:
        return this.macroCall();
      case 23:
        return this.closures();
      case 24:
        return this.render();
      case 25:
        return this.inCode(depth);
      case 26:
        return this.jump() ?? this.shownOf("any", 2);
      case 27:
        return this.hosts();
      default:
        return this.defaults();
    }
  }

  // --- statements ------------------------------------------------------------------------------------------------------

  private variable(): string {
    const { r } = this;
    const type = r.pick(VARIABLE_TYPES);
    const name = this.fresh("v");
    switch (r.int(8)) {
      case 0: {
        this.introduce(name, type);
        return this.tag(`var ${name} ${type}`);
      }
      case 1: {
        const text = this.tag(`var ${name} ${type} = ${this.e(type, 3)}`);
        this.introduce(name, type);
        return text;
      }
      case 2: {
        const other = this.fresh("v");
        const second = r.pick(VARIABLE_TYPES);
        const text = this.tag(
          `${r.chance(0.5) ? "var " : ""}${name}, ${other} = ${this.e(type, 2)}, ${this.e(second, 2)}`.replace(
            /^(v\d+, v\d+) =/,
            "$1 :=",
          ),
        );
        this.introduce(name, type);
        this.introduce(other, second);
        return text;
      }
      case 3: {
        const [value, t] = r.pick([
          ["7", "int"],
          ["2.5", "float64"],
          ['"c"', "string"],
          ["true", "bool"],
          ["1 << 4", "int"],
          ['"a" + "b"', "string"],
          ["7 / 2", "int"],
          ["-3", "int"],
          ["7 % 4 * 2", "int"],
        ] as const);
        const text = this.tag(`const ${name} = ${value}`);
        this.introduce(name, t, true);
        return text;
      }
      case 4: {
        const text = this.tag(
          `var ${name} any = ${this.e(r.pick(["int", "string", "[]any", "map[string]any", "bool"]), 2)}`,
        );
        this.introduce(name, "any");
        return text;
      }
      default: {
        const text = this.tag(`${r.chance(0.5) ? `var ${name} =` : `${name} :=`} ${this.e(type, 3)}`);
        this.introduce(name, type);
        return text;
      }
    }
  }

  private target(): Variable | undefined {
    const all = this.scopes.flat().filter((v) => !v.fixed);
    return all.length === 0 ? undefined : this.r.pick(all);
  }

  private assignment(): string {
    const { r } = this;
    const to = this.target();
    if (to === undefined) return this.variable();
    const { name, type } = to;
    if (type === "int" && r.chance(0.6))
      return this.tag(
        r.chance(0.4)
          ? `${name}${r.pick(["++", "--"])}`
          : `${name} ${r.pick(["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="])} ${r.pick(["1", "2", "3", "5"])}`,
      );
    if (type === "float64" && r.chance(0.5))
      return this.tag(`${name} ${r.pick(["+=", "-=", "*=", "/="])} ${r.pick(["1.5", "2", "ratio"])}`);
    if (type === "string" && r.chance(0.5)) return this.tag(`${name} += ${this.e("string", 1)}`);
    if (type.startsWith("[]") && r.chance(0.6)) {
      const element = type.slice(2);
      if (r.chance(0.7))
        return this.tag(`${name} = append(${name}, ${this.e(element === "any" ? "int" : element, 2)})`);
      const other = this.fresh("v");
      const text =
        this.tag(`var ${other} = ${name}`) +
        this.tag(`${name} = append(${name}, ${this.e(element === "any" ? "string" : element, 1)})`);
      this.introduce(other, type);
      return text + this.shown(`len(${other})`);
    }
    const same = this.variables(type, true);
    if (same.length > 1 && r.chance(0.4)) {
      const [a, b] = [same[0]!.name, same.at(-1)!.name];
      if (a !== b) return this.tag(`${a}, ${b} = ${b}, ${a}`);
    }
    return this.tag(`${r.chance(0.05) ? "_" : name} = ${this.e(type, 3)}`);
  }

  private commaOk(): string {
    const { r } = this;
    const [v, ok] = [this.fresh("v"), this.fresh("ok")];
    const [text, type] = r.pick([
      [`cfg[${this.key()}]`, "any"],
      [`one.${r.pick(["name", "missing", "constructor"])}`, "any"],
      [`hostile[${this.key()}]`, "any"],
      [`${this.variables("map[string]int")[0]?.name ?? 'map[string]int{"name": 1}'}[${this.key()}]`, "int"],
      ["one.name.(string)", "string"],
      ["one.w.(int)", "int"],
      ["d.(map[string]any)", "map[string]any"],
      ["one.tags.([]any)", "[]any"],
      ["one.on.(bool)", "bool"],
    ] as const);
    const form = r.pick(["var", ":="]);
    this.introduce(v, type);
    this.introduce(ok, "bool");
    const out = this.tag(form === "var" ? `var ${v}, ${ok} = ${text}` : `${v}, ${ok} := ${text}`);
    return out + this.shown(ok);
  }

  /** `v, err := f(…)` and calls with several results. */
  private pairs(): string {
    const { r } = this;
    const [v, err] = [this.fresh("v"), this.fresh("err")];
    const pairs = ["b64decode", "parse_yaml", "sort_by"].filter((name) => this.functions.includes(name));
    const name = r.pick(pairs);
    let call = this.callText(name, 2);
    if (!call.startsWith(name))
      call = this.callText("b64decode", 1).startsWith("b64decode") ? 'b64decode("aGk=")' : 'b64decode("?")';
    const type = call.startsWith("b64decode") ? "string" : call.startsWith("parse_yaml") ? "any" : "[]any";
    this.introduce(v, type);
    const open = r.chance(0.5) ? `var ${v}, ${err} = ${call}` : `${v}, ${err} := ${call}`;
    return this.tag(open) + this.shown(`${err} ${r.pick(["==", "!="])} nil`);
  }

  private mapWork(): string {
    const { r } = this;
    const maps = this.variables("map[string]any", true);
    const lists = this.variables("[]int", true);
    if (lists.length > 0 && r.chance(0.3))
      return this.tag(`${r.pick(lists).name}[${r.pick(["0", "0", "1"])}] ${r.pick(["=", "+="])} ${this.e("int", 1)}`);
    const ints = this.variables("map[string]int", true);
    if (ints.length > 0 && r.chance(0.5)) {
      const m = r.pick(ints).name;
      return this.tag(
        r.chance(0.5)
          ? `${m}[${this.key()}]++`
          : `${m}.${r.pick(["a", "constructor", "length"])} = ${this.e("int", 1)}`,
      );
    }
    if (maps.length === 0) {
      const name = this.fresh("m");
      const made = r.pick(["map[string]any{}", "make(map[string]any)", 'map[string]any{"name": 1, "w": "x"}']);
      const text = this.tag(`${name} := ${made}`);
      this.introduce(name, "map[string]any");
      return (
        text +
        this.tag(`${name}.${r.pick(["name", "constructor"])} = ${this.e("int", 1)}`) +
        this.tag(`${name}[${this.key()}] = ${this.e("string", 1)}`) +
        this.tag(`delete(${name}, ${this.key()})`) +
        this.shown(`toJSON(${name})`)
      );
    }
    const m = r.pick(maps).name;
    switch (r.int(5)) {
      case 0:
        return this.tag(`delete(${m}, ${this.key()})`);
      case 1:
        return this.tag(
          `${m}.${r.pick(["name", "a", "constructor", "toString", "then", "length", "__proto__"])} = ${this.e(r.pick(["int", "string", "[]any"]), 2)}`,
        );
      case 2:
        return this.shown(`toJSON(${m})`);
      case 3:
        return (
          this.tag(`${m}["list"] = []any{}`) + this.tag(`${m}["list"] = append(${m}["list"], ${this.e("int", 1)})`)
        );
      default:
        return this.tag(`${m}[${this.key()}] = ${this.e(r.pick(["int", "string", "any", "bool"]), 2)}`);
    }
  }

  private condition(depth: number): string {
    const { r } = this;
    return this.scoped(() => {
      let head = "if ";
      if (r.chance(0.25)) {
        const name = this.fresh("v");
        head += `${name} := ${this.braced(this.e("int", 2), "1")}; `;
        this.introduce(name, "int");
      }
      head += this.braced(
        this.e(r.pick(["bool", "bool", "bool", "string", "[]any", "any", "int", "map[string]any"]), 3),
        "flag",
      );
      const parts: { word?: string; body: string }[] = [{ body: this.body(depth) }];
      if (r.chance(0.3))
        parts.push({ word: `else if ${this.braced(this.e("bool", 2), "flag")}`, body: this.body(depth) });
      if (r.chance(0.5)) parts.push({ word: "else", body: this.body(depth) });
      return this.blocks(head, parts, "if");
    });
  }

  /** In code a composite literal in a head would be taken for the block. */
  private braced(expression: string, otherwise: string): string {
    return this.code && expression.includes("{") ? otherwise : expression;
  }

  private range(depth: number): string {
    const { r } = this;
    const label = this.code || r.chance(0.75) ? undefined : this.fresh("L");
    return this.scoped(() => {
      const [k, v] = [this.fresh("k"), this.fresh("v")];
      const [subject, key, value] = r.pick([
        ["items", "int", "any"],
        [this.e("[]string", 2), "int", "string"],
        [this.e("[]int", 2), "int", "int"],
        [this.e("[]any", 2), "int", "any"],
        [this.e("map[string]any", 2), "string", "any"],
        ["hostile", "string", "any"],
        ["one.tags", "any", "any"],
        ["d", "any", "any"],
        [this.e("string", 1), "int", "int32"],
        ["toSlice(one.tags)", "int", "any"],
      ] as const);
      const given = this.code && subject.includes("{") ? "items" : subject;
      let head: string;
      switch (r.int(6)) {
        case 0:
          head = `for ${v} in ${given}`;
          this.introduce(v, value, value === "int32");
          break;
        case 1:
          head = `for range ${given}`;
          break;
        case 2:
          head = `for ${k} := range ${given}`;
          this.introduce(k, key);
          break;
        case 3:
          head = `for _, ${v} := range ${given}`;
          this.introduce(v, value, value === "int32");
          break;
        default:
          head = `for ${k}, ${v} := range ${given}`;
          this.introduce(k, key);
          this.introduce(v, value, value === "int32");
      }
      return this.looped(label, head, depth, !this.code && r.chance(0.25));
    });
  }

  private looped(label: string | undefined, head: string, depth: number, otherwise: boolean): string {
    this.loops.push(label ?? "");
    const parts: { word?: string; body: string }[] = [{ body: this.body(depth) }];
    this.loops.pop();
    if (otherwise) {
      // The variables of the loop are not those of its else.
      const own = this.scopes.pop()!;
      parts.push({ word: "else", body: this.body(depth) });
      this.scopes.push(own);
    }
    return this.blocks(label === undefined ? head : `${label}: ${head}`, parts, "for");
  }

  private counted(depth: number): string {
    const { r } = this;
    const label = this.code || r.chance(0.7) ? undefined : this.fresh("L");
    return this.scoped(() => {
      const i = this.fresh("i");
      const head = `for ${i} := ${r.pick(["0", "1"])}; ${i} < ${1 + r.int(4)}; ${r.pick([`${i}++`, `${i} += 2`])}`;
      this.introduce(i, "int", true);
      return this.looped(label, head, depth, false);
    });
  }

  private endless(depth: number): string {
    const { r } = this;
    return this.scoped(() => {
      const n = this.fresh("n");
      const start = this.tag(r.chance(0.5) ? `var ${n} = 0` : `${n} := 0`);
      this.scopes.at(-2)!.push({ name: n, type: "int", fixed: true });
      this.loops.push("");
      const step = this.tag(`${n}++`);
      const bound = 1 + r.int(3);
      const body = r.chance(0.5)
        ? this.blocks(`for ${n} < ${bound}`, [{ body: step + this.body(depth) }], "for")
        : this.blocks(
            "for",
            [
              {
                body: step + this.blocks(`if ${n} > ${bound}`, [{ body: this.tag("break") }], "if") + this.body(depth),
              },
            ],
            "for",
          );
      this.loops.pop();
      return start + body;
    });
  }

  private switchOf(depth: number): string {
    const { r } = this;
    if (this.code) return this.condition(depth);
    const type = r.pick(["int", "string", "any", "bool"]);
    const none = type === "bool";
    return this.scoped(() => {
      let head = "switch ";
      if (r.chance(0.2)) {
        const name = this.fresh("v");
        head += `${name} := ${this.e("int", 1)}; `;
        this.introduce(name, "int");
      }
      head += none ? (head === "switch " ? "" : "true") : this.e(type, 2);
      const of = (): string =>
        none ? this.e("bool", 2) : this.e(type === "any" ? r.pick(["int", "string"]) : type, 1);
      let text = this.tag(head);
      if (text.endsWith("\n")) text = text.trimEnd();
      const n = 1 + r.int(3);
      const label = this.loops.length;
      for (let i = 0; i < n; i++) {
        text += this.tag(`case ${Array.from({ length: 1 + r.int(2) }, (_, j) => (j === 0 ? of() : of())).join(", ")}`);
        text += this.caseBody(depth);
        if (r.chance(0.4) && i < n - 1) text += "{% fallthrough %}";
      }
      if (r.chance(0.5)) text += this.tag("default") + this.caseBody(depth);
      this.loops.length = label;
      return text + this.tag(r.chance(0.5) ? "end switch" : "end");
    });
  }

  private caseBody(depth: number): string {
    const { r } = this;
    const text = this.body(depth);
    if (!r.chance(0.15)) return text;
    return text + this.blocks(`if ${this.e("bool", 1)}`, [{ body: this.tag("break") }], "if") + this.text();
  }

  private typeSwitch(depth: number): string {
    const { r } = this;
    if (this.code) return this.condition(depth);
    return this.scoped(() => {
      const name = this.fresh("t");
      const bound = r.chance(0.7);
      let text = this.tag(
        `switch ${bound ? `${name} := ` : ""}${r.pick(["d", "one.name", "one.w", "one.tags", "cfg.none", "one.f", "one.spec"])}.(type)`,
      ).trimEnd();
      const kinds = ["string", "bool", "int", "[]any", "map[string]any", "nil"].filter(() => r.chance(0.5));
      if (r.chance(0.4) && kinds.includes("int")) kinds.push("float64");
      for (const kind of kinds) {
        text += this.tag(
          `case ${kind}${r.chance(0.1) && kind !== "nil" ? ", error" : ""}`.replace(/^case (.*), error$/, "case $1"),
        );
        text += this.scoped(() => {
          if (bound && kind !== "nil") this.introduce(name, kind);
          return this.body(depth);
        });
      }
      if (kinds.length === 0 || r.chance(0.5)) text += this.tag("default") + this.body(depth);
      return text + this.tag("end");
    });
  }

  private macro(name: string): string {
    const { r } = this;
    const outer = [this.loops, this.inMacro, this.room] as const;
    this.loops = [];
    this.inMacro = true;
    this.room = Math.min(this.room, 3);
    const params = Array.from({ length: r.int(3) }, () =>
      r.pick(["int", "string", "any", "[]any", "bool", "map[string]any"]),
    );
    const variadic = r.chance(0.25) ? r.pick(["int", "string", "any"]) : undefined;
    const text = this.scoped(() => {
      const written = params.map((type) => {
        const p = this.fresh("p");
        this.introduce(p, type);
        return `${p} ${type}`;
      });
      if (variadic !== undefined) {
        const p = this.fresh("p");
        this.introduce(p, `[]${variadic}`, true);
        written.push(`${p} ...${variadic}`);
      }
      const head = `macro ${name}${written.length === 0 && r.chance(0.5) ? "" : `(${written.join(", ")})`}${r.chance(0.3) ? " string" : ""}`;
      const body = this.statements(1 + r.int(3), 2);
      return `{% ${head} %}${body}{% end${r.chance(0.4) ? " macro" : ""} %}`;
    });
    [this.loops, this.inMacro, this.room] = outer;
    this.macros.push({ name, params, variadic });
    return text;
  }

  private callShown(): string {
    const names = Array.from({ length: 5 }, () => this.r.pick(this.functions)).filter((name) => name !== "fail");
    names.sort((a, b) => this.coverage.of(`function ${a}`) - this.coverage.of(`function ${b}`));
    const name = names[0] ?? "toJSON";
    const call = this.callText(name, 2);
    if (name === "certificate_info") return `(${call} | dig("${this.r.pick(["valid", "matches", "expired"])}"))`;
    return `toJSON(${call})`;
  }

  private macroCall(): string {
    const { r } = this;
    if (this.macros.length === 0) return this.shown(this.e("string", 3));
    const m = r.pick(this.macros);
    const args = m.params.map((type) =>
      this.e(r.chance(0.15) && type !== "any" && !type.includes("[") ? type : type, 2),
    );
    if (m.variadic !== undefined) {
      if (r.chance(0.4)) args.push(`${this.e(`[]${m.variadic}`, 1)}...`);
      else for (let i = r.int(3); i > 0; i--) args.push(this.e(m.variadic, 1));
    }
    const call = `${m.name}(${args.join(", ")})`;
    switch (r.int(5)) {
      case 0:
        return this.shown(`${call} + "!"`);
      case 1: {
        const name = this.fresh("v");
        this.introduce(name, "string");
        return this.tag(`var ${name} = ${call}`);
      }
      case 2:
        return this.code ? this.shown(call) : `{{ go ${call} }}`;
      case 3:
        return m.params.length === 1 && m.params[0] === "any" && m.variadic === undefined
          ? this.shown(`map([]any{1, "a"}, ${m.name}) | join(",")`)
          : this.shown(call);
      default:
        return this.shown(call);
    }
  }

  /** Function values: calls, several results, closures over variables, recursion through a variable. */
  private recursion(): string {
    const [f, x] = [this.fresh("f"), this.fresh("x")];
    return (
      this.tag(`var ${f} func(int) int`) +
      this.tag(`${f} = func(${x} int) int { if ${x} < 2 { return 1 }; return ${x} * ${f}(${x} - 1) }`) +
      this.shown(`${f}(${this.r.int(6)})`)
    );
  }

  private closures(): string {
    const { r } = this;
    const [f, x, n] = [this.fresh("f"), this.fresh("x"), this.fresh("n")];
    switch (r.int(6)) {
      case 0: {
        const literal = this.closure(2);
        return this.tag(`var ${f} = ${literal}`) + this.shown(`toJSON(${f}(${this.e("any", 1)}))`);
      }
      case 1: {
        const body = this.scoped(() => {
          this.introduce(x, "int", true);
          return this.e("int", 2);
        });
        return (
          this.tag(`var ${f} = func(${x} int, ${n} string) (int, string) { return ${body}, ${n} + "." }`) +
          this.tag(`var ${n}, ${x} = ${f}(${this.e("int", 1)}, ${this.e("string", 1)})`) +
          this.shown(n) +
          this.shown(x)
        );
      }
      case 2:
        return (
          this.tag(`var ${n} = 0`) +
          this.tag(`var ${f} = func() int { ${n} += 2; return ${n} }`) +
          this.shown(`${f}() + ${f}()`) +
          this.shown(n)
        );
      case 3:
        return this.recursion();
      case 4:
        return (
          this.tag(
            `var ${f} = func(${x} ...int) int { var ${n} = 0; for _, y := range ${x} { ${n} += y }; return ${n} + len(${x}) }`,
          ) + this.shown(`${f}(${r.pick(["", "1", "1, 2, 3", "nums...", "[]int{4, 5}..."])})`)
        );
      default:
        return (
          this.tag(`var ${f} = []any{}`) +
          this.blocks(
            `for ${n} := 0; ${n} < 3; ${n}++`,
            [{ body: this.tag(`${f} = append(${f}, func() any { return ${n} * 10 })`) }],
            "for",
          ) +
          this.blocks(`for _, ${x} := range ${f}`, [{ body: this.shown(`${x}()`) }], "for")
        );
    }
  }

  private render(): string {
    const { r } = this;
    if (this.code) return this.shown(this.e("string", 2));
    const snippets = Object.keys(this.files).filter((name) => name !== "lib" && name !== "main");
    switch (r.int(8)) {
      case 6:
      case 2: {
        if (this.inMacro || this.loops.length > 0) return this.text();
        return this.inherited();
      }
      case 0:
        return `{{ render "missing" default ${this.e("string", 1)} }}`;
      case 1:
        return `{{ render_glob "${r.pick(["snip-*", "none-*", "dir/?", "*-[a]"])}"${r.chance(0.3) ? ' default "none"' : ""} }}`;
      default: {
        if (snippets.length === 0) return `{{ render_glob "none" }}`;
        const name = r.pick(
          snippets
            .filter((s) => !s.startsWith("ctx-"))
            .concat(snippets.some((s) => !s.startsWith("ctx-")) ? [] : ["none"]),
        );
        if (name === "none") return `{{ render "none" default "" }}`;
        return r.pick([
          `{{ render "${name}" }}`,
          `{% show render "/${name}" %}`,
          `{{ (render "${name}") + "." }}`,
          `{% var ${this.fresh("v")} = render "${name}" %}`,
        ]);
      }
    }
  }

  /** A snippet that is compiled in the scope of its call. */
  private inherited(): string {
    const name = `ctx-${this.fresh("")}`;
    const outer = [this.macros, this.loops] as const;
    this.macros = [];
    this.loops = [];
    this.files[name] = this.scoped(() => this.statements(2, 1));
    [this.macros, this.loops] = outer;
    return `{{ render "${name}" inherit_context }}`;
  }

  private inCode(depth: number): string {
    if (this.code) return `{\n${this.body(depth)}}\n`;
    this.code = true;
    const body = this.statements(1 + this.r.int(4), depth - 1);
    this.code = false;
    return `{%%\n${body}%%}`;
  }

  private jump(): string | undefined {
    const { r } = this;
    const label = this.loops.at(-1);
    if (label === undefined) {
      if (r.chance(0.3))
        return this.blocks(
          `if ${this.braced(this.e("bool", 2), "flag")}`,
          [{ body: this.text() + this.tag("return") }],
          "if",
        );
      return undefined;
    }
    const outer = this.loops.filter((l): l is string => l !== undefined && l !== "");
    const word = r.pick(["break", "continue"]);
    const to = outer.length > 0 && r.chance(0.6) ? ` ${r.pick(outer)}` : "";
    return this.blocks(`if ${this.braced(this.e("bool", 2), "flag")}`, [{ body: this.tag(word + to) }], "if");
  }

  private hosts(): string {
    const { r } = this;
    const v = this.fresh("v");
    switch (r.int(6)) {
      case 0:
        return this.shown(`len(resources.pods.List())`);
      case 1:
        return this.blocks(
          `for _, ${v} := range resources.pods.Fetch(${r.pick(['"default"', '"kube"', ""])})`,
          [{ body: this.shown(`${v}.name`) }],
          "for",
        );
      case 2:
        return this.shown(`toJSON(resources.pods.GetSingle(${r.pick(['"default", "a"', '"kube", "x"', '"none"'])}))`);
      case 3: {
        const key = r.pick(['"k1"', '"constructor"', '"k2"']);
        const body = this.scoped(() => this.e("any", 2));
        return (
          this.tag(
            `var ${v}, ${v}ok = shared.ComputeIfAbsent(${key}, func() any { ${r.chance(0.4) ? `var n = 0; for _, x := range resources.pods.List() { n += len(tostring(x.name)) }; if n > 5 { return n }; ` : ""}return ${body} })`,
          ) + this.shown(`toJSON(${v}) + ${v}ok`)
        );
      }
      case 4:
        return this.shown(`toJSON(shared.Get(${r.pick(['"k1"', '"constructor"', '"k2"'])}))`);
      default:
        return this.shown(`toJSON(resources.pods.List() | map(x => x.name) | sort_strings())`);
    }
  }

  private defaults(): string {
    const { r } = this;
    const name = r.pick(["title_", "undefinedName", "count", "Undefined"]);
    return this.shown(r.pick([`${name} default ${this.e("string", 1)}`, `Absent("x") default ${this.e("int", 1)}`]));
  }
}

/** The program of a seed. */
export function generate(seed: number, coverage: Coverage, functions: readonly string[], size = 8): Generated {
  return new ProgramGenerator(new Random(seed), coverage, functions).make(size);
}
