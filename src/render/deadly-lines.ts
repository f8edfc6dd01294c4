/**
 * Directives that end HAProxy's worker, and with it the master, when they stand in a defaults section: `errorfiles` as soon as a
 * backend is added from it at run time, `http-request cache-use` at the first request of any backend (measured on 3.0, 3.2 and 3.4).
 * `haproxy -c` accepts them, so the declared text is looked through line by line.
 */
import { TemplateFault } from "../templating/index.ts";

const DEADLY: readonly { readonly words: readonly string[]; readonly when: string; readonly hint: string }[] = [
  { words: ["errorfiles"], when: "when a backend is added from it", hint: "use errorfile or http-error lines" },
  { words: ["http-request", "cache-use"], when: "at the first request", hint: "put the cache into the frontend" },
];

/** @throws TemplateFault that names the line. */
export function refuseDeadlyLines(what: string, text: string): void {
  let line = "";
  text.split("\n").forEach((raw, index) => {
    line += raw;
    // A backslash at its end continues a line.
    if (/(^|[^\\])(\\\\)*\\$/.test(raw)) return void (line = `${line.slice(0, -1)} `);
    const words = wordsOf(line);
    line = "";
    const found = DEADLY.find((directive) => directive.words.every((word, at) => words[at] === word));
    if (found === undefined) return;
    throw new TemplateFault(
      `${what} holds ${found.words.join(" ")} in line ${index + 1}, which kills HAProxy ${found.when}`,
      found.hint,
    );
  });
}

/** The first words as HAProxy reads them: quotes and backslashes are no part of a word. */
function wordsOf(line: string): string[] {
  return line
    .replace(/["'\\]/g, "")
    .trim()
    .split(/\s+/, 2);
}
