/** Making plans: the trees with their value digests, files from blocks, and the identity over all of it. */
import { rootDigest, totalSize } from "./chunks.ts";
import { sha256 } from "./digest.ts";
import { ChunkedTree } from "./keyed-tree.ts";
import type {
  BackendRecord,
  Block,
  Digest,
  FileKind,
  KeyedTree,
  PlanBackend,
  PlanFile,
  PlanProfile,
  PlanSummary,
  RenderPlan,
} from "./types.ts";

/** Version of the plan's canonical encoding and of its blob. */
export const PLAN_SCHEMA_VERSION = 1;

export type PlanMap = RenderPlan["maps"] extends KeyedTree<infer V> ? V : never;

export const structureDigest = (value: Digest): Digest => value;
export const backendDigest = (value: PlanBackend): Digest =>
  sha256(value.digest + value.textDigest + value.residueDigest);
export const profileDigest = (value: PlanProfile): Digest => value.digest;
export const fileDigest = (value: PlanFile): Digest =>
  sha256(
    `${value.kind} ${value.digest} ${value.size} ${value.reloadOnChange} ${value.secret}${value.defaultFirst === false ? " no default" : ""}`,
  );
export const mapDigest = (value: PlanMap): Digest => sha256(`${value.ordered} ${value.fileDigest}`);

/** The parts of a plan, as trees that a render updates in place of rebuilding them. */
export interface PlanTrees {
  readonly structure: ChunkedTree<Digest>;
  readonly backends: ChunkedTree<PlanBackend>;
  readonly profiles: ChunkedTree<PlanProfile>;
  readonly files: ChunkedTree<PlanFile>;
  readonly maps: ChunkedTree<PlanMap>;
}

export function emptyTrees(): PlanTrees {
  return {
    structure: ChunkedTree.empty(structureDigest),
    backends: ChunkedTree.empty(backendDigest),
    profiles: ChunkedTree.empty(profileDigest),
    files: ChunkedTree.empty(fileDigest),
    maps: ChunkedTree.empty(mapDigest),
  };
}

/** The plan over these trees; its id is a Merkle root. */
export function assemblePlan(trees: PlanTrees): RenderPlan {
  const { structure, backends, profiles, files, maps } = trees;
  const roots = [structure, backends, profiles, files, maps].map((tree) => tree.digest).join(" ");
  return { id: sha256(`haptic-plan ${PLAN_SCHEMA_VERSION} ${roots}`), schemaVersion: PLAN_SCHEMA_VERSION, ...trees };
}

/** A file of these blocks, with its digest and size. */
export function planFile(
  path: string,
  kind: FileKind,
  blocks: readonly Block[],
  options: { readonly reloadOnChange?: boolean; readonly secret?: boolean; readonly before?: PlanFile } = {},
): PlanFile {
  return {
    path,
    kind,
    digest: rootDigest(blocks, options.before?.blocks),
    size: totalSize(blocks),
    reloadOnChange: options.reloadOnChange ?? true,
    blocks,
    secret: options.secret ?? kind === "cert",
  };
}

/** A backend of this record and section text. */
export function planBackend(record: BackendRecord, text: string): PlanBackend {
  const lines = meaningfulLines(text);
  return {
    record,
    digest: sha256(canonicalRecord(record)),
    textDigest: sha256(lines.join("\n")),
    residueDigest: sha256(lines.filter((line) => !isServerLine(line)).join("\n")),
  };
}

/** One text for one record: values at fixed places, absent ones null. */
function canonicalRecord(record: BackendRecord): string {
  const { name, guid, mode, balance, hashType, profile, defaultServer, body, comments, shape, shapeReason } = record;
  const servers = record.servers.map((server) => [
    server.name,
    server.address,
    server.port,
    server.weight,
    server.disabled,
    server.guid,
    server.comment,
    server.extra,
  ]);
  return JSON.stringify([
    name,
    guid,
    mode,
    balance,
    hashType,
    profile,
    defaultServer,
    body,
    comments,
    shape,
    shapeReason,
    servers,
  ]);
}

/** Lines that mean something to HAProxy (no comments, no blank lines), without surrounding blanks. */
export function meaningfulLines(text: string): string[] {
  const lines: string[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (line !== "" && !line.startsWith("#")) lines.push(line);
  }
  return lines;
}

export function isServerLine(line: string): boolean {
  return line.startsWith("server ") || line.startsWith("server\t");
}

export function planProfile(name: string, text: string): PlanProfile {
  return { name, text, digest: sha256(text) };
}

/** Figures for logs and reports. Costs a walk over the backends. */
export function summarize(plan: RenderPlan): PlanSummary {
  let servers = 0;
  for (const [, backend] of plan.backends.entries()) servers += backend.record.servers.length;
  let bytes = 0;
  for (const [, file] of plan.files.entries()) bytes += file.size;
  return { id: plan.id, backends: plan.backends.size, servers, files: plan.files.size, bytes };
}
