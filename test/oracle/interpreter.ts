/** Statements of the oracle, and its entrance. */
import type { RenderExpression, Statement, TypeNode, Expression } from "../../src/templating/syntax/tree.ts";
import { Env, Expressions, type Frame, type Program, type Variable } from "./expressions.ts";
import { globMatches } from "./functions/glob.ts";
import { arithmetic, comparison, convert, type Typed, zero } from "./operators.ts";
import {
  ANY,
  bytes,
  Composite,
  INT,
  Pointer,
  Slice,
  Stop,
  stored,
  STRING,
  show,
  Table,
  truth,
  type Type,
  type Value,
} from "./values.ts";

type Signal =
  | { readonly k: "break" | "continue"; readonly label: string | undefined }
  | { readonly k: "return"; readonly values: readonly Value[] }
  | undefined;

export class Interpreter extends Expressions {
  private readonly modules = new Map<string, ReadonlyMap<string, Variable>>();

  /** Renders a file in a scope of its own. */
  file(name: string, out: string[]): void {
    const tree = this.program.files.get(name);
    if (tree === undefined) throw new Stop("unsupported", `no file ${name}`);
    this.layout(tree, new Env(), { out, file: name, results: [] });
  }

  /** A file; one that extends another gives that its exported names and lets it run. */
  private layout(tree: readonly Statement[], env: Env, frame: Frame): void {
    const first = tree.find((n) => n.kind !== "text" || n.text.trim() !== "");
    if (first?.kind !== "extends") {
      this.list(tree, env, frame);
      return;
    }
    this.meet("extends");
    const exports = this.declarations(
      tree.filter((n) => n !== first),
      env,
      { ...frame, out: [] },
    );
    const inner = new Env();
    for (const [name, variable] of exports) inner.names.set(name, variable);
    const name = this.resolve(first.path, frame.file)!;
    this.layout(this.program.files.get(name)!, new Env(inner), { ...frame, file: name });
  }

  /** Declarations in any order; gives the exported ones. */
  private declarations(statements: readonly Statement[], scope: Env, inner: Frame): ReadonlyMap<string, Variable> {
    const flat = statements.flatMap((s) => (s.kind === "sequence" ? s.body : [s]));
    for (const s of flat) if (s.kind === "import" || s.kind === "type") this.statement(s, scope, inner);
    for (const s of flat) if (s.kind === "macro") scope.names.set(s.name, this.macro(s, scope, inner));
    for (const s of flat) if (s.kind === "var") this.statement(s, scope, inner);
    return new Map([...scope.names].filter(([own]) => /^\p{Lu}/u.test(own)));
  }

  body(statements: readonly Statement[], env: Env, frame: Frame): readonly Value[] | undefined {
    const signal = this.list(statements, env, frame);
    return signal?.k === "return" ? signal.values : undefined;
  }

  private list(statements: readonly Statement[], env: Env, frame: Frame): Signal {
    for (const statement of statements) {
      const signal = this.statement(statement, env, frame);
      if (signal !== undefined) return signal;
    }
    return undefined;
  }

  private introduce(name: string, x: Typed, env: Env): void {
    if (name !== "_") env.names.set(name, { v: stored(x.v), t: x.t });
  }

  private statement(n: Statement, env: Env, frame: Frame): Signal {
    this.meet(n.kind);
    switch (n.kind) {
      case "text":
        frame.out.push(n.text);
        return undefined;
      case "show":
        for (const x of n.values) this.show(x, env, frame);
        return undefined;
      case "expression": {
        let { x } = n;
        while (x.kind === "paren") x = x.x;
        this.call(x as Expression & { kind: "call" }, env, frame);
        return undefined;
      }
      case "var":
        this.variables(n, env, frame);
        return undefined;
      case "assign":
        this.assign(n, env, frame);
        return undefined;
      case "update": {
        const one: Typed = { v: 1n, t: { k: "untyped", of: "int" } };
        const current = this.value(n.x, env, frame);
        this.store(
          n.x,
          arithmetic(n.op, current, n.value === undefined ? one : this.value(n.value, env, frame)),
          env,
          frame,
        );
        return undefined;
      }
      case "if": {
        const scope = new Env(env);
        if (n.init !== undefined) this.statement(n.init, scope, frame);
        if (truth(this.value(n.condition, scope, frame).v)) return this.list(n.body, new Env(scope), frame);
        return n.otherwise === undefined ? undefined : this.list(n.otherwise, new Env(scope), frame);
      }
      case "for":
        return this.loop(n, env, frame);
      case "range":
        return this.range(n, env, frame);
      case "switch":
        return this.choose(n, env, frame);
      case "jump":
        return { k: n.word, label: n.label };
      case "return": {
        if (n.values.length === 1 && frame.results.length > 1)
          return { k: "return", values: this.several(n.values[0]!, frame.results.length, env, frame).map((x) => x.v) };
        const values = n.values.map((x, i) => {
          const t = frame.results[i] ?? ANY;
          return convert(this.value(x, env, frame, t), t);
        });
        return { k: "return", values };
      }
      case "block":
        return this.list(n.body, new Env(env), frame);
      case "sequence":
        return this.list(n.body, env, frame);
      case "macro":
        env.names.set(n.name, this.macro(n, env, frame));
        return undefined;
      case "import":
        this.imported(n, env, frame);
        return undefined;
      case "type":
        this.typeOf(n, env);
        return undefined;
      case "using":
        return this.using(n, env, frame);
      default:
        throw new Stop("unsupported", `statement ${(n as { kind: string }).kind}`);
    }
  }

  private typeOf(n: Statement & { kind: "type" }, env: Env): void {
    // A struct's name stands before its fields, which may point to it.
    if (n.type.kind !== "struct") {
      env.names.set(n.name, { v: null, t: ANY, type: this.type(env, n.type) });
      return;
    }
    this.meet("type struct");
    const struct: Type & { k: "struct" } = { k: "struct", fields: new Map() };
    env.names.set(n.name, { v: null, t: ANY, type: struct });
    for (const field of n.type.fields) struct.fields.set(field.name, this.type(env, field.type));
  }

  private using(n: Statement & { kind: "using" }, env: Env, frame: Frame): Signal {
    const outer = env.names.get("itea");
    if (n.params === undefined) {
      const out: string[] = [];
      // A return ends the body, not what it stands in.
      this.list(n.body, new Env(env), { ...frame, out });
      env.names.set("itea", { v: out.join(""), t: STRING });
    } else {
      const macro = {
        kind: "macro",
        name: "itea",
        params: n.params,
        result: undefined,
        body: n.body,
        at: n.at,
      } as const;
      env.names.set("itea", this.macro(macro, env, frame));
    }
    const signal = this.statement(n.statement, env, frame);
    if (outer === undefined) env.names.delete("itea");
    else env.names.set("itea", outer);
    return signal;
  }

  private variables(n: Statement & { kind: "var" }, into: Env, frame: Frame): void {
    let env = into;
    if (n.constant) this.meet("const");
    if (n.iota !== undefined) {
      this.meet("iota");
      env = new Env(env);
      env.names.set("iota", { v: BigInt(n.iota), t: { k: "untyped", of: "int" } });
    }
    const t = n.type === undefined ? undefined : this.type(env, n.type);
    if (n.values.length === 0) {
      for (const { name } of n.names) this.introduce(name, { v: zero(t!), t: t! }, into);
      return;
    }
    if (n.values.length === 1 && n.names.length > 1) {
      const all = this.several(n.values[0]!, n.names.length, env, frame);
      n.names.forEach(({ name }, i) =>
        this.introduce(name, t === undefined ? all[i]! : { v: convert(all[i]!, t), t }, into),
      );
      return;
    }
    const values = n.values.map((x) => {
      const given = this.value(x, env, frame, t);
      if (t !== undefined) return { v: convert(given, t), t };
      return n.constant ? given : this.settled(given);
    });
    n.names.forEach(({ name }, i) => this.introduce(name, values[i]!, into));
  }

  private assign(n: Statement & { kind: "assign" }, env: Env, frame: Frame): void {
    if (n.define) this.meet("define");
    const hints = n.left.map((left) => (left.kind === "name" ? env.find(left.name)?.t : undefined));
    const values =
      n.right.length === 1 && n.left.length > 1
        ? this.several(n.right[0]!, n.left.length, env, frame)
        : n.right.map((x, i) => {
            const given = this.value(x, env, frame, n.define ? undefined : hints[i]);
            return n.define ? this.settled(given) : given;
          });
    n.left.forEach((left, i) => {
      if (n.define && left.kind === "name" && !env.names.has(left.name)) this.introduce(left.name, values[i]!, env);
      else this.store(left, values[i]!, env, frame);
    });
  }

  private store(left: Expression, x: Typed, env: Env, frame: Frame): void {
    switch (left.kind) {
      case "paren":
        return this.store(left.x, x, env, frame);
      case "name": {
        if (left.name === "_") return;
        const variable = env.find(left.name);
        if (variable === undefined) throw new Stop("unsupported", `assignment to ${left.name}`);
        variable.v = stored(convert(x, variable.t));
        return;
      }
      case "index":
      case "selector": {
        this.meet(`store to ${left.kind}`);
        const object = this.target(this.value(left.x, env, frame));
        const given: Typed = left.kind === "index" ? this.value(left.index, env, frame) : { v: left.name, t: STRING };
        const { t } = object;
        const key = t.k === "map" ? convert(given, t.key) : given.v;
        const v = stored(convert(x, t.k === "map" || t.k === "slice" ? t.e : ANY));
        if (object.v instanceof Composite) {
          const at = typeof key === "string" ? key : (key as bigint);
          if (!object.v.parts.has(at)) throw new Stop("range", "index out of range");
          const part =
            t.k === "struct" ? t.fields.get(left.kind === "selector" ? left.name : "")! : t.k === "array" ? t.e : ANY;
          object.v.parts.set(at, stored(convert(x, part)));
          return;
        }
        if (object.v === null) throw new Stop("nil map", "assignment to entry in nil map");
        if (object.v instanceof Table) {
          if (object.v.frozen) throw new Stop("frozen", "watched data");
          return object.v.put(key, v);
        }
        if (!(object.v instanceof Slice)) throw new Stop("type", "cannot assign to a member");
        if (typeof key !== "bigint" || key < 0n || key >= BigInt(object.v.length))
          throw new Stop("range", "index out of range");
        if (object.v.frozen) throw new Stop("frozen", "watched data");
        object.v.store[object.v.from + Number(key)] = v;
        return;
      }
      case "unary": {
        const p = this.value(left.x, env, frame);
        if (!(p.v instanceof Pointer)) throw new Stop("type", "nil pointer");
        this.meet("store through pointer");
        p.v.set(stored(convert(x, p.t.k === "pointer" ? p.t.e : ANY)));
        return;
      }
      default:
        throw new Stop("unsupported", "assignment");
    }
  }

  private show(x: Expression, env: Env, frame: Frame): void {
    if (x.kind === "render") frame.out.push(this.rendered(x, env, frame));
    else if (x.kind === "default" && x.x.kind === "render") {
      this.meet("default");
      this.show(this.files(x.x, env, frame) === undefined ? x.otherwise : x.x, env, frame);
    } else frame.out.push(show(this.value(x, env, frame).v));
  }

  // --- loops and branches --------------------------------------------------------------------------------------------

  /** What a loop does with how its body ended: undefined = the next turn. */
  private after(signal: Signal, label: string | undefined): { readonly leave: Signal } | undefined {
    if (signal === undefined) return undefined;
    if (signal.k === "return") return { leave: signal };
    const mine = signal.label === undefined || signal.label === label;
    if (!mine) return { leave: signal };
    return signal.k === "break" ? { leave: undefined } : undefined;
  }

  private loop(n: Statement & { kind: "for" }, env: Env, frame: Frame): Signal {
    let scope = new Env(env);
    if (n.init !== undefined) this.statement(n.init, scope, frame);
    for (let first = true; ; first = false) {
      // Each turn has variables of its own.
      const turn = new Env(env);
      for (const [name, variable] of scope.names) turn.names.set(name, { ...variable });
      scope = turn;
      if (!first && n.post !== undefined) this.statement(n.post, scope, frame);
      if (n.condition !== undefined && !truth(this.value(n.condition, scope, frame).v)) return undefined;
      const end = this.after(this.list(n.body, new Env(scope), frame), n.label);
      if (end !== undefined) return end.leave;
    }
  }

  private turns(x: Typed): readonly (readonly [Typed, Typed])[] {
    const { v, t } = x;
    const [keyType, element]: readonly [Type, Type] =
      t.k === "map"
        ? [t.key, t.e]
        : t.k === "slice"
          ? [INT, t.e]
          : t.k === "any"
            ? [ANY, ANY]
            : [INT, { k: "int", name: "int32" }];
    if (v === null) return [];
    if (v instanceof Composite)
      return [...v.parts.values()].map((item, i) => [
        { v: BigInt(i), t: INT },
        { v: item, t: t.k === "array" ? t.e : ANY },
      ]);
    if (v instanceof Slice)
      return v.items.map((item, i) => [
        { v: BigInt(i), t: keyType },
        { v: item, t: element },
      ]);
    if (v instanceof Table)
      return v.keys.map((key) => [
        { v: key, t: keyType },
        { v: v.find(key)!.value, t: element },
      ]);
    if (typeof v !== "string") throw new Stop("type", "cannot range");
    let offset = 0;
    return [...v].map((c) => {
      const at = offset;
      offset += bytes(c).length;
      return [
        { v: BigInt(at), t: keyType },
        { v: /^[\udc80-\udcff]$/.test(c) ? 0xfffdn : BigInt(c.codePointAt(0)!), t: element },
      ];
    });
  }

  private range(n: Statement & { kind: "range" }, env: Env, frame: Frame): Signal {
    const turns = this.turns(this.target(this.value(n.subject, env, frame)));
    if (turns.length === 0 && n.otherwise !== undefined) return this.list(n.otherwise, new Env(env), frame);
    for (const [key, value] of turns) {
      const scope = new Env(env);
      const bind = (to: Expression | undefined, x: Typed): void => {
        if (to === undefined || (to.kind === "name" && to.name === "_")) return;
        if (n.define && to.kind === "name") this.introduce(to.name, x, scope);
        else this.store(to, x, scope, frame);
      };
      bind(n.key, key);
      bind(n.value, value);
      const end = this.after(this.list(n.body, new Env(scope), frame), n.label);
      if (end !== undefined) return end.leave;
    }
    return undefined;
  }

  private choose(n: Statement & { kind: "switch" }, env: Env, frame: Frame): Signal {
    this.meet(n.ofType ? "type switch" : n.tag === undefined ? "switch without value" : "switch with value");
    const scope = new Env(env);
    if (n.init !== undefined) this.statement(n.init, scope, frame);
    const tag = n.tag === undefined ? undefined : this.settled(this.value(n.tag, scope, frame));
    const isNil = (type: TypeNode): boolean => type.kind === "named" && type.name === "nil";
    let chosen = n.cases.findIndex((c) => {
      if (n.ofType)
        return (
          c.types?.some((type) => (isNil(type) ? tag!.v === null : this.holds(tag!.v, this.type(scope, type)))) ?? false
        );
      return (
        c.values?.some((x) => {
          const given = this.value(x, scope, frame);
          return tag === undefined ? truth(given.v) : comparison("==", tag, given).v === true;
        }) ?? false
      );
    });
    if (chosen === -1) chosen = n.cases.findIndex((c) => c.values === undefined && c.types === undefined);
    for (; chosen !== -1 && chosen < n.cases.length; chosen++) {
      const c = n.cases[chosen]!;
      this.meet("case");
      const inner = new Env(scope);
      if (n.binding !== undefined && tag !== undefined) {
        const only = c.types?.length === 1 && !isNil(c.types[0]!) ? this.type(scope, c.types[0]!) : ANY;
        this.introduce(
          n.binding,
          { v: only.k === "any" ? tag.v : convert({ v: tag.v, t: ANY }, only), t: only },
          inner,
        );
      }
      const signal = this.list(c.body, inner, frame);
      if (signal !== undefined) {
        const mine = signal.k === "break" && (signal.label === undefined || signal.label === n.label);
        return mine ? undefined : signal;
      }
      if (!c.fallthrough) return undefined;
      this.meet("fallthrough");
    }
    return undefined;
  }

  // --- macros, files -------------------------------------------------------------------------------------------------

  private macro(n: Statement & { kind: "macro" }, env: Env, frame: Frame): Variable {
    const types = n.params.map((p) => (p.type === undefined ? ANY : this.type(env, p.type)));
    const variadic = n.params.at(-1)?.variadic ?? false;
    const macro = (args: readonly Typed[]): string => {
      const scope = new Env(env);
      n.params.forEach((p, i) => {
        const t = types[i]!;
        if (variadic && i === n.params.length - 1)
          scope.names.set(p.name, { v: new Slice(args.slice(i).map((a) => convert(a, t))), t: { k: "slice", e: t } });
        else scope.names.set(p.name, { v: stored(convert(args[i] ?? { v: null, t: ANY }, t)), t });
      });
      const out: string[] = [];
      this.list(n.body, scope, { out, file: frame.file, results: [] });
      return out.join("");
    };
    return { v: null, t: { k: "func", params: types, variadic, results: [STRING] }, macro };
  }

  private imported(n: Statement & { kind: "import" }, env: Env, frame: Frame): void {
    const name = this.resolve(n.path, frame.file);
    if (name === undefined) throw new Stop("unsupported", "import of a missing file");
    let exports = this.modules.get(name);
    if (exports === undefined) {
      const scope = new Env();
      const inner: Frame = { out: [], file: name, results: [] };
      exports = this.declarations(this.program.files.get(name)!, scope, inner);
      this.modules.set(name, exports);
    }
    if (n.alias !== undefined && n.alias !== ".") env.names.set(n.alias, { v: null, t: ANY, module: exports });
    else
      for (const own of n.names.length > 0 ? n.names.map((x) => x.name) : exports.keys())
        if (exports.has(own)) env.names.set(own, exports.get(own)!);
  }

  globNames(pattern: string): string[] {
    return this.program.snippets.filter((name) => globMatches(pattern, name));
  }

  resolve(path: string, from: string): string | undefined {
    const { files } = this.program;
    if (path.startsWith("/")) return files.has(path.slice(1)) ? path.slice(1) : undefined;
    const directory = from.slice(0, from.lastIndexOf("/") + 1);
    if (files.has(directory + path)) return directory + path;
    return files.has(path) ? path : undefined;
  }

  renderText(x: RenderExpression, env: Env, frame: Frame): string {
    return this.rendered(x, env, frame);
  }

  private rendered(x: RenderExpression, env: Env, frame: Frame): string {
    this.meet(x.glob ? "render_glob" : "render");
    if (x.inheritContext) this.meet("inherit_context");
    const names = this.files(x, env, frame) ?? [];
    if (!x.glob && names.length === 0) throw new Stop("type", "no such snippet");
    return this.renderedFiles(names, x.inheritContext, env);
  }

  private renderedFiles(names: readonly string[], inherit: boolean, env: Env): string {
    const out: string[] = [];
    for (const name of names) {
      if (inherit) this.list(this.program.files.get(name)!, new Env(env), { out, file: name, results: [] });
      else this.file(name, out);
    }
    return out.join("");
  }
}

export interface Result {
  readonly output?: string;
  readonly stop?: Stop;
  readonly met: ReadonlyMap<string, number>;
}

/** Runs a program of parsed files from `main`. */
export function interpret(program: Program, main = "main"): Result {
  const run = new Interpreter(program);
  const out: string[] = [];
  try {
    run.file(main, out);
    return { output: out.join(""), met: run.met };
  } catch (error) {
    if (error instanceof Stop) return { stop: error, met: run.met };
    if (error instanceof RangeError) return { stop: new Stop("unsupported", String(error)), met: run.met };
    throw error;
  }
}
