/** A bare realm for emitted code: no globals, frozen intrinsics, no code from strings. */
import vm from "node:vm";

let shared: vm.Context | undefined;

function bareRealm(): vm.Context {
  const context = vm.createContext(Object.create(null) as object, { codeGeneration: { strings: false, wasm: false } });
  // The intrinsics are frozen before the names that lead to them are removed; only NaN, Infinity and undefined remain.
  vm.runInContext(
    `(() => {
      const protoOf = Object.getPrototypeOf, generator = protoOf(function* () {}), global = globalThis;
      const all = [Object, Object.prototype, Array, Array.prototype, Function, Function.prototype, String.prototype, Number.prototype,
        Boolean.prototype, BigInt.prototype, Symbol.prototype, RegExp.prototype, Map.prototype, Set.prototype, Promise.prototype,
        Error, Error.prototype, TypeError.prototype, RangeError.prototype, generator, generator.prototype, protoOf(generator.prototype),
        protoOf(protoOf(generator.prototype)), protoOf(async () => {}), protoOf(async function* () {}), protoOf([][Symbol.iterator]())];
      for (const object of all) Object.freeze(object);
      for (const name of Object.getOwnPropertyNames(global)) try { delete global[name]; } catch {}
    })()`,
    context,
  );
  return context;
}

/** Compiles emitted text to a function of the given parameters. The one place where templates become code. */
export function compileInRealm(
  text: string,
  params: readonly string[],
  filename: string,
): (...args: unknown[]) => unknown {
  shared ??= bareRealm();
  return vm.compileFunction(text, params, { filename, parsingContext: shared }) as (...args: unknown[]) => unknown;
}
