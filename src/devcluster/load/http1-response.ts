/** Incremental parser of one HTTP/1.1 response (RFC 9112): final status, headers, and a body by length, chunks or close. */

export interface ParsedResponse {
  readonly status: number;
  /** Names in lower case; of a repeated header the last value. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The server will read another request on this connection. */
  readonly keepAlive: boolean;
}

interface Head {
  readonly status: number;
  readonly version: string;
  readonly headers: Record<string, string>;
}

function parseHead(text: string): Head {
  const [statusLine = "", ...lines] = text.split("\r\n");
  const [, version, status] = /^HTTP\/(1\.[01]) (\d{3})/.exec(statusLine) ?? [];
  if (version === undefined) throw new Error(`not an HTTP answer: ${JSON.stringify(statusLine.slice(0, 60))}`);
  const headers: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return { status: Number(status), version, headers };
}

export class ResponseParser {
  /** Set once the response is whole. */
  response: ParsedResponse | undefined;
  #pending: Buffer = Buffer.alloc(0);
  #head: Head | undefined;
  readonly #body: Buffer[] = [];

  /** True once any byte of the answer came. */
  get started(): boolean {
    return this.#head !== undefined || this.#pending.length > 0;
  }

  /** Takes bytes in; throws on what is no HTTP. */
  feed(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (this.#head === undefined) {
      const end = this.#pending.indexOf("\r\n\r\n");
      if (end < 0) return;
      const head = parseHead(this.#pending.toString("latin1", 0, end));
      this.#pending = this.#pending.subarray(end + 4);
      // 100 and 103 announce an answer and are none.
      if (head.status >= 200) this.#head = head;
    }
    const { headers } = this.#head;
    if (headers["transfer-encoding"] !== undefined) this.#readChunks();
    else if (headers["content-length"] !== undefined) this.#readLength(Number(headers["content-length"]));
    else if (this.#head.status === 204 || this.#head.status === 304) this.#complete(true);
  }

  /** The connection has ended: a body without a length is whole now. */
  end(): void {
    if (this.response !== undefined || this.#head === undefined) return;
    const { headers } = this.#head;
    if (headers["transfer-encoding"] === undefined && headers["content-length"] === undefined) {
      this.#body.push(this.#pending);
      this.#complete(false);
    }
  }

  #readLength(length: number): void {
    if (this.#pending.length < length) return;
    this.#body.push(this.#pending.subarray(0, length));
    this.#complete(true);
  }

  #readChunks(): void {
    for (;;) {
      const lineEnd = this.#pending.indexOf("\r\n");
      if (lineEnd < 0) return;
      const size = Number.parseInt(this.#pending.toString("latin1", 0, lineEnd), 16);
      if (Number.isNaN(size)) throw new Error("a malformed chunk");
      if (this.#pending.length < lineEnd + 2 + size + 2) return;
      this.#body.push(this.#pending.subarray(lineEnd + 2, lineEnd + 2 + size));
      this.#pending = this.#pending.subarray(lineEnd + 2 + size + 2);
      if (size === 0) return this.#complete(true);
    }
  }

  #complete(delimited: boolean): void {
    const { status, headers, version } = this.#head!;
    const tokens = (headers["connection"] ?? "").toLowerCase();
    const keepAlive = delimited && (version === "1.1" ? !tokens.includes("close") : tokens.includes("keep-alive"));
    this.response = { status, headers, body: Buffer.concat(this.#body), keepAlive };
  }
}
