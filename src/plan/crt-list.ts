/** Lines of a crt-list: `CERT [OPTIONS] FILTER…` (configuration manual, `crt-list`). */

export interface CrtListEntry {
  readonly cert: string;
  readonly options: readonly { readonly name: string; readonly args: readonly string[] }[];
  readonly filters: readonly string[];
  /** The line with blanks normalised: equal lines mean equal entries. */
  readonly line: string;
}

/** Options without a value; every other option takes one. */
const FLAGS = new Set([
  "allow-0rtt",
  "no-ca-names",
  "no-alpn",
  "no-sslv3",
  "no-tls-tickets",
  "no-tlsv10",
  "no-tlsv11",
  "no-tlsv12",
  "no-tlsv13",
  "ssl-passphrase",
  "strict-sni",
]);

/** Entries in order; undefined when a line cannot be understood (the caller then reloads). */
export function parseCrtList(text: string): CrtListEntry[] | undefined {
  const entries: CrtListEntry[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.trim().replace(/\s+/g, " ");
    if (line === "" || line.startsWith("#")) continue;
    const match = /^([^\s[\]]+)(?: ?\[([^\]]*)\])?((?: [^\s[\]]+)*)$/.exec(line);
    if (match === null) return undefined;
    const options = parseOptions(match[2] ?? "");
    if (options === undefined) return undefined;
    entries.push({
      cert: match[1] as string,
      options,
      filters: (match[3] ?? "").split(" ").filter((word) => word !== ""),
      line,
    });
  }
  return entries;
}

function parseOptions(text: string): CrtListEntry["options"] | undefined {
  const words = text.split(" ").filter((word) => word !== "");
  const options: { name: string; args: string[] }[] = [];
  for (let i = 0; i < words.length; i++) {
    const name = words[i] as string;
    if (FLAGS.has(name)) {
      options.push({ name, args: [] });
      continue;
    }
    const value = words[++i];
    if (value === undefined) return undefined;
    options.push({ name, args: [value] });
  }
  return options;
}
