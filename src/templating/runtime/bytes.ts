/**
 * Bytes in strings. The language's strings are bytes, JavaScript's are not: a byte that is no UTF-8 is kept as a lone low
 * surrogate (U+DC80 … U+DCFF for 0x80 … 0xFF), which no valid text holds, so that a round trip gives the same bytes.
 */

/** Text of bytes; the way back is `bytesOfText`. */
export function textOfBytes(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString("utf8");
  if (!text.includes("\uFFFD")) return text;
  const parts: string[] = [];
  let from = 0;
  let at = 0;
  while (at < buffer.length) {
    const length = sequenceLength(buffer, at);
    if (length > 0) {
      at += length;
      continue;
    }
    parts.push(buffer.toString("utf8", from, at), String.fromCharCode(0xdc00 + buffer[at]!));
    from = ++at;
  }
  parts.push(buffer.toString("utf8", from));
  return parts.join("");
}

/** Bytes of a text: UTF-8, with escaped bytes as they were. A lone surrogate of another kind becomes U+FFFD. */
export function bytesOfText(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts: Buffer[] = [];
  let from = 0;
  for (const { 0: byte, index } of text.matchAll(/[\uDC80-\uDCFF]/gu)) {
    parts.push(Buffer.from(text.slice(from, index)), Buffer.from([byte.charCodeAt(0) - 0xdc00]));
    from = index + 1;
  }
  parts.push(Buffer.from(text.slice(from)));
  return Buffer.concat(parts);
}

/** Length of the well-formed UTF-8 sequence at an offset (Unicode, table 3-7); 0 = there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return 1;
  const length =
    first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  const second = bytes[at + 1]!;
  const least = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const most = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return 0;
  for (let i = at + 2; i < at + length; i++) if ((bytes[i]! & 0xc0) !== 0x80) return 0;
  return length;
}
