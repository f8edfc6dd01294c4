/** Archives. */
import { gunzipSync } from "node:zlib";
import { bytesOfText, textOfBytes } from "../runtime/bytes.ts";
import { TemplateFault } from "../runtime/faults.ts";
import { setMember } from "../runtime/guards.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { define, type TemplateFunction } from "./define.ts";

const MOST_ENTRIES = 4096;
const MOST_FILE = 8 * 1024 * 1024;
const MOST_TOTAL = 32 * 1024 * 1024;
const MOST_STREAM = 64 * 1024 * 1024;
const BLOCK = 512;

const refuse = (why: string): never => {
  throw new TemplateFault(`untar_gz: ${why}`);
};

function inflated(packed: Buffer): Buffer {
  try {
    return gunzipSync(packed, { maxOutputLength: MOST_STREAM });
  } catch (error) {
    const { code } = error as { readonly code?: string };
    return refuse(
      code === "ERR_BUFFER_TOO_LARGE"
        ? `the unpacked stream is larger than ${MOST_STREAM} bytes`
        : "this is no gzip data",
    );
  }
}

/** Text of a header's field: up to the first NUL. */
function field(header: Buffer, from: number, length: number): string {
  const bytes = header.subarray(from, from + length);
  const end = bytes.indexOf(0);
  return textOfBytes(end === -1 ? bytes : bytes.subarray(0, end));
}

function octal(header: Buffer, from: number, length: number): number {
  const text = field(header, from, length).trim();
  return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : refuse("a header of the archive cannot be read");
}

/** Whether the header's checksum is right: the sum of its bytes, its own field counted as blanks. */
function sound(header: Buffer): boolean {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= 148 && i < 156 ? 32 : header[i]!;
  return sum === octal(header, 148, 8);
}

/** Records `LENGTH KEY=VALUE\n` of a pax header that matter here. */
function paxRecords(body: Buffer): { readonly path?: string; readonly size?: number } {
  const found: { path?: string; size?: number } = {};
  let at = 0;
  while (at < body.length && body[at] !== 0) {
    const blank = body.indexOf(32, at);
    const length = Number(body.toString("latin1", at, blank));
    if (blank === -1 || !(length > blank - at + 1) || at + length > body.length) refuse("a pax header cannot be read");
    const record = textOfBytes(body.subarray(blank + 1, at + length - 1));
    const equals = record.indexOf("=");
    if (record.slice(0, equals) === "path") found.path = record.slice(equals + 1);
    if (record.slice(0, equals) === "size") found.size = Number(record.slice(equals + 1));
    at += length;
  }
  return found;
}

function safePath(name: string): string {
  const parts = name.split("/").filter((part) => part !== "." && part !== "");
  if (name.startsWith("/") || parts.includes("..") || parts.length === 0 || name.includes("\\"))
    refuse(`the entry ${JSON.stringify(name)} would leave its folder`);
  return parts.join("/");
}

function untar(stream: Buffer): Map<string, string> {
  const files = new Map<string, string>();
  let entries = 0;
  let total = 0;
  let next: { path?: string | undefined; size?: number | undefined } = {};
  let at = 0;
  for (;;) {
    if (at + BLOCK > stream.length) refuse("the archive is cut off");
    const header = stream.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return files;
    if (!sound(header)) refuse("this is no tar archive");
    if (++entries > MOST_ENTRIES) refuse(`the archive has more than ${MOST_ENTRIES} entries`);
    const type = String.fromCharCode(header[156]!);
    const own = octal(header, 124, 12);
    const size = "xgLK".includes(type) ? own : (next.size ?? own);
    const body = stream.subarray(at + BLOCK, at + BLOCK + size);
    if (body.length < size) refuse("the archive is cut off");
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (type === "x") {
      Object.assign(next, paxRecords(body));
      continue;
    }
    if (type === "L") {
      next.path = field(body, 0, body.length);
      continue;
    }
    if (type === "g" || type === "K") continue;
    const prefix = field(header, 257, 5) === "ustar" ? field(header, 345, 155) : "";
    const name = next.path ?? (prefix === "" ? field(header, 0, 100) : `${prefix}/${field(header, 0, 100)}`);
    next = {};
    if (type === "5" || ((type === "0" || type === "\0") && name.endsWith("/"))) continue;
    if (type !== "0" && type !== "\0") refuse(`the entry ${JSON.stringify(name)} is neither a file nor a folder`);
    if (size > MOST_FILE) refuse(`the file ${JSON.stringify(name)} is larger than ${MOST_FILE} bytes`);
    if ((total += size) > MOST_TOTAL) refuse(`the files are larger than ${MOST_TOTAL} bytes together`);
    files.set(safePath(name), textOfBytes(body));
  }
}

const EXAMPLE =
  "H4sIAAAAAAACA+3VQQrCMBCF4Vl7ip6gnWma9jytKC6KBY3g8Y2uSha6aQLF/9tMyGYYwpvUzVSHZ5CcNOq77lOjtEa2Osd7U2dOKpUCHvcw3mL7LYZcD7cTk+CfHZfrucnc452Hwfsv+dc0/+ZaqTz5L/P+Y94v4Pf+75P3N9OB/V/C5TTPy4E9CAAAAAAAAAAAAADAnr0AvDVdngAoAAA=";

export const archiveFunctions: readonly TemplateFunction[] = [
  define({
    name: "untar_gz",
    signature: "func(archive string) (map[string]string, error)",
    doc: `The files of a gzip-compressed tar archive (bytes, as b64decode gives them): a map from path to content. All or nothing: an error when the data is damaged, when an entry is no file or folder, when a path is absolute or has .. in it, and beyond ${MOST_ENTRIES} entries, 8 MiB a file, 32 MiB together or 64 MiB of unpacked stream. Folders give no entry.`,
    examples: [
      [
        `{% var files, err = untar_gz(b64decode("${EXAMPLE}")) %}{{ err }}{{ files | toJSON() }}`,
        '{"b.txt":"b","conf/a.txt":"hello\\n"}',
      ],
      ['{% var _, err = untar_gz("x") %}{{ err }}', "untar_gz: this is no gzip data"],
    ],
    run: (runtime: Runtime, archive: string) => {
      runtime.charge(1000 + archive.length);
      const stream = inflated(bytesOfText(archive));
      runtime.charge(stream.length >> 4);
      const files = untar(stream);
      const out: Record<string, unknown> = {};
      for (const [path, content] of files) {
        runtime.chargeText(content.length);
        setMember(out, path, content);
      }
      return out;
    },
  }),
];
