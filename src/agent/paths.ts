/** Which paths a manifest may name. The agent owns one tree; nothing may leave it or meet the agent's own files. */
import { AgentRequestError } from "../errors.ts";
import { LIMITS } from "./api.ts";

/** The link that HAProxy loads through; no file of a manifest may lie there. */
export const CURRENT_LINK = "current";
/** The agent's own folder inside the base directory (a manifest cannot name it: it begins with a dot). */
export const PRIVATE_DIR = ".haptic";
/** The record of what a set holds, beside its files. */
export const STATE_FILE = ".haptic-agent.json";

/**
 * Refuses what is not a canonical relative path: empty, absolute, longer than 254 bytes, with an empty or dot-prefixed
 * component, a backslash or a control character, or one of the agent's own names (`reserved` first components).
 * @throws AgentRequestError naming the path.
 */
export function checkPath(path: string, reserved: ReadonlySet<string> = new Set()): void {
  if (typeof path !== "string") throw new AgentRequestError("a path is not a text");
  const refuse = (why: string): never => {
    throw new AgentRequestError(`path ${JSON.stringify(path.slice(0, 300))}: ${why}`);
  };
  if (path === "") refuse("empty");
  if (!path.isWellFormed()) refuse("is no Unicode text");
  if (Buffer.byteLength(path) >= LIMITS.pathBytes) refuse(`not shorter than ${LIMITS.pathBytes} bytes`);
  if (path.startsWith("/")) refuse("not relative");
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f\\"]/.test(path)) refuse("holds a control character, a quote or a backslash");
  const components = path.split("/");
  for (const component of components) {
    if (component === "") refuse("not canonical");
    if (component.startsWith(".")) refuse("has a component that begins with a dot");
  }
  const first = components[0] ?? "";
  if (first === CURRENT_LINK || reserved.has(first)) refuse("is a name that the agent keeps for itself");
}

/** A path may not be a file and a folder at once. */
export function checkPathSet(paths: Iterable<string>): void {
  const files = new Set(paths);
  for (const path of files) {
    for (let at = path.indexOf("/"); at > 0; at = path.indexOf("/", at + 1)) {
      const folder = path.slice(0, at);
      if (files.has(folder))
        throw new AgentRequestError(`path ${JSON.stringify(folder)} is a file and a folder at once`);
    }
  }
}
