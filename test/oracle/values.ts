/**
 * Values of the oracle, a slow second interpreter of the template language for tests: ints are bigint, floats number, and
 * slices share their backing arrays as in Go. Nothing here comes from the product.
 */

/** A slice; one of watched data is frozen. */
export class Slice {
  frozen = false;
  readonly store: Value[];
  readonly from: number;
  readonly length: number;
  readonly room: number;

  constructor(store: Value[], from = 0, length = store.length, room = store.length - from) {
    this.store = store;
    this.from = from;
    this.length = length;
    this.room = room;
  }

  get items(): Value[] {
    return Array.from({ length: this.length }, (_, i) => this.store[this.from + i]!);
  }
}

/** A map's key as text. */
export const keyText = (key: Value): string => (typeof key === "object" ? "" : String(key));

/** A map; a map of watched data is frozen. */
export class Table {
  readonly entries = new Map<string, { readonly key: Value; value: Value }>();
  frozen = false;

  static of(pairs: readonly (readonly [Value, Value])[]): Table {
    const table = new Table();
    for (const [key, value] of pairs) table.put(key, value);
    return table;
  }

  static id(key: Value): string {
    return `${typeof key}:${keyText(key)}`;
  }

  put(key: Value, value: Value): void {
    this.entries.set(Table.id(key), { key, value });
  }

  find(key: Value): { readonly key: Value; value: Value } | undefined {
    return this.entries.get(Table.id(key));
  }

  /** Keys as they are iterated: in byte order, numbers by value. */
  get keys(): Value[] {
    return [...this.entries.values()]
      .map((entry) => entry.key)
      .sort((a, b) =>
        typeof a === "string" && typeof b === "string"
          ? bytewise(a, b)
          : typeof a === "bigint" && typeof b === "bigint"
            ? Number(a - b)
            : bytewise(keyText(a), keyText(b)),
      );
  }
}

/** A struct or an array: storing one copies it. */
export class Composite {
  /** Fields by name, or elements by index. */
  readonly parts: Map<string | bigint, Value>;

  constructor(parts: Iterable<readonly [string | bigint, Value]>) {
    this.parts = new Map(parts);
  }

  copy(): Composite {
    return new Composite([...this.parts].map(([key, v]) => [key, v instanceof Composite ? v.copy() : v]));
  }
}

/** A pointer to a variable or to a part of a value. */
export class Pointer {
  readonly get: () => Value;
  readonly set: (v: Value) => void;

  constructor(get: () => Value, set: (v: Value) => void) {
    this.get = get;
    this.set = set;
  }
}

/** A value on its way into a variable or a part of another. */
export const stored = (v: Value): Value => (v instanceof Composite ? v.copy() : v);

export class Func {
  readonly run: (args: readonly Value[]) => readonly Value[];

  constructor(run: (args: readonly Value[]) => readonly Value[]) {
    this.run = run;
  }

  call(...args: readonly Value[]): Value {
    return this.run(args)[0] ?? null;
  }
}

export class Failure {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** An object of the host, by its methods. */
export class Host {
  readonly methods: ReadonlyMap<
    string,
    { readonly results: readonly Type[]; readonly run: (args: Value[]) => Value[] }
  >;
  readonly members: ReadonlyMap<string, Value>;

  constructor(methods: Host["methods"], members: ReadonlyMap<string, Value> = new Map()) {
    this.methods = methods;
    this.members = members;
  }
}

export type Value =
  | null
  | string
  | boolean
  | bigint
  | number
  | Slice
  | Table
  | Composite
  | Pointer
  | Func
  | Failure
  | Host;

/** What ends a run. `kind` is what the engine's own error is compared by. */
export class Stop extends Error {
  readonly kind: StopKind;

  constructor(kind: StopKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export type StopKind =
  | "fail"
  | "panic"
  | "division"
  | "range"
  | "nil map"
  | "frozen"
  | "assertion"
  | "uncomparable"
  | "show"
  | "native"
  | "type"
  | "unsupported";

/** Static types; constants are untyped until they meet a type. */
export type Type =
  | { readonly k: "any" | "error" | "void" | "nil" | "string" | "bool" | "float" | "host" }
  | { readonly k: "int"; readonly name: string }
  | { readonly k: "untyped"; readonly of: "int" | "float" | "rune" | "string" | "bool" }
  | { readonly k: "slice"; readonly e: Type }
  | { readonly k: "pointer"; readonly e: Type }
  | { readonly k: "array"; readonly n: number; readonly e: Type }
  | { readonly k: "struct"; readonly fields: Map<string, Type> }
  | { readonly k: "map"; readonly key: Type; readonly e: Type }
  | {
      readonly k: "func";
      readonly params: readonly Type[];
      readonly variadic: boolean;
      readonly results: readonly Type[];
    };

export const ANY: Type = { k: "any" };
export const STRING: Type = { k: "string" };
export const BOOL: Type = { k: "bool" };
export const FLOAT: Type = { k: "float" };
export const INT: Type = { k: "int", name: "int" };
export const ERROR: Type = { k: "error" };
export const VOID: Type = { k: "void" };

/** Bytes of a string. A byte that is no UTF-8 stands as U+DC00 + byte in it: so the engine hands it over. */
export function bytes(s: string): Buffer {
  if (!/[\udc80-\udcff]/.test(s)) return Buffer.from(s, "utf8");
  return Buffer.concat(
    [...s].map((c) => (/^[\udc80-\udcff]$/.test(c) ? Buffer.from([c.charCodeAt(0) - 0xdc00]) : Buffer.from(c, "utf8"))),
  );
}

/** The string of some bytes. */
export function fromBytes(given: Buffer): string {
  let out = "";
  for (let i = 0; i < given.length;) {
    const length = [4, 3, 2, 1].find((n) => i + n <= given.length && isCharacter(given.subarray(i, i + n)));
    out += length === undefined ? String.fromCharCode(0xdc00 + given[i]!) : given.toString("utf8", i, i + length);
    i += length ?? 1;
  }
  return out;
}

function isCharacter(given: Buffer): boolean {
  const text = given.toString("utf8");
  return [...text].length === 1 && Buffer.from(text, "utf8").equals(given);
}
export const bytewise = (a: string, b: string): number => Buffer.compare(bytes(a), bytes(b));

/** A whole number as the language treats it where its type is not known. */
export function settle(v: Value): Value {
  return typeof v === "number" && Number.isSafeInteger(v) ? BigInt(v) : v;
}

/** JSON data as the language holds it. */
export function fromJson(v: unknown, frozen = true): Value {
  if (v === null || v === undefined) return null;
  if (typeof v === "string" || typeof v === "boolean" || typeof v === "bigint") return v;
  if (typeof v === "number") return settle(v);
  if (Array.isArray(v)) {
    const slice = new Slice(v.map((item) => fromJson(item, frozen)));
    slice.frozen = frozen;
    return slice;
  }
  const table = Table.of(
    Object.keys(v).map((key) => [key, fromJson(Object.getOwnPropertyDescriptor(v, key)!.value, frozen)]),
  );
  table.frozen = frozen;
  return table;
}

/** A float in decimal digits without exponent. */
export function decimal(v: number): string {
  if (v === Infinity) return "+Inf";
  if (v === -Infinity) return "-Inf";
  if (Number.isNaN(v)) return "NaN";
  if (v === 0) return "0";
  const [, sign, whole, fraction, exponent] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(v.toExponential())!;
  const digits = whole! + (fraction ?? "");
  const point = 1 + Number(exponent);
  let text: string;
  if (point <= 0) text = `0.${"0".repeat(-point)}${digits}`;
  else if (point >= digits.length) text = digits + "0".repeat(point - digits.length);
  else text = `${digits.slice(0, point)}.${digits.slice(point)}`;
  return sign! + text;
}

/** What `{{ v }}` writes. */
export function show(v: Value): string {
  if (v === null) return "";
  if (typeof v === "string") return v;
  if (typeof v === "boolean" || typeof v === "bigint") return String(v);
  if (typeof v === "number") return decimal(v);
  if (v instanceof Failure) return v.message;
  throw new Stop("show", "cannot show");
}

/** Go's `%v`. */
export function verb(v: Value): string {
  if (v === null) return "<nil>";
  if (v instanceof Composite) {
    const parts = [...v.parts.values()].map(verb).join(" ");
    return typeof [...v.parts.keys()][0] === "bigint" ? `[${parts}]` : `{${parts}}`;
  }
  if (v instanceof Slice) return `[${v.items.map(verb).join(" ")}]`;
  if (v instanceof Table) return `map[${v.keys.map((key) => `${show(key)}:${verb(v.find(key)!.value)}`).join(" ")}]`;
  if (typeof v === "number" && Number.isFinite(v) && v !== 0) {
    const exponent = Number(v.toExponential().split("e")[1]);
    if (exponent < -4 || exponent >= 21) return v.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  if (v instanceof Func || v instanceof Host) throw new Stop("type", "cannot write this as text");
  return show(v);
}

/** Text inside a concatenation. */
export const text = (v: Value): string =>
  v === null
    ? ""
    : v instanceof Slice || v instanceof Table
      ? verb(v)
      : typeof v === "object" && !(v instanceof Failure)
        ? verb(v)
        : show(v);

export function truth(v: Value): boolean {
  if (v === null || v === false || v === "" || v === 0n || v === 0) return false;
  if (v instanceof Slice) return v.length > 0;
  if (v instanceof Table) return v.entries.size > 0;
  return true;
}

const scalar = (v: Value): boolean => v === null || typeof v !== "object" || v instanceof Failure;

/** Equality of values by value; two composites cannot be compared. */
export function equal(a: Value, b: Value): boolean {
  if (a instanceof Pointer || b instanceof Pointer) return a === b;
  if (a instanceof Composite && b instanceof Composite)
    return a.parts.size === b.parts.size && [...a.parts].every(([key, v]) => equal(v, b.parts.get(key) ?? null));
  if (scalar(a) || scalar(b)) {
    if (typeof a === "object" || typeof b === "object") return a === b;
    const [x, y] = [settle(a), settle(b)];
    return x === y;
  }
  throw new Stop("uncomparable", "comparing uncomparable values");
}

export function order(a: Value, b: Value): number {
  const [x, y] = [settle(a), settle(b)];
  if (typeof x === "string" && typeof y === "string") return bytewise(x, y);
  if (isNumber(x) && isNumber(y)) return x < y ? -1 : x > y ? 1 : 0;
  throw new Stop("type", "cannot order");
}

export const isNumber = (v: Value): v is bigint | number => typeof v === "bigint" || typeof v === "number";
export const wrap = (v: bigint): bigint => BigInt.asIntN(64, v);

/** Where programs make more than this, the oracle gives up: the engine has budgets, the oracle has none. */
export function bounded(size: number): number {
  if (size > 100_000) throw new Stop("unsupported", "the program makes too much");
  return size;
}

/** Builtin append: within the capacity it writes into the shared backing array. */
export function append(list: Value, items: readonly Value[]): Slice {
  if (!(list instanceof Slice)) return new Slice([...items]);
  const length = bounded(list.length + items.length);
  if (length <= list.room && !list.frozen) {
    items.forEach((item, i) => {
      list.store[list.from + list.length + i] = item;
    });
    return new Slice(list.store, list.from, length, list.room);
  }
  return new Slice([...list.items, ...items]);
}
