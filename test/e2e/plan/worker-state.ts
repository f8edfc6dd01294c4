/**
 * What a HAProxy holds at run time, read over its stats socket into plain records that can be compared. It knows nothing of
 * the product's own dialect of the runtime interface. Left out are numbers that HAProxy gives out itself (ids), counters, ages
 * and the order of listings; the order of a map whose order counts is kept.
 */
import { connect } from "node:net";

/** `show servers state backend/server` → field → value. */
export type WorkerState = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** One command on a connection of its own, answered to its end. */
export function ask(socket: string, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const connection = connect(socket, () => connection.write(`${line}\n`));
    let text = "";
    connection.setEncoding("utf8");
    connection.on("data", (chunk: string) => {
      // Behind an ALPN list HAProxy prints a zero.
      text += chunk.replaceAll("\0", "");
    });
    connection.on("error", reject);
    connection.on("close", () => resolve(text.replace(/\n+$/, "")));
  });
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const linesOf = (text: string): string[] =>
  text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));

/** Rows under a header line of names. */
function rows(text: string, header: string, separator: string): Record<string, string>[] {
  const lines = text.split("\n").map((line) => line.replace(/^# /, ""));
  const at = lines.findIndex((line) => line.startsWith(header));
  if (at < 0) throw new Error(`no header ${header} in ${text.slice(0, 200)}`);
  const names = lines[at]!.split(separator);
  return lines
    .slice(at + 1)
    .filter((line) => line.trim() !== "")
    .map((line) => Object.fromEntries(line.split(separator).map((value, i) => [names[i] ?? `column ${i}`, value])));
}

function pick(row: Readonly<Record<string, string>>, leftOut: ReadonlySet<string>): Record<string, string> {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !leftOut.has(name)));
}

/**
 * Ids and ages; and the weight that a server began with, which no command changes: what it says of the weight in force
 * (`srv_uweight`) holds for relative weights only, and none is ever set.
 */
const STATE_LEFT_OUT = words("be_id srv_id srv_time_since_last_change be_name srv_name srv_iweight");
/** Of `show servers conn`: what connections there are at the moment. */
const CONN_COUNTERS = words(
  "bkname/svname bkid/svid used_cur used_max need_est unsafe_nb safe_nb idle_cur - served idle_sess",
);
/** Of `show stat`: what the configuration or an operation has set. All else counts, ages or measures. */
const STAT_KEPT = words(
  "status weight uweight act bck slim qlimit type check_rise check_fall check_health agent_rise agent_fall agent_health " +
    "addr cookie mode algo proto",
);

/** Flags of `srv_admin_state`: in maintenance; and because the configuration says so, which nothing but the state file asks. */
const [MAINTENANCE, BY_CONFIGURATION] = [0x23, 0x04];
/** Flags of `srv_check_state`: a check is under way; checks are configured. The others say that they are on, or paused. */
const [CHECKING, CHECKABLE] = [0x01, 0x02];

/** What is there and what runs at the moment; of a server in maintenance nobody asks how its last check ended. */
function serverState(row: Readonly<Record<string, string>>): Record<string, string> {
  const fields = pick(row, STATE_LEFT_OUT);
  const [admin, check] = [Number(fields["srv_admin_state"]), Number(fields["srv_check_state"])];
  fields["srv_admin_state"] = String(admin & ~BY_CONFIGURATION);
  fields["srv_check_state"] = String(check & ~CHECKING);
  const [checked, maintained] = [(check & CHECKABLE) !== 0, (admin & MAINTENANCE) !== 0];
  if (checked && !maintained) return fields;
  // What is not checked may be marked as paused all the same, and have a health that nobody looks at.
  fields["srv_check_state"] = checked ? "in maintenance" : "none";
  for (const name of ["srv_check_status", "srv_check_result", "srv_check_health"]) delete fields[name];
  return fields;
}

export interface StateQuestion {
  readonly socket: string;
  /** Maps whose order counts, by the name that HAProxy knows. */
  readonly ordered: (map: string) => boolean;
}

/** Everything that is compared; keys name the object (`server web/a`, `map maps/host.map`), values its fields. */
export async function readWorker({ socket, ordered }: StateQuestion): Promise<WorkerState> {
  const state = new Map<string, Record<string, string>>();
  const put = (key: string, fields: Record<string, string>): void => {
    state.set(key, Object.assign(state.get(key) ?? {}, fields));
  };
  for (const row of rows(await ask(socket, "show servers state"), "be_id", " "))
    put(`server ${row["be_name"]}/${row["srv_name"]}`, serverState(row));
  for (const row of rows(await ask(socket, "show servers conn"), "bkname/svname", " ")) {
    const fields = pick(row, CONN_COUNTERS);
    for (const [name, value] of Object.entries(fields))
      if (!name.startsWith("idle_per_thr") && !name.startsWith("column"))
        put(`server ${row["bkname/svname"]}`, { [name]: value });
  }
  for (const row of rows(await ask(socket, "show stat"), "pxname", ",")) {
    const kind = row["svname"] === "FRONTEND" || row["svname"] === "BACKEND" ? "proxy" : "server";
    const key =
      kind === "proxy"
        ? `${row["svname"]!.toLowerCase()} ${row["pxname"]}`
        : `server ${row["pxname"]}/${row["svname"]}`;
    const fields = Object.fromEntries([...STAT_KEPT].map((name) => [`stat ${name}`, row[name] ?? ""]));
    // `fullconn`, which HAProxy computes at its start for those that name none.
    if (row["svname"] === "BACKEND") delete fields["stat slim"];
    // Made anew when it comes back.
    if (row["status"]?.startsWith("MAINT") === true)
      for (const name of ["check_health", "weight"]) delete fields[`stat ${name}`];
    put(key, fields);
  }
  for (const name of linesOf(await ask(socket, "show backend"))) put(`backend ${name}`, { "show backend": "listed" });
  for (const guid of guids(await ask(socket, "dump stats-file"))) put(`guid ${guid}`, { "dump stats-file": "listed" });
  await readMaps(socket, ordered, put);
  await readCertificates(socket, put);
  return state;
}

function guids(dump: string): string[] {
  return linesOf(dump)
    .map((line) => line.split(",", 1)[0]!)
    .filter((guid) => guid !== "");
}

type Put = (key: string, fields: Record<string, string>) => void;

async function readMaps(socket: string, ordered: (map: string) => boolean, put: Put): Promise<void> {
  for (const line of linesOf(await ask(socket, "show map"))) {
    const [, id, name] = /^(-?\d+) \(([^)]*)\)/.exec(line) ?? [];
    if (id === undefined || name === undefined || name === "") continue;
    const entries = linesOf(await ask(socket, `show map #${id}`)).map((entry) => entry.replace(/^\S+ /, ""));
    put(`map ${name}`, { entries: (ordered(name) ? entries : byKey(entries)).join("\n") });
  }
}

/** Sorted by key; entries of one key stay in their order, since the first of them answers. */
function byKey(entries: readonly string[]): string[] {
  const key = (entry: string): string => entry.split(" ", 1)[0]!;
  return entries.toSorted((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0));
}

/** `Name: value` lines. */
function details(text: string): Record<string, string> {
  return Object.fromEntries(
    linesOf(text).map((line) => {
      const at = line.indexOf(":");
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
}

/** From which file a certificate was read: nothing for one that came by a command. */
const CERT_LEFT_OUT = new Set(["Crt filename", "Key filename"]);

async function readCertificates(socket: string, put: Put): Promise<void> {
  for (const name of linesOf(await ask(socket, "show ssl cert")))
    put(`cert ${name}`, pick(details(await ask(socket, `show ssl cert ${name}`)), CERT_LEFT_OUT));
  for (const list of linesOf(await ask(socket, "show ssl crt-list")))
    put(`crt-list ${list}`, { entries: crtListEntries(await ask(socket, `show ssl crt-list -n ${list}`)).join("\n") });
  for (const line of linesOf(await ask(socket, "show ssl ca-file"))) {
    const name = line.replace(/ - \d+ certificate\(s\)$/, "");
    const shown = await ask(socket, `show ssl ca-file ${name}`);
    const { Status = "" } = details(shown.split(/\n\s*\n/)[0] ?? "");
    put(`ca-file ${name}`, { listed: line, Status, certificates: caCertificates(shown) });
  }
}

/**
 * Lines without their line numbers, sorted. Entries of one certificate with the same options answer for the names of all of
 * them, so they count as one.
 */
function crtListEntries(text: string): string[] {
  const names = new Map<string, Set<string>>();
  for (const line of linesOf(text)) {
    const [, cert, options = "", filters = ""] = /^(\S+?):\d+(?: \[([^\]]*)\])?(.*)$/.exec(line) ?? [];
    if (cert === undefined) throw new Error(`not an entry of a crt-list: ${line}`);
    const key = `${cert} [${options.trim()}]`;
    const known = names.get(key) ?? new Set();
    for (const filter of filters.split(" ")) if (filter !== "") known.add(filter);
    names.set(key, known);
  }
  return [...names].map(([key, filters]) => [key, ...[...filters].toSorted()].join(" ")).toSorted();
}

/** Serial numbers and the rest of each certificate of a CA file, sorted. */
function caCertificates(text: string): string {
  return text
    .split(/\n\s*\n/)
    .filter((part) => part.includes("Serial:"))
    .map((part) =>
      linesOf(part)
        .filter((line) => !/^(Filename|Status|Certificate #\d+):?/.test(line.trim()))
        .join("\n"),
    )
    .toSorted()
    .join("\n\n");
}

/** The differences in words, `left` and `right` named; [] = the same. */
export function compareWorkers(
  left: WorkerState,
  right: WorkerState,
  names: { readonly left: string; readonly right: string },
): string[] {
  const differences: string[] = [];
  for (const key of new Set([...left.keys(), ...right.keys()])) {
    const [a, b] = [left.get(key), right.get(key)];
    if (a === undefined || b === undefined) {
      differences.push(`${key} is in ${a === undefined ? names.right : names.left} only`);
      continue;
    }
    for (const field of new Set([...Object.keys(a), ...Object.keys(b)])) {
      if (a[field] !== b[field])
        differences.push(
          `${key}, ${field}: ${told(a[field], b[field])} in ${names.left}, ${told(b[field], a[field])} in ${names.right}`,
        );
    }
  }
  return differences;
}

/** A value, or of a listing those lines that the other one lacks. */
function told(value: string | undefined, other: string | undefined): string {
  if (value === undefined) return "nothing";
  if (!value.includes("\n") && other?.includes("\n") !== true) return JSON.stringify(value);
  const known = new Set(other?.split("\n"));
  const own = value.split("\n").filter((line) => !known.has(line));
  return own.length > 0
    ? JSON.stringify(own.slice(0, 5))
    : `${value.split("\n").length} lines in another order or number`;
}
