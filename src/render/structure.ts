/**
 * The structure of haproxy.cfg: what only a reload changes. Its own text by section, and what mounted snippets write
 * outside declared backends, each under the section that the mount stands in.
 */
import { mountDiscriminator, PREAMBLE, SECTION_ORDER, sha256, structureKey, structurePieces } from "../plan/index.ts";
import type { Digest } from "../plan/types.ts";
import { type Place, resolveText, type Segment } from "./output.ts";

/** Where haproxy.cfg mounts a snippet. */
interface Mount {
  readonly snippet: string;
  readonly header: string;
}

/** Keys of the structure tree to set, or to remove. */
export type StructureChanges = Map<string, Digest | undefined>;

const NOTHING: readonly string[] = [];

export class ConfigStructure {
  #own: ReadonlyMap<string, Digest> = new Map();
  #mounts: readonly Mount[] = [];
  /** Snippet → instance key → digest of its text outside declared backends, where there is any. */
  readonly #residues = new Map<string, Map<string, Digest>>();

  /** Takes an instance's text without its backends; "" when it has none, or left. Gives the keys that it has changed. */
  setResidue(snippet: string, key: string, text: string, changes: StructureChanges): readonly string[] {
    const residues = this.#residuesOf(snippet);
    const pieces = text.trim() === "" ? [] : structurePieces(text, "").pieces;
    const digest = pieces.length === 0 ? undefined : sha256(pieces.map((piece) => piece.digest).join(" "));
    if (residues.get(key) === digest) return NOTHING;
    if (digest === undefined) residues.delete(key);
    else residues.set(key, digest);
    const changed = this.#mounts.flatMap((mount, index) =>
      mount.snippet === snippet ? [mountKey(mount.header, index, snippet, key)] : [],
    );
    for (const each of changed) changes.set(each, digest);
    return changed;
  }

  /** Takes the output of haproxy.cfg's own template. */
  setMain(segments: readonly Segment[]): StructureChanges {
    const { own, mounts } = readMain(segments);
    const changes: StructureChanges = new Map(own);
    for (const key of this.#own.keys()) if (!own.has(key)) changes.set(key, undefined);
    this.#own = own;
    if (!sameMounts(mounts, this.#mounts)) {
      this.#eachResidue(this.#mounts, (key) => changes.set(key, undefined));
      this.#eachResidue(mounts, (key, digest) => changes.set(key, digest));
      this.#mounts = mounts;
    }
    return changes;
  }

  #eachResidue(mounts: readonly Mount[], each: (key: string, digest: Digest) => void): void {
    mounts.forEach(({ snippet, header }, index) => {
      for (const [key, digest] of this.#residuesOf(snippet)) each(mountKey(header, index, snippet, key), digest);
    });
  }

  #residuesOf(snippet: string): Map<string, Digest> {
    let residues = this.#residues.get(snippet);
    if (residues === undefined) this.#residues.set(snippet, (residues = new Map()));
    return residues;
  }
}

function readMain(segments: readonly Segment[]): { own: Map<string, Digest>; mounts: Mount[] } {
  const own = new Map<string, Digest>();
  const mounts: Mount[] = [];
  const counts = new Map<string, number>();
  const headers: string[] = [];
  let header = PREAMBLE;
  let run: (string | Place)[] = [];
  const flush = (): void => {
    const cut = structurePieces(
      resolveText(run, () => ""),
      header,
    );
    for (const piece of cut.pieces) {
      const count = counts.get(piece.header) ?? 0;
      counts.set(piece.header, count + 1);
      own.set(structureKey(piece.header, `text ${count}`), piece.digest);
      headers.push(piece.header);
    }
    header = cut.header;
    run = [];
  };
  for (const segment of segments) {
    if (typeof segment === "object" && segment.kind === "mount") {
      flush();
      mounts.push({ snippet: segment.snippet, header });
    } else {
      run.push(segment);
    }
  }
  flush();
  own.set(structureKey(SECTION_ORDER, ""), sha256(headers.join("\n")));
  return { own, mounts };
}

function mountKey(header: string, index: number, snippet: string, key: string): string {
  return structureKey(header, mountDiscriminator(index, snippet, key));
}

function sameMounts(a: readonly Mount[], b: readonly Mount[]): boolean {
  return (
    a.length === b.length && a.every((mount, i) => mount.snippet === b[i]?.snippet && mount.header === b[i]?.header)
  );
}
