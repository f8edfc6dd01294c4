/** Writing answers. */
import { stringify } from "yaml";
import type { Fields } from "../objects.ts";
import { StatusError } from "../status.ts";
import type { ApiRequest } from "./request.ts";

function head(
  request: ApiRequest,
  code: number,
  type: string,
  length: number,
  extra: Readonly<Record<string, string>> = {},
): void {
  const headers: Record<string, string | string[] | number> = {
    "Content-Type": type,
    "Content-Length": length,
    "Cache-Control": "no-cache, private",
    ...extra,
  };
  if (request.warnings.length > 0) {
    headers["Warning"] = request.warnings.map((text) => `299 - ${JSON.stringify(text)}`);
  }
  request.response.writeHead(code, headers);
}

export function sendBytes(
  request: ApiRequest,
  code: number,
  bytes: Buffer,
  type = "application/json",
  extra: Readonly<Record<string, string>> = {},
): void {
  if (request.mishaps.lost) {
    request.raw.socket.destroy();
    return;
  }
  if (
    /\byaml\b/.test(request.raw.headers.accept ?? "") &&
    !/json/.test(request.raw.headers.accept ?? "") &&
    type === "application/json"
  ) {
    const text = Buffer.from(stringify(JSON.parse(bytes.toString()), { version: "1.1" }));
    head(request, code, "application/yaml", text.length, extra);
    request.response.end(text);
    return;
  }
  head(request, code, type, bytes.length, extra);
  request.response.end(request.method === "HEAD" ? undefined : bytes);
}

export const sendJson = (
  request: ApiRequest,
  code: number,
  value: unknown,
  type?: string,
  extra?: Readonly<Record<string, string>>,
): void => sendBytes(request, code, Buffer.from(`${JSON.stringify(value)}\n`), type, extra);

export const sendText = (
  request: ApiRequest,
  code: number,
  text: string,
  extra?: Readonly<Record<string, string>>,
): void => sendBytes(request, code, Buffer.from(text), "text/plain; charset=utf-8", extra);

export const pageNotFound = (request: ApiRequest): void => sendText(request, 404, "404 page not found\n");

/** Answers an error: a Status, whatever went wrong. */
export function sendError(request: ApiRequest, error: unknown): void {
  if (request.response.headersSent) {
    request.response.destroy();
    return;
  }
  const status =
    error instanceof StatusError
      ? error
      : new StatusError(
          500,
          "InternalError",
          `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`,
        );
  const extra = { ...status.headers };
  if (status.details?.retryAfterSeconds !== undefined) extra["Retry-After"] = String(status.details.retryAfterSeconds);
  sendJson(request, status.code, status.toStatus() satisfies Fields, "application/json", extra);
}
