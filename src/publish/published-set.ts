/** What a plan looks like when it is published: haproxy.cfg, and an object for each other file. */
import { sha256 } from "../plan/index.ts";
import type { Pause, PlanFile, RenderPlan } from "../plan/index.ts";
import type { FileReference, HAProxyCfgStatus } from "../config/index.ts";
import { PublishError } from "../errors.ts";
import { assertReadable, checksumOf } from "./content.ts";
import { carrierOf, type Carrier, type FileList, fileObjectName } from "./names.ts";

export interface FileObject {
  readonly carrier: Carrier;
  readonly name: string;
  readonly path: string;
  readonly checksum: string;
  readonly file: PlanFile;
}

export interface PublishedSet {
  readonly planId: string;
  readonly cfg: PlanFile;
  /** Of haproxy.cfg alone. */
  readonly checksum: string;
  /** Of all other files: their uses, paths and checksums. */
  readonly setId: string;
  readonly files: readonly FileObject[];
  readonly totalBytes: number;
}

/** Checksums by what the plan says a file is, so that a file that stayed is not hashed again. Keeps those of the last two sets. */
export class Checksums {
  #former = new Map<string, string>();
  #present = new Map<string, string>();

  /** What was asked for before the former call and not since is forgotten. */
  turn(): void {
    this.#former = this.#present;
    this.#present = new Map();
  }

  async of(file: PlanFile, pause: Pause): Promise<string> {
    const key = `${file.digest} ${file.size}`;
    const found = this.#present.get(key) ?? this.#former.get(key) ?? (await checksumOf(file, pause));
    this.#present.set(key, found);
    return found;
  }

  /** One that was asked for lately; undefined = not known. */
  known(file: PlanFile): string | undefined {
    const key = `${file.digest} ${file.size}`;
    return this.#present.get(key) ?? this.#former.get(key);
  }
}

/** haproxy.cfg of a plan. Throws PublishError where it has none. */
export function mainFile(plan: RenderPlan): PlanFile {
  for (const [, file] of plan.files.entries()) if (file.kind === "config") return file;
  throw new PublishError("Invalid", `plan ${plan.id.slice(0, 12)} has no haproxy.cfg`);
}

/** Names every object of the set. Throws PublishError for a file that cannot be published. */
export async function describeSet(
  plan: RenderPlan,
  parent: { readonly name: string; readonly uid: string },
  checksums: Checksums,
  pause: Pause,
): Promise<PublishedSet> {
  const files: FileObject[] = [];
  const cfg = mainFile(plan);
  let totalBytes = 0;
  let sinceHashing = 0;
  for (const [path, file] of plan.files.entries()) {
    totalBytes += file.size;
    assertReadable(file);
    // Thousands of small files are long work, too.
    if (++sinceHashing % 64 === 0) await pause();
    if (file.kind === "config") continue;
    const carrier = carrierOf(file.kind, file.secret);
    const checksum = await checksums.of(file, pause);
    files.push({ carrier, path, checksum, file, name: fileObjectName(carrier, path, checksum, parent) });
  }
  const lines = files.map(({ carrier, path, checksum }) => `${carrier.list} ${carrier.kind} ${path} ${checksum}`);
  return {
    planId: plan.id,
    cfg,
    checksum: await checksums.of(cfg, pause),
    setId: `content-sha256:${sha256(lines.sort().join("\n"))}`,
    files,
    totalBytes,
  };
}

/** The lists of `status.auxiliaryFiles`; empty ones are left out. */
function referencesOf(
  set: PublishedSet,
  namespace: string,
): { readonly setID: string } & Partial<Record<FileList, readonly FileReference[]>> {
  const lists: Partial<Record<FileList, FileReference[]>> = {};
  for (const { carrier, name } of set.files) (lists[carrier.list] ??= []).push({ kind: carrier.kind, name, namespace });
  return { setID: set.setId, ...lists };
}

/** What the status of a HAProxyCfg says of its set; written with it. */
export function factsOf(
  set: PublishedSet,
  namespace: string,
  plans: { renderedAt(planId: string): string | undefined; readonly accepted: { readonly at: string } },
): Pick<HAProxyCfgStatus, "auxiliaryFiles" | "metadata"> {
  const renderedAt = plans.renderedAt(set.planId);
  return {
    auxiliaryFiles: referencesOf(set, namespace),
    metadata: {
      contentSize: set.cfg.size,
      totalSize: set.totalBytes,
      ...(renderedAt !== undefined && { renderedAt }),
      validatedAt: plans.accepted.at,
    },
  };
}
