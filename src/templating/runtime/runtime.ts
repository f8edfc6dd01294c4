/** The closed runtime: everything emitted code can touch, one instance a run. */
import type { Type } from "../check/types.ts";
import type { RunEnvironment, Sink, Suspension } from "../types.ts";
import { FailFault, LimitFault, RestartNeeded, TemplateFault } from "./faults.ts";
import { ownMember, setMember } from "./guards.ts";
import {
  callFunction,
  ErrorValue,
  FailedRead,
  FunctionValue,
  HostObject,
  PendingRead,
  type HostMethod,
} from "./host.ts";
import { DEFAULT_DEPTH, DEFAULT_FUEL, DEFAULT_OUTPUT, TICKS_PER_LOOK } from "./limits.ts";
import * as numbers from "./numbers.ts";
import * as text from "./text.ts";

export type Steps<T> = Generator<Suspension, T, unknown>;
/** A compiled unit: its main generator (output to the sink), or the generator that makes an imported file's macros. */
export type Unit = (runtime: Runtime) => Steps<unknown>;

/** What a run needs of the compiled set. */
export interface UnitSource {
  unit(key: string): Unit;
  native(name: string): (runtime: Runtime) => FunctionValue;
}

const EMPTY: readonly never[] = Object.freeze([]);
const SLICE: Suspension = Object.freeze({ kind: "slice" });

export class Runtime {
  /** Ticks left until the next look at the clock. */
  fuel = TICKS_PER_LOOK;
  depth = 0;
  readonly slice = SLICE;

  readonly #environment: RunEnvironment;
  readonly #source: UnitSource;
  readonly #modules = new Map<string, unknown>();
  readonly #maxDepth: number;
  #total: number;
  #room: number;
  #sink: Sink;
  #capturing = false;
  #seen: Set<string> | undefined;

  constructor(environment: RunEnvironment, source: UnitSource) {
    this.#environment = environment;
    this.#source = source;
    this.#sink = environment.sink;
    this.#total = environment.limits?.fuel ?? DEFAULT_FUEL;
    this.#room = environment.limits?.outputBytes ?? DEFAULT_OUTPUT;
    this.#maxDepth = environment.limits?.depth ?? DEFAULT_DEPTH;
  }

  // --- budgets -----------------------------------------------------------------------------------------------------

  /** Refuels and tells whether the slice is used up. */
  due(): boolean {
    this.fuel = TICKS_PER_LOOK;
    this.charge(TICKS_PER_LOOK);
    return this.#environment.due();
  }

  /** Charges work before it is done: about one unit an element or 16 characters touched. */
  charge(units: number): void {
    if ((this.#total -= units) < 0) throw new LimitFault("the template does too much work (fuel limit reached)");
  }

  /** Charges text before it is made. */
  chargeText(length: number): void {
    if ((this.#room -= length) < 0) throw new LimitFault("the template makes too much text (output limit reached)");
  }

  enter(): void {
    this.charge(1);
    if (++this.depth > this.#maxDepth) throw new LimitFault(`calls are nested more than ${this.#maxDepth} deep`);
  }

  // --- output ------------------------------------------------------------------------------------------------------

  flush(o: string): string {
    if (o !== "") {
      this.chargeText(o.length);
      this.#sink.text(o);
    }
    return "";
  }

  charged(o: string): string {
    if (o.length > 1024) this.chargeText(o.length);
    return o;
  }

  mount(name: string): void {
    if (this.#capturing) this.#sink.text(this.incremental(name));
    else this.#sink.mount(name);
  }

  incremental(name: string): string {
    const render = this.#environment.renderIncremental;
    if (render === undefined)
      throw new TemplateFault(
        `the text of incremental snippet "${name}" is not available here`,
        "render it at the top level of a root template",
      );
    return this.charged(render(name));
  }

  *include(key: string): Steps<void> {
    this.enter();
    const { profile } = this.#environment;
    const steps = this.#source.unit(key)(this);
    if (profile === undefined) yield* steps;
    else yield* profile.measure(key.slice(key.indexOf(":") + 1), steps as Steps<void>);
    this.depth--;
  }

  *renderText(key: string): Steps<string> {
    const outer = this.#sink;
    const wasCapturing = this.#capturing;
    let o = "";
    this.#sink = {
      text: (chunk) => {
        o += chunk;
      },
      mount: () => undefined,
    };
    this.#capturing = true;
    yield* this.include(key);
    this.#sink = outer;
    this.#capturing = wasCapturing;
    return o;
  }

  *module(key: string): Steps<unknown> {
    let module = this.#modules.get(key);
    if (module === undefined) {
      module = yield* this.#source.unit(key)(this);
      this.#modules.set(key, module);
    }
    return module;
  }

  // --- globals, host objects, function values ----------------------------------------------------------------------

  global(name: string): unknown {
    return ownMember(this.#environment.globals, name) ?? null;
  }

  value(v: unknown): unknown {
    return v === undefined ? null : v;
  }

  member(object: unknown, type: string, name: string): unknown {
    return HostObject.member(object, type, name);
  }

  method(object: unknown, type: string, name: string, args: readonly unknown[]): unknown {
    const result = (HostObject.method(object, type, name) as (...args: readonly unknown[]) => unknown)(...args);
    return result === undefined ? null : result;
  }

  attemptMethod(object: unknown, type: string, name: string, args: readonly unknown[]): [unknown, unknown] {
    return this.attempt(HostObject.method(object, type, name), args);
  }

  /** `v, err := f()`: a fault becomes the second value. */
  attempt(fn: HostMethod | ((...args: unknown[]) => unknown), args: readonly unknown[]): [unknown, unknown] {
    const { depth } = this;
    try {
      return [(fn as (...args: readonly unknown[]) => unknown)(...args) ?? null, null];
    } catch (fault) {
      if (!(fault instanceof TemplateFault) || fault instanceof FailFault) throw fault;
      this.depth = depth;
      return [null, new ErrorValue(fault.message)];
    }
  }

  pending(v: unknown): v is PendingRead {
    return v instanceof PendingRead;
  }

  answered(v: unknown): unknown {
    if (v instanceof FailedRead) throw new TemplateFault(v.message);
    return v === undefined ? null : v;
  }

  fn(run: (...args: unknown[]) => unknown, suspends: boolean): FunctionValue {
    return new FunctionValue(run, suspends);
  }

  native(name: string): FunctionValue {
    return this.#source.native(name)(this);
  }

  /** Calls a function value to its end: what natives do with their callbacks. Bounded by fuel; it cannot wait. */
  call(fn: unknown, args: readonly unknown[]): unknown {
    const { run, suspends } = FunctionValue.parts(fn);
    this.enter();
    let result = run(...args);
    if (suspends) {
      const steps = result as Steps<unknown>;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) {
        if (step.value.kind === "read") throw new RestartNeeded(step.value.request);
      }
      result = step.value;
    }
    this.depth--;
    return result === undefined ? null : result;
  }

  *callG(fn: unknown, args: readonly unknown[]): Steps<unknown> {
    this.enter();
    const result = yield* callFunction(fn, args);
    this.depth--;
    return result;
  }

  several(v: unknown, count: number): unknown[] {
    if (!Array.isArray(v) || v.length !== count) throw new TemplateFault(`the function does not give ${count} values`);
    return v;
  }

  panic(v: unknown): never {
    throw new TemplateFault(text.textOf(v));
  }

  /** The run's one instant in milliseconds; undefined where the host gives none, so that equal inputs give equal bytes. */
  now(): number | undefined {
    return this.#environment.now;
  }

  /** Whether this key is asked for the first time in the run. */
  firstSeen(key: string): boolean {
    this.#seen ??= new Set();
    if (this.#seen.has(key)) return false;
    this.#seen.add(key);
    return true;
  }

  // --- text --------------------------------------------------------------------------------------------------------

  show(v: unknown): string {
    return typeof v === "string" ? v : text.show(v);
  }

  text(v: unknown): string {
    return text.textOf(v);
  }

  cat(a: string, b: string): string {
    const length = a.length + b.length;
    if (length > 1024) this.chargeText(length);
    return a + b;
  }

  add(a: unknown, b: unknown): unknown {
    if (typeof a === "number" && typeof b === "number") return a + b;
    return this.cat(text.textOf(a), text.textOf(b));
  }

  toText(v: unknown): string {
    if (typeof v === "number")
      return v >= 0 && v <= 0x10ffff && (v < 0xd800 || v > 0xdfff) ? String.fromCodePoint(Math.trunc(v)) : "\uFFFD";
    return this.asString(v);
  }

  byteAt(s: string, i: unknown): number {
    return text.byteAt(s, i as number);
  }

  compareText(a: string, b: string): number {
    return text.compareText(a, b);
  }

  // --- numbers -----------------------------------------------------------------------------------------------------

  multiply = numbers.multiply;
  divide = numbers.divide;
  modulo = numbers.modulo;
  bits = numbers.bits;
  arithmetic = numbers.arithmetic;
  unary = numbers.unary;

  infinity(positive: boolean): number {
    return positive ? Infinity : -Infinity;
  }

  toInteger(v: unknown): number {
    if (typeof v === "number") return Math.trunc(v);
    throw new TemplateFault(`cannot convert ${text.kindOf(v)} to int`, "use toint()");
  }

  toFloat(v: unknown): number {
    if (typeof v === "number") return v;
    throw new TemplateFault(`cannot convert ${text.kindOf(v)} to float64`, "use tofloat()");
  }

  // --- types -------------------------------------------------------------------------------------------------------

  #wrong(v: unknown, wanted: string, hint: string): never {
    throw new TemplateFault(`cannot use a value of type ${text.kindOf(v)} as ${wanted}`, hint);
  }

  asString(v: unknown): string {
    if (typeof v === "string") return v;
    if (v === null) return "";
    return this.#wrong(v, "string", "convert with tostring()");
  }

  asInt(v: unknown): number {
    if (typeof v === "number") return Math.trunc(v);
    if (v === null) return 0;
    return this.#wrong(v, "int", "convert with toint()");
  }

  asFloat(v: unknown): number {
    if (typeof v === "number") return v;
    if (v === null) return 0;
    return this.#wrong(v, "float64", "convert with tofloat()");
  }

  asBool(v: unknown): boolean {
    if (typeof v === "boolean") return v;
    if (v === null) return false;
    return this.#wrong(v, "bool", "compare it, or use not not");
  }

  asSlice(v: unknown): unknown {
    if (v === null || Array.isArray(v)) return v;
    return this.#wrong(v, "a slice", "convert with toSlice()");
  }

  asMap(v: unknown): unknown {
    if (v === null || this.#isMap(v)) return v;
    return this.#wrong(v, "a map", "check with a type assertion: m, ok := x.(map[string]any)");
  }

  asFunc(v: unknown): unknown {
    if (v === null || FunctionValue.is(v)) return v;
    return this.#wrong(v, "a function", "pass a function literal or a lambda");
  }

  /** Checks a value against a parameter's type; nil gives the zero value. */
  checkType(v: unknown, type: Type): unknown {
    switch (type.kind) {
      case "slice":
        return this.asSlice(v);
      case "map":
        return this.asMap(v);
      case "func":
        return this.asFunc(v);
      case "basic":
        if (type.name === "string") return this.asString(v);
        if (type.name === "bool") return this.asBool(v);
        return type.name.startsWith("float") ? this.asFloat(v) : this.asInt(v);
      default:
        return v;
    }
  }

  #isMap(v: unknown): v is object {
    return (
      typeof v === "object" &&
      v !== null &&
      !Array.isArray(v) &&
      !FunctionValue.is(v) &&
      !HostObject.is(v) &&
      !ErrorValue.is(v)
    );
  }

  is(v: unknown, type: string): boolean {
    if (v === null || v === undefined) return false;
    switch (type) {
      case "any":
        return true;
      case "string":
        return typeof v === "string";
      case "bool":
        return typeof v === "boolean";
      case "float64":
      case "float32":
        return typeof v === "number";
      case "error":
        return ErrorValue.is(v);
      default:
    }
    if (type.startsWith("[]")) return Array.isArray(v);
    if (type.startsWith("map[")) return this.#isMap(v);
    if (type.startsWith("func(")) return FunctionValue.is(v);
    return Number.isInteger(v);
  }

  assert(v: unknown, type: string): unknown {
    if (this.is(v, type)) return v;
    throw new TemplateFault(
      `interface conversion: any is ${text.kindOf(v)}, not ${type}`,
      `use the form v, ok := x.(${type})`,
    );
  }

  assertOk(v: unknown, type: string, zero: unknown): [unknown, boolean] {
    return this.is(v, type) ? [v, true] : [zero, false];
  }

  truthy(v: unknown): boolean {
    switch (typeof v) {
      case "boolean":
        return v;
      case "string":
        return v !== "";
      case "number":
        return v !== 0;
      default:
    }
    if (v === null || v === undefined) return false;
    if (Array.isArray(v)) return v.length > 0;
    if (v instanceof Map) return v.size > 0;
    return this.#isMap(v) ? Object.keys(v).length > 0 : true;
  }

  equal(a: unknown, b: unknown): boolean {
    if (a === b) return typeof a !== "object" || a === null || this.#uncomparable(a);
    if (typeof a === "object" && a !== null && typeof b === "object" && b !== null) return this.#uncomparable(a);
    return false;
  }

  #uncomparable(v: object): never {
    throw new TemplateFault(`comparing uncomparable type ${text.kindOf(v)}`, "compare members, or toJSON() of both");
  }

  compare(a: unknown, b: unknown): number {
    if (typeof a === "number" && typeof b === "number") return a < b ? -1 : a > b ? 1 : 0;
    if (typeof a === "string" && typeof b === "string") return text.compareText(a, b);
    throw new TemplateFault(
      `cannot order ${text.kindOf(a)} and ${text.kindOf(b)}`,
      "convert both with toint() or tostring()",
    );
  }

  // --- slices and maps ---------------------------------------------------------------------------------------------

  list(v: unknown): readonly unknown[] {
    if (Array.isArray(v)) return v;
    if (v === null) return EMPTY;
    return this.pairs(v).values;
  }

  /** Keys and values of what is ranged over; keys null = 0, 1, 2 …. */
  pairs(v: unknown): { readonly keys: readonly unknown[] | null; readonly values: readonly unknown[] } {
    if (Array.isArray(v)) return { keys: null, values: v };
    if (v === null) return { keys: null, values: EMPTY };
    if (typeof v === "string") {
      this.charge(v.length);
      const keys: number[] = [];
      const values: number[] = [];
      let offset = 0;
      for (const c of v) {
        const point = c.codePointAt(0)!;
        keys.push(offset);
        values.push(point);
        offset += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
      }
      return { keys, values };
    }
    if (this.#isMap(v)) {
      const keys = text.sortedKeys(v);
      this.charge(keys.length);
      return { keys, values: keys.map((key) => text.entryOf(v, key)) };
    }
    throw new TemplateFault(`cannot range over ${text.kindOf(v)}`);
  }

  keyAt(pairs: { readonly keys: readonly unknown[] | null }, i: number): unknown {
    return pairs.keys === null ? i : pairs.keys[i];
  }

  get(map: unknown, key: unknown, zero: unknown): unknown {
    if (map === null) return zero;
    if (map instanceof Map) return (map as Map<unknown, unknown>).get(key) ?? zero;
    if (!this.#isMap(map)) throw new TemplateFault(`cannot read a member of ${text.kindOf(map)}`);
    return ownMember(map, typeof key === "string" ? key : text.textOf(key)) ?? zero;
  }

  at(list: unknown, i: unknown): unknown {
    if (typeof i !== "number" || !Number.isInteger(i))
      throw new TemplateFault(`invalid index: ${text.kindOf(i)} is not an integer`);
    const length = Array.isArray(list) ? list.length : 0;
    if (i < 0 || i >= length) throw new TemplateFault(`index out of range [${i}] with length ${length}`);
    return (list as unknown[])[i];
  }

  index(v: unknown, key: unknown): unknown {
    if (Array.isArray(v)) return this.at(v, key);
    if (typeof v === "string") return text.byteAt(v, key as number);
    return this.get(v, key, null);
  }

  lookup(map: unknown, key: unknown, zero: unknown): [unknown, boolean] {
    if (map === null) return [zero, false];
    if (Array.isArray(map)) {
      const inside = typeof key === "number" && Number.isInteger(key) && key >= 0 && key < map.length;
      return inside ? [map[key], true] : [zero, false];
    }
    if (map instanceof Map) return map.has(key) ? [map.get(key) ?? zero, true] : [zero, false];
    if (!this.#isMap(map)) throw new TemplateFault(`cannot read a member of ${text.kindOf(map)}`);
    const name = typeof key === "string" ? key : text.textOf(key);
    return Object.hasOwn(map, name) ? [ownMember(map, name) ?? zero, true] : [zero, false];
  }

  set(target: unknown, key: unknown, value: unknown): void {
    if (target === null) throw new TemplateFault("assignment to entry in nil map", "make one first: map[string]any{}");
    if (Array.isArray(target)) {
      this.at(target, key);
      this.#writable(target);
      target[key as number] = value;
    } else if (target instanceof Map) (target as Map<unknown, unknown>).set(key, value);
    else if (this.#isMap(target)) {
      this.#writable(target);
      setMember(target, typeof key === "string" ? key : text.textOf(key), value);
    } else throw new TemplateFault(`cannot assign to a member of ${text.kindOf(target)}`);
  }

  #writable(target: object): void {
    if (Object.isFrozen(target))
      throw new TemplateFault(
        "this value belongs to a watched resource or a setting and cannot be changed",
        "copy it first: merge(value, map[string]any{…})",
      );
  }

  remove(map: unknown, key: unknown): void {
    if (map === null) return;
    if (map instanceof Map) map.delete(key);
    else if (this.#isMap(map)) {
      this.#writable(map);
      delete (map as Record<string, unknown>)[typeof key === "string" ? key : text.textOf(key)];
    } else throw new TemplateFault(`cannot delete from ${text.kindOf(map)}`);
  }

  map(entries: readonly (readonly [unknown, unknown])[]): Map<unknown, unknown> {
    return new Map(entries);
  }

  make(length: number, zero: unknown): unknown[] {
    if (length < 0) throw new TemplateFault("make: length is negative");
    this.charge(length);
    return Array.from({ length }, () => zero);
  }

  len(v: unknown): number {
    if (typeof v === "string") return text.byteLength(v);
    if (Array.isArray(v)) return v.length;
    if (v === null) return 0;
    if (v instanceof Map) return v.size;
    if (this.#isMap(v)) return Object.keys(v).length;
    throw new TemplateFault(`${text.kindOf(v)} has no length`);
  }

  append(list: unknown, items: readonly unknown[]): unknown[] {
    if (!Array.isArray(list)) return [...items];
    this.charge(list.length >> 4);
    return [...(list as unknown[]), ...items];
  }

  push(list: unknown[], items: readonly unknown[]): void {
    this.charge(1);
    for (const item of items) list.push(item);
  }

  slice_(v: unknown, low: unknown, high: unknown): unknown {
    const from = low === null ? 0 : this.asInt(low);
    const to = high === null ? null : this.asInt(high);
    if (typeof v === "string") return text.sliceBytes(v, from, to);
    if (v !== null && !Array.isArray(v)) throw new TemplateFault(`cannot slice ${text.kindOf(v)}`);
    const list: readonly unknown[] = v ?? EMPTY;
    text.checkBounds(from, to ?? list.length, list.length);
    return list.slice(from, to ?? undefined);
  }

  contains(container: unknown, item: unknown): boolean {
    if (typeof container === "string") {
      if (typeof item === "number") return container.includes(String.fromCodePoint(item));
      if (typeof item === "string") return container.includes(item);
      throw new TemplateFault(`operator contains not defined on string and ${text.kindOf(item)}`);
    }
    if (Array.isArray(container)) {
      this.charge(container.length >> 3);
      return container.includes(item);
    }
    if (container === null) return false;
    return this.lookup(container, item, null)[1];
  }
}
