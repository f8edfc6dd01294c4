/** Collects what a difference asks for: operations in their order of safety, and reasons for a reload. */
import type { Op, OpKind } from "./ops.ts";
import { MAX_REASONS, moreReasons, type ReasonDetails, reloadReason, type ReloadReason } from "./reasons.ts";
import type { ReloadRuleName } from "./reload-rules.ts";

/** The worker's inventory as the agent reports it; paths as in the manifest. */
export interface LoadedFiles {
  readonly maps: ReadonlySet<string>;
  readonly certs: ReadonlySet<string>;
  readonly caFiles: ReadonlySet<string>;
  readonly crtLists: ReadonlySet<string>;
  /** Absent where the agent does not say. */
  readonly crlFiles?: ReadonlySet<string>;
}

/**
 * The order in which operations are safe: what new entries point to comes first (certificates and settings before the backends
 * and servers that use them; servers that start before servers that stop, so that no backend is without one in between), then the
 * entries, then what nothing points to any more goes.
 */
const STAGES = [
  "certs",
  "settings",
  "create",
  "servers",
  "stop",
  "crtAdd",
  "mapAdd",
  "mapDel",
  "crtDel",
  "remove",
  "settingsDel",
  "certDel",
] as const;
export type Stage = (typeof STAGES)[number];

export interface LedgerOptions {
  readonly version: number;
  readonly supported: ReadonlySet<OpKind>;
  readonly loaded: LoadedFiles | undefined;
  readonly waitMs: number;
}

export class Ledger {
  readonly version: number;
  readonly waitMs: number;
  /** Backends added or removed: each costs more than other operations the more backends there are. */
  backendChanges = 0;
  readonly #supported: ReadonlySet<OpKind>;
  readonly #loaded: LoadedFiles | undefined;
  /** By rule, and of each as many as can be told. */
  readonly #reasons = new Map<ReloadRuleName, ReloadReason[]>();
  readonly #reasonTexts = new Set<string>();
  readonly #stages = new Map<Stage, Op[]>(STAGES.map((stage) => [stage, []]));
  readonly #loading = new Set<string>();
  readonly #stopped: Op[] = [];
  #count = 0;

  constructor({ version, supported, loaded, waitMs }: LedgerOptions) {
    this.version = version;
    this.#supported = supported;
    this.#loaded = loaded;
    this.waitMs = waitMs;
  }

  /** Notes why a reload is needed. The text names a section, backend or file, never content; `details` are asked of what is told. */
  reload(rule: ReloadRuleName, text: string, details: () => ReasonDetails = () => ({})): void {
    if (this.#reasonTexts.has(text)) return;
    this.#reasonTexts.add(text);
    const told = this.#reasons.get(rule) ?? [];
    if (told.length === 0) this.#reasons.set(rule, told);
    if (told.length < MAX_REASONS) told.push(reloadReason(rule, text, details()));
  }

  add(stage: Stage, ops: readonly Op[]): void {
    for (const op of ops) {
      if (!this.supports(op.kind))
        this.reload("agent-operation", `the agent does not know the operation ${op.kind}`, () => ({ field: op.kind }));
    }
    (this.#stages.get(stage) as Op[]).push(...ops);
    this.#count += ops.length;
  }

  supports(kind: OpKind): boolean {
    return this.#supported.has(kind);
  }

  /** Whether the worker has the file; undefined = nobody says. An agent without operations for CA files does not list them. */
  holds(kind: keyof LoadedFiles, path: string): boolean | undefined {
    if (kind === "caFiles" && !this.supports("ca_set")) return undefined;
    return this.#loaded?.[kind]?.has(path);
  }

  /** A certificate or CA file that the worker is to have before servers and crt-lists name it. */
  load(kind: "cert" | "ca", path: string): void {
    if (this.#loading.has(path)) return;
    this.#loading.add(path);
    const verb = this.holds(kind === "cert" ? "certs" : "caFiles", path) === true ? "set" : "new";
    this.add("certs", [{ kind: `${kind}_${verb}`, path }]);
  }

  /** At least one of each kind before a second one of any, so that many of one kind do not hide another. */
  get reasons(): readonly ReloadReason[] {
    const lists = [...this.#reasons.values()];
    const deepest = Math.max(0, ...lists.map((list) => list.length));
    const chosen = Array.from({ length: deepest }, (_, i) => lists.flatMap((list) => list.slice(i, i + 1))).flat();
    const count = this.#reasonTexts.size;
    if (count <= MAX_REASONS) return chosen;
    return [...chosen.slice(0, MAX_REASONS - 1), moreReasons(count - MAX_REASONS + 1)];
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
    const servers = this.#stages.get("servers") as Op[];
    const ops = [...servers, ...(this.#stages.get("stop") as Op[]), ...this.#stopped].filter(
      (op) => !this.#waiting(op, servers),
    );
    return ops.every((op) => this.#supported.has(op.kind)) ? ops : [];
  }

  /** A new server that names a file which comes with the reload. */
  #waiting(op: Op, servers: readonly Op[]): boolean {
    if (this.#loading.size === 0 || (op.kind !== "server_add" && op.kind !== "server_enable")) return false;
    const add = op.kind === "server_add" ? op : servers.find((other) => isAddOf(other, op));
    return add?.keywords?.some(({ args }) => args.some((arg) => this.#loading.has(arg))) === true;
  }
}

function isAddOf(add: Op, op: Op): boolean {
  return add.kind === "server_add" && add.backend === op.backend && add.server === op.server;
}
