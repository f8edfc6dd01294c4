/** Rules by which the API misbehaves: which requests, how often, and what goes wrong. */
import { StatusError } from "../status.ts";
import type { StatusDetails } from "../status.ts";

/** What goes wrong. */
export type Fault =
  /** The request fails with this code and does nothing; 409, 410, 429 and 5xx say what a server says. */
  | {
      readonly type: "status";
      readonly code: number;
      readonly reason?: string;
      readonly message?: string;
      readonly retryAfter?: number;
    }
  /** The connection is cut before anything is done. */
  | { readonly type: "cut" }
  /** The request is carried out, then the connection is cut: the client cannot know. */
  | { readonly type: "lost" }
  /** The answer waits so long. */
  | { readonly type: "slow"; readonly ms: number }
  /** A list or a get shows what was so many revisions ago. */
  | { readonly type: "stale"; readonly behind: number }
  /** The watch that the request opens gets nothing more, bookmarks neither, while the rule is there; it stays open. */
  | { readonly type: "stall" }
  /** The watch that the request opens is cut in mid-stream after so long. */
  | { readonly type: "drop"; readonly afterMs: number };

export interface FaultRule {
  readonly fault: Fault;
  /** `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; default: all. */
  readonly verbs?: readonly string[];
  /** `pods`, `pods/status`, `ingresses.networking.k8s.io`; default: all. */
  readonly resources?: readonly string[];
  /** Default: all, and what is in none. */
  readonly namespaces?: readonly string[];
  readonly names?: readonly string[];
  /** Part of `METHOD /path?query`. */
  readonly match?: string | RegExp;
  /** So many requests are hit, then the rule is spent; default: it stays. */
  readonly count?: number;
  /** Share of the requests that are hit, drawn with the seed; default 1. */
  readonly probability?: number;
}

/** A request as rules see it. */
export interface Subject {
  readonly verb: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  /** `METHOD /path?query`. */
  readonly line: string;
}

export interface ActiveRule {
  readonly id: number;
  readonly rule: FaultRule;
  /** Requests that were hit. */
  hits: number;
}

const among = (values: readonly string[] | undefined, value: string): boolean =>
  values === undefined || values.includes(value);

const inLine = (match: RegExp | string | undefined, line: string): boolean =>
  match === undefined || (typeof match === "string" ? line.includes(match) : match.test(line));

/** Some faults only make sense for some requests. */
function fits(fault: Fault, verb: string): boolean {
  switch (fault.type) {
    case "stall":
    case "drop":
      return verb === "watch";
    case "stale":
      return verb === "get" || verb === "list";
    case "lost":
      return verb !== "watch";
    default:
      return true;
  }
}

export const concerns = (rule: FaultRule, subject: Subject): boolean =>
  fits(rule.fault, subject.verb) &&
  among(rule.verbs, subject.verb) &&
  among(rule.resources, subject.resource) &&
  among(rule.namespaces, subject.namespace) &&
  among(rule.names, subject.name) &&
  inLine(rule.match, subject.line);

interface Wording {
  readonly reason: string;
  readonly message: string;
  readonly details?: StatusDetails;
}

/** What a server says with this code. */
function wording(code: number, { resource, name }: Subject): Wording {
  switch (code) {
    case 409: {
      const [kind, group] = splitOnce(resource, ".");
      const message = `Operation cannot be fulfilled on ${resource} ${JSON.stringify(name)}: the object has been modified; please apply your changes to the latest version and try again`;
      return { reason: "Conflict", message, details: { name, ...(group === "" ? {} : { group }), kind } };
    }
    case 410:
      return { reason: "Expired", message: "The resourceVersion for the provided list is too old." };
    case 429:
      return { reason: "TooManyRequests", message: "Too many requests, please try again later." };
    case 500:
      return { reason: "InternalError", message: "Internal error occurred: etcdserver: request timed out" };
    case 503:
      return { reason: "ServiceUnavailable", message: "the server is currently unable to handle the request" };
    case 504:
      return { reason: "Timeout", message: "Timeout: request did not complete within the allotted timeout" };
    default:
      return { reason: "", message: `injected failure ${code}` };
  }
}

function splitOnce(text: string, by: string): readonly [string, string] {
  const at = text.indexOf(by);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

/** The error of a `status` fault. */
export function statusError(fault: Extract<Fault, { type: "status" }>, subject: Subject): StatusError {
  const usual = wording(fault.code, subject);
  const details =
    fault.retryAfter === undefined ? usual.details : { ...usual.details, retryAfterSeconds: fault.retryAfter };
  return new StatusError(fault.code, fault.reason ?? usual.reason, fault.message ?? usual.message, details);
}
