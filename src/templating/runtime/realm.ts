/** A bare realm for emitted code: no globals, frozen intrinsics, no code from strings. */
import vm from "node:vm";
import { MAX_LIST } from "./limits.ts";

/**
 * Small functions of the realm itself. V8 inlines no call from one realm into another, so what is cheap and frequent is told
 * here, and only what is rare asks the runtime `$`. They are short, so that V8 finds room for all calls of them.
 */
const TOOLS = `((HostMap) => {
  const { isArray } = Array;
  const { hasOwn } = Object;
  return {
    isArray,
    show: ($, v) => (typeof v === "string" ? v : $.show(v)),
    grown: ($, text, shorter) => (text.length > 1024 ? $.grown(text, shorter) : text),
    charged: ($, text) => (text.length > 1024 ? $.charged(text) : text),
    plain: ($, v) => (typeof v === "object" ? $.plain(v) : v),
    dug: ($, map, key) => {
      if (typeof map !== "object" || map === null || isArray(map)) return null;
      if (map instanceof HostMap || typeof key !== "string" || key === "__proto__") return $.dug(map, key);
      const value = map[key];
      return value === undefined || !hasOwn(map, key) ? null : value;
    },
    push: ($, list, item) => {
      if (list.push(item) > ${MAX_LIST}) $.bounded(list.length);
    },
    plus: ($, a, b) => {
      if (typeof a === "number" && typeof b === "number") {
        const sum = a + b;
        if (sum <= 9007199254740991 && sum >= -9007199254740991) return sum;
      }
      return $.plus(a, b);
    },
    minus: ($, a, b) => {
      if (typeof a === "number" && typeof b === "number") {
        const difference = a - b;
        if (difference <= 9007199254740991 && difference >= -9007199254740991) return difference;
      }
      return $.minus(a, b);
    },
    at: ($, list, i) =>
      isArray(list) && typeof i === "number" && i >= 0 && i < list.length && i % 1 === 0 ? list[i] : $.at(list, i),
    equal: ($, a, b) => (typeof a !== "object" && typeof a === typeof b ? a === b : $.equal(a, b)),
    truthy: ($, v) => (typeof v === "boolean" ? v : typeof v === "string" ? v !== "" : $.truthy(v)),
  };
})`;

interface Realm {
  readonly context: vm.Context;
  readonly tools: Readonly<Record<string, unknown>>;
}

let shared: Realm | undefined;

function bareRealm(): Realm {
  const context = vm.createContext(Object.create(null) as object, { codeGeneration: { strings: false, wasm: false } });
  const tools = (
    vm.runInContext(TOOLS, context, { filename: "haptic-tools" }) as (map: unknown) => Record<string, unknown>
  )(Map);
  // The intrinsics are frozen before the names that lead to them are removed; only NaN, Infinity and undefined remain.
  vm.runInContext(
    `(() => {
      const protoOf = Object.getPrototypeOf, generator = protoOf(function* () {}), global = globalThis;
      const all = [Object, Object.prototype, Array, Array.prototype, Function, Function.prototype, String.prototype, Number.prototype,
        Boolean.prototype, BigInt.prototype, Symbol.prototype, RegExp.prototype, Map.prototype, Set.prototype, Promise.prototype,
        Error, Error.prototype, TypeError.prototype, RangeError.prototype, generator, generator.prototype, protoOf(generator.prototype),
        protoOf(protoOf(generator.prototype)), protoOf(async () => {}), protoOf(async function* () {}), protoOf([][Symbol.iterator]())];
      for (const object of all) Object.freeze(object);
      const { defineProperty, getOwnPropertyNames } = Object;
      for (const name of getOwnPropertyNames(global)) try { delete global[name]; } catch {}
      // What cannot be removed is emptied: V8's gc, where somebody has exposed it.
      for (const name of getOwnPropertyNames(global))
        if (name !== "NaN" && name !== "Infinity" && global[name] !== undefined) defineProperty(global, name, { value: undefined, writable: false });
    })()`,
    context,
  );
  return { context, tools };
}

/**
 * Compiles the text of a unit, in which `F` are the functions of the language and `R` those of the realm. The one place
 * where templates become code.
 */
export function compileInRealm(text: string, natives: unknown, filename: string): unknown {
  shared ??= bareRealm();
  const { tools, context } = shared;
  const names = Object.keys(tools).map((name) => `R_${name}`);
  const unit = vm.compileFunction(text, ["F", ...names], { filename, parsingContext: context }) as (
    natives: unknown,
    ...tools: unknown[]
  ) => unknown;
  return unit(natives, ...Object.values(tools));
}
