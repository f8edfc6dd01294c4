/**
 * Who takes a CA file's new content at run time: binds do, and servers with a client certificate. Other servers go on with what the
 * file held when they were made, and HAProxy reports success all the same (seen on 3.0, 3.2 and 3.4).
 */
import type { RenderPlan } from "./types.ts";

/** The first line of the configuration that names the file and would not hear of its new content; undefined when all would. */
export function deafTo(path: string, plan: RenderPlan): string | undefined {
  const wanted = Buffer.from(path);
  for (const [, file] of plan.files.entries()) {
    if (file.kind !== "config") continue;
    for (const { bytes } of file.blocks) {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      if (!text.includes(wanted)) continue;
      const line = text
        .toString("utf8")
        .split("\n")
        .find((candidate) => isDeaf(candidate, path));
      if (line !== undefined) return line.trim();
    }
  }
  return undefined;
}

function isDeaf(line: string, path: string): boolean {
  const words = line.trim().split(/\s+/);
  const first = words[0] ?? "";
  if (first.startsWith("#") || first === "bind" || !words.some((word) => word.replace(/^["']|["']$/g, "") === path))
    return false;
  return !(first === "server" && words.includes("crt"));
}
