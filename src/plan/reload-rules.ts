/**
 * Every kind of reload: when it comes, and what would avoid it. The table of docs/reloads.md is made from this. A hint that begins
 * with `nothing` says that nothing would.
 */

interface ReloadRule {
  readonly when: string;
  readonly hint: string;
}

export const RELOAD_RULES = {
  "unknown-baseline": {
    when: "nothing is known of what the pod runs: it is new, or no controller has stored its plan there",
    hint: "nothing needs to avoid it: the next change of this pod is compared with this one",
  },
  "other-schema": {
    when: "the pod's stored plan was written by a controller of another version",
    hint: "nothing needs to avoid it: the next change of this pod is compared with this one",
  },
  "agent-version": {
    when: "the pod's agent speaks another version of the API than the controller",
    hint: "run an agent of the controller's version",
  },
  "whole-set": {
    when: "the pod's files were not what its plan says, or it lacked a file's former content",
    hint: "let nobody but the agent write into its folder; where nobody does, nothing needs to",
  },
  "worker-behind": {
    when: "a reload was refused or put off before, so the worker does not run what was applied",
    hint: "nothing needs to avoid it: this reload makes up for the one before",
  },
  "refused-plan": {
    when: "HAProxy refused a plan that a pod had taken already: the pod goes back to its last good one",
    hint: "mend what HAProxy refuses: the configuration's condition Validated says what that is",
  },
  section: {
    when: "text of a `frontend`, a `listen`, or a `backend` that is not declared changed",
    hint: "keep what changes often in a map that this section reads; declare backends with planRegistry",
  },
  "section-fixed": {
    when: "text of another section (`global`, `defaults`, `userlist`, …) changed",
    hint: "nothing avoids it: HAProxy reads such a section at a reload only; what backends inherit can be a setting of planRegistry.Profile",
  },
  "section-new": {
    when: "a section comes that planRegistry does not know of",
    hint: "nothing avoids it where HAProxy has no command for such a section; a backend can be declared with planRegistry",
  },
  "section-gone": {
    when: "a section goes that planRegistry does not know of",
    hint: "nothing avoids it where HAProxy has no command for such a section; a backend can be declared with planRegistry",
  },
  "section-order": {
    when: "sections stand in another order",
    hint: "write sections in an order that does not change, such as by name",
  },
  "post-processing": {
    when: "what is done to the text of haproxy.cfg after it was rendered (`postProcessing`) changed",
    hint: "nothing avoids it: what it comes to is not known before HAProxy reads it",
  },
  "profile-new": {
    when: "a profile comes that HAProxy has not loaded",
    hint: "declare it in haproxy.cfg before a backend needs it, and say what differs between backends with settings: HAProxy loads profiles at a reload only",
  },
  "profile-text": {
    when: "a profile under a name of its own (`planRegistry.Section`) changed its text",
    hint: "say what changes with settings of planRegistry.Profile: HAProxy loads profiles at a reload only",
  },
  "many-operations": {
    when: "more than 8,000 operations at once",
    hint: "nothing needs to avoid it: one reload is quicker than so many operations",
  },
  "many-backends": {
    when: "more than 1,000 backends come or go at once",
    hint: "nothing needs to avoid it: one reload is quicker than so many operations",
  },
  "backend-version": {
    when: "a backend comes or goes on HAProxy 3.0 or 3.2",
    hint: "nothing avoids it on this version of HAProxy: 3.4 takes backends at run time",
  },
  "backend-structural": {
    when: "a backend comes or goes that has text of its own",
    hint: "declare it dynamic, with all its text in a profile",
  },
  "backend-profile-unloaded": {
    when: "a backend comes whose profile HAProxy has not loaded",
    hint: "use a profile that another backend has already, or declare it in haproxy.cfg before a backend needs it",
  },
  "backend-name": {
    when: "a backend or a server has a name that HAProxy's commands cannot carry",
    hint: "use letters, digits, dots, colons, dashes and underscores",
  },
  "backend-profile": {
    when: "a backend changes its profile",
    hint: "say what changed with a setting that a rule can read from a map, so that the profile stays the same",
  },
  "backend-field": {
    when: "a backend changes its mode, balance or hash-type",
    hint: "nothing avoids it for a backend that stays; on HAProxy 3.4 a backend of another name comes, and the map turns to it, at run time",
  },
  "backend-guid": {
    when: "a backend changes its guid, or takes over that of another object",
    hint: "make the guid of what does not change, such as namespace and name: HAProxy has no command that changes it",
  },
  "backend-default-server": {
    when: "a backend changes its default-server",
    hint: "write such keywords on the servers, and give servers with other ones another name: they are added at run time",
  },
  "backend-text": {
    when: "text of a backend beside its servers changed",
    hint: "say it with a setting of planRegistry.Profile, or in the profile that all backends share",
  },
  "backend-record": {
    when: "a backend's text changed while what planRegistry.Backend was told stayed the same",
    hint: "name in the record what the text says",
  },
  "server-balance": {
    when: "a server comes, or its weight changes, under an algorithm that takes none at run time",
    hint: "use roundrobin, leastconn, random or first, or a hash with hash-type consistent",
  },
  "server-address": {
    when: "a server has a host name, or a port that is none",
    hint: "use literal IP addresses, such as those of endpoints, with a port",
  },
  "server-keyword": {
    when: "a new server has a keyword that `add server` does not take on this version",
    hint: "use keywords that `add server` takes on this version, in the profile's default-server, too",
  },
  "server-file": {
    when: "a new server names a certificate, CA file or revocation list that HAProxy has not loaded",
    hint: "register the file, so that it is loaded before anything names it; nothing loads a crl-file at run time",
  },
  "server-extra": {
    when: "a server that stays changes its keywords",
    hint: "give a server with other keywords another name: it is added, and the old one drained, at run time",
  },
  "server-guid": {
    when: "a server that stays changes its guid, or a new one takes over that of another object",
    hint: "make the guid of what does not change, or give the server another name: HAProxy has no command that changes it",
  },
  "crt-list-new": {
    when: "a crt-list comes",
    hint: "register the list always, also while it is empty",
  },
  "crt-list-gone": {
    when: "a crt-list goes",
    hint: "keep the list registered, empty if need be",
  },
  "crt-list-first": {
    when: "the first entry of a crt-list, the default certificate, changes",
    hint: "keep the default certificate first; with strict-sni there is none: say so with planRegistry.CrtListMeta(path, false)",
  },
  "crt-list-order": {
    when: "entries of a crt-list stand in another order, or an earlier entry gets names that a later one has, too",
    hint: "sort entries by something that does not change, and let no two answer for one name",
  },
  "crt-list-lines": {
    when: "a crt-list holds lines that cannot be compared, or a changed certificate several times",
    hint: "use plain lines, CERT [OPTIONS] NAMES, one for each certificate",
  },
  "crt-list-file": {
    when: "a new entry of a crt-list names a certificate that HAProxy has not loaded and that is not registered",
    hint: "register the file, so that it is loaded before anything names it",
  },
  "certificate-size": {
    when: "a certificate's chain, or one block of a CA file, is larger than 12 KiB",
    hint: "leave out of the chain what clients need not get: the root, and certificates of other chains; nothing else, as HAProxy's commands take a chain in one piece only",
  },
  "entry-size": {
    when: "an entry of a map or of a crt-list that comes, or changes, has 12 KiB or more",
    hint: "keep values short, and give a certificate's entry fewer names, such as a wildcard: HAProxy's commands take no longer entry",
  },
  "ca-version": {
    when: "the content of a CA file changes on HAProxy 3.0",
    hint: "nothing avoids it on this version of HAProxy: 3.2 takes it at run time",
  },
  "ca-servers": {
    when: "the content of a CA file changes that servers without a client certificate name",
    hint: "give the servers a client certificate (crt), or the new content a new file and the servers new names",
  },
  file: {
    when: "a file with `reloadOnPush` (the default) comes, changes or goes",
    hint: "register it with reloadOnPush false, if HAProxy need not read it again",
  },
  "agent-operation": {
    when: "the pod's agent does not know an operation",
    hint: "run an agent of the controller's version",
  },
  "worker-other": {
    when: "the agent found HAProxy to be other than its operations were to make it, or does not know what it has read",
    hint: "let nobody but the agent change HAProxy through its sockets; if nobody does, please report it with this text",
  },
  "many-removals": {
    when: "requests hold more than 1,000 servers or 100 backends that are to go, for longer than a moment",
    hint: "let fewer go at once, or give the agents a shorter --removal-grace",
  },
  "operation-refused": {
    when: "HAProxy refused an operation, as when somebody else has changed the worker through its socket",
    hint: "let nobody but the agent change HAProxy through its sockets; if nobody does, please report it with this text",
  },
  "operation-failed": {
    when: "the agent could not finish: HAProxy's socket or the disk failed",
    hint: "nothing needs to avoid it, if it stays at this once; else look at the agent's log",
  },
} as const satisfies Readonly<Record<string, ReloadRule>>;

export type ReloadRuleName = keyof typeof RELOAD_RULES;
