/** Expressions of the oracle: walks the parser's tree, one node at a time. */
import type { Expression, Param, RenderExpression, Statement, TypeNode } from "../../src/templating/syntax/tree.ts";
import { functionTable, type Native } from "./functions/index.ts";
import {
  arithmetic,
  comparison,
  contains,
  conversion,
  convert,
  defaultType,
  isString,
  unary,
  zero,
  type Typed,
} from "./operators.ts";
import {
  ANY,
  append,
  BOOL,
  bounded,
  bytes,
  Composite,
  ERROR,
  Failure,
  fromBytes,
  FLOAT,
  Func,
  Host,
  INT,
  Pointer,
  settle,
  Slice,
  Stop,
  stored,
  STRING,
  Table,
  text,
  truth,
  VOID,
  type Type,
  type Value,
} from "./values.ts";

export interface Variable {
  /** The variable is the name of a type. */
  readonly type?: Type;
  v: Value;
  readonly t: Type;
  readonly macro?: (args: readonly Typed[], spread: boolean) => string;
  readonly module?: ReadonlyMap<string, Variable>;
}

export class Env {
  readonly names = new Map<string, Variable>();
  readonly parent: Env | undefined;

  constructor(parent?: Env) {
    this.parent = parent;
  }

  find(name: string): Variable | undefined {
    return this.names.get(name) ?? this.parent?.find(name);
  }
}

/** Where a body of statements stands: its text, and the file whose directory paths are relative to. */
export interface Frame {
  out: string[];
  readonly file: string;
  readonly results: readonly Type[];
}

export interface Program {
  readonly files: ReadonlyMap<string, readonly Statement[]>;
  /** Names that render_glob sees, in byte order. */
  readonly snippets: readonly string[];
  readonly globals: ReadonlyMap<string, Typed>;
}

const BASIC: Readonly<Record<string, Type>> = {
  string: STRING,
  html: STRING,
  css: STRING,
  js: STRING,
  json: STRING,
  markdown: STRING,
  bool: BOOL,
  any: ANY,
  error: ERROR,
  float64: FLOAT,
  float32: FLOAT,
  rune: { k: "int", name: "int32" },
  byte: { k: "int", name: "uint8" },
};
for (const name of ["int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64"])
  Object.assign(BASIC, { [name]: { k: "int", name } });

export abstract class Expressions {
  readonly program: Program;
  /** How often each kind of node and each function was evaluated. */
  readonly met = new Map<string, number>();
  readonly seen = new Set<string>();
  steps = 0;

  constructor(program: Program) {
    this.program = program;
  }

  abstract body(statements: readonly Statement[], env: Env, frame: Frame): readonly Value[] | undefined;
  abstract renderText(x: RenderExpression, env: Env, frame: Frame): string;

  meet(what: string): void {
    this.met.set(what, (this.met.get(what) ?? 0) + 1);
    if (++this.steps > 200_000) throw new Stop("unsupported", "the oracle is too slow for this program");
  }

  type(env: Env, node: TypeNode): Type {
    this.meet(`type ${node.kind}`);
    switch (node.kind) {
      case "named":
        return env.find(node.name)?.type ?? (Object.hasOwn(BASIC, node.name) ? BASIC[node.name]! : ANY);
      case "slice":
        return { k: "slice", e: this.type(env, node.element) };
      case "map":
        return { k: "map", key: this.type(env, node.key), e: this.type(env, node.element) };
      case "pointer": {
        const e = this.type(env, node.element);
        return e.k === "any" ? e : { k: "pointer", e };
      }
      case "array":
        return { k: "array", n: this.arrayLength(node.length, env), e: this.type(env, node.element) };
      case "struct":
        return { k: "struct", fields: new Map(node.fields.map((f) => [f.name, this.type(env, f.type)])) };
      case "func":
        return {
          k: "func",
          params: node.params.map((p) => (p.type === undefined ? ANY : this.type(env, p.type))),
          variadic: node.params.at(-1)?.variadic ?? false,
          results: node.results.map((r) => this.type(env, r)),
        };
      default:
        throw new Stop("unsupported", `type ${(node as { kind: string }).kind}`);
    }
  }

  /** -1 = as long as the literal. */
  private arrayLength(x: Expression | undefined, env: Env): number {
    return x === undefined ? -1 : Number(this.value(x, env, { out: [], file: "", results: [] }).v);
  }

  value(x: Expression, env: Env, frame: Frame, hint?: Type): Typed {
    const kind = x.kind;
    this.meet(kind === "call" && x.piped ? "piped call" : kind);
    switch (kind) {
      case "string":
        return { v: x.text, t: { k: "untyped", of: "string" } };
      case "int": {
        const digits = x.text.replaceAll("_", "");
        return {
          v: BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits),
          t: { k: "untyped", of: "int" },
        };
      }
      case "float":
        return { v: Number(x.text.replaceAll("_", "")), t: { k: "untyped", of: "float" } };
      case "rune":
        return { v: BigInt(x.text.codePointAt(0)!), t: { k: "untyped", of: "rune" } };
      case "paren":
        return this.value(x.x, env, frame, hint);
      case "name":
        return this.name(x.name, env);
      case "unary":
        if (x.op === "&") return this.address(x.x, env, frame, hint);
        if (x.op === "*") return this.target(this.value(x.x, env, frame));
        return unary(x.op, this.value(x.x, env, frame));
      case "binary":
        return this.binary(x, env, frame);
      case "call":
        return this.call(x, env, frame);
      case "selector": {
        const module = x.x.kind === "name" ? env.find(x.x.name)?.module : undefined;
        if (module !== undefined) return this.macroValue(module.get(x.name)!);
        return this.select(this.value(x.x, env, frame), x.name);
      }
      case "index":
        return this.index(this.value(x.x, env, frame), this.value(x.index, env, frame));
      case "slice":
        return this.slice(x, env, frame);
      case "assert": {
        const held = this.value(x.x, env, frame);
        const t = this.type(env, x.type!);
        if (!this.holds(held.v, t)) throw new Stop("assertion", "interface conversion");
        return { v: t.k === "any" ? held.v : convert({ v: held.v, t: ANY }, t), t };
      }
      case "composite":
        return this.composite(x, env, frame, hint);
      case "func":
        return this.literal(x.params, x.results, x.body, env, frame);
      case "lambda": {
        const body = x.body;
        const at = x.at;
        const param = { name: x.param, type: undefined, variadic: false, at };
        return this.literal(
          [param],
          [{ kind: "named", name: "any", at }],
          [{ kind: "return", values: [body], at }],
          env,
          frame,
        );
      }
      case "render":
        return { v: this.renderText(x, env, frame), t: STRING };
      case "default":
        return this.withDefault(x, env, frame, hint);
      default:
        throw new Stop("unsupported", `expression ${kind}`);
    }
  }

  name(name: string, env: Env): Typed {
    const own = env.find(name);
    if (own?.macro !== undefined) return this.macroValue(own);
    if (own !== undefined) return { v: own.v, t: own.t };
    if (name === "true" || name === "false") return { v: name === "true", t: { k: "untyped", of: "bool" } };
    if (name === "nil") return { v: null, t: { k: "nil" } };
    const global = this.program.globals.get(name);
    if (global !== undefined) return global;
    const native = functionTable.get(name);
    if (native === undefined) throw new Stop("unsupported", `name ${name}`);
    return {
      v: new Func((args) => [
        this.native(
          name,
          native,
          args.map((v) => ({ v, t: ANY })),
        ).v,
      ]),
      t: { k: "func", params: native.params, variadic: native.variadic, results: native.results },
    };
  }

  /** A macro as a function value. */
  private macroValue({ macro, t }: Variable): Typed {
    return {
      v: new Func((args) => [
        macro!(
          args.map((v) => ({ v, t: ANY })),
          false,
        ),
      ]),
      t,
    };
  }

  private binary(x: Expression & { kind: "binary" }, env: Env, frame: Frame): Typed {
    this.meet(`operator ${x.op}`);
    const left = this.value(x.left, env, frame);
    if (x.op === "and" || x.op === "&&")
      return { v: truth(left.v) && truth(this.value(x.right, env, frame).v), t: BOOL };
    if (x.op === "or" || x.op === "||")
      return { v: truth(left.v) || truth(this.value(x.right, env, frame).v), t: BOOL };
    const right = this.value(x.right, env, frame);
    if (["==", "!=", "<", "<=", ">", ">="].includes(x.op)) return comparison(x.op, left, right);
    if (x.op === "contains") return { v: contains(left.v, right.v), t: BOOL };
    return arithmetic(x.op, left, right);
  }

  /** What a pointer points to; anything else is itself. */
  target(p: Typed): Typed {
    if (p.t.k !== "pointer" && !(p.v instanceof Pointer)) return p;
    if (!(p.v instanceof Pointer)) throw new Stop("type", "nil pointer");
    return { v: p.v.get(), t: p.t.k === "pointer" ? p.t.e : ANY };
  }

  private address(given: Expression, env: Env, frame: Frame, hint: Type | undefined): Typed {
    let x = given;
    while (x.kind === "paren") x = x.x;
    if (x.kind === "composite") {
      const made = this.value(x, env, frame, hint?.k === "pointer" ? hint.e : hint);
      if (!(made.v instanceof Composite)) return made;
      let held: Value = made.v;
      const set = (v: Value): void => {
        held = v;
      };
      return { v: new Pointer(() => held, set), t: { k: "pointer", e: made.t } };
    }
    if (x.kind === "name") {
      const variable = env.find(x.name)!;
      const set = (v: Value): void => {
        variable.v = v;
      };
      if (variable.t.k === "map" || variable.t.k === "any") return variable;
      return { v: new Pointer(() => variable.v, set), t: { k: "pointer", e: variable.t } };
    }
    if (x.kind !== "index" && x.kind !== "selector") throw new Stop("unsupported", "address");
    const base = this.target(this.value(x.x, env, frame));
    const key = x.kind === "index" ? (this.value(x.index, env, frame).v as bigint) : x.name;
    const part = x.kind === "index" ? this.index(base, { v: key, t: INT }) : this.select(base, x.name);
    const get = (): Value =>
      base.v instanceof Composite
        ? base.v.parts.get(key)!
        : (base.v as Slice).store[(base.v as Slice).from + Number(key)]!;
    const set = (v: Value): void => {
      if (base.v instanceof Composite) base.v.parts.set(key, v);
      else (base.v as Slice).store[(base.v as Slice).from + Number(key)] = v;
    };
    return { v: new Pointer(get, set), t: { k: "pointer", e: part.t } };
  }

  select(given: Typed, name: string): Typed {
    const object = given.t.k === "pointer" || given.v instanceof Pointer ? this.target(given) : given;
    if (object.v instanceof Composite)
      return { v: object.v.parts.get(name) ?? null, t: object.t.k === "struct" ? object.t.fields.get(name)! : ANY };
    const t = object.t.k === "map" ? object.t.e : ANY;
    if (object.v === null) return { v: zero(t), t };
    if (object.v instanceof Table) return { v: object.v.find(name)?.value ?? zero(t), t };
    if (object.v instanceof Host && object.v.members.has(name))
      return { v: object.v.members.get(name)!, t: { k: "host" } };
    throw new Stop("type", `no member ${name}`);
  }

  index(given: Typed, key: Typed): Typed {
    const { v, t } = given.t.k === "pointer" || given.v instanceof Pointer ? this.target(given) : given;
    const i = settle(key.v);
    if (v instanceof Composite && typeof i === "string") return this.select({ v, t }, i);
    if (v instanceof Composite) {
      if (typeof i !== "bigint" || !v.parts.has(i)) throw new Stop("range", "index out of range");
      return { v: v.parts.get(i)!, t: t.k === "array" ? t.e : ANY };
    }
    if (t.k === "map") {
      const at = convert(key, t.key);
      return { v: v === null ? zero(t.e) : ((v as Table).find(at)?.value ?? zero(t.e)), t: t.e };
    }
    if (v instanceof Table) return { v: v.find(i)?.value ?? null, t: ANY };
    if (v === null && t.k !== "slice") return { v: null, t: ANY };
    if (typeof v !== "string" && !(v instanceof Slice) && v !== null) throw new Stop("type", "cannot be indexed");
    if (typeof i !== "bigint") throw new Stop("range", "index is not an integer");
    const element: Type = t.k === "slice" ? t.e : isString(t) ? { k: "int", name: "uint8" } : ANY;
    if (typeof v === "string") {
      const all = bytes(v);
      if (i < 0n || i >= BigInt(all.length)) throw new Stop("range", "index out of range");
      return { v: BigInt(all[Number(i)]!), t: element };
    }
    if (v !== null && !(v instanceof Slice)) throw new Stop("type", "cannot be indexed");
    if (v === null || i < 0n || i >= BigInt(v.length)) throw new Stop("range", "index out of range");
    return { v: v.store[v.from + Number(i)]!, t: element };
  }

  private slice(x: Expression & { kind: "slice" }, env: Env, frame: Frame): Typed {
    const whole = this.target(this.value(x.x, env, frame));
    const object: Typed =
      whole.v instanceof Composite && whole.t.k === "array"
        ? { v: this.overArray(whole.v), t: { k: "slice", e: whole.t.e } }
        : whole;
    const bound = (part: Expression | undefined, otherwise: number): number =>
      part === undefined ? otherwise : Number(convert(this.value(part, env, frame), INT));
    const size =
      typeof object.v === "string" ? bytes(object.v).length : object.v instanceof Slice ? object.v.length : 0;
    const [low, high] = [bound(x.low, 0), bound(x.high, size)];
    if (object.v !== null && typeof object.v !== "string" && !(object.v instanceof Slice))
      throw new Stop("type", "cannot be sliced");
    if (low < 0 || low > high || high > size) throw new Stop("range", "slice bounds out of range");
    if (typeof object.v === "string")
      return { v: fromBytes(bytes(object.v).subarray(low, high)), t: isString(object.t) ? STRING : ANY };
    if (object.v === null) return object;
    const max = bound(x.max, object.v.room);
    if (x.max !== undefined && (max < high || max > object.v.room))
      throw new Stop("range", "slice bounds out of range");
    const part = new Slice(object.v.store, object.v.from + low, high - low, max - low);
    part.frozen = object.v.frozen;
    return { v: part, t: object.t };
  }

  /** A slice of the whole array: writes through either are seen by both. */
  private overArray(array: Composite): Slice {
    const store = new Proxy<Value[]>([], {
      get: (target, key) =>
        typeof key === "string" && /^\d+$/.test(key) ? array.parts.get(BigInt(key)) : Reflect.get(target, key),
      set: (_target, key, v: Value) => {
        array.parts.set(BigInt(String(key)), v);
        return true;
      },
    });
    return new Slice(store, 0, array.parts.size, array.parts.size);
  }

  /** Whether an `any` holds a value of the type. */
  holds(v: Value, t: Type): boolean {
    if (v === null) return false;
    switch (t.k) {
      case "any":
        return true;
      case "string":
        return typeof v === "string";
      case "bool":
        return typeof v === "boolean";
      case "int":
        return typeof v === "bigint";
      case "float":
        return typeof v === "number";
      case "slice":
        return v instanceof Slice;
      case "map":
        return v instanceof Table;
      case "func":
        return v instanceof Func;
      case "array":
        return (
          v instanceof Composite && v.parts.size === t.n && [...v.parts.keys()].every((key) => typeof key === "bigint")
        );
      case "error":
        return v instanceof Failure;
      default:
        return false;
    }
  }

  private composite(x: Expression & { kind: "composite" }, env: Env, frame: Frame, hint: Type | undefined): Typed {
    const t = x.type === undefined ? (hint ?? ANY) : this.type(env, x.type);
    if (t.k === "struct" || (t.k === "pointer" && t.e.k === "struct")) {
      const type = t.k === "struct" ? t : (t.e as Type & { k: "struct" });
      const made = zero(type) as Composite;
      x.elements.forEach((e, i) => {
        const name = e.key?.kind === "name" ? e.key.name : [...type.fields.keys()][i]!;
        const field = type.fields.get(name)!;
        made.parts.set(name, stored(convert(this.value(e.value, env, frame, field), field)));
      });
      return {
        v:
          t.k === "struct"
            ? made
            : new Pointer(
                () => made,
                () => undefined,
              ),
        t,
      };
    }
    if (t.k === "array" || (t.k === "slice" && x.elements.some((e) => e.key !== undefined))) {
      let [at, n] = [0n, t.k === "array" ? t.n : -1];
      const parts = new Map<bigint, Value>();
      for (const e of x.elements) {
        if (e.key !== undefined) at = this.value(e.key, env, frame).v as bigint;
        parts.set(at++, stored(convert(this.value(e.value, env, frame, t.e), t.e)));
        n = t.k === "array" && t.n >= 0 ? t.n : Math.max(n, Number(at));
      }
      n = Math.max(n, 0);
      const all = Array.from({ length: n }, (_, i) => parts.get(BigInt(i)) ?? zero(t.e));
      if (t.k === "slice") return { v: new Slice(all), t };
      return { v: new Composite(all.map((v, i) => [BigInt(i), v])), t: { k: "array", n, e: t.e } };
    }
    if (t.k === "slice")
      return { v: new Slice(x.elements.map((e) => stored(convert(this.value(e.value, env, frame, t.e), t.e)))), t };
    if (t.k !== "map") throw new Stop("unsupported", "composite literal");
    const pairs = x.elements.map(
      (e) =>
        [
          convert(this.value(e.key!, env, frame, t.key), t.key),
          stored(convert(this.value(e.value, env, frame, t.e), t.e)),
        ] as const,
    );
    return { v: Table.of(pairs), t };
  }

  private literal(
    params: readonly Param[],
    results: readonly TypeNode[],
    body: readonly Statement[],
    env: Env,
    frame: Frame,
  ): Typed {
    const t: Type & { k: "func" } = {
      k: "func",
      params: params.map((p) => (p.type === undefined ? ANY : this.type(env, p.type))),
      variadic: params.at(-1)?.variadic ?? false,
      results: results.map((r) => this.type(env, r)),
    };
    const run = (args: readonly Value[]): readonly Value[] => {
      const inner = new Env(env);
      params.forEach((p, i) => {
        const last = t.variadic && i === params.length - 1;
        inner.names.set(p.name, {
          v: last ? new Slice(args.slice(i)) : stored(args[i] ?? null),
          t: last ? { k: "slice", e: t.params[i]! } : t.params[i]!,
        });
      });
      return this.body(body, inner, { out: [], file: frame.file, results: t.results }) ?? [];
    };
    return { v: new Func(run), t };
  }

  private withDefault(x: Expression & { kind: "default" }, env: Env, frame: Frame, hint: Type | undefined): Typed {
    const { x: left } = x;
    if (left.kind === "render") {
      const there = this.files(left, env, frame) !== undefined;
      return this.value(there ? left : x.otherwise, env, frame, hint);
    }
    const name = left.kind === "name" ? left.name : left.kind === "call" && left.fn.kind === "name" ? left.fn.name : "";
    const there = env.find(name) !== undefined || this.program.globals.has(name) || functionTable.has(name);
    return this.value(there ? left : x.otherwise, env, frame, hint);
  }

  abstract globNames(pattern: string): string[];
  abstract resolve(path: string, from: string): string | undefined;

  /** The files that a render stands for; undefined when there are none. */
  files(x: RenderExpression, env: Env, frame: Frame): string[] | undefined {
    if (x.dynamic !== undefined) this.meet("dynamic render");
    const path = x.path ?? (convert(this.value(x.dynamic!, env, frame), STRING) as string);
    const names = x.glob ? this.globNames(path) : [this.resolve(path, frame.file)].filter((name) => name !== undefined);
    return names.length === 0 ? undefined : names;
  }

  // --- calls ---------------------------------------------------------------------------------------------------------

  /** Values of arguments, with a spread slice taken apart. */
  private arguments(x: Expression & { kind: "call" }, env: Env, frame: Frame, params: readonly Type[]): Typed[] {
    return x.args.flatMap((arg, i): Typed[] => {
      const to = params[Math.min(i, params.length - 1)];
      const given = this.value(arg, env, frame, to);
      if (!x.spread || i < x.args.length - 1) return [given];
      const t = given.t.k === "slice" ? given.t.e : ANY;
      const list = convert(given, { k: "slice", e: ANY });
      return list instanceof Slice ? list.items.map((v) => ({ v, t })) : [];
    });
  }

  call(x: Expression & { kind: "call" }, env: Env, frame: Frame): Typed {
    const { fn } = x;
    if (fn.kind === "type") return conversion(this.type(env, fn.type), this.value(x.args[0]!, env, frame));
    if (fn.kind === "name") {
      const own = env.find(fn.name);
      if (own?.type !== undefined) return conversion(own.type, this.value(x.args[0]!, env, frame));
      if (own?.macro !== undefined) {
        this.meet("macro call");
        return { v: own.macro(this.arguments(x, env, frame, []), x.spread), t: STRING };
      }
      if (own === undefined) {
        const builtin = this.builtin(fn.name, x, env, frame);
        if (builtin !== undefined) return builtin;
        const native = functionTable.get(fn.name);
        if (native !== undefined && !this.program.globals.has(fn.name))
          return this.native(fn.name, native, this.arguments(x, env, frame, native.params));
        const basic = Object.hasOwn(BASIC, fn.name) ? BASIC[fn.name] : undefined;
        if (basic !== undefined) return conversion(basic, this.value(x.args[0]!, env, frame));
      }
    }
    if (fn.kind === "selector") {
      const module = fn.x.kind === "name" ? env.find(fn.x.name)?.module : undefined;
      if (module !== undefined) {
        this.meet("macro call");
        return { v: module.get(fn.name)!.macro!(this.arguments(x, env, frame, []), x.spread), t: STRING };
      }
      const object = this.value(fn.x, env, frame);
      if (object.v instanceof Host) {
        this.meet("method call");
        const method = object.v.methods.get(fn.name)!;
        const results = method.run(this.arguments(x, env, frame, []).map((a) => a.v));
        const all = method.results.map((t, i) => ({ v: results[i] ?? null, t }));
        return { ...all[0]!, all };
      }
    }
    this.meet("value call");
    const held = this.value(fn, env, frame);
    const params = held.t.k === "func" ? held.t.params : [];
    const given = this.arguments(x, env, frame, params);
    if (!(held.v instanceof Func)) throw new Stop("type", "not a function");
    const results = held.v.run(
      given.map((a, i) => (params.length === 0 ? a.v : convert(a, params[Math.min(i, params.length - 1)]!))),
    );
    if (held.t.k !== "func") {
      const all = results.map((v) => ({ v, t: ANY }));
      return { v: results[0] ?? null, t: ANY, all };
    }
    const all = held.t.results.map((t, i) => ({ v: results[i] ?? null, t }));
    return { v: all[0]?.v ?? null, t: all[0]?.t ?? VOID, all };
  }

  native(name: string, native: Native, args: readonly Typed[]): Typed {
    this.meet(`function ${name}`);
    const last = native.params.length - 1;
    if (args.length < (native.variadic ? last : last + 1) || (!native.variadic && args.length > last + 1))
      throw new Stop("type", `wrong number of arguments of ${name}`);
    // Functions see whole floats as ints.
    const given = args.map((a, i) => {
      const to = native.params[Math.min(i, last)]!;
      return to.k === "any" ? settle(a.v) : convert(a, to);
    });
    const t = native.typed?.(args.map((a) => a.t)) ?? native.results[0]!;
    const result = native.run({ seen: this.seen }, ...given);
    bounded(typeof result === "string" || result instanceof Slice ? result.length : 0);
    return { v: result, t };
  }

  /** A type where an argument stands. */
  private typeGiven(x: Expression, env: Env): Type {
    if (x.kind === "name") return this.type(env, { kind: "named", name: x.name, at: x.at });
    if (x.kind !== "type") throw new Stop("unsupported", "type");
    return this.type(env, x.type);
  }

  private builtin(name: string, x: Expression & { kind: "call" }, env: Env, frame: Frame): Typed | undefined {
    const arg = (i: number, hint?: Type): Typed => this.value(x.args[i]!, env, frame, hint);
    switch (name) {
      case "len": {
        this.meet("function len");
        const { v } = this.target(arg(0));
        if (v instanceof Composite) return { v: BigInt(v.parts.size), t: INT };
        if (typeof v === "string") return { v: BigInt(bytes(v).length), t: INT };
        if (v instanceof Slice) return { v: BigInt(v.length), t: INT };
        if (v instanceof Table) return { v: BigInt(v.entries.size), t: INT };
        if (v === null) return { v: 0n, t: INT };
        throw new Stop("type", "no length");
      }
      case "append": {
        this.meet("function append");
        const list = arg(0);
        const t: Type = list.t.k === "slice" ? list.t : { k: "slice", e: ANY };
        const element = (t as { e: Type }).e;
        const more = this.arguments({ ...x, args: x.args.slice(1) }, env, frame, [element]);
        return {
          v: append(
            list.v,
            more.map((m) => stored(convert(m, element))),
          ),
          t,
        };
      }
      case "delete": {
        this.meet("function delete");
        const map = arg(0);
        const key = map.t.k === "map" ? convert(arg(1), map.t.key) : arg(1).v;
        if (map.v instanceof Table) {
          if (map.v.frozen) throw new Stop("frozen", "watched data");
          map.v.entries.delete(Table.id(key));
        } else if (map.v !== null) throw new Stop("type", "cannot delete");
        return { v: null, t: VOID };
      }
      case "make": {
        this.meet("function make");
        const of = x.args[0]!;
        const t = this.typeGiven(of, env);
        if (t.k === "map") return { v: new Table(), t };
        const length = x.args.length > 1 ? Number(convert(arg(1), INT)) : 0;
        if (length < 0) throw new Stop("range", "make: negative");
        return { v: new Slice(Array.from({ length }, () => zero((t as { e: Type }).e))), t };
      }
      case "cap": {
        this.meet("function cap");
        const { v } = this.target(arg(0));
        if (v instanceof Composite) return { v: BigInt(v.parts.size), t: INT };
        return { v: v instanceof Slice ? BigInt(v.room) : 0n, t: INT };
      }
      case "copy": {
        this.meet("function copy");
        const [to, from] = [arg(0).v, arg(1).v];
        const items = from instanceof Slice ? from.items : [];
        if (!(to instanceof Slice)) return { v: 0n, t: INT };
        const n = Math.min(to.length, items.length);
        for (let i = 0; i < n; i++) to.store[to.from + i] = items[i]!;
        return { v: BigInt(n), t: INT };
      }
      case "new": {
        this.meet("function new");
        const t = this.typeGiven(x.args[0]!, env);
        let held = zero(t);
        const set = (v: Value): void => {
          held = v;
        };
        return { v: new Pointer(() => held, set), t: { k: "pointer", e: t } };
      }
      case "panic":
        this.meet("function panic");
        throw new Stop("panic", text(arg(0).v));
      default:
        return undefined;
    }
  }

  /** An expression that gives several values: comma-ok forms and calls. */
  several(x: Expression, count: number, env: Env, frame: Frame): readonly Typed[] {
    let inner = x;
    while (inner.kind === "paren") inner = inner.x;
    if (inner.kind === "index" || inner.kind === "selector") {
      this.meet(`${inner.kind} comma ok`);
      const object = this.value(inner.x, env, frame);
      const given: Typed = inner.kind === "index" ? this.value(inner.index, env, frame) : { v: inner.name, t: STRING };
      const t = object.t.k === "map" ? object.t.e : ANY;
      const key = object.t.k === "map" ? convert(given, object.t.key) : given.v;
      if (object.v instanceof Table) {
        const entry = object.v.find(key);
        return [
          { v: entry?.value ?? zero(t), t },
          { v: entry !== undefined, t: BOOL },
        ];
      }
      if (object.v instanceof Slice) {
        const i = settle(key);
        const there = typeof i === "bigint" && i >= 0n && i < BigInt(object.v.length);
        return [
          { v: there ? object.v.items[Number(i)]! : zero(t), t },
          { v: there, t: BOOL },
        ];
      }
      if (object.v !== null) throw new Stop("type", "cannot be looked up");
      return [
        { v: zero(t), t },
        { v: false, t: BOOL },
      ];
    }
    if (inner.kind === "assert") {
      this.meet("assert comma ok");
      const held = this.value(inner.x, env, frame);
      const t = this.type(env, inner.type!);
      const ok = this.holds(held.v, t);
      return [
        { v: ok ? (t.k === "any" ? held.v : convert({ v: held.v, t: ANY }, t)) : zero(t), t },
        { v: ok, t: BOOL },
      ];
    }
    if (inner.kind === "call" && inner.fn.kind === "name" && env.find(inner.fn.name) === undefined) {
      const { name } = inner.fn;
      const native = functionTable.get(name);
      if (native !== undefined && native.results.length === 2) {
        this.meet("call with error");
        const given = this.arguments(inner, env, frame, native.params);
        try {
          const { v, t } = this.native(name, native, given);
          return [
            { v, t },
            { v: null, t: ERROR },
          ];
        } catch (error) {
          if (!(error instanceof Stop) || error.kind !== "native") throw error;
          return [
            { v: zero(native.results[0]!), t: native.results[0]! },
            { v: new Failure(error.message), t: ERROR },
          ];
        }
      }
    }
    if (inner.kind === "call") {
      const { all } = this.call(inner, env, frame);
      if (all !== undefined && all.length === count) return all;
    }
    throw new Stop("type", "wrong number of values");
  }

  settled(x: Typed): Typed {
    const t = defaultType(x.t);
    return { v: convert(x, t), t };
  }
}
