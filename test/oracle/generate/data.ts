/** Inputs of generated programs: JSON data of known shape, with hostile names mixed in. */
import type { Random } from "./random.ts";

/** Names that mean something to JavaScript, as keys and as values. */
export const HOSTILE: readonly string[] = [
  "__proto__",
  "constructor",
  "toString",
  "valueOf",
  "hasOwnProperty",
  "__defineGetter__",
  "__lookupSetter__",
  "length",
  "then",
  "toJSON",
  "prototype",
  "caller",
  "arguments",
  "Symbol(Symbol.iterator)",
  "@@iterator",
  "get",
  "at",
  "0",
  "-1",
  "1e3",
  "",
  "$",
  "o",
  "${process.exit()}",
  "`",
  "\u2028",
  "é",
  "😀",
];

const WORDS = [
  "web",
  "api",
  "shop-01",
  "a b",
  "x/y",
  "Über",
  "10",
  "0",
  "",
  "host.example.com",
  "v1.2",
  "TRUE",
  " pad ",
  "é😀z",
  "a,b,c",
  "UPPER case",
];

const own = (object: object, key: string, value: unknown): void => {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
};

/** A scalar or a small tree. */
export function tree(random: Random, depth: number): unknown {
  switch (random.int(depth <= 0 ? 6 : 8)) {
    case 0:
      return null;
    case 1:
      return random.chance(0.5);
    case 2:
      return random.int(200) - 100;
    case 3:
      return random.int(1000) / 8;
    case 4:
      return random.pick(WORDS);
    case 5:
      return random.pick(HOSTILE);
    case 6:
      return Array.from({ length: random.int(4) }, () => tree(random, depth - 1));
    default: {
      const object = {};
      for (let i = random.int(5); i > 0; i--)
        own(object, random.pick(random.chance(0.5) ? HOSTILE : WORDS), tree(random, depth - 1));
      return object;
    }
  }
}

/** The globals of every generated program; see GLOBALS for their types. */
export function inputs(random: Random): Record<string, unknown> {
  const word = (): string => random.pick(WORDS);
  const item = (): unknown => {
    const object = {
      name: word(),
      w: random.int(9) - 2,
      f: random.int(40) / 8,
      on: random.chance(0.5),
      tags: Array.from({ length: random.int(4) }, word),
      spec: { port: 8000 + random.int(4), host: word(), deep: { list: [random.int(5), random.int(5)] } },
    };
    if (random.chance(0.3)) delete (object as { w?: number }).w;
    if (random.chance(0.2)) own(object, random.pick(HOSTILE), tree(random, 1));
    return object;
  };
  const hostile = {};
  for (const key of HOSTILE) if (random.chance(0.5)) own(hostile, key, tree(random, 1));
  return {
    d: tree(random, 3),
    items: Array.from({ length: random.int(5) }, item),
    one: item(),
    cfg: { name: word(), n: random.int(20), on: random.chance(0.5), tags: [word(), word()], none: null },
    hostile,
    hosts: Array.from({ length: random.int(4) }, word),
    nums: Array.from({ length: random.int(4) }, () => random.int(50) - 20),
    title_: word(),
    count: random.int(12) - 2,
    ratio: random.int(100) / 8 + 0.0625,
    flag: random.chance(0.5),
  };
}

/** Declared types of the globals. */
export const GLOBALS: Readonly<Record<string, string>> = {
  d: "any",
  items: "[]any",
  one: "any",
  cfg: "map[string]any",
  hostile: "map[string]any",
  hosts: "[]string",
  nums: "[]int",
  title_: "string",
  count: "int",
  ratio: "float64",
  flag: "bool",
};

export function frozen<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const key of Object.keys(value)) frozen(Object.getOwnPropertyDescriptor(value, key)!.value as unknown);
    Object.freeze(value);
  }
  return value;
}
