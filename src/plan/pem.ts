/** Reads PEM texts as HAProxy's runtime CLI takes them. */

const PEM_BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g;

/** The blocks of a PEM text, each ended by a line feed and without empty lines: one of those would end the payload. */
export function pemBlocks(pem: Uint8Array): { readonly label: string; readonly text: string }[] {
  const text = Buffer.from(pem.buffer, pem.byteOffset, pem.length).toString("utf8");
  return [...text.matchAll(PEM_BLOCK)].map(([block, label = ""]) => ({ label, text: withoutEmptyLines(block) }));
}

/** Each line trimmed, the last one ended by a line feed. */
export function withoutEmptyLines(text: string): string {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return `${lines.join("\n")}\n`;
}
