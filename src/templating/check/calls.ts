/** Checks calls: builtins, conversions, macros, natives, methods of host objects, function values. */
import { commas, literal, type Code } from "../emit/code.ts";
import { hostileNames } from "../runtime/guards.ts";
import { byteLength } from "../runtime/text.ts";
import { namedType } from "../syntax/expressions.ts";
import type { Expression } from "../syntax/tree.ts";
import { Rendering } from "./rendering.ts";
import { CheckFault } from "./unit.ts";
import type { InPlace } from "./in-place.ts";
import { withTexts } from "./in-place.ts";
import { Scope, type MacroInfo, type Value } from "./scope.ts";
import {
  ANY,
  ANY_SLICE,
  basicType,
  FLOAT,
  INT,
  isFloat,
  isNil,
  isString,
  STRING,
  typeName,
  VOID,
  type FunctionType,
  type ObjectField,
  type ObjectType,
  type Type,
} from "./types.ts";

type Call = Expression & { kind: "call" };

/** Evaluating it has no effect and cannot fail. */
function evident(x: Expression): boolean {
  if (x.kind === "paren") return evident(x.x);
  if (x.kind === "composite")
    return x.elements.every(({ key, value }) => (key === undefined || evident(key)) && evident(value));
  return x.kind === "string" || x.kind === "int" || x.kind === "float" || x.kind === "rune" || x.kind === "name";
}

const IS_LIST = "R_isArray($r = ";
/** Functions that give most arguments as they are, and how that is told. */
const IN_PLACE: ReadonlyMap<string, string> = new Map([
  ["dig", ""],
  ["toSlice", IS_LIST],
  ["tostring", "typeof ($r = "],
  ["toint", "typeof ($r = "],
]);
/** What follows the argument in that test. */
const TESTS: Readonly<Record<string, string>> = {
  toSlice: ")",
  tostring: ') === "string"',
  // Of numbers, those of 32 bits: they are whole, and no negative zero is among them that would show.
  toint: ') === "number" && ($r | 0) === $r',
};

/** A key that emitted code may read in place. */
const plainKey = (key: string): boolean => !hostileNames.has(key) && !/^\d/.test(key);

export abstract class Calls extends Rendering {
  /** Static types of the arguments that `args` converted last. */
  private argumentTypes: readonly Type[] = [];

  /** The text that `{{ x }}` writes. */
  protected abstract shownText(x: Expression): Code;

  /** `wanted` = how many values the place takes; 0 = a statement. */
  protected call(x: Call, wanted: number): Value {
    let { fn } = x;
    while (fn.kind === "paren" && fn.x.kind !== "func") fn = fn.x;
    if (fn.kind === "type") return this.convertCall(this.type(fn.type), x);
    if (fn.kind === "name") {
      const symbol = this.scope.lookup(fn.name);
      if (symbol?.macro !== undefined) return this.macroCall(fn.name, symbol.macro, x);
      if (symbol?.kind === "type") return this.convertCall(symbol.type, x);
      if (symbol === undefined) {
        const builtin = this.builtin(fn.name, x, wanted);
        if (builtin !== undefined) return builtin;
        const global = this.host.declarations.globals[this.kind].get(fn.name);
        if (global?.kind === "func") {
          if (wanted === 0 && this.host.declarations.pure.has(fn.name)) this.notUsed(fn.name, x.at);
          const args = this.args(fn.name, global, x, true);
          return this.hostCall(global, this.global(fn.name), args, x, wanted);
        }
        if (global === undefined && this.host.natives.has(fn.name)) return this.nativeCall(fn.name, x, wanted);
        const basic = global === undefined ? basicType(fn.name) : undefined;
        if (basic !== undefined) return this.convertCall(basic, x);
      }
    }
    if (fn.kind === "selector") {
      const module = fn.x.kind === "name" ? this.scope.lookup(fn.x.name) : undefined;
      if (module?.kind === "module") {
        const symbol = module.exports!.get(fn.name);
        if (symbol === undefined) this.fail(fn.at, `undefined: ${module.name}.${fn.name}`);
        if (symbol.macro !== undefined) return this.macroCall(fn.name, symbol.macro, x);
        if (symbol.kind === "type") return this.convertCall(symbol.type, x);
        return this.valueCall(x, wanted);
      }
      const object = this.borrowed(fn.x);
      if (object.type.kind === "host") return this.methodCall(object, object.type.name, fn, x, wanted);
    }
    return this.valueCall(x, wanted);
  }

  private convertCall(to: Type, x: Call): Value {
    if (x.args.length !== 1 || x.spread)
      this.fail(x.at, `conversion to ${typeName(to)} takes one value, got ${x.args.length}`);
    return this.conversion(to, this.expression(x.args[0]!, to), x.at);
  }

  private notUsed(name: string, at: number): never {
    this.fail(at, `${name}(…) evaluated but not used`, "show it with {{ }} or assign it");
  }

  private arity(name: string, expected: string, got: number, few: boolean, at: number): never {
    this.fail(at, `${few ? "not enough" : "too many"} arguments in call to ${name}: have ${got}, want ${expected}`);
  }

  /**
   * Arguments converted to the parameters; the last of a variadic function is given as `...`. Natives and the host get
   * plain numbers for floats, and structs for pointers to them.
   */
  protected args(name: string, type: FunctionType, x: Call, plain = false): Code[] {
    const { params, variadic } = type;
    const fixed = variadic ? params.length - 1 : params.length;
    if (x.args.length < fixed)
      this.arity(name, variadic ? `at least ${fixed}` : String(fixed), x.args.length, true, x.at);
    if (!variadic && x.args.length > fixed) this.arity(name, String(fixed), x.args.length, false, x.at);
    if (x.spread && (!variadic || x.args.length !== params.length))
      this.fail(x.at, `cannot use ... in call to ${name}`);
    const types: Type[] = [];
    const codes = x.args.map((arg, i): Code => {
      const to = i < fixed ? params[i]! : params.at(-1)!;
      if (x.spread && i === x.args.length - 1) {
        return [
          "...(",
          this.convert(this.borrowed(arg), { kind: "slice", element: to }, arg.at, `argument to ${name}`),
          " ?? [])",
        ];
      }
      const value = this.expression(arg, to);
      types.push(value.type);
      if (plain && to.kind === "any") {
        if (isFloat(value.type))
          return value.constant === undefined ? value.code : this.convert(value, FLOAT, arg.at, `argument to ${name}`);
        if (value.type.kind === "any" || value.type.kind === "pointer") return ["R_plain($, ", value.code, ")"];
      }
      return this.convert(value, to, arg.at, `argument to ${name}`);
    });
    this.argumentTypes = types;
    return codes;
  }

  /** What a call with these results gives where `wanted` values are taken. */
  private outcome(
    results: readonly Type[],
    wanted: number,
    single: () => Code,
    pair: () => Code,
    at: number,
    name: string,
  ): Value {
    if (wanted > 1) {
      if (results.length !== wanted)
        this.fail(
          at,
          `assignment mismatch: ${wanted} variables but ${name} gives ${results.length} value${results.length === 1 ? "" : "s"}`,
        );
      return { code: pair(), type: results[0]!, results };
    }
    return { code: single(), type: results[0] ?? VOID };
  }

  private hostCall(type: FunctionType, target: string, args: Code[], x: Call, wanted: number): Value {
    const withError = type.results.length === 2 && type.results[1]!.kind === "error";
    const plain: Code = [this.site(x.at), `$.value(${target}(`, commas(args), "))"];
    const pair: Code = withError
      ? [this.site(x.at), `$.attempt(${target}, [`, commas(args), "], ", this.zero(type.results[0]!), ")"]
      : plain;
    const name = x.fn.kind === "name" ? x.fn.name : "call";
    return this.outcome(
      type.results,
      wanted,
      () => (type.results.length > 1 && !withError ? [plain, "[0]"] : plain),
      () => pair,
      x.at,
      name,
    );
  }

  /** dig into a resource with a schema: an optional field that holds its zero value counts as absent. */
  private digTyped(object: Value, type: ObjectType, keys: readonly string[]): Value {
    let { code } = object;
    let at: Type = type;
    let optional = false;
    for (const key of keys) {
      const field: ObjectField | undefined = at.kind === "object" ? at.field(key) : undefined;
      const name = field?.json ?? key;
      code = plainKey(name) ? [code, `?.[${literal(name)}]`] : ["R_dug($, ", code, `, ${literal(name)})`];
      optional = field?.optional ?? false;
      at = field?.type ?? (at.kind === "map" ? at.element : ANY);
    }
    const zeroable = optional && (at.kind === "basic" || at.kind === "object");
    return { code: zeroable ? ["$.nonZero(", code, ")"] : ["(", code, " ?? null)"], type: ANY };
  }

  /** dig in place, key by key; only keys that are computed, or hostile, need a helper. */
  private dug(x: Call, args: readonly Code[]): Code {
    const [, first] = x.args;
    let code: Code = first?.kind === "string" && plainKey(first.text) ? args[0]! : ["$.plain(", args[0]!, ")"];
    x.args.slice(1).forEach((arg, i) => {
      code =
        arg.kind === "string" && plainKey(arg.text)
          ? [code, `?.[${literal(arg.text)}]`]
          : [this.site(x.at), "R_dug($, ", code, ", ", args[i + 1]!, ")"];
    });
    return ["(", code, " ?? null)"];
  }

  private nativeCall(name: string, x: Call, wanted: number): Value {
    const { fn, type } = this.host.natives.get(name)!;
    if (name === "dig" && !x.spread && x.args.length > 1) {
      const keys = x.args.slice(1).map((arg) => (arg.kind === "string" ? arg.text : undefined));
      if (keys.every((key) => key !== undefined)) {
        const object = this.borrowed(x.args[0]!);
        if (object.type.kind === "host")
          this.fail(x.at, `cannot use ${typeName(object.type)} as a plain value in argument to dig`);
        if (object.type.kind === "object") return this.digTyped(object, object.type, keys);
        if (object.type.kind !== "pointer" && keys.every(plainKey))
          return {
            code: ["(", object.code, keys.map((key) => `?.[${literal(key)}]`).join(""), " ?? null)"],
            type: ANY,
          };
      }
    }
    if (fn.clock === true && this.kind === "component")
      this.fail(
        x.at,
        `${name} is not available in an incremental snippet`,
        "its output is kept, so it must not depend on the clock or on chance",
      );
    // `??` would not evaluate its right side: in place only where that shows nowhere.
    const passes =
      (name === "fallback" || name === "coalesce") && x.args.length === 2 && !x.spread && evident(x.args[1]!);
    const [only] = x.args;
    const args =
      name === "on_own_lines" && x.args.length === 1 && only!.kind === "render"
        ? this.renderedParts(only)
        : this.args(name, type, x, !passes && (x.spread || !IN_PLACE.has(name)));
    const types = this.argumentTypes;
    if (passes) return { code: ["(", args[0]!, " ?? ", args[1]!, ")"], type: ANY };
    if (wanted === 0 && fn.effect !== true) this.notUsed(name, x.at);
    const withError = type.results.length === 2 && type.results[1]!.kind === "error";
    const inner = args.length === 0 ? [] : [", ", commas(args)];
    if (name === "dig" && !x.spread)
      return this.outcome(
        type.results,
        wanted,
        () => this.dug(x, args),
        () => "",
        x.at,
        name,
      );
    this.natives.add(name);
    const known = IN_PLACE.get(name);
    if (known !== undefined && !x.spread) {
      // What most values are is told in place: V8 does not inline every call of a large function.
      const site = this.site(x.at);
      return this.outcome(
        type.results,
        wanted,
        () => ["(", known, args[0]!, TESTS[name]!, " ? $r : ", site, `F_${name}($, $.plain($r)))`],
        () => "",
        x.at,
        name,
      );
    }
    const plain: Code = [this.site(x.at), `F_${name}($`, inner, ")"];
    const pair: Code = withError
      ? [this.site(x.at), `$.attempt(F_${name}, [$`, inner, "], ", this.zero(type.results[0]!), ")"]
      : plain;
    const value = this.outcome(
      type.results,
      wanted,
      () => (type.results.length > 1 && !withError ? [plain, "[0]"] : plain),
      () => pair,
      x.at,
      name,
    );
    if (fn.resultType !== undefined && !x.spread && wanted <= 1) return { ...value, type: fn.resultType(types) };
    return value;
  }

  private methodCall(
    object: Value,
    hostName: string,
    fn: Expression & { kind: "selector" },
    x: Call,
    wanted: number,
  ): Value {
    const host = this.host.declarations.hostTypes.get(hostName)!;
    const method = host.methods.get(fn.name);
    if (method === undefined) this.unknownMember(hostName, fn.name, fn.at);
    const { type } = method;
    const name = `${hostName}.${fn.name}`;
    const args = this.args(name, type, x, true);
    const withError = type.results.length === 2 && type.results[1]!.kind === "error";
    const named: Code = [object.code, `, ${literal(hostName)}, ${literal(fn.name)}`];
    const target: Code = [named, ", [", commas(args), "]"];
    const plain = this.methodOf(object, fn.name, named, args, x.at);
    const answer: Code = method.reads
      ? { node: "read", code: plain, place: this.place(x.at) }
      : method.suspends
        ? { node: "delegate", code: plain }
        : plain;
    // A store is a member of a global object; its name is the alias of what it gives.
    const alias = this.host.piece === undefined ? undefined : /\.(\w+)$/.exec(object.path ?? "")?.[1];
    const told: Code = alias === undefined ? answer : [`$.noted(${literal(alias)}, `, answer, ")"];
    const code: Code = ["(", told, " ?? null)"];
    const pair: Code = withError
      ? [this.site(x.at), "$.attemptMethod(", target, ", ", this.zero(type.results[0]!), ")"]
      : code;
    return this.outcome(
      type.results,
      wanted,
      () => (type.results.length > 1 && !withError ? [code, "[0]"] : code),
      () => pair,
      x.at,
      name,
    );
  }

  /** A call of a host's method. Where the object is always the same, its method is looked up once a run. */
  private methodOf(object: Value, name: string, named: Code, args: readonly Code[], at: number): Code {
    const site = this.site(at);
    if (object.path === undefined) return [site, "$.method(", named, ", [", commas(args), "])"];
    const bound = this.boundMethod(`${object.path}.${name}`);
    return ["(", bound, ` ?? (${bound} = `, site, "$.bound(", named, ")))", site, "(", commas(args), ")"];
  }

  private macroCall(name: string, macro: MacroInfo, x: Call): Value {
    const variadic = macro.params.at(-1)?.variadic ?? false;
    const type: FunctionType = { kind: "func", params: macro.params.map((p) => p.type), variadic, results: [STRING] };
    const args = this.args(name, type, x);
    const placed = x.spread || macro.inPlace === undefined ? undefined : this.placed(macro, macro.inPlace, x);
    if (placed !== undefined) return { code: placed, type: STRING };
    return {
      code: { node: "call", fn: macro.node, target: [this.site(x.at), macro.target], args: commas(args) },
      type: STRING,
    };
  }

  /** A small macro in the place of its call, where all arguments are variables or texts: nothing is evaluated twice. */
  private placed(macro: MacroInfo, { source, parts }: InPlace, x: Call): Code | undefined {
    const texts = new Map<string, string>();
    const scope = new Scope(undefined);
    for (const [i, { name, type }] of macro.params.entries()) {
      const arg = x.args[i]!;
      if (arg.kind === "string" && isString(type)) {
        texts.set(name, arg.text);
        continue;
      }
      const symbol = arg.kind === "name" ? this.scope.lookup(arg.name) : undefined;
      if (symbol?.kind !== "var" || (symbol.type.kind !== "any" && !isString(symbol.type))) return undefined;
      if (type.kind !== "any" && !(isString(type) && isString(symbol.type))) return undefined;
      scope.names.set(name, { ...symbol, name, type });
    }
    const outer = [this.scope, this.source, this.from] as const;
    this.from = { ...this.place(x.at), called: true };
    this.source = source;
    this.scope = scope;
    try {
      const codes = parts.map((part) =>
        typeof part === "string" ? literal(part) : this.shownText(withTexts(part, texts)),
      );
      return ['R_charged($, "" + ', codes.flatMap((code, i) => (i === 0 ? [code] : [" + ", code])), ")"];
    } catch (fault) {
      // What is wrong with these arguments is told when the macro runs.
      if (fault instanceof CheckFault) return undefined;
      throw fault;
    } finally {
      [this.scope, this.source, this.from] = outer;
    }
  }

  private valueCall(x: Call, wanted: number): Value {
    const fn = this.borrowed(x.fn);
    if (fn.type.kind === "func") {
      const args = this.args(x.fn.kind === "name" ? x.fn.name : "function", fn.type, x);
      const code: Code = [this.site(x.at), { node: "callValue", fn: fn.code, args: commas(args) }];
      const { results } = fn.type;
      return this.outcome(
        results,
        wanted,
        () => (results.length > 1 ? ["(", code, ")[0]"] : code),
        () => code,
        x.at,
        "function",
      );
    }
    if (fn.type.kind !== "any") this.fail(x.at, `cannot call a value of type ${typeName(fn.type)}`);
    if (x.spread) this.fail(x.at, "cannot use ... in a call of an any value");
    const args = x.args.map((arg) => this.convert(this.expression(arg), ANY, arg.at, "argument"));
    const code: Code = [this.site(x.at), { node: "callValue", fn: fn.code, args: commas(args) }];
    if (wanted > 1)
      return {
        code: ["$.several(", code, `, ${wanted})`],
        type: ANY,
        results: Array.from({ length: wanted }, () => ANY),
      };
    return { code, type: ANY };
  }

  // --- builtins ----------------------------------------------------------------------------------------------------

  private builtin(name: string, x: Call, wanted: number): Value | undefined {
    const count = (least: number, most: number): void => {
      if (x.args.length < least)
        this.arity(name, most === Infinity ? `at least ${least}` : String(least), x.args.length, true, x.at);
      if (x.args.length > most) this.arity(name, String(most), x.args.length, false, x.at);
    };
    const used = (): void => {
      if (wanted === 0) this.notUsed(name, x.at);
    };
    switch (name) {
      case "len":
      case "cap": {
        count(1, 1);
        used();
        const value = this.borrowed(x.args[0]!);
        const { type } = value;
        if (name === "cap") {
          if (type.kind === "array") return this.constantValue(BigInt(type.length), INT);
          if (type.kind !== "slice" && type.kind !== "any")
            this.fail(x.args[0]!.at, `invalid argument for cap: ${typeName(type)} has no capacity`);
          return { code: [this.site(x.at), "$.cap(", value.code, ")"], type: INT };
        }
        if (typeof value.constant === "string") return this.constantValue(BigInt(byteLength(value.constant)), INT);
        if (type.kind === "array") return this.constantValue(BigInt(type.length), INT);
        if (!isString(type) && type.kind !== "slice" && type.kind !== "map" && type.kind !== "any")
          this.fail(x.args[0]!.at, `invalid argument for ${name}: ${typeName(type)} has no length`);
        if (type.kind === "slice") return { code: ["($r = ", value.code, ", $r === null ? 0 : $r.length)"], type: INT };
        return { code: [this.site(x.at), "$.len(", value.code, ")"], type: INT };
      }
      case "append": {
        count(1, Infinity);
        used();
        const list = x.args[0]!.kind === "name" ? this.borrowed(x.args[0]) : this.expression(x.args[0]!);
        const { type: target } = this.appendTypes(list.type, x.args[0]!.at);
        const items = this.appended(x, target);
        return { code: [this.site(x.at), "$.append(", list.code, ", [", commas(items), "])"], type: target };
      }
      case "delete": {
        count(2, 2);
        const map = this.borrowed(x.args[0]!);
        if (map.type.kind !== "map" && map.type.kind !== "any")
          this.fail(x.args[0]!.at, `invalid argument for delete: ${typeName(map.type)} is not a map`);
        const key = this.convert(
          this.expression(x.args[1]!),
          map.type.kind === "map" ? map.type.key : ANY,
          x.args[1]!.at,
          "map key",
        );
        return { code: [this.site(x.at), "$.remove(", map.code, ", ", key, ")"], type: VOID };
      }
      case "make": {
        count(1, 3);
        used();
        const type = this.typeArgument(x.args[0]!, "make needs a slice or map type");
        const sizes = x.args.slice(1).map((arg) => this.convert(this.expression(arg), INT, arg.at, "make"));
        if (type.kind === "map") return { code: isString(type.key) ? "({})" : "$.map([])", type };
        if (type.kind !== "slice") this.fail(x.args[0]!.at, `cannot make type ${typeName(type)}`);
        if (sizes.length === 0) this.fail(x.at, "make of a slice needs its length", `[]${typeName(type.element)}{}`);
        const code: Code = [this.site(x.at), "$.make(() => (", this.zero(type.element), "), ", commas(sizes), ")"];
        return { code, type };
      }
      case "new": {
        count(1, 1);
        used();
        const type = this.typeArgument(x.args[0]!, "new needs a type");
        return { code: ["$.cell(", this.zero(type), ")"], type: { kind: "pointer", element: type } };
      }
      case "copy": {
        count(2, 2);
        const [target, from] = [this.borrowed(x.args[0]!), this.borrowed(x.args[1]!)];
        if (target.type.kind !== "slice" && target.type.kind !== "any")
          this.fail(x.args[0]!.at, `invalid argument for copy: ${typeName(target.type)} is not a slice`);
        if (from.type.kind !== "slice" && from.type.kind !== "any" && !isString(from.type))
          this.fail(x.args[1]!.at, `invalid argument for copy: ${typeName(from.type)} is not a slice`);
        return { code: [this.site(x.at), "$.copyItems(", target.code, ", ", from.code, ")"], type: INT };
      }
      case "panic": {
        count(1, 1);
        const value = this.convert(this.expression(x.args[0]!), ANY, x.at, "panic");
        return { code: [this.site(x.at), "$.panic(", value, ")"], type: VOID };
      }
      case "recover":
        this.fail(x.at, "recover is not supported", "take the error: v, err := f()");
      // eslint-disable-next-line no-fallthrough -- fail never returns
      case "print":
      case "println":
        this.fail(x.at, `${name} is not supported`, "show the values, or use debug()");
      // eslint-disable-next-line no-fallthrough -- fail never returns
      case "complex":
      case "real":
      case "imag":
        this.fail(x.at, "complex numbers are not supported");
      // eslint-disable-next-line no-fallthrough -- fail never returns
      default:
        return undefined;
    }
  }

  /** A type that stands where an argument does: `make([]int, 3)`, `new(T)`. */
  private typeArgument(x: Expression, problem: string): Type {
    const node = x.kind === "type" ? x.type : namedType(x);
    if (node === undefined) this.fail(x.at, problem);
    return this.type(node);
  }

  /** The type an append gives: a slice keeps its own; anything else becomes []any. */
  protected appendTypes(list: Type, at: number): { type: Type & { kind: "slice" } } {
    if (list.kind === "slice") return { type: list };
    if (list.kind !== "any" && !isNil(list))
      this.fail(at, `first argument to append must be a slice, not ${typeName(list)}`);
    return { type: ANY_SLICE as Type & { kind: "slice" } };
  }

  protected appended(x: Call, target: Type & { kind: "slice" }): Code[] {
    return x.args.slice(1).map((arg, i) => {
      if (x.spread && i === x.args.length - 2)
        return ["...$.list(", this.convert(this.borrowed(arg), target, arg.at, "argument to append"), ")"];
      return this.convert(this.expression(arg, target.element), target.element, arg.at, "argument to append");
    });
  }
}
