/** Reads the compact notation of builtin-types.ts and installed-types.ts into type trees. */
import { builtinTypes } from "./builtin-types.ts";
import { installedTypes } from "./installed-types.ts";
import { anyNode } from "./type-node.ts";
import type { FieldNode, ScalarType, StructNode, TypeNode } from "./type-node.ts";

const scalars: Readonly<Record<string, ScalarType>> = {
  s: "string",
  b: "bool",
  i: "int32",
  l: "int64",
  f: "double",
  y: "bytes",
  t: "time",
  u: "microTime",
  q: "quantity",
  o: "intOrString",
};

interface MutableStruct extends StructNode {
  readonly inlined: Map<number, StructNode>;
}

/** Length of the bracketed part that begins at `text[0]`. */
function bracketEnd(text: string, close: string): number {
  const open = text[0];
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === open) depth++;
    else if (text[i] === close && --depth === 0) return i + 1;
  }
  throw new Error(`unbalanced type ${text}`);
}

class Reader {
  readonly #lines = new Map<string, string[]>();
  readonly #structs = new Map<string, MutableStruct>();

  constructor(text: string) {
    const joined = text.replaceAll(/\n +/g, " ");
    for (const line of joined.split("\n")) {
      const words = line.split(" ").filter((w) => w !== "");
      const name = words.shift();
      if (name !== undefined) this.#lines.set(name, words);
    }
  }

  struct(name: string, atomic = false): StructNode {
    const id = atomic ? `${name}!` : name;
    const known = this.#structs.get(id);
    if (known !== undefined) return known;
    const words = this.#lines.get(name);
    if (words === undefined) throw new Error(`no built-in type ${name}`);
    const node: MutableStruct = { kind: "struct", name, fields: new Map(), atomic, open: false, inlined: new Map() };
    this.#structs.set(id, node);
    for (const word of words) this.#field(node, word);
    return node;
  }

  #field(node: MutableStruct, word: string): void {
    const match = /^(~?)(\w+)=(\w+):(.*)$/.exec(word);
    if (match === null) throw new Error(`bad field ${word}`);
    const [, inline, name = "", number = "", type = ""] = match;
    if (inline === "~") {
      const inner = this.struct(type.replace(/[*?!]+$/, ""));
      for (const [key, field] of inner.fields) node.fields.set(key, field);
      node.inlined.set(Number(number), inner);
      return;
    }
    node.fields.set(name, this.#fieldType(Number(number), type));
  }

  #fieldType(number: number, text: string): FieldNode {
    const presence = text.endsWith("*") ? "always" : text.endsWith("?") ? "omitEmpty" : "pointer";
    let rest = presence === "pointer" ? text : text.slice(0, -1);
    const retainKeys = rest.endsWith("^");
    if (retainKeys) rest = rest.slice(0, -1);
    return { type: this.#type(rest), number: Number.isNaN(number) ? 0 : number, presence, retainKeys };
  }

  #type(text: string): TypeNode {
    if (text.startsWith("[")) {
      const end = bracketEnd(text, "]");
      const items = this.#type(text.slice(1, end - 1));
      const match = /^(?:\((.*?)\))?(?:@(\w*))?$/.exec(text.slice(end));
      if (match === null) throw new Error(`bad list type ${text}`);
      const keys = match[1];
      const list = keys === undefined ? "atomic" : keys === "" ? "set" : "map";
      return { kind: "list", items, list, keys: keys ? keys.split(",") : [], mergeKey: match[2] };
    }
    if (text.startsWith("{")) {
      const end = bracketEnd(text, "}");
      return { kind: "map", values: this.#type(text.slice(1, end - 1)), atomic: text.slice(end) === "!" };
    }
    if (text === "x") return anyNode;
    const scalar = scalars[text];
    if (scalar !== undefined) return { kind: "scalar", type: scalar };
    return text.endsWith("!") ? this.struct(text.slice(0, -1), true) : this.struct(text);
  }
}

const reader = new Reader(builtinTypes + installedTypes);

/** The type of a built-in kind; groups with an ambiguous name are written `events.Event`. */
export const builtinType = (name: string): StructNode => reader.struct(name);

/** The type of every object's metadata. */
export const objectMetaType: StructNode = reader.struct("ObjectMeta");
