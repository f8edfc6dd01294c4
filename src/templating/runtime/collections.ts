/** Slices and maps, as emitted code calls them. */
import { bytesOfText } from "./bytes.ts";
import { LimitFault, TemplateFault } from "./faults.ts";
import { ownMember, setMember } from "./guards.ts";
import { MAX_ENTRIES, MAX_LIST, MAX_MAP } from "./limits.ts";
import { isMap } from "./matching.ts";
import { Operations, runeOf } from "./operations.ts";
import * as text from "./text.ts";
import { FloatValue, fixedArray, numberIn, PointerValue, StructValue } from "./values.ts";
import { isView, makeView, partOf } from "./views.ts";

const EMPTY: readonly never[] = Object.freeze([]);

/** A key of a map that is no plain object. */
function keyOf(key: unknown): unknown {
  if (typeof key !== "object" || key === null) return key;
  if (FloatValue.is(key)) return FloatValue.number(key);
  if (PointerValue.is(key)) return key;
  throw new TemplateFault(`hash of unhashable type ${text.kindOf(key)}`, "use a string or a number as key");
}

const nameOf = (key: unknown): string => (typeof key === "string" ? key : text.textOf(key));

export abstract class Collections extends Operations {
  isList(v: unknown): boolean {
    return Array.isArray(v);
  }

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
        const point = runeOf(c);
        keys.push(offset);
        values.push(point);
        // What is no character is one byte.
        offset += point < 0x80 || point !== c.codePointAt(0) ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
      }
      return { keys, values };
    }
    if (isMap(v)) {
      const keys = text.sortedKeys(v);
      this.charge(keys.length * 4);
      return { keys, values: keys.map((key) => text.entryOf(v, key)) };
    }
    throw new TemplateFault(`cannot range over ${text.kindOf(v)}`);
  }

  keyAt(pairs: { readonly keys: readonly unknown[] | null }, i: number): unknown {
    return pairs.keys === null ? i : pairs.keys[i];
  }

  /** One step of dig by a key that is no plain name, or in a map with keys of a type: the realm does the rest. */
  dug(map: object, key: unknown): unknown {
    return text.entryOf(map, nameOf(key));
  }

  get(map: unknown, key: unknown, zero: unknown): unknown {
    if (map === null) return zero;
    if (map instanceof Map) return (map as Map<unknown, unknown>).get(keyOf(key)) ?? zero;
    if (PointerValue.is(map)) return this.get(PointerValue.target(map), key, zero);
    if (!isMap(map) && !StructValue.is(map)) throw new TemplateFault(`cannot read a member of ${text.kindOf(map)}`);
    return ownMember(map, nameOf(key)) ?? zero;
  }

  /** An entry of a map whose elements are structs or arrays: a missing one is a new zero value. */
  entry(map: unknown, key: unknown, zero: () => unknown): unknown {
    return this.get(map, key, null) ?? zero();
  }

  at(list: unknown, i: unknown): unknown {
    const length = Array.isArray(list) ? list.length : 0;
    if (typeof i === "number" && i >= 0 && i < length && Number.isInteger(i)) return (list as unknown[])[i];
    return this.#outside(i, length);
  }

  #outside(i: unknown, length: number): never {
    const index = FloatValue.is(i) ? undefined : numberIn(i);
    if (index === undefined || (typeof index === "number" && !Number.isInteger(index)))
      throw new TemplateFault(`invalid index: ${text.kindOf(i)} is not an integer`);
    throw new TemplateFault(`index out of range [${index}] with length ${length}`);
  }

  index(v: unknown, key: unknown): unknown {
    if (Array.isArray(v)) return this.at(v, key);
    if (typeof v === "string") return text.byteAt(v, key);
    return this.get(v, key, null);
  }

  lookup(map: unknown, key: unknown, zero: unknown): [unknown, boolean] {
    if (map === null) return [zero, false];
    if (Array.isArray(map)) {
      const inside = typeof key === "number" && Number.isInteger(key) && key >= 0 && key < map.length;
      return inside ? [map[key], true] : [zero, false];
    }
    if (map instanceof Map) {
      const known = keyOf(key);
      return map.has(known) ? [map.get(known) ?? zero, true] : [zero, false];
    }
    if (!isMap(map) && !StructValue.is(map)) throw new TemplateFault(`cannot read a member of ${text.kindOf(map)}`);
    const name = nameOf(key);
    return Object.hasOwn(map, name) ? [ownMember(map, name) ?? zero, true] : [zero, false];
  }

  set(target: unknown, key: unknown, value: unknown): void {
    if (target === null) throw new TemplateFault("assignment to entry in nil map", "make one first: map[string]any{}");
    if (Array.isArray(target)) {
      this.at(target, key);
      this.#writable(partOf(target).base);
      target[key as number] = value;
    } else if (target instanceof Map) {
      const known = keyOf(key);
      if (!target.has(known)) this.#newEntry(target);
      (target as Map<unknown, unknown>).set(known, value);
    } else if (isMap(target)) {
      this.#writable(target);
      const name = nameOf(key);
      if (!Object.hasOwn(target, name)) this.#newEntry(target);
      setMember(target, name, value);
    } else if (PointerValue.is(target)) {
      this.setField(PointerValue.target(target), nameOf(key), value);
    } else throw new TemplateFault(`cannot assign to a member of ${text.kindOf(target)}`);
  }

  #entries = 0;
  #growing: object | undefined;
  #grown = 0;

  /** Counts a new entry. A map that grows without end is mostly the one that the last entry went into. */
  #newEntry(map: object): void {
    this.charge(2);
    if (map !== this.#growing) {
      this.#growing = map;
      this.#grown = 0;
    }
    if (++this.#grown > MAX_MAP) throw new LimitFault(`a map gets more than ${MAX_MAP} entries`);
    if (++this.#entries > MAX_ENTRIES) throw new LimitFault(`the template makes more than ${MAX_ENTRIES} map entries`);
  }

  #writable(target: object): void {
    if (Object.isFrozen(target))
      throw new TemplateFault(
        "this value belongs to a watched resource or a setting and cannot be changed",
        "copy it first: merge(value, map[string]any{…})",
      );
  }

  /** A pointer to an element or a field. */
  place(target: unknown, key: unknown): PointerValue {
    if (Array.isArray(target)) {
      this.at(target, key);
      return this.pointer(
        () => this.at(target, key),
        (value) => this.set(target, key, value),
      );
    }
    if (!StructValue.is(target)) throw new TemplateFault(`cannot take the address of a part of ${text.kindOf(target)}`);
    const name = nameOf(key);
    return this.pointer(
      () => ownMember(target, name),
      (value) => this.setField(target, name, value),
    );
  }

  remove(map: unknown, key: unknown): void {
    if (map === null) return;
    if (map instanceof Map) map.delete(keyOf(key));
    else if (isMap(map)) {
      this.#writable(map);
      delete (map as Record<string, unknown>)[nameOf(key)];
    } else throw new TemplateFault(`cannot delete from ${text.kindOf(map)}`);
  }

  map(entries: readonly (readonly [unknown, unknown])[]): Map<unknown, unknown> {
    return new Map(entries.map(([key, value]) => [keyOf(key), value]));
  }

  make(zero: () => unknown, length: unknown, capacity: unknown = length): unknown[] {
    if (typeof length !== "number" || length < 0) throw new TemplateFault("makeslice: len out of range");
    if ((capacity as number) < length) throw new TemplateFault("makeslice: cap out of range");
    if (length > MAX_LIST) throw new LimitFault(`a list of ${length} elements is too long`);
    this.charge(length);
    const list: unknown[] = [];
    for (let i = 0; i < length; i++) list.push(zero());
    return list;
  }

  /** An array of fixed length; elements that are not given are zero. */
  array(length: number, zero: () => unknown, items: readonly unknown[] = EMPTY): unknown[] {
    this.charge(length);
    const list: unknown[] = [...items];
    while (list.length < length) list.push(zero());
    return fixedArray(list);
  }

  len(v: unknown): number {
    if (typeof v === "string") {
      this.charge(v.length >> 4);
      return text.byteLength(v);
    }
    if (Array.isArray(v)) return v.length;
    if (v === null) return 0;
    if (v instanceof Map) return v.size;
    if (isMap(v)) return this.members(v);
    throw new TemplateFault(`${text.kindOf(v)} has no length`);
  }

  cap(v: unknown): number {
    if (v === null) return 0;
    if (!Array.isArray(v)) throw new TemplateFault(`${text.kindOf(v)} has no capacity`);
    return partOf(v).capacity;
  }

  /** A slice with more items: in place where the list is a part of another one with room behind it, else a new one. */
  append(list: unknown, items: readonly unknown[]): unknown[] {
    if (!Array.isArray(list)) return [...items];
    if (isView(list)) {
      const { base, offset, length, capacity } = partOf(list);
      if (length + items.length <= capacity && !Object.isFrozen(base)) {
        items.forEach((item, i) => {
          base[offset + length + i] = item;
        });
        return makeView(base, offset, length + items.length, capacity);
      }
    }
    this.bounded(list.length + items.length);
    this.charge(list.length >> 2);
    return [...(list as unknown[]), ...items];
  }

  bounded(length: number): void {
    if (length > MAX_LIST) throw new LimitFault(`a list gets more than ${MAX_LIST} elements`);
  }

  /** An append to a list that nothing else holds, and that is no view. */
  push(list: unknown[], items: readonly unknown[]): void {
    this.charge(items.length);
    for (const item of items) this.bounded(list.push(item));
  }

  /** Whether a list that was just made may be pushed to: a view must not grow over what follows it. */
  owned(list: unknown[]): boolean {
    return !isView(list);
  }

  copyItems(target: unknown, from: unknown): number {
    if (target === null || from === null) return 0;
    if (!Array.isArray(target)) throw new TemplateFault(`copy: ${text.kindOf(target)} is not a slice`);
    const source = typeof from === "string" ? this.textBytes(from) : from;
    if (!Array.isArray(source)) throw new TemplateFault(`copy: ${text.kindOf(from)} is not a slice`);
    const count = Math.min(target.length, source.length);
    this.charge(count);
    if (count > 0) this.#writable(partOf(target).base);
    // Both may be parts of one array.
    const items = source.slice(0, count) as unknown[];
    items.forEach((item, i) => {
      target[i] = this.copy(item);
    });
    return count;
  }

  slice_(v: unknown, low: unknown, high: unknown, max: unknown = null): unknown {
    const bound = (given: unknown, otherwise: number): number => {
      const value = given === null ? otherwise : this.asInt(given);
      return typeof value === "bigint" ? (value < 0n ? -1 : Number.MAX_SAFE_INTEGER) : value;
    };
    const from = bound(low, 0);
    if (typeof v === "string") {
      this.charge(v.length >> 4);
      return text.sliceBytes(v, from, high === null ? null : bound(high, 0));
    }
    if (v !== null && !Array.isArray(v)) throw new TemplateFault(`cannot slice ${text.kindOf(v)}`);
    const list: unknown[] = v ?? [];
    const { base, offset, length, capacity } = partOf(list);
    const to = bound(high, length);
    const end = bound(max, capacity);
    if (from < 0 || from > to || to > end || end > capacity)
      throw new TemplateFault(`slice bounds out of range [${from}:${to}] with ${describe(length, capacity)}`);
    if (v === null) return null;
    // A list that is taken whole is itself; an array that is sliced becomes a slice of it.
    if (from === 0 && to === length && end === capacity && isView(list)) return list;
    return makeView(base, offset + from, to - from, end - from);
  }

  contains(container: unknown, item: unknown): boolean {
    if (typeof container === "string") {
      this.charge(container.length >> 4);
      if (typeof item === "number") return container.includes(this.toText(item));
      if (typeof item === "string") {
        if (item.isWellFormed() && container.isWellFormed()) return container.includes(item);
        // A part of a character: only the bytes tell whether it stands there.
        this.charge(container.length);
        return bytesOfText(container).includes(bytesOfText(item));
      }
      throw new TemplateFault(`operator contains not defined on string and ${text.kindOf(item)}`);
    }
    if (Array.isArray(container)) {
      this.charge(container.length >> 1);
      // Each element of a view is asked for on its own: a copy is looked through sooner.
      const { base, offset, length } = partOf(container);
      const items: readonly unknown[] = isView(container) ? base.slice(offset, offset + length) : container;
      if (items.includes(item)) return true;
      if (typeof item !== "object" && typeof item !== "number" && typeof item !== "bigint") return false;
      if (item === null) return false;
      for (const other of items) {
        // Numbers that are alike were found above; a loop, since the list may be long.
        if (typeof other === "number" && typeof item === "number") continue;
        if (other !== null && this.#alike(other, item)) return true;
      }
      return false;
    }
    if (container === null) return false;
    return this.lookup(container, item, null)[1];
  }

  /** Equal, where comparing them means anything. */
  #alike(a: unknown, b: unknown): boolean {
    const comparable = typeof a !== "object" || numberIn(a) !== undefined || StructValue.is(a);
    return comparable && this.equal(a, b);
  }
}

const describe = (length: number, capacity: number): string =>
  length === capacity ? `length ${length}` : `capacity ${capacity}`;
