/**
 * The render plan: what a render declares of its own structure, so that two renders can be compared without parsing
 * haproxy.cfg. Files and records are trees of hashed chunks whose borders depend on content and keys only, never on
 * history: equal inputs give equal trees, one change costs its own path.
 */

import type { Op } from "./ops.ts";
import type { ReloadReason } from "./reasons.ts";

/** Lower-case hex SHA-256. */
export type Digest = string;

/** One block of a file: about 16 KiB, ends at a line end, cut at component borders. */
export interface Block {
  readonly digest: Digest;
  readonly size: number;
  /** The content; empty (though `size` is not 0) in a plan that was read back from a blob, but for maps and crt-lists. */
  readonly bytes: Uint8Array;
}

/** File kinds of the agent's contract. */
export type FileKind = "config" | "map" | "cert" | "ca" | "crtlist" | "general";

/** One rendered file. `digest` = SHA-256 over its blocks' digests and sizes (see plan/chunks.ts), not over the bytes. */
export interface PlanFile {
  /** Relative to the agent's base directory, canonical: `haproxy.cfg`, `maps/host.map`, `ssl/example_com.pem`. */
  readonly path: string;
  readonly kind: FileKind;
  readonly digest: Digest;
  readonly size: number;
  readonly reloadOnChange: boolean;
  readonly blocks: readonly Block[];
  /** Of a crt-list: false = its first entry is no default certificate (strict-sni). */
  readonly defaultFirst?: boolean;
  /** Holds key material: never logged, never published but as a Secret. */
  readonly secret: boolean;
}

export interface ServerRecord {
  readonly name: string;
  /** Literal IP address (no brackets). */
  readonly address: string;
  readonly port: number;
  /** 0–256; undefined = HAProxy's default (1), as written in the section. */
  readonly weight?: number;
  readonly disabled?: boolean;
  readonly guid?: string;
  readonly comment?: string;
  /** Further keywords as written after the address, e.g. `check inter 2s`. */
  readonly extra?: string;
}

/** What planRegistry.Backend declares (seeds, "planRegistry"; behaviour.md §1.9). Unknown keys are refused. */
export interface BackendRecord {
  readonly name: string;
  readonly guid?: string;
  readonly mode?: string;
  readonly balance?: string;
  readonly hashType?: string;
  /** Name of the `defaults` section that the backend inherits from, as planRegistry.Profile returned it. */
  readonly profile?: string;
  readonly defaultServer?: string;
  /** Free text inside the section beside the servers; empty for a dynamic backend. */
  readonly body?: string;
  readonly comments?: readonly string[];
  readonly servers: readonly ServerRecord[];
  /** dynamic = everything HAProxy must know is in profile, guid and servers. */
  readonly shape: "dynamic" | "structural";
  readonly shapeReason?: string;
}

/** A backend as the plan holds it: the record and digests of what it says. */
export interface PlanBackend {
  readonly record: BackendRecord;
  /** Of the record's canonical form. */
  readonly digest: Digest;
  /** Of the section's text without comments and blank lines. */
  readonly textDigest: Digest;
  /** Of the same without server lines: what only a reload changes. */
  readonly residueDigest: Digest;
  /** The object whose template run declared it, `Kind namespace/name`; no part of the identity. */
  readonly origin?: string;
}

export interface PlanProfile {
  readonly name: string;
  readonly text: string;
  readonly digest: Digest;
}

export interface MapEntry {
  readonly key: string;
  readonly value: string;
}

/** A part of a keyed tree: entries sorted by key; its borders depend on the keys alone. */
export interface TreeChunk<V> {
  readonly digest: Digest;
  readonly keys: readonly string[];
  readonly values: readonly V[];
}

/** A keyed tree; equal content has an equal digest, whatever the order of changes that led to it. */
export interface KeyedTree<V> {
  readonly digest: Digest;
  readonly size: number;
  readonly chunks: readonly TreeChunk<V>[];
  get(key: string): V | undefined;
  entries(): IterableIterator<[string, V]>;
  values(): IterableIterator<V>;
}

/** A place in a template, and the object that holds the template. */
export interface TemplatePlace {
  /** `HAProxyTemplateConfig default/x`, or a library. */
  readonly object: string;
  /** `haproxyConfig.template line 12` */
  readonly field: string;
}

/** The configuration that a plan was rendered by. */
export interface PlanConfiguration {
  /** Digest of all that it says: where it is another one, the configuration has changed. */
  readonly id: Digest;
  /** `HAProxyTemplateConfig default/x`; "" where it is not known. */
  readonly name: string;
  /** Where the templates write a section, or the line of it that is given. */
  place(section: string, line?: string): TemplatePlace | undefined;
}

/** What a render knows of who made the parts of its plan; told in reasons. No part of the plan's identity, and not in its blob. */
export interface PlanOrigins {
  readonly configuration: PlanConfiguration;
  /**
   * Objects whose change led to the run that made a part what it is: by structure key, `file PATH`, `backend NAME`, `profile NAME`.
   * Also of parts that are gone since. What a first run made is not here.
   */
  readonly objects: ReadonlyMap<string, string>;
}

export interface RenderPlan {
  /** Merkle root over everything below: the plan's identity (`plan_id` of the agent's contract). */
  readonly id: Digest;
  readonly schemaVersion: number;
  /** haproxy.cfg with each declared backend section and profile replaced by a token line: digest of what only a reload changes. */
  readonly structure: KeyedTree<Digest>;
  readonly backends: KeyedTree<PlanBackend>;
  readonly profiles: KeyedTree<PlanProfile>;
  /** Keyed by path. */
  readonly files: KeyedTree<PlanFile>;
  /** Keyed by path; `ordered` as declared for the map. */
  readonly maps: KeyedTree<{ readonly ordered: boolean; readonly fileDigest: Digest }>;
  readonly origins?: PlanOrigins;
}

/** Outcome of comparing a plan with what one pod holds. */
export interface PlanDiff {
  readonly verdict: "noop" | "runtime" | "file_only" | "reload";
  /** Why a reload is needed, at most eight (empty for other verdicts). */
  readonly reloads: readonly ReloadReason[];
  /** The texts of `reloads`. */
  readonly reasons: readonly string[];
  readonly ops: readonly Op[];
  /** What may run at once where a reload is needed and has to wait: servers of backends that stay. */
  readonly inPlaceOps: readonly Op[];
  /** Files whose content changed or appeared, and paths that are gone. */
  readonly changed: readonly PlanFile[];
  readonly removed: readonly string[];
}

/** Figures of a plan for logs and reports. */
export interface PlanSummary {
  readonly id: Digest;
  readonly backends: number;
  readonly servers: number;
  readonly files: number;
  readonly bytes: number;
}
