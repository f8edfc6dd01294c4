/**
 * What HAProxy's commands can carry: of a PEM file a chain goes in one payload, a CA file in as many as it has blocks; of a map or a
 * crt-list each entry in one. Each stays below the bound of the agent's contract.
 */
import { joinBlocks } from "./chunks.ts";
import { pemBlocks } from "./pem.ts";
import type { PlanFile } from "./types.ts";

/** Command lines and payloads stay below this; above tune.bufsize HAProxy applies nothing or, worse, a part. */
export const LINE_LIMIT = 12 * 1024;

/** What of a certificate or CA file is too large; undefined where it can be sent. */
export function oversized(file: PlanFile): string | undefined {
  if (file.size < LINE_LIMIT) return undefined;
  const blocks = pemBlocks(joinBlocks(file.blocks)).map(({ label, text }) => ({
    bytes: Buffer.byteLength(text),
    isKey: label.endsWith("PRIVATE KEY"),
  }));
  const sizes =
    file.kind === "ca"
      ? [Math.max(0, ...blocks.map(({ bytes }) => bytes))]
      : [false, true].map((key) => blocks.reduce((sum, { bytes, isKey }) => (isKey === key ? sum + bytes : sum), 0));
  const largest = Math.max(...sizes);
  if (largest < LINE_LIMIT) return undefined;
  const what = file.kind === "ca" ? "one of its blocks" : largest === sizes[1] ? "its key" : "its chain";
  return `${what} has ${largest} bytes, more than the ${LINE_LIMIT} that HAProxy takes at run time`;
}

/** Whether an entry of a map or a crt-list, as a line, can be sent. */
export const isTooLong = (line: string): boolean =>
  line.length * 3 >= LINE_LIMIT && Buffer.byteLength(line) + 1 >= LINE_LIMIT;

/** Whether a file has a line that cannot be sent. */
export function hasLongLine({ blocks }: PlanFile): boolean {
  return blocks.some(
    ({ bytes }) => bytes.length >= LINE_LIMIT && Buffer.from(bytes).toString("utf8").split("\n").some(isTooLong),
  );
}
