/**
 * What HAProxy's commands can carry: of a PEM file a chain goes in one payload, a CA file in as many as it has blocks; of a map or a
 * crt-list each entry in one. Each stays below the bound of the agent's contract.
 */
import { joinBlocks } from "./chunks.ts";
import type { PlanFile } from "./types.ts";

const PAYLOAD = 12 * 1024;
const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g;

/** What of a certificate or CA file is too large; undefined where it can be sent. */
export function oversized(file: PlanFile): string | undefined {
  if (file.size < PAYLOAD) return undefined;
  const blocks = [...joinBlocks(file.blocks).toString("latin1").matchAll(PEM_BLOCK)].map(([text, label = ""]) => ({
    bytes: text.replaceAll(/[ \t\r]|\n(?=\n)/g, "").length + 1,
    isKey: label.endsWith("PRIVATE KEY"),
  }));
  const sizes =
    file.kind === "ca"
      ? [Math.max(0, ...blocks.map(({ bytes }) => bytes))]
      : [false, true].map((key) => blocks.reduce((sum, { bytes, isKey }) => (isKey === key ? sum + bytes : sum), 0));
  const largest = Math.max(...sizes);
  if (largest < PAYLOAD) return undefined;
  const what = file.kind === "ca" ? "one of its blocks" : largest === sizes[1] ? "its key" : "its chain";
  return `${what} has ${largest} bytes, more than the ${PAYLOAD} that HAProxy takes at run time`;
}

/** Whether an entry of a map or a crt-list, as a line, can be sent. */
export const isTooLong = (line: string): boolean =>
  line.length * 3 >= PAYLOAD && Buffer.byteLength(line) + 1 >= PAYLOAD;

/** Whether a file has a line that cannot be sent. */
export function hasLongLine({ blocks }: PlanFile): boolean {
  return blocks.some(
    ({ bytes }) => bytes.length >= PAYLOAD && Buffer.from(bytes).toString("utf8").split("\n").some(isTooLong),
  );
}
