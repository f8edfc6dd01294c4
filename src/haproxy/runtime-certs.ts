/**
 * Certificates and CA files on the runtime CLI: transactions that are committed or aborted. A payload has to stay below the
 * size that every HAProxy takes whole; larger ones travel in several commands of one transaction.
 */
import { pemBlocks, withoutEmptyLines } from "../plan/index.ts";
import { LINE_LIMIT, type OpOutcome } from "./runtime-protocol.ts";
import type { RuntimeSession } from "./runtime.ts";

const done: OpOutcome = { ok: true, output: "" };
const superseded: OpOutcome = { ok: true, output: "superseded" };

/** `suffix` goes behind the name of the certificate: HAProxy takes its key by a command of its own. */
interface Payload {
  readonly suffix: "" | ".key";
  readonly text: string;
}

/** What is sent for a bundle; undefined when HAProxy cannot take it at run time: a chain cannot be divided. */
export function certificatePayloads(pem: Uint8Array): readonly Payload[] | undefined {
  const blocks = pemBlocks(pem);
  // HAProxy judges what is no PEM, too.
  if (blocks.length === 0)
    return fits([{ suffix: "", text: withoutEmptyLines(Buffer.from(pem).toString("utf8")) }] as const);
  const whole = fits([{ suffix: "", text: blocks.map((block) => block.text).join("") }] as const);
  if (whole !== undefined) return whole;
  const isKey = ({ label }: { readonly label: string }): boolean => label.endsWith("PRIVATE KEY");
  const textOf = (wanted: boolean): string =>
    blocks
      .filter((block) => isKey(block) === wanted)
      .map((block) => block.text)
      .join("");
  return fits([
    { suffix: "", text: textOf(false) },
    { suffix: ".key", text: textOf(true) },
  ]);
}

/** What is sent for a CA file: certificates and revocation lists in as many payloads as they need. */
export function authorityPayloads(pem: Uint8Array): readonly string[] | undefined {
  const payloads: string[] = [];
  for (const { text } of pemBlocks(pem)) {
    if (Buffer.byteLength(text) >= LINE_LIMIT) return undefined;
    const last = payloads.at(-1);
    if (last === undefined || Buffer.byteLength(last) + Buffer.byteLength(text) >= LINE_LIMIT) payloads.push(text);
    else payloads[payloads.length - 1] = last + text;
  }
  if (payloads.length > 0) return payloads;
  return fits([{ suffix: "", text: withoutEmptyLines(Buffer.from(pem).toString("utf8")) }])?.map(({ text }) => text);
}

function fits(payloads: readonly Payload[]): readonly Payload[] | undefined {
  return payloads.every(({ text }) => Buffer.byteLength(text) < LINE_LIMIT) ? payloads : undefined;
}

type Noun = "cert" | "ca-file";

interface Step {
  readonly command: string;
  readonly text: string;
}

/** HAProxy's answer when a store was made. */
const MADE: Readonly<Record<Noun, RegExp>> = {
  cert: /New empty certificate store|already exists/,
  "ca-file": /New CA file created|already exists/,
};

/**
 * Puts a PEM bundle in force under `name`; with `create` the store is made first (one that exists already is taken).
 * A failed transaction is aborted, else the next one would continue it. Keys never reach the outcome's text.
 */
export async function setCertificate(
  session: RuntimeSession,
  name: string,
  pem: Uint8Array | undefined,
  create: boolean,
): Promise<OpOutcome> {
  if (pem === undefined) return superseded;
  const payloads = certificatePayloads(pem);
  if (payloads === undefined)
    return { ok: false, output: `${name}: its chain is too large for the runtime CLI (${LINE_LIMIT} bytes)` };
  const steps = payloads.map(({ suffix, text }) => ({ command: `set ssl cert ${name}${suffix}`, text }));
  return putInForce(session, "cert", name, create, steps);
}

/** The same for a CA file, of any size. */
export async function setAuthority(
  session: RuntimeSession,
  name: string,
  pem: Uint8Array | undefined,
  create: boolean,
): Promise<OpOutcome> {
  if (pem === undefined) return superseded;
  const payloads = authorityPayloads(pem);
  if (payloads === undefined)
    return { ok: false, output: `${name}: one of its blocks is too large for the runtime CLI (${LINE_LIMIT} bytes)` };
  const steps = payloads.map((text, i) => ({ command: `${i === 0 ? "set" : "add"} ssl ca-file ${name}`, text }));
  return putInForce(session, "ca-file", name, create, steps);
}

async function putInForce(
  session: RuntimeSession,
  noun: Noun,
  name: string,
  create: boolean,
  steps: readonly Step[],
): Promise<OpOutcome> {
  if (create) {
    const made = await session.command(`new ssl ${noun} ${name}`);
    if (!MADE[noun].test(made.text)) return { ok: false, output: made.text };
  }
  const fail = async (output: string): Promise<OpOutcome> => {
    await session.command(`abort ssl ${noun} ${name}`);
    return { ok: false, output };
  };
  for (const { command, text } of steps) {
    const reply = await session.command(command, text);
    if (!/transaction (created|updated)/i.test(reply.text)) return fail(reply.text);
  }
  const commit = await session.command(`commit ssl ${noun} ${name}`);
  return commit.text.includes("Success!") ? done : fail(commit.text);
}

/**
 * Unloads what no configuration names any more. What is still in use, as by a server that waits for its removal, stays until
 * the next reload: nobody misses the room, so that is no failure.
 */
export async function unload(session: RuntimeSession, noun: Noun, name: string): Promise<OpOutcome> {
  const { text } = await session.command(`del ssl ${noun} ${name}`);
  // What is in use "can't be deleted!".
  if (/' deleted!/.test(text) || /doesn't exist/.test(text)) return done;
  return /in use/.test(text)
    ? { ok: true, output: "still in use: it goes with the next reload" }
    : { ok: false, output: text };
}
