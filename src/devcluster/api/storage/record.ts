/** One version of one object, as it is stored. */
import type { ApiObject } from "../objects.ts";

export interface StoredVersion {
  /** `namespace/name`, or the bare name of a cluster-scoped object: the order of lists. */
  readonly key: string;
  readonly namespace: string;
  readonly object: ApiObject;
  readonly revision: number;
  /** What served views made of this version, each once: bytes are shared by every list and watch. */
  readonly encodings: Map<object, unknown>;
}

export const storedVersion = (key: string, object: ApiObject, revision: number): StoredVersion => ({
  key,
  namespace: object.metadata.namespace ?? "",
  object,
  revision,
  encodings: new Map(),
});

/** One change of one object. `before` is absent for a creation, `after` for a deletion. */
export interface Change {
  readonly revision: number;
  readonly before: StoredVersion | undefined;
  /** The new version; for a deletion the last state, carrying the revision of the deletion. */
  readonly after: StoredVersion;
  readonly deleted: boolean;
  /** Bytes of watch events, each once (see http/watch-lines.ts). */
  readonly encodings: Map<object, unknown>;
}
