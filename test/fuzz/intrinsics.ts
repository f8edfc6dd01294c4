/** A fingerprint of everything a template must not change: globals, built-in constructors and their prototypes. */
import { createHash } from "node:crypto";

const identities = new WeakMap<object, number>();
let next = 0;

/** A number for an object or function, the same for the same one; the value itself for anything else. */
function identity(value: unknown): string {
  if ((typeof value !== "object" && typeof value !== "function") || value === null)
    return `${typeof value} ${String(value)}`;
  let id = identities.get(value);
  if (id === undefined) identities.set(value, (id = next++));
  return `#${id}`;
}

/** Globals whose value changes by itself. */
const MOVING = new Set(["performance", "navigator", "crypto", "localStorage", "sessionStorage", "process"]);

function describe(object: object, lines: string[], name: string): void {
  lines.push(`${name} of ${identity(Object.getPrototypeOf(object))}${Object.isExtensible(object) ? "" : " closed"}`);
  for (const key of Reflect.ownKeys(object)) {
    const { writable, enumerable, configurable, ...held } = Object.getOwnPropertyDescriptor(object, key)!;
    const flags = `${writable}${enumerable}${configurable}`;
    lines.push(` ${String(key)} ${flags} ${Object.values(held).map(identity).join(" ")}`);
  }
}

/** Hash of the names, flags and identities of all that is reachable in one or two steps from the globals. */
export function fingerprint(): string {
  const lines: string[] = [];
  for (const key of Object.getOwnPropertyNames(globalThis)) {
    const property = Object.getOwnPropertyDescriptor(globalThis, key)!;
    if (MOVING.has(key) || property.get !== undefined) continue;
    const value: unknown = property.value;
    lines.push(`${key} ${identity(value)}`);
    if ((typeof value !== "object" && typeof value !== "function") || value === null || value === globalThis) continue;
    describe(value, lines, key);
    const prototype: unknown = Object.getOwnPropertyDescriptor(value, "prototype")?.value;
    if (typeof prototype === "object" && prototype !== null) describe(prototype, lines, `${key}.prototype`);
  }
  const more = [(function* () {})(), [][Symbol.iterator](), new Map().entries(), ""[Symbol.iterator](), async () => {}];
  for (const [i, value] of more.entries()) {
    for (let at: unknown = Object.getPrototypeOf(value); at !== null; at = Object.getPrototypeOf(at))
      describe(at as object, lines, `hidden ${i}`);
  }
  return createHash("sha256").update(lines.join("\n")).digest("hex");
}
