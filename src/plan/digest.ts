/** Digests and canonical encodings that the plan's identity rests on. Changing any of them changes every plan id. */
import { hash } from "node:crypto";
import type { Digest } from "./types.ts";

/** Lower-case hex SHA-256 of text (as UTF-8) or bytes. */
export function sha256(data: string | Uint8Array): Digest {
  return hash("sha256", data, "hex");
}

/** Length-prefixed, so that no choice of parts can imitate another. */
export function field(text: string): string {
  return `${text.length}:${text}`;
}

/** JSON with sorted object keys and without undefined members: one text for one value. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const record = value as Record<string, unknown>;
    const parts: string[] = [];
    for (const key of Object.keys(record).sort()) {
      if (record[key] !== undefined) parts.push(`${JSON.stringify(key)}:${canonicalJson(record[key])}`);
    }
    return `{${parts.join(",")}}`;
  }
  return JSON.stringify(value ?? null);
}
