/** Maps on the runtime CLI. Adding does not look for duplicates; a lookup returns the first of them. */
import { LINE_LIMIT, safePayloadKey, safePayloadText, type OpOutcome, type RuntimeReply } from "./runtime-protocol.ts";
import type { RuntimeSession } from "./runtime.ts";

export interface Entry {
  readonly key: string;
  readonly value: string;
}

/** HAProxy 3.4 deletes one duplicate a call; nobody has so many. */
const DELETE_LIMIT = 64;

const ok: OpOutcome = { ok: true, output: "" };
const refused = (reply: RuntimeReply): OpOutcome => ({ ok: false, output: reply.text });

/** Payloads of entries below the limit that HAProxy takes whole. */
export function payloads(entries: readonly Entry[]): string[] {
  const chunks: string[] = [];
  let chunk = "";
  for (const { key, value } of entries) {
    const line = `${key} ${value}\n`;
    if (chunk !== "" && Buffer.byteLength(chunk) + Buffer.byteLength(line) >= LINE_LIMIT) {
      chunks.push(chunk);
      chunk = "";
    }
    chunk += line;
  }
  if (chunk !== "") chunks.push(chunk);
  return chunks;
}

/** The payload form takes the rest of the line as the value, blanks included. */
export async function addEntries(
  session: RuntimeSession,
  map: string,
  entries: readonly Entry[],
  version = "",
): Promise<OpOutcome> {
  // Without a value HAProxy takes the next line's key for one.
  const bare = entries.find(({ value }) => value === "");
  if (bare !== undefined)
    return { ok: false, output: `${bare.key}: HAProxy takes no entry without a value at run time` };
  const replies = await Promise.all(
    payloads(entries).map((payload) => session.command(`add map ${version}${map}`, payload)),
  );
  const bad = replies.find((reply) => reply.text !== "");
  return bad === undefined ? ok : refused(bad);
}

/** For a repeated addition: the key exists with this value, or is set to it, or is added. */
export async function addMissingEntry(
  session: RuntimeSession,
  map: string,
  key: string,
  value: string,
): Promise<OpOutcome> {
  const current = await getEntry(session, map, key);
  if (current === value) return ok;
  if (current !== undefined) {
    const gone = await deleteEntry(session, map, key);
    if (!gone.ok) return gone;
  }
  return addEntries(session, map, [{ key, value }]);
}

/** The value of exactly this key; undefined when no entry has it. */
export async function getEntry(session: RuntimeSession, map: string, key: string): Promise<string | undefined> {
  const { text } = await session.command(`get map ${map} ${key}`);
  const match = /, key="(.*)", value="(.*)", type=/.exec(text);
  if (match !== null && match[1] === key) return match[2];
  if (/found=no/.test(text)) return undefined;
  // Another pattern matched first (prefix, domain, expression): look for the key itself.
  const shown = await session.command(`show map ${map}`, undefined, 30_000);
  for (const line of shown.text.split("\n")) {
    const [, shownKey, ...rest] = line.split(" ");
    if (shownKey === key) return rest.join(" ");
  }
  return undefined;
}

export async function deleteEntry(session: RuntimeSession, map: string, key: string): Promise<OpOutcome> {
  for (let turn = 0; turn < DELETE_LIMIT; turn++) {
    const replies = await session.batch([`del map ${map} ${key}`, `del map ${map} ${key}`]);
    for (const reply of replies) {
      if (/Key not found/.test(reply.text)) return ok;
      if (reply.text !== "") return refused(reply);
    }
  }
  return { ok: false, output: `${key}: still there after ${2 * DELETE_LIMIT} deletions` };
}

/** Reads a map file: `key value…` a line; blank lines and lines that begin with `#` mean nothing. */
export function parseMapFile(text: string): Entry[] {
  const entries: Entry[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const match = /^(\S+)(?:\s+(.*))?$/.exec(line);
    if (match !== null)
      entries.push({ key: safePayloadKey(match[1]), value: safePayloadText("value", match[2] ?? "") });
  }
  return entries;
}

/** All entries at once: a new version is prepared aside, filled, and put in force by one command. */
export async function replaceMap(
  session: RuntimeSession,
  map: string,
  content: Uint8Array | undefined,
): Promise<OpOutcome> {
  if (content === undefined) return { ok: true, output: "superseded" };
  const entries = parseMapFile(Buffer.from(content).toString("utf8"));
  const prepared = await session.command(`prepare map ${map}`);
  const version = /New version created: (\d+)/.exec(prepared.text)?.[1];
  if (version === undefined) return refused(prepared);
  const added = await addEntries(session, map, entries, `@${version} `);
  if (!added.ok) return added;
  const committed = await session.command(`commit map @${version} ${map}`);
  return committed.text === "" ? ok : refused(committed);
}
