/**
 * The structure tree: text of haproxy.cfg outside declared backends and profiles, cut at section headers so that a
 * reload's reason can name the section. Only lines without indentation are looked at; nothing is parsed further.
 */
import { sha256 } from "./digest.ts";
import type { Digest } from "./types.ts";

/** First words of lines that begin a section. */
const HEADERS = new Set([
  "acme",
  "backend",
  "cache",
  "crt-store",
  "defaults",
  "dynamic-update",
  "fcgi-app",
  "frontend",
  "global",
  "healthcheck",
  "http-errors",
  "listen",
  "log-forward",
  "log-profile",
  "mailers",
  "peers",
  "program",
  "resolvers",
  "ring",
  "traces",
  "userlist",
]);

/** The first word of a line that begins a section; undefined for any other line. */
export function sectionKeyword(line: string): string | undefined {
  const word = /^[a-z-]+(?=\s|$)/.exec(line)?.[0];
  return word !== undefined && HEADERS.has(word) ? word : undefined;
}

const SEPARATOR = "\t";

/** Where the text before the first header belongs. */
export const PREAMBLE = "head of haproxy.cfg";

/** Headers of keys that stand for no section. */
export const SECTION_ORDER = "the order of sections";
export const POST_PROCESSING = "postProcessing of haproxy.cfg";

/** A piece of text under one header. */
export interface StructurePiece {
  readonly header: string;
  readonly digest: Digest;
}

/**
 * Cuts text at section headers. `header` is the section that the text begins in. Blank lines and comments mean nothing to
 * HAProxy and are left out, but for a comment that continues a line (the line before ends with a backslash).
 */
export function structurePieces(
  text: string,
  header: string,
): { readonly pieces: readonly StructurePiece[]; readonly header: string } {
  const pieces: StructurePiece[] = [];
  let current = header;
  let body = "";
  const flush = (): void => {
    if (body !== "") pieces.push({ header: current, digest: sha256(body) });
    body = "";
  };
  let continued = false;
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (line === "" || (line.startsWith("#") && !continued)) continue;
    continued = line.endsWith("\\");
    if (sectionKeyword(raw) !== undefined) {
      flush();
      current = line.replace(/\s+/g, " ");
    }
    body += `${raw.trimEnd()}\n`;
  }
  flush();
  return { pieces, header: current };
}

/** Key of a piece in the structure tree: its section, then what tells pieces of one section apart. */
export function structureKey(header: string, discriminator: string): string {
  return header + SEPARATOR + discriminator;
}

/** Discriminator of what a mounted snippet writes for one object (`namespace\0name`), for the nth mount of haproxy.cfg. */
export function mountDiscriminator(index: number, snippet: string, key: string): string {
  return `mount ${index} ${snippet} ${key}`;
}

/** The snippet and the object (`namespace/name`) whose text a key stands for; no snippet for haproxy.cfg's own text. */
export function sourceOf(key: string): { readonly snippet?: string; readonly object: string } {
  const match = /^mount \d+ (.+) (\S*)$/s.exec(key.slice(key.indexOf(SEPARATOR) + 1));
  if (match === null) return { object: "" };
  return { snippet: match[1] as string, object: (match[2] as string).replace(/^\0/, "").replace("\0", "/") };
}

/** The section that a key of the structure tree belongs to. */
export function sectionOf(key: string): string {
  return key.split(SEPARATOR, 1)[0] as string;
}
