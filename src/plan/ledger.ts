/** Collects what a difference asks for: operations in their order of safety, and reasons for a reload. */
import type { Op, OpKind } from "./ops.ts";

/** The worker's inventory as the agent reports it; paths as in the manifest. */
export interface LoadedFiles {
  readonly maps: ReadonlySet<string>;
  readonly certs: ReadonlySet<string>;
  readonly caFiles: ReadonlySet<string>;
  readonly crtLists: ReadonlySet<string>;
}

/**
 * The order in which operations are safe: what new entries point to comes first (backends, servers, certificates; servers
 * that start before servers that stop, so that no backend is without one in between), then the entries, then what nothing
 * points to any more goes.
 */
const STAGES = ["create", "servers", "stop", "certs", "crtAdd", "mapAdd", "mapDel", "crtDel", "remove"] as const;
export type Stage = (typeof STAGES)[number];

/** Reasons kept of one difference; more are counted. */
const MAX_REASONS = 20;

export class Ledger {
  readonly version: number;
  readonly loaded: LoadedFiles | undefined;
  readonly waitMs: number;
  /** Backends added or removed: each costs more than other operations the more backends there are. */
  backendChanges = 0;
  readonly #supported: ReadonlySet<OpKind>;
  readonly #reasons: string[] = [];
  #moreReasons = 0;
  readonly #stages = new Map<Stage, Op[]>(STAGES.map((stage) => [stage, []]));
  readonly #stopped: Op[] = [];
  #count = 0;

  constructor(version: number, supported: ReadonlySet<OpKind>, loaded: LoadedFiles | undefined, waitMs: number) {
    this.version = version;
    this.#supported = supported;
    this.loaded = loaded;
    this.waitMs = waitMs;
  }

  /** Notes why a reload is needed. The reason names a section, backend or file, never content. */
  reload(reason: string): void {
    if (this.#reasons.length < MAX_REASONS) this.#reasons.push(reason);
    else this.#moreReasons++;
  }

  add(stage: Stage, ops: readonly Op[]): void {
    for (const op of ops) {
      if (!this.#supported.has(op.kind)) this.reload(`the agent does not know the operation ${op.kind}`);
    }
    (this.#stages.get(stage) as Op[]).push(...ops);
    this.#count += ops.length;
  }

  get reasons(): readonly string[] {
    const unique = [...new Set(this.#reasons)];
    return this.#moreReasons === 0 ? unique : [...unique, `and ${this.#moreReasons} more`];
  }

  get count(): number {
    return this.#count;
  }

  ops(): Op[] {
    return STAGES.flatMap((stage) => this.#stages.get(stage) as Op[]);
  }

  /** A server of a backend that stays is gone: until a reload removes it, it takes no traffic. */
  stopInPlace(backend: string, server: string): void {
    this.#stopped.push({ kind: "server_disable", backend, server });
  }

  /**
   * What may run while a reload is awaited: servers of backends that are there before and after it. The reload makes up for
   * what cannot be done, and for the order in which this comes to a worker that is behind.
   */
  inPlace(): Op[] {
    const ops = [...(this.#stages.get("servers") as Op[]), ...(this.#stages.get("stop") as Op[]), ...this.#stopped];
    return ops.every((op) => this.#supported.has(op.kind)) ? ops : [];
  }
}
