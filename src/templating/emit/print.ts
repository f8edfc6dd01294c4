/**
 * Selective generators: a function suspends when it loops, reads a store, calls a function value or delegates, or calls a
 * function that does. Everything else stays a plain function, which V8 inlines.
 */
import type { Place } from "../syntax/problems.ts";
import type { Code, CodeNode, FunctionNode } from "./code.ts";
import { LONGEST_LEAF, sizeOf, weightOf } from "./weight.ts";

interface Facts {
  direct: boolean;
  /** Makes function values, which natives may call. */
  hands?: boolean;
  readonly calls: Set<FunctionNode>;
}

/** Nodes between two stops. */
const STEP = 2_000;

/** Sets `suspends` on all functions of the code by a fixpoint over the calls. Recursion is a loop too. */
export function* analyse(code: Code): Generator<void, void, void> {
  const facts = new Map<FunctionNode, Facts>();
  yield* collect(code, { direct: false, calls: new Set() }, facts);
  for (const [fn, known] of facts) {
    fn.recursive = reaches(fn, fn, facts);
    fn.suspends = known.direct || fn.recursive;
    fn.leaf = !known.direct && known.hands !== true && known.calls.size === 0 && sizeOf(fn.body) <= LONGEST_LEAF;
  }
  yield;
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

/** Notes what the code does in `into`, and what functions in it do in `all`. */
function* collect(code: Code, into: Facts, all: Map<FunctionNode, Facts>): Generator<void, void, void> {
  const open: [code: Code, into: Facts][] = [[code, into]];
  let turns = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (++turns % STEP === 0) yield;
    const [piece, facts] = next;
    if (typeof piece === "string") continue;
    if (typeof piece === "function") {
      open.push([piece(), facts]);
      continue;
    }
    if (Array.isArray(piece)) {
      for (const part of piece as readonly Code[]) if (typeof part !== "string") open.push([part, facts]);
      continue;
    }
    const node = piece as CodeNode;
    switch (node.node) {
      case "site":
        break;
      case "tick":
        facts.direct = true;
        break;
      case "call":
        facts.calls.add(node.fn);
        open.push([node.target, facts], [node.args, facts]);
        break;
      case "callValue":
        facts.direct = true;
        open.push([node.fn, facts], [node.args, facts]);
        break;
      case "read":
      case "delegate":
        facts.direct = true;
        open.push([node.code, facts]);
        break;
      case "capture":
        open.push([node.body, facts]);
        break;
      case "function": {
        const own: Facts = { direct: false, calls: new Set() };
        all.set(node.fn, own);
        open.push([node.fn.body, own]);
        break;
      }
      case "lambda":
        facts.hands = true;
        // A lambda's own calls do not make the function around it suspend: natives run it to its end.
        open.push([node.body, { direct: false, calls: new Set() }]);
        break;
      case "reference":
        facts.hands = true;
        open.push([node.target, facts]);
        break;
    }
  }
}

function suspends(code: Code): boolean {
  const own: Facts = { direct: false, calls: new Set() };
  // In one go: only what stands inside an expression is asked.
  for (const _ of collect(code, own, new Map()));
  return own.direct || [...own.calls].some((fn) => fn.suspends);
}

/** Emitted text with the places its parts came from, in order of offset; what has none is its caller's doing. */
export interface Printed {
  readonly text: string;
  readonly offsets: readonly number[];
  readonly places: readonly (Place | undefined)[];
}

export function* print(code: Code): Generator<void, Printed, void> {
  const offsets: number[] = [];
  const places: (Place | undefined)[] = [];
  const parts: string[] = [];
  let length = 0;
  let turns = 0;
  const open: Code[] = [code];
  for (let piece = open.pop(); piece !== undefined; piece = open.pop()) {
    if (++turns % STEP === 0) yield;
    if (typeof piece === "string") {
      parts.push(piece);
      length += piece.length;
    } else if (typeof piece === "function") open.push(piece());
    else if (Array.isArray(piece)) {
      const list = piece as readonly Code[];
      for (let i = list.length - 1; i >= 0; i--) open.push(list[i]!);
    } else {
      const node = piece as CodeNode;
      if (node.node === "site") {
        offsets.push(length);
        places.push(node.place);
      } else open.push(written(node));
    }
  }
  return { text: parts.join(""), offsets, places };
}

/** Takes a turn's fuel, and looks at the clock where it is used up. */
const look = (weight: number): string =>
  `if (${weight === 0 ? "--$.fuel" : `($.fuel -= ${weight + 1})`} < 0 && $.due()) yield $.slice;\n`;

/** Charges a call of the code for its length. */
const entry = (body: Code): string => {
  const weight = weightOf(body);
  return weight === 0 ? "" : `$.charge(${weight});\n`;
};

/** What a unit begins with, which may be rendered often: it is charged, and may end the slice. */
export const unitEntry =
  (body: Code): Code =>
  () =>
    entry(body) + look(0);

/** What a node is written as. */
function written(node: Exclude<CodeNode, { readonly node: "site" }>): Code {
  switch (node.node) {
    case "tick":
      return [
        node.output === "flush"
          ? "if (o.length > 16384) o = $.flush(o);\n"
          : node.output === "keep"
            ? "if (o.length > o$n) o$n = $.settle(o);\n"
            : "",
        look(weightOf(node.body)),
      ];
    case "call":
      return [node.fn.suspends ? "(yield* " : "", node.target, "(", node.args, node.fn.suspends ? "))" : ")"];
    case "callValue":
      return ["(yield* $.callG(", node.fn, ", [", node.args, "]))"];
    case "read":
      // A name that pending reads have; whether it is one is asked only then.
      return [
        "(($r = ",
        node.code,
        ")?.suspension !== undefined && $.pending($r) ? ",
        { node: "site", place: node.place },
        "$.answered(yield $r.suspension) : $r)",
      ];
    case "delegate":
      return ["(yield* ", node.code, ")"];
    case "function":
      return [
        // What is charged when it begins is of the place that calls it, not of what stands before the declaration.
        { node: "site", place: undefined },
        `function${node.fn.suspends ? "*" : ""} ${node.fn.js}(${node.fn.params}) {\nlet $r;\n`,
        node.fn.leaf ? "" : entry(node.fn.body),
        node.fn.recursive ? look(0) : "",
        node.fn.body,
        "}\n",
      ];
    case "capture":
      return suspends(node.body)
        ? ["(yield* (function* () {\nlet $r;\n", node.body, "})())"]
        : ["(() => {\nlet $r;\n", node.body, "})()"];
    case "lambda":
      return suspends(node.body)
        ? [`$.fn(function* (${node.params}) {\nlet $r;\n${entry(node.body)}`, node.body, "}, true)"]
        : [`$.fn((${node.params}) => {\n${entry(node.body)}`, node.body, "}, false)"];
    case "reference":
      return ["$.fn(", node.target, `, ${node.fn.suspends})`];
  }
}
