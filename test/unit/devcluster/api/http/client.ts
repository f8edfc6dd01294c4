/** A small client for the tests of the embedded API's HTTP side. */
import { request } from "node:http";
import type { EmbeddedApi } from "../../../../../src/devcluster/api/index.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: {
    readonly metadata: Record<string, unknown>;
    readonly items: { readonly metadata: { readonly name: string } }[];
    readonly message: string;
    readonly reason: string;
    readonly [field: string]: unknown;
  };
}

/** One request; a body is sent as JSON unless `type` says otherwise. */
export function call(
  api: EmbeddedApi,
  method: string,
  path: string,
  body?: unknown,
  type = "application/json",
  accept?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers: Record<string, string> = body === undefined ? {} : { "Content-Type": type };
    if (accept !== undefined) headers["Accept"] = accept;
    const outgoing = request(api.url + path, { method, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => {
        const json = text.startsWith("{") ? JSON.parse(text) : { message: text };
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: json as Answer["body"] });
      });
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
  });
}

export interface WatchLine {
  readonly type: string;
  readonly object: { readonly metadata: Record<string, unknown>; readonly [field: string]: unknown };
}

export interface OpenWatch {
  readonly lines: WatchLine[];
  /** Resolves when so many lines have come. */
  until(count: number): Promise<readonly WatchLine[]>;
  /** Resolves when the connection ends. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Opens a watch; resolves when its headers have come. */
export function watch(api: EmbeddedApi, path: string): Promise<OpenWatch> {
  return new Promise((resolve, reject) => {
    const outgoing = request(api.url + path, (response) => {
      const lines: WatchLine[] = [];
      const waiting = new Set<() => void>();
      let rest = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        rest += part;
        const parts = rest.split("\n");
        rest = parts.pop() ?? "";
        for (const line of parts) lines.push(JSON.parse(line) as WatchLine);
        for (const look of waiting) look();
      });
      const ended = new Promise<void>((done) => {
        response.once("close", done);
        response.once("error", () => done());
      });
      const until = (count: number): Promise<readonly WatchLine[]> =>
        new Promise((done, fail) => {
          const timer = setTimeout(
            () => fail(new Error(`only ${lines.length} of ${count} lines: ${JSON.stringify(lines)}`)),
            3000,
          );
          const look = (): void => {
            if (lines.length < count) return;
            clearTimeout(timer);
            waiting.delete(look);
            done(lines.slice(0, count));
          };
          waiting.add(look);
          look();
        });
      resolve({ lines, until, ended, close: () => outgoing.destroy() });
    });
    outgoing.on("error", reject);
    outgoing.end();
  });
}
