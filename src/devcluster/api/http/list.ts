/** Lists: a snapshot at one revision, in pages. */
import type { Fields } from "../objects.ts";
import { shownBytes, shownObject } from "../operations/encode.ts";
import type { ApiState } from "../operations/context.ts";
import type { View } from "../resources/definition.ts";
import { StatusError, badRequest, fieldForbidden, optionsInvalid } from "../status.ts";
import type { StoredVersion } from "../storage/record.ts";
import { lowerBound, rangeOf } from "../storage/sorted-records.ts";
import type { ResourceStore } from "../storage/resource-store.ts";
import type { Selection } from "./selection.ts";
import { selects } from "./selection.ts";

export interface Page {
  readonly revision: number;
  readonly records: readonly StoredVersion[];
  readonly metadata: Fields;
}

interface Token {
  readonly rv: number;
  readonly start: string;
}

const writeToken = (rv: number, start: string): string =>
  Buffer.from(JSON.stringify({ v: "meta.k8s.io/v1", rv, start })).toString("base64url");

function readToken(text: string): Token {
  const decoded = Buffer.from(text, "base64url");
  try {
    const token = JSON.parse(decoded.toString("utf8")) as Token;
    if (typeof token.rv === "number" && typeof token.start === "string") return token;
  } catch {
    // refused below like any other malformed token
  }
  const first = decoded[0] ?? 0;
  const shown = first < 0x7f && first > 0x20 ? String.fromCharCode(first) : `\\u${first.toString(16).padStart(4, "0")}`;
  throw badRequest(
    `invalid continue token: continue key is not valid: invalid character '${shown}' looking for beginning of value`,
  );
}

/** A number, or 400 (500 for watches, as the real server has it). */
export function readRevision(text: string, code: 400 | 500 = 400): number {
  if (/^\d+$/.test(text)) return Number(text);
  const message = `${code === 400 ? "invalid resource version: " : ""}resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw code === 500 ? new StatusError(500, "", message) : new StatusError(400, "BadRequest", message);
}

export const tooLarge = (wanted: number, current: number): StatusError =>
  new StatusError(504, "Timeout", `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });

const expired = (message: string, metadata: Fields = {}): StatusError =>
  new StatusError(410, "Expired", message, undefined, { metadata });

const refusedOption = (field: string, why: string): StatusError =>
  optionsInvalid("ListOptions", fieldForbidden(field, why));

/** The revision a list is read at, from its options; undefined = now. */
function wantedRevision(store: ResourceStore, query: URLSearchParams): number | undefined {
  const text = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch");
  if (query.get("sendInitialEvents") !== null) {
    throw refusedOption("sendInitialEvents", "sendInitialEvents is forbidden for list");
  }
  if (match !== null && text === "") {
    throw refusedOption("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (text === "" || text === "0") {
    if (match === "Exact" && text === "0") {
      throw refusedOption("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
    return undefined;
  }
  const revision = readRevision(text);
  if (revision > store.revision) throw tooLarge(revision, store.revision);
  return match === "Exact" ? revision : undefined;
}

function recordsAt(store: ResourceStore, revision: number | undefined, message: string): readonly StoredVersion[] {
  if (revision === undefined) return store.records();
  const records = store.history.rollBack(store.records(), revision);
  if (records === undefined) throw expired(message);
  return records;
}

/** Reads one page. */
export function listPage(state: ApiState, view: View, selection: Selection, query: URLSearchParams): Page {
  const store = state.database.store(view.definition);
  const limitText = query.get("limit") ?? "0";
  if (!/^-?\d+$/.test(limitText))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(limitText)}: invalid syntax`);
  const limit = Math.max(0, Number(limitText));
  const continueText = query.get("continue") ?? "";
  let revision: number | undefined;
  let records: readonly StoredVersion[];
  let start = "";
  if (continueText === "") {
    revision = wantedRevision(store, query);
    records = recordsAt(store, revision, "The resourceVersion for the provided list is too old.");
  } else {
    if ((query.get("resourceVersion") ?? "") !== "") {
      throw badRequest("specifying resource version is not allowed when using continue");
    }
    const token = readToken(continueText);
    start = token.start;
    revision = token.rv === -1 ? undefined : token.rv;
    try {
      records = recordsAt(store, revision, "");
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      throw expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.",
        { continue: writeToken(-1, token.start) },
      );
    }
  }
  return cut(view, records, selection, revision ?? store.revision, start, limit);
}

function cut(
  view: View,
  records: readonly StoredVersion[],
  selection: Selection,
  revision: number,
  start: string,
  limit: number,
): Page {
  let [from, to] = rangeOf(records, view.definition.namespaced ? selection.namespace : undefined);
  if (start !== "") from = Math.max(from, lowerBound(records, start));
  const name = selection.fields?.name;
  if (name !== undefined && selection.namespace !== undefined) {
    from = Math.max(from, lowerBound(records, `${selection.namespace}/${name}`));
    to = Math.min(to, from + 1);
  }
  const found: StoredVersion[] = [];
  let next = from;
  for (; next < to && (limit === 0 || found.length < limit); next++) {
    const record = records[next] as StoredVersion;
    if (selection.everything || selects(selection, shownObject(view, record))) found.push(record);
  }
  const metadata: Fields = view.definition.builtIn ? {} : { continue: "" };
  metadata["resourceVersion"] = String(revision);
  if (limit > 0 && next < to) {
    // a key can be no prefix of another with a NUL behind it: the next page begins right behind the last one shown
    metadata["continue"] = writeToken(revision, `${(records[next - 1] as StoredVersion).key}\0`);
    if (selection.everything) metadata["remainingItemCount"] = to - next;
  }
  return { revision, records: found, metadata };
}

/** The list document; items of built-in kinds come without kind and apiVersion. */
export function listBytes(view: View, page: Page): Buffer {
  const { definition } = view;
  const head = `{"kind":${JSON.stringify(definition.listKind)},"apiVersion":${JSON.stringify(view.apiVersion)},"metadata":${JSON.stringify(page.metadata)},"items":[`;
  const parts: Buffer[] = [Buffer.from(head)];
  const strip = definition.builtIn
    ? JSON.stringify({ kind: definition.kind, apiVersion: view.apiVersion }).slice(0, -1)
    : "";
  for (const [i, record] of page.records.entries()) {
    if (i > 0) parts.push(COMMA);
    const bytes = shownBytes(view, record);
    if (strip !== "" && bytes.subarray(0, strip.length).equals(Buffer.from(strip))) {
      parts.push(BRACE, bytes.subarray(strip.length + 1));
    } else parts.push(bytes);
  }
  parts.push(END);
  return Buffer.concat(parts);
}
const COMMA = Buffer.from(",");
const BRACE = Buffer.from("{");
const END = Buffer.from("]}\n");
