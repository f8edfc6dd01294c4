/**
 * The body of an apply: `multipart/form-data`, the part `manifest` first, then one raw part per file (its filename is the
 * manifest path), then optionally `plan`. Small parts stay in memory, large ones stream to staged files.
 */
import type { IncomingMessage } from "node:http";
import { rmSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { AgentRequestError } from "../errors.ts";
import { LIMITS, type Manifest } from "./api.ts";
import type { Part } from "./staging.ts";

export interface ApplyBody {
  readonly manifest: Manifest;
  readonly parts: Map<string, Part>;
  readonly plan: Part | undefined;
}

export interface BodyOptions {
  /** Looks at the manifest before anything is staged; throws to refuse. */
  readonly onManifest: (manifest: Manifest) => void;
  readonly stagingPath: () => string;
  /** Bytes came; throws to refuse what comes too slowly. */
  readonly came?: () => void;
}

/** A part above this goes to disk, in bytes. */
const PART_IN_MEMORY = 1024 * 1024;
/** All parts together in memory, in bytes. */
const BODY_IN_MEMORY = 4 * 1024 * 1024;
/** A body of up to so many bytes is read whole before it is looked at. */
const WHOLE_BYTES = 256 * 1024;
const MANIFEST_BYTES = 16 * 1024 * 1024;
const HEADER_BYTES = 4096;

type Field = { readonly name: string; readonly filename: string | undefined };

/** Collects one part's bytes. */
class PartSink {
  readonly field: Field;
  readonly #body: BodyReader;
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #file: FileHandle | undefined;
  #path = "";

  constructor(field: Field, body: BodyReader) {
    this.field = field;
    this.#body = body;
  }

  async write(chunk: Buffer): Promise<void> {
    if (chunk.length === 0) return;
    this.#size += chunk.length;
    if (this.field.name === "manifest" && this.#size > MANIFEST_BYTES)
      throw new AgentRequestError("the manifest is too large", 413);
    if (this.field.name === "plan" && this.#size > LIMITS.planBlobBytes)
      throw new AgentRequestError("the plan is too large", 413);
    if (
      this.#file === undefined &&
      (this.field.name === "manifest" || this.#body.staysInMemory(this.#size, chunk.length))
    ) {
      this.#chunks.push(chunk);
      return;
    }
    if (this.#file === undefined) {
      [this.#path, this.#file] = await openNew(this.#body.options.stagingPath);
      this.#body.staged.push(this.#path);
      for (const kept of this.#chunks.splice(0)) await this.#file.write(kept);
    }
    await this.#file.write(chunk);
  }

  async end(): Promise<Part> {
    if (this.#file !== undefined) {
      await this.#file.close();
      return { size: this.#size, path: this.#path };
    }
    const only = this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks);
    return { size: this.#size, bytes: only };
  }

  async abandon(): Promise<void> {
    await this.#file?.close();
  }
}

/** A link or file that somebody laid there is neither followed nor written over. */
async function openNew(nextPath: () => string): Promise<[path: string, file: FileHandle]> {
  for (let tries = 0; ; tries++) {
    const path = nextPath();
    try {
      return [path, await open(path, "wx", 0o600)];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || tries === 100) throw error;
    }
  }
}

class BodyReader {
  readonly options: BodyOptions;
  /** Files that parts were streamed to. */
  readonly staged: string[] = [];
  #memory = 0;

  constructor(options: BodyOptions) {
    this.options = options;
  }

  staysInMemory(partSize: number, added: number): boolean {
    if (partSize > PART_IN_MEMORY || this.#memory + added > BODY_IN_MEMORY) return false;
    this.#memory += added;
    return true;
  }
}

/** @throws AgentRequestError for every breach of the form or a limit. */
export async function readApplyBody(request: IncomingMessage, options: BodyOptions): Promise<ApplyBody> {
  const boundary = /^multipart\/form-data;.*boundary=(?:"([^"]{1,70})"|([^;\s]{1,70}))/i.exec(
    request.headers["content-type"] ?? "",
  );
  if (boundary === null) throw new AgentRequestError("the body is not multipart/form-data", 415);
  const reader = new BodyReader(options);
  const delimiter = Buffer.from(`\r\n--${boundary[1] ?? boundary[2]}`);
  const parts = new Map<string, Part>();
  let manifest: Manifest | undefined;
  let plan: Part | undefined;
  let sink: PartSink | undefined;
  let closed = false;
  let total = 0;
  // The first delimiter has no line break before it.
  let rest: Buffer = Buffer.from("\r\n");

  const finish = async (done: PartSink): Promise<void> => {
    const part = await done.end();
    const { name, filename } = done.field;
    if (manifest === undefined) {
      if (name !== "manifest" || !("bytes" in part)) throw new AgentRequestError("the first part is not the manifest");
      manifest = parseManifest(part.bytes);
      options.onManifest(manifest);
    } else if (name === "plan") {
      plan = part;
    } else if (filename === undefined || parts.has(filename)) {
      throw new AgentRequestError(`part ${JSON.stringify(filename ?? name)} has no filename or comes twice`);
    } else {
      if (parts.size >= LIMITS.files) throw new AgentRequestError("too many parts", 413);
      parts.set(filename, part);
    }
  };

  /** Eats what can be decided; leaves in `rest` what may be the beginning of a delimiter or header. */
  const consume = async (): Promise<void> => {
    for (;;) {
      const at = rest.indexOf(delimiter);
      if (at < 0) {
        const keep = Math.min(rest.length, delimiter.length - 1);
        const ready = rest.subarray(0, rest.length - keep);
        if (ready.length > 0) {
          if (sink === undefined) throw new AgentRequestError("bytes before the first part");
          await sink.write(ready);
          rest = rest.subarray(ready.length);
        }
        return;
      }
      const after = at + delimiter.length;
      if (rest.length < after + 2) {
        if (sink !== undefined && at > 0) await sink.write(rest.subarray(0, at));
        rest = rest.subarray(at);
        return;
      }
      const last = rest[after] === 0x2d && rest[after + 1] === 0x2d;
      const headerEnd = last ? after + 2 : rest.indexOf("\r\n\r\n", after);
      if ((headerEnd < 0 ? rest.length : headerEnd) - after > HEADER_BYTES)
        throw new AgentRequestError("a part's header is too long");
      if (headerEnd < 0) {
        if (sink !== undefined && at > 0) await sink.write(rest.subarray(0, at));
        rest = rest.subarray(at);
        return;
      }
      if (sink !== undefined) {
        await sink.write(rest.subarray(0, at));
        const done = sink;
        sink = undefined;
        await finish(done);
      }
      if (last) {
        closed = true;
        rest = Buffer.alloc(0);
        return;
      }
      sink = new PartSink(parseField(rest.toString("utf8", after + 2, headerEnd)), reader);
      rest = rest.subarray(headerEnd + 4);
    }
  };

  const abandon = async (): Promise<void> => {
    await sink?.abandon();
    for (const path of reader.staged) rmSync(path, { force: true });
  };

  try {
    const declared = Number(request.headers["content-length"] ?? Number.NaN);
    if (declared > LIMITS.applyBodyBytes) throw new AgentRequestError("the body is too large", 413);
    if (declared <= WHOLE_BYTES) {
      rest = Buffer.concat([rest, await readWhole(request, declared, options.came)]);
      await consume();
    } else {
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        options.came?.();
        total += chunk.length;
        if (total > LIMITS.applyBodyBytes) throw new AgentRequestError("the body is too large", 413);
        if (closed) continue;
        rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        await consume();
      }
    }
    if (!closed || manifest === undefined) throw new AgentRequestError("the body ends before its last part");
    checkParts(manifest, parts);
    return { manifest, parts, plan };
  } catch (error) {
    await abandon();
    throw error;
  }
}

/** What a small change sends: an iteration over the stream would cost more than everything else that is done with it. */
function readWhole(request: IncomingMessage, size: number, came: BodyOptions["came"]): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let left = size;
    const whole = (): void => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    request.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      left -= chunk.length;
      // The end is told some turns later.
      if (left <= 0) return whole();
      try {
        came?.();
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
    request.on("end", whole);
    request.on("error", reject);
    request.on("close", () => {
      if (left > 0) reject(new AgentRequestError("the connection ended before the body did"));
    });
  });
}

/** Content that belongs to no file would be dropped in silence. */
function checkParts(manifest: Manifest, parts: ReadonlyMap<string, Part>): void {
  if (parts.size === 0) return;
  const named = new Set((manifest.files ?? manifest.changed ?? []).map((file) => file.path));
  for (const path of parts.keys())
    if (!named.has(path))
      throw new AgentRequestError(`part ${JSON.stringify(path)} is of no file that the manifest names`);
}

function parseField(header: string): Field {
  const disposition = header.split("\r\n").find((line) => /^content-disposition:/i.test(line)) ?? "";
  const name = /;\s*name="([^"]*)"/i.exec(disposition)?.[1];
  if (name === undefined) throw new AgentRequestError("a part has no name");
  return { name, filename: /;\s*filename="([^"]*)"/i.exec(disposition)?.[1] };
}

function parseManifest(bytes: Buffer): Manifest {
  try {
    return JSON.parse(bytes.toString("utf8")) as Manifest;
  } catch (error) {
    throw new AgentRequestError(`the manifest is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}
