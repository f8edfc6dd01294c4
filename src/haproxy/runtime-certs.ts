/** Certificates on the runtime CLI: transactions that are committed or aborted. */
import { LINE_LIMIT, type OpOutcome } from "./runtime-protocol.ts";
import type { RuntimeSession } from "./runtime.ts";

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
  if (pem === undefined) return { ok: true, output: "superseded" };
  // An empty line would end the payload.
  const payload = `${Buffer.from(pem)
    .toString("utf8")
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "")
    .join("\n")}\n`;
  if (Buffer.byteLength(payload) >= LINE_LIMIT) return { ok: false, output: `${name}: too large for the runtime CLI` };
  if (create) {
    const made = await session.command(`new ssl cert ${name}`);
    if (!/New empty certificate store|already exists/.test(made.text)) return { ok: false, output: made.text };
  }
  const set = await session.command(`set ssl cert ${name}`, payload);
  if (!/Transaction (created|updated)/.test(set.text)) {
    await session.command(`abort ssl cert ${name}`);
    return { ok: false, output: set.text };
  }
  const commit = await session.command(`commit ssl cert ${name}`);
  if (commit.text.includes("Success!")) return { ok: true, output: "" };
  await session.command(`abort ssl cert ${name}`);
  return { ok: false, output: commit.text };
}
