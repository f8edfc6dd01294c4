/**
 * Why a reload is needed: what changed and where, which object made it as far as that is known, and what would avoid it.
 * Reasons name sections, fields, files and objects, never content.
 */

export interface ReloadReason {
  /** A sentence's worth: `backend a changed its balance`. */
  readonly text: string;
  /** Section of haproxy.cfg, or the file, that only a reload changes; "" where it is the whole. */
  readonly section: string;
  /** What of it: a key of the backend's record, `servers.NAME.extra`, the template it stands in; "" where nothing finer is known. */
  readonly field: string;
  /** The object whose template run made it, e.g. `Ingress default/web`; "" where no object did, or it is not known. */
  readonly object: string;
  /** What would avoid the reload next time; "" where nothing would. */
  readonly hint: string;
}

export type ReasonDetails = Partial<Omit<ReloadReason, "text">>;

export function reloadReason(text: string, details: ReasonDetails = {}): ReloadReason {
  return { text, section: "", field: "", object: "", hint: "", ...details };
}

/** One line that holds all of it: for statuses, Events and logs. */
export function tellReason({ text, field, object, hint }: ReloadReason): string {
  const where = [object === "" ? "" : `from ${object}`, field].filter((part) => part !== "").join(", ");
  return `${text}${where === "" ? "" : ` (${where})`}${hint === "" ? "" : `; to avoid it: ${hint}`}`;
}

/** Reasons that are kept of one difference; the last says how many more there are. */
export const MAX_REASONS = 8;

/** What avoids each kind of reload. */
export const HINTS = {
  section: "keep what changes often in a map that this section reads, or declare it with planRegistry",
  profile:
    "HAProxy loads profiles at a reload only: keep their texts few and equal, and say what differs between backends with settings",
  oldVersion: "HAProxy 3.4 takes backends at run time",
  structural: "declare it dynamic, with all its text in a profile",
  unloadedProfile: "use a profile that another backend has already",
  backendField: "declare a backend of another name: on HAProxy 3.4 it comes, and the map turns to it, at run time",
  backendProfile: "say what changed with a setting that a rule can read from a map, so that the profile stays the same",
  backendGuid: "make the guid of what does not change",
  backendServers: "write these keywords on the servers: a new server takes them at run time",
  text: "say it with a setting of planRegistry.Profile, or in the profile that all backends share",
  record: "name in the record what the text says",
  name: "use letters, digits, dots, colons, dashes and underscores",
  serverKeywords: "give a server with other keywords another name: it is added, and the old one drained, at run time",
  serverGuid: "make the guid of what does not change, or give the server another name",
  serverKeyword: "use keywords that `add server` takes, or put the others into the profile's default-server",
  serverAddress: "use literal IP addresses, such as those of endpoints, with a port",
  balance: "use roundrobin, leastconn, random or first, or a hash with hash-type consistent",
  loadedFile: "register the file, so that it is loaded before anything names it",
  authority: "give the servers a client certificate (crt), or the new content a new file and the servers new names",
  haproxyAuthority: "HAProxy 3.2 takes it at run time",
  crtListNew: "register the list always, also while it is empty",
  crtListGone: "keep the list registered, empty if need be",
  crtListFirst:
    "keep the default certificate first; with strict-sni there is none: say so with planRegistry.CrtListMeta(path, false)",
  crtListOrder: "sort entries by something that does not change, and let no two answer for one name",
  crtListOptions:
    "register the certificate under another file name: the new entry comes, and the old one goes, at run time",
  crtListEntry: "use plain lines, CERT [OPTIONS] NAMES, one for each certificate",
  file: "register it with reloadOnPush false, if HAProxy need not read it again",
  agent: "run an agent of the controller's version",
  bulk: "nothing needs to: one reload is quicker than so many operations",
  baseline: "nothing needs to: the next change of this pod is compared with this one",
} as const;

export const UNKNOWN_BASELINE = reloadReason("no plan is known of what this pod runs", { hint: HINTS.baseline });
export const WORKER_BEHIND = reloadReason("the worker does not run what is applied", {
  hint: "nothing needs to: a reload was refused or put off before, and this one makes up for it",
});
export const OTHER_SCHEMA = reloadReason("the pod's plan has another schema version", { hint: HINTS.baseline });
