/** What a template may see besides its own names: declared globals, host types and functions. */
import { valueTypes } from "../functions/objects.ts";
import { ANY, parseType, typeName, type FunctionType, type ObjectType, type Type } from "./types.ts";

/** A method of a host object. */
export interface MethodDeclaration {
  /** `func(keys ...any) []any`. With `(T, error)` the implementation returns T or throws a TemplateFault. */
  readonly signature: string;
  /** It may answer with `pendingRead(request)`: the run then asks its driver and goes on with the answer. */
  readonly reads?: boolean;
  /** Its implementation is a generator function of Suspensions (for instance one that calls a template's function). */
  readonly suspends?: boolean;
}

export interface HostTypeDeclaration {
  readonly methods?: Readonly<Record<string, string | MethodDeclaration>>;
  /** Members that are values, with their types: `{ ingresses: "Store" }`. */
  readonly members?: Readonly<Record<string, string>>;
  /** Shown when an unknown member is asked for. */
  readonly unknownHint?: string;
  /** Its objects are values: they may be kept in variables, and their String method shows them. */
  readonly value?: boolean;
}

export interface GlobalDeclaration {
  /** A type, a host type's name, or a signature: `map[string]any`, `Stores`, `func(resource any, reason string) string`. */
  readonly type: string;
  /** For functions: calling it as a statement makes sense. Default true. */
  readonly effect?: boolean;
}

export interface Method {
  readonly type: FunctionType;
  readonly reads: boolean;
  readonly suspends: boolean;
}

export interface HostType {
  readonly methods: ReadonlyMap<string, Method>;
  readonly members: ReadonlyMap<string, Type>;
  readonly unknownHint: string | undefined;
  readonly value: boolean;
}

export class Declarations {
  readonly hostTypes = new Map<string, HostType>();
  readonly globals: { readonly root: Map<string, Type>; readonly component: Map<string, Type> } = {
    root: new Map(),
    component: new Map(),
  };

  /** Watched resources by alias, with their types where there is a schema. Each alias is a name too: the list of its objects. */
  readonly resources: ReadonlyMap<string, ObjectType | undefined>;
  readonly #anyResource: boolean;

  /** Host functions without an effect: calling one as a statement is a mistake. */
  readonly pure = new Set<string>();

  constructor(
    hostTypes: Readonly<Record<string, HostTypeDeclaration>>,
    globals: {
      readonly root: Readonly<Record<string, GlobalDeclaration>>;
      readonly component: Readonly<Record<string, GlobalDeclaration>>;
    },
    resources?: ReadonlyMap<string, ObjectType | undefined>,
  ) {
    this.resources = resources ?? new Map();
    this.#anyResource = resources === undefined;
    const all: Readonly<Record<string, HostTypeDeclaration>> = { ...valueTypes, ...hostTypes };
    const known = (name: string): boolean => Object.hasOwn(all, name);
    for (const [name, declaration] of Object.entries(all)) {
      const methods = new Map<string, Method>();
      for (const [method, written] of Object.entries(declaration.methods ?? {})) {
        const given: MethodDeclaration = typeof written === "string" ? { signature: written } : written;
        const type = parseType(given.signature, known, this.resource);
        if (type.kind !== "func")
          throw new TypeError(`method ${name}.${method} is declared as ${typeName(type)}, not as a function`);
        methods.set(method, { type, reads: given.reads ?? false, suspends: given.suspends ?? false });
      }
      const members = new Map<string, Type>();
      for (const [member, type] of Object.entries(declaration.members ?? {}))
        members.set(member, parseType(type, known, this.resource));
      this.hostTypes.set(name, {
        methods,
        members,
        unknownHint: declaration.unknownHint,
        value: declaration.value ?? false,
      });
    }
    for (const kind of ["root", "component"] as const) {
      for (const [name, declaration] of Object.entries(globals[kind])) {
        this.globals[kind].set(name, parseType(declaration.type, known, this.resource));
        if (declaration.effect === false) this.pure.add(name);
      }
    }
  }

  /** `resources.ALIAS.T` or `resources.ALIAS.NESTED`: any without a schema, undefined when there is no such thing. */
  readonly resource = (alias: string, nested: string): Type | undefined => {
    if (this.#anyResource) return ANY;
    if (!this.resources.has(alias)) return undefined;
    const type = this.resources.get(alias);
    if (type === undefined) return ANY;
    return nested === "T" ? type : type.nested(nested);
  };

  /** Whether a value of this type may not be kept: an object of the host that is no value. */
  readonly isBound = (type: Type): boolean => type.kind === "host" && this.hostTypes.get(type.name)?.value !== true;

  readonly isHostType = (name: string): boolean => this.hostTypes.has(name);
}
