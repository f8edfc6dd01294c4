/**
 * Slices that are part of another one: `a[1:3]` shares its elements with a. Lists are plain arrays; a part of one is a
 * view, which is an array to everything that reads or writes it, and looks into the array behind.
 */
interface Part {
  readonly base: unknown[];
  readonly offset: number;
  readonly length: number;
  /** Elements from `offset` on that the slice may grow to. */
  readonly capacity: number;
}

const parts = new WeakMap<object, Part>();

/** Where a list's elements are. A plain array has no room to grow in place. */
export function partOf(list: unknown[]): Part {
  return parts.get(list) ?? { base: list, offset: 0, length: list.length, capacity: list.length };
}

export const isView = (list: unknown[]): boolean => parts.has(list);

function indexOf(key: string | symbol, length: number): number | undefined {
  if (typeof key !== "string" || !/^\d+$/.test(key)) return undefined;
  const index = Number(key);
  return index < length ? index : undefined;
}

export function makeView(base: unknown[], offset: number, length: number, capacity: number): unknown[] {
  const part: Part = { base, offset, length, capacity };
  const target: unknown[] = [];
  target.length = length;
  const view = new Proxy(target, {
    get(shape, key) {
      const index = indexOf(key, length);
      return index === undefined ? (Reflect.get(shape, key) as unknown) : base[offset + index];
    },
    set(_, key, value) {
      const index = indexOf(key, length);
      if (index === undefined) return false;
      base[offset + index] = value;
      return true;
    },
    has(shape, key) {
      return indexOf(key, length) !== undefined || Reflect.has(shape, key);
    },
    getOwnPropertyDescriptor(shape, key) {
      const index = indexOf(key, length);
      if (index === undefined) return Reflect.getOwnPropertyDescriptor(shape, key);
      return { value: base[offset + index], writable: true, enumerable: true, configurable: true };
    },
    ownKeys() {
      return [...Array.from({ length }, (_, i) => String(i)), "length"];
    },
    deleteProperty: () => false,
    defineProperty: () => false,
  });
  parts.set(view, part);
  return view;
}
