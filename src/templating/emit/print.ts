/**
 * Selective generators: a function suspends when it loops, reads a store, calls a function value or delegates, or calls a
 * function that does. Everything else stays a plain function, which V8 inlines.
 */
import type { Place } from "../syntax/problems.ts";
import type { Code, CodeNode, FunctionNode } from "./code.ts";

interface Facts {
  direct: boolean;
  /** Makes function values, which natives may call. */
  hands?: boolean;
  readonly calls: Set<FunctionNode>;
}

/** Sets `suspends` on all functions of the code by a fixpoint over the calls. Recursion is a loop too. */
export function analyse(code: Code): void {
  const facts = new Map<FunctionNode, Facts>();
  collect(code, { direct: false, calls: new Set() }, facts);
  for (const [fn, known] of facts) {
    fn.recursive = reaches(fn, fn, facts);
    fn.suspends = known.direct || fn.recursive;
    fn.leaf = !known.direct && known.hands !== true && known.calls.size === 0;
  }
  for (let changed = true; changed;) {
    changed = false;
    for (const [fn, known] of facts) {
      if (fn.suspends) continue;
      for (const callee of known.calls) {
        if (callee.suspends) {
          fn.suspends = true;
          changed = true;
          break;
        }
      }
    }
  }
}

/** Whether calls lead from one function of the unit to another. */
function reaches(from: FunctionNode, to: FunctionNode, facts: ReadonlyMap<FunctionNode, Facts>): boolean {
  const seen = new Set<FunctionNode>();
  const open = [...(facts.get(from)?.calls ?? [])];
  for (let fn = open.pop(); fn !== undefined; fn = open.pop()) {
    if (fn === to) return true;
    if (seen.has(fn)) continue;
    seen.add(fn);
    open.push(...(facts.get(fn)?.calls ?? []));
  }
  return false;
}

function collect(code: Code, into: Facts, all: Map<FunctionNode, Facts>): void {
  if (typeof code === "string") return;
  if (typeof code === "function") return collect(code(), into, all);
  if (Array.isArray(code)) {
    for (const part of code as readonly Code[]) collect(part, into, all);
    return;
  }
  const node = code as CodeNode;
  switch (node.node) {
    case "site":
      return;
    case "tick":
      into.direct = true;
      return;
    case "call":
      into.calls.add(node.fn);
      collect(node.target, into, all);
      return collect(node.args, into, all);
    case "callValue":
      into.direct = true;
      collect(node.fn, into, all);
      return collect(node.args, into, all);
    case "read":
    case "delegate":
      into.direct = true;
      return collect(node.code, into, all);
    case "capture":
      return collect(node.body, into, all);
    case "function": {
      const own: Facts = { direct: false, calls: new Set() };
      all.set(node.fn, own);
      return collect(node.fn.body, own, all);
    }
    case "lambda":
      into.hands = true;
      // A lambda's own calls do not make the function around it suspend: natives run it to its end.
      return collect(node.body, { direct: false, calls: new Set() }, all);
    case "reference":
      into.hands = true;
      return collect(node.target, into, all);
  }
}

function suspends(code: Code): boolean {
  const own: Facts = { direct: false, calls: new Set() };
  collect(code, own, new Map());
  return own.direct || [...own.calls].some((fn) => fn.suspends);
}

/** Emitted text with the places its parts came from, in order of offset; what has none is its caller's doing. */
export interface Printed {
  readonly text: string;
  readonly offsets: readonly number[];
  readonly places: readonly (Place | undefined)[];
}

export function print(code: Code): Printed {
  const offsets: number[] = [];
  const places: (Place | undefined)[] = [];
  const parts: string[] = [];
  let length = 0;
  const put = (text: string): void => {
    parts.push(text);
    length += text.length;
  };
  const emit = (piece: Code): void => {
    if (typeof piece === "string") return put(piece);
    if (typeof piece === "function") return emit(piece());
    if (Array.isArray(piece)) {
      for (const part of piece as readonly Code[]) emit(part);
      return;
    }
    const node = piece as CodeNode;
    switch (node.node) {
      case "site":
        offsets.push(length);
        places.push(node.place);
        return;
      case "tick":
        if (node.output === "flush") put("if (o.length > 16384) o = $.flush(o);\n");
        else if (node.output === "keep") put("if (o.length > o$n) o$n = $.settle(o);\n");
        return put("if (--$.fuel < 0 && $.due()) yield $.slice;\n");
      case "call":
        put(node.fn.suspends ? "(yield* " : "");
        emit(node.target);
        put("(");
        emit(node.args);
        return put(node.fn.suspends ? "))" : ")");
      case "callValue":
        put("(yield* $.callG(");
        emit(node.fn);
        put(", [");
        emit(node.args);
        return put("]))");
      case "read":
        // A name that pending reads have; whether it is one is asked only then.
        put("(($r = ");
        emit(node.code);
        put(")?.suspension !== undefined && $.pending($r) ? ");
        offsets.push(length);
        places.push(node.place);
        return put("$.answered(yield $r.suspension) : $r)");
      case "delegate":
        put("(yield* ");
        emit(node.code);
        return put(")");
      case "function":
        // What is charged when it begins is of the place that calls it, not of what stands before the declaration.
        offsets.push(length);
        places.push(undefined);
        put(`function${node.fn.suspends ? "*" : ""} ${node.fn.js}(${node.fn.params}) {\nlet $r;\n`);
        if (node.fn.recursive) put("if (--$.fuel < 0 && $.due()) yield $.slice;\n");
        emit(node.fn.body);
        return put("}\n");
      case "capture":
        if (suspends(node.body)) {
          put("(yield* (function* () {\nlet $r;\n");
          emit(node.body);
          return put("})())");
        }
        put("(() => {\nlet $r;\n");
        emit(node.body);
        return put("})()");
      case "lambda":
        if (suspends(node.body)) {
          put(`$.fn(function* (${node.params}) {\nlet $r;\n`);
          emit(node.body);
          return put("}, true)");
        }
        put(`$.fn((${node.params}) => {\n`);
        emit(node.body);
        return put("}, false)");
      case "reference":
        put("$.fn(");
        emit(node.target);
        return put(`, ${node.fn.suspends})`);
    }
  };
  emit(code);
  return { text: parts.join(""), offsets, places };
}
