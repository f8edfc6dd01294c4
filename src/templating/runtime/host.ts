/** Values a template may hold but not look into: host objects, function values, pending reads, errors. */
import type { Suspension } from "../types.ts";
import { TemplateFault } from "./faults.ts";

export type HostMethod = (...args: never[]) => unknown;

/** Values without members that a template could read, list or write: everything of this kind is told apart by its class. */
// oxlint-disable-next-line typescript/no-extraneous-class -- it marks its subclasses
export abstract class Opaque {}

/**
 * An object of the host: only its declared methods and members can be reached, and only by code the checker let through.
 * The instance has no members of its own, so that every other read of it finds nothing.
 */
export class HostObject extends Opaque {
  readonly #type: string;
  readonly #methods: ReadonlyMap<string, HostMethod>;
  readonly #members: ReadonlyMap<string, unknown>;

  constructor(type: string, methods: ReadonlyMap<string, HostMethod>, members: ReadonlyMap<string, unknown>) {
    super();
    this.#type = type;
    this.#methods = methods;
    this.#members = members;
    Object.freeze(this);
  }

  static is(value: unknown): value is HostObject {
    return typeof value === "object" && value !== null && #type in value;
  }

  static method(value: unknown, type: string, name: string): HostMethod {
    if (!HostObject.is(value) || value.#type !== type)
      throw new TemplateFault(`${name} called on a value that is not a ${type}`);
    const method = value.#methods.get(name);
    if (method === undefined) throw new TemplateFault(`this ${type} has no method ${name}`);
    return method;
  }

  /** What its String method writes; undefined when it has none. */
  static text(value: HostObject): string | undefined {
    const method = value.#methods.get("String");
    return method === undefined ? undefined : String(method());
  }

  static member(value: unknown, type: string, name: string): unknown {
    if (!HostObject.is(value) || value.#type !== type)
      throw new TemplateFault(`${name} read from a value that is not a ${type}`);
    return value.#members.get(name) ?? null;
  }
}

/**
 * Makes a host object. `type` is a name of the engine's `hostTypes`; methods get the template's arguments as declared
 * there and give plain JSON values (never undefined inside), `pendingRead(request)` where declared `reads`, or are
 * generator functions where declared `suspends`. A method declared `(T, error)` gives T or throws a TemplateFault; with
 * other pairs it gives an array of two.
 */
export function hostObject(
  type: string,
  methods: Readonly<Record<string, HostMethod>>,
  members: Readonly<Record<string, unknown>> = {},
): HostObject {
  return new HostObject(type, new Map(Object.entries(methods)), new Map(Object.entries(members)));
}

/** An answer that is not there yet: the run suspends with it and goes on with what the driver answers. */
export class PendingRead {
  readonly suspension: Suspension;

  constructor(request: unknown) {
    this.suspension = { kind: "read", request };
  }
}

/** Sent into a run in place of an answer: the read fails where it stands in the template. */
export class FailedRead {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export function pendingRead(request: unknown): PendingRead {
  return new PendingRead(request);
}

type Plain = (...args: unknown[]) => unknown;
type Suspending = (...args: unknown[]) => Generator<Suspension, unknown, unknown>;

/** A function of the template as a value: a literal, a lambda, a macro or a native given by name. */
export class FunctionValue extends Opaque {
  readonly #run: Plain;
  readonly #suspends: boolean;

  constructor(run: Plain, suspends: boolean) {
    super();
    this.#run = run;
    this.#suspends = suspends;
    Object.freeze(this);
  }

  static is(value: unknown): value is FunctionValue {
    return typeof value === "object" && value !== null && #run in value;
  }

  static parts(value: unknown): { run: Plain; suspends: boolean } {
    if (!FunctionValue.is(value))
      throw new TemplateFault(
        value === null || value === undefined ? "call of a nil function" : "cannot call a value that is not a function",
      );
    return { run: value.#run, suspends: value.#suspends };
  }
}

/**
 * Calls a template's function value from a suspendable host method: `const made = yield* callFunction(fn, args)`. Loops
 * and reads inside it can then suspend the run.
 */
export function* callFunction(fn: unknown, args: readonly unknown[] = []): Generator<Suspension, unknown, unknown> {
  const { run, suspends } = FunctionValue.parts(fn);
  const result = suspends ? yield* (run as Suspending)(...args) : run(...args);
  return result ?? null;
}

/** An error as a value: the second result of `v, err := f()`. */
export class ErrorValue extends Opaque {
  readonly #message: string;

  constructor(message: string) {
    super();
    this.#message = message;
    Object.freeze(this);
  }

  static is(value: unknown): value is ErrorValue {
    return typeof value === "object" && value !== null && #message in value;
  }

  static message(value: ErrorValue): string {
    return value.#message;
  }
}
