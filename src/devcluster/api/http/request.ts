/** One request as the handlers see it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Mishaps } from "../faults/index.ts";
import { StatusError } from "../status.ts";

export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly raw: IncomingMessage;
  readonly response: ServerResponse;
  /** `Warning:` headers of the answer. */
  readonly warnings: string[];
  /** What is to go wrong with it. */
  readonly mishaps: Mishaps;
}

const LIMIT = 3 * 1024 * 1024;

/** Reads the body; refuses more than 3 MiB. */
export async function readBody(request: ApiRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request.raw as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LIMIT) {
      throw new StatusError(413, "RequestEntityTooLarge", `Request entity too large: limit is ${LIMIT}`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
