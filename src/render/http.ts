/** `http`: contents of URLs. A call is checked and recorded; contents come from whoever fetches them. */
import { durationOf, TemplateFault } from "../templating/index.ts";
import type { HttpRequest } from "./types.ts";

type Json = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value);

function duration(value: unknown, option: string): number {
  const ns = typeof value === "string" ? durationOf(value) : value === 0 ? 0n : undefined;
  if (ns === undefined || ns < 0n)
    throw new TemplateFault(`http.Fetch: ${option} is no duration`, 'write it like "30s" or "5m"');
  return Number(ns / 1_000_000n);
}

function retries(value: unknown): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > 10)
    throw new TemplateFault("http.Fetch: retries is no whole number from 0 to 10");
  return value;
}

function statuses(value: unknown): readonly number[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const status of list)
    if (typeof status !== "number" || !Number.isInteger(status) || status < 100 || status > 599)
      throw new TemplateFault(
        "http.Fetch: acceptStatus is no list of HTTP status codes",
        "write it like []any{200, 404}",
      );
  return [...(list as readonly number[])];
}

/** Credentials of a request: in requests, never in what is written or logged. */
export class HttpAuth {
  readonly type: "bearer" | "basic" | "header";
  readonly #headers: Readonly<Record<string, string>>;

  constructor(type: HttpAuth["type"], headers: Readonly<Record<string, string>>) {
    this.type = type;
    this.#headers = headers;
  }

  /** Headers that the request carries. */
  headers(): Readonly<Record<string, string>> {
    return this.#headers;
  }

  toJSON(): { readonly type: string } {
    return { type: this.type };
  }
}

function authOf(given: unknown): HttpAuth {
  if (!isMap(given)) throw new TemplateFault("http.Fetch: auth is no map");
  const want = (key: string): string => {
    const value = Object.hasOwn(given, key) ? given[key] : undefined;
    if (typeof value !== "string" || value === "")
      throw new TemplateFault(`http.Fetch: auth of type ${String(given["type"])} wants ${key}, a string`);
    return value;
  };
  const only = (...keys: string[]): void => {
    const other = Object.keys(given).find((key) => key !== "type" && !keys.includes(key));
    if (other !== undefined)
      throw new TemplateFault(
        `http.Fetch: auth has an unknown member ${JSON.stringify(other)}`,
        `known are ${keys.join(", ")}`,
      );
  };
  switch (given["type"]) {
    case "bearer":
      only("token");
      return new HttpAuth("bearer", { authorization: `Bearer ${want("token")}` });
    case "basic": {
      only("username", "password");
      const pair = Buffer.from(`${want("username")}:${want("password")}`).toString("base64");
      return new HttpAuth("basic", { authorization: `Basic ${pair}` });
    }
    case "header": {
      only("headers");
      const headers = given["headers"];
      if (!isMap(headers) || !Object.values(headers).every((value) => typeof value === "string"))
        throw new TemplateFault("http.Fetch: auth of type header wants headers, a map of strings");
      for (const [name, value] of Object.entries(headers))
        if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || /[\r\n\0]/.test(value as string))
          throw new TemplateFault(`http.Fetch: ${JSON.stringify(name)} cannot be a header`);
      return new HttpAuth("header", { ...headers } as Record<string, string>);
    }
    default:
      throw new TemplateFault(
        `http.Fetch: auth type ${JSON.stringify(given["type"] ?? "")} is unknown`,
        "known are bearer, basic and header",
      );
  }
}

export function checkUrl(url: string, call: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || (parsed.protocol !== "http:" && parsed.protocol !== "https:"))
    throw new TemplateFault(`${call}: ${JSON.stringify(url)} is no http or https URL`);
  if (parsed.username !== "" || parsed.password !== "")
    throw new TemplateFault(`${call}: the URL holds credentials`, "give them as auth");
  return url;
}

/** Checks `http.Fetch(url[, options[, auth]])`. Intervals and time-outs in milliseconds. */
export function httpRequest(url: string, rest: readonly unknown[]): HttpRequest {
  checkUrl(url, "http.Fetch");
  if (rest.length > 2)
    throw new TemplateFault(`http.Fetch takes a URL, options and auth, not ${rest.length + 1} arguments`);
  const [options, auth] = rest;
  if (options !== undefined && options !== null && !isMap(options))
    throw new TemplateFault("http.Fetch: options are no map");
  let intervalMs = 0;
  let timeoutMs = 30_000;
  let attempts = 2;
  let critical = false;
  let acceptStatus: readonly number[] = [];
  for (const [name, value] of Object.entries(options ?? {})) {
    if (name === "interval") intervalMs = duration(value, name);
    else if (name === "timeout") timeoutMs = duration(value, name);
    else if (name === "retries") attempts = retries(value);
    else if (name === "acceptStatus") acceptStatus = statuses(value);
    else if (name === "critical") {
      if (typeof value !== "boolean") throw new TemplateFault("http.Fetch: critical is no bool");
      critical = value;
    } else {
      throw new TemplateFault(
        `http.Fetch: unknown option ${JSON.stringify(name)}`,
        name === "delay" ? "it is called interval" : "known are interval, timeout, retries, critical and acceptStatus",
      );
    }
  }
  return {
    call: "http.Fetch",
    subject: url,
    url,
    intervalMs,
    timeoutMs,
    retries: attempts,
    critical,
    acceptStatus,
    auth: auth === undefined || auth === null ? undefined : authOf(auth),
  };
}

const declaration = (request: HttpRequest): string =>
  JSON.stringify([{ ...request, critical: false }, request.auth?.headers() ?? null]);

/** Requests of one render, by URL: two declarations of one URL must agree. */
export class HttpRequests {
  readonly #declared = new Map<string, string>();

  add(request: HttpRequest): void {
    const known = this.#declared.get(request.url);
    const own = declaration(request);
    if (known !== undefined && known !== own)
      throw new TemplateFault(
        `http.Fetch: ${request.url} is fetched with other options elsewhere in this render`,
        "use the same options and auth for one URL",
      );
    this.#declared.set(request.url, own);
  }
}
