/** The live page over HTTP: its files, the charts, and the stream (server-sent events). Nothing on it comes from elsewhere. */
import { existsSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { dirname, join } from "node:path";
import type { LiveFeed } from "./live-feed.ts";

/** Pages that may be attached at a time. */
const MAX_PAGES = 16;

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
};

/** The page runs its own scripts and speaks with its own server only, whatever should get into it. */
const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

interface Folders {
  readonly page: string;
  readonly charts: string;
}

/** Beside this file and in machines/ in the repository; in live/ beside the bundle. */
function findFolders(): Folders | undefined {
  const page = join(import.meta.dirname, "page");
  if (existsSync(join(page, "index.html")))
    return { page, charts: join(import.meta.dirname, "..", "..", "machines", "diagrams") };
  for (let folder = import.meta.dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    const live = join(folder, "live");
    if (existsSync(join(live, "index.html"))) return { page: live, charts: join(live, "charts") };
  }
  return undefined;
}

/** A chart without its own colours: the page's, light or dark, hold. */
const bare = (svg: string): string => svg.replace(/<style>[\s\S]*?<\/style>\n?/, "");

export class LiveServer {
  readonly feed: LiveFeed;
  readonly #folders = findFolders();
  readonly #files = new Map<string, string | undefined>();

  constructor(feed: LiveFeed) {
    this.feed = feed;
  }

  /** Answers GET of `/live` and what is under it. */
  answer(path: string, request: IncomingMessage, response: ServerResponse): void {
    if (path === "/live") {
      response.writeHead(308, { location: "live/", ...HEADERS }).end();
      return;
    }
    if (path === "/live/stream") return this.#stream(request, response);
    const [, name, extension] = /^\/live\/((?:charts\/)?[A-Za-z][A-Za-z-]*)\.(css|js|svg)$/.exec(path) ?? [];
    const text = path === "/live/" ? this.#file("index", "html") : this.#file(name, extension);
    if (text === undefined) {
      response.writeHead(404, { "content-type": "text/plain", ...HEADERS }).end("nothing is here\n");
      return;
    }
    response.writeHead(200, { "content-type": TYPES[extension ?? "html"], ...HEADERS }).end(text);
  }

  #stream(request: IncomingMessage, response: ServerResponse): void {
    if (this.feed.pages >= MAX_PAGES) {
      response.writeHead(503, { "content-type": "text/plain", ...HEADERS }).end(`${MAX_PAGES} pages are attached\n`);
      return;
    }
    response.writeHead(200, { ...HEADERS, "content-type": "text/event-stream", "x-accel-buffering": "no" });
    response.write("retry: 500\n\n");
    const detach = this.feed.attach({
      write: (frame) => response.write(frame),
      backlog: () => response.writableLength,
    });
    request.on("close", detach);
    response.on("close", detach);
  }

  #file(name: string | undefined, extension: string | undefined): string | undefined {
    if (name === undefined || extension === undefined || this.#folders === undefined) return undefined;
    const isChart = name.startsWith("charts/");
    if (isChart !== (extension === "svg")) return undefined;
    const key = `${name}.${extension}`;
    if (!this.#files.has(key)) {
      const { page, charts } = this.#folders;
      const file = isChart ? join(charts, key.slice("charts/".length)) : join(page, key);
      const text = existsSync(file) ? readFileSync(file, "utf8") : undefined;
      // Names of charts that do not exist are not remembered: there is no end of them.
      if (text === undefined) return undefined;
      this.#files.set(key, isChart ? bare(text) : text);
    }
    return this.#files.get(key);
  }
}
