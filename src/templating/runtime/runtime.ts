/** The closed runtime: everything emitted code can touch, one instance a run. */
import { randomBytes } from "node:crypto";
import type { RunEnvironment, Sink, Suspension } from "../types.ts";
import { Collections } from "./collections.ts";
import { FailFault, RestartNeeded, TemplateFault } from "./faults.ts";
import { ownMember } from "./guards.ts";
import {
  callFunction,
  ErrorValue,
  FailedRead,
  FunctionValue,
  HostObject,
  PendingRead,
  type HostMethod,
} from "./host.ts";
import { CALL_COST } from "./limits.ts";
import { Seen } from "./seen.ts";
import * as text from "./text.ts";

export type Steps<T> = Generator<Suspension, T, unknown>;
/** A compiled unit: its main generator (output to the sink), or the generator that makes an imported file's macros. */
export type Unit = (runtime: Runtime) => Steps<unknown>;

/** A snippet that a name computed while running stands for: a unit's key, or an incremental snippet's name. */
export interface NamedUnit {
  readonly key: string | undefined;
  readonly incremental: string | undefined;
}

/** What a run needs of the compiled set. */
export interface UnitSource {
  unit(key: string): Unit;
  named(path: string, directory: string, kind: string, glob: boolean): readonly NamedUnit[] | undefined;
  native(name: string): (runtime: Runtime) => FunctionValue;
}

export class Runtime extends Collections {
  readonly #environment: RunEnvironment;
  readonly #source: UnitSource;
  readonly #modules = new Map<string, unknown>();
  #sink: Sink;
  #capturing = false;
  #seen: Seen | undefined;

  constructor(environment: RunEnvironment, source: UnitSource) {
    super(environment);
    this.#environment = environment;
    this.#source = source;
    this.#sink = environment.sink;
  }

  // --- output ------------------------------------------------------------------------------------------------------

  flush(o: string): string {
    if (o !== "") {
      this.chargeText(o.length);
      this.#sink.text(o.isWellFormed() || !text.hasBytes(o) ? o : text.joinedBytes(o));
    }
    return "";
  }

  mount(name: string): void {
    if (this.#capturing) this.#sink.text(this.incremental(name));
    else this.#sink.mount(name);
  }

  incremental(name: string): string {
    const render = this.#environment.renderIncremental;
    if (render === undefined)
      throw new TemplateFault(
        `the text of incremental snippet "${name}" is not available here`,
        "render it at the top level of a root template",
      );
    const rendered = render(name);
    return this.charged(this.#environment.provenance?.plain(rendered) ?? rendered);
  }

  *include(key: string): Steps<void> {
    this.enter();
    const { profile } = this.#environment;
    const steps = this.#source.unit(key)(this);
    if (profile === undefined) yield* steps;
    else yield* profile.measure(key.slice(key.indexOf(":") + 1), steps as Steps<void>);
    this.depth--;
  }

  /** Writes the snippets that a computed name stands for. */
  *showNamed(path: string, directory: string, kind: string, glob: boolean): Steps<void> {
    for (const { key, incremental } of this.#named(path, directory, kind, glob)) {
      if (incremental !== undefined) this.mount(this.#mountable(incremental, kind));
      else yield* this.include(key!);
    }
  }

  *renderNamed(path: string, directory: string, kind: string, glob: boolean): Steps<string> {
    let o = "";
    for (const { key, incremental } of this.#named(path, directory, kind, glob)) {
      const part =
        incremental === undefined ? yield* this.renderText(key!) : this.incremental(this.#mountable(incremental, kind));
      o = this.cat(o, part);
    }
    return o;
  }

  exists(path: string, directory: string, kind: string, glob: boolean): boolean {
    const found = this.#source.named(path, directory, kind, glob);
    return found !== undefined && found.length > 0;
  }

  #named(path: string, directory: string, kind: string, glob: boolean): readonly NamedUnit[] {
    const found = this.#source.named(path, directory, kind, glob);
    if (found !== undefined) return found;
    if (glob) throw new TemplateFault(`syntax error in pattern ${JSON.stringify(path)}`);
    throw new TemplateFault(`render path ${JSON.stringify(path)} does not exist`, "give another text with default");
  }

  #mountable(name: string, kind: string): string {
    if (kind === "root") return name;
    throw new TemplateFault(
      "an incremental snippet cannot render another incremental snippet",
      "render it from a root template",
    );
  }

  *renderText(key: string): Steps<string> {
    const outer = this.#sink;
    const wasCapturing = this.#capturing;
    let o = "";
    let look = 16_384;
    this.#sink = {
      text: (chunk) => {
        o += chunk;
        if (o.length > look) look = this.settle(o);
      },
      mount: () => undefined,
    };
    this.#capturing = true;
    yield* this.include(key);
    this.#sink = outer;
    this.#capturing = wasCapturing;
    return this.#environment.provenance?.plain(o) ?? o;
  }

  // --- provenance: only code that was compiled for it calls these ------------------------------------------------------

  made(piece: number, v: string): string {
    return this.#environment.provenance?.made(piece, v) ?? v;
  }

  told(text: string, marked: string): void {
    this.#environment.provenance?.told(text, marked);
  }

  noted(alias: string, answer: unknown): unknown {
    this.#environment.provenance?.read(alias, answer);
    return answer;
  }

  loops(): number {
    return this.#environment.provenance?.depth ?? 0;
  }

  turn(depth: number, value: unknown): void {
    this.#environment.provenance?.turn(depth, value);
  }

  leave(depth: number): void {
    this.#environment.provenance?.leave(depth);
  }

  *module(key: string): Steps<unknown> {
    let module = this.#modules.get(key);
    if (module === undefined) {
      module = yield* this.#source.unit(key)(this);
      this.#modules.set(key, module);
    }
    return module;
  }

  // --- globals, host objects, function values ----------------------------------------------------------------------

  global(name: string): unknown {
    return ownMember(this.#environment.globals, name) ?? null;
  }

  value(v: unknown): unknown {
    return v === undefined ? null : v;
  }

  member(object: unknown, type: string, name: string): unknown {
    return HostObject.member(object, type, name);
  }

  method(object: unknown, type: string, name: string, args: readonly unknown[]): unknown {
    return (HostObject.method(object, type, name) as (...args: readonly unknown[]) => unknown)(...args);
  }

  bound(object: unknown, type: string, name: string): HostMethod {
    return HostObject.method(object, type, name);
  }

  attemptMethod(
    object: unknown,
    type: string,
    name: string,
    args: readonly unknown[],
    zero: unknown,
  ): [unknown, unknown] {
    return this.attempt(HostObject.method(object, type, name), args, zero);
  }

  /** `v, err := f()`: a fault becomes the second value; the first is then the zero value of its type. */
  attempt(
    fn: HostMethod | ((...args: unknown[]) => unknown),
    args: readonly unknown[],
    zero: unknown,
  ): [unknown, unknown] {
    const { depth, uninterrupted } = this;
    try {
      return [(fn as (...args: readonly unknown[]) => unknown)(...args) ?? null, null];
    } catch (fault) {
      if (!(fault instanceof TemplateFault) || fault instanceof FailFault) throw fault;
      this.depth = depth;
      this.uninterrupted = uninterrupted;
      return [zero, new ErrorValue(fault.message)];
    }
  }

  pending(v: unknown): v is PendingRead {
    return v instanceof PendingRead;
  }

  answered(v: unknown): unknown {
    if (v instanceof FailedRead) throw new TemplateFault(v.message);
    return v === undefined ? null : v;
  }

  fn(run: (...args: unknown[]) => unknown, suspends: boolean): FunctionValue {
    return new FunctionValue(run, suspends);
  }

  native(name: string): FunctionValue {
    return this.#source.native(name)(this);
  }

  /** Calls a function value to its end: what natives do with their callbacks. Bounded by fuel; it cannot wait. */
  call(fn: unknown, args: readonly unknown[]): unknown {
    const { run, suspends } = FunctionValue.parts(fn);
    this.enter();
    this.uninterrupted++;
    let result = run(...args);
    if (suspends) {
      const steps = result as Steps<unknown>;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) {
        if (step.value.kind === "read") throw new RestartNeeded(step.value.request);
      }
      result = step.value;
    }
    this.uninterrupted--;
    this.depth--;
    return result === undefined ? null : result;
  }

  *callG(fn: unknown, args: readonly unknown[]): Steps<unknown> {
    this.enter();
    this.charge(CALL_COST);
    // Functions that call each other are a loop, too.
    if (--this.fuel < 0 && this.due()) yield this.slice;
    const result = yield* callFunction(fn, args);
    this.depth--;
    return result;
  }

  several(v: unknown, count: number): unknown[] {
    if (!Array.isArray(v) || v.length !== count) throw new TemplateFault(`the function does not give ${count} values`);
    return v;
  }

  panic(v: unknown): never {
    throw new TemplateFault(text.textOf(v));
  }

  /** The run's one instant in milliseconds; undefined where the host gives none, so that equal inputs give equal bytes. */
  now(): number | undefined {
    return this.#environment.now;
  }

  /** The instant of the render in milliseconds, also where output is kept. */
  instant(): number {
    return this.#environment.instant ?? this.#environment.now ?? 0;
  }

  random(n: number): Uint8Array {
    return this.#environment.random?.(n) ?? randomBytes(n);
  }

  /** Whether this combination is asked for the first time in the run. */
  firstSeen(parts: readonly unknown[], textOf: (part: unknown) => string): boolean {
    return (this.#seen ??= new Seen()).first(parts, textOf);
  }
}
