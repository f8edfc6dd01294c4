/**
 * The one catalogue of errors. Each kind is a class with a stable `code`; each code has a row in `docs/errors.md`, and a
 * test says so. An error names the object, the field or `template:line:col`, what is wrong (message) and what to do (hint).
 */

import type { TemplateProblem } from "./templating/types.ts";

/** Base of every error HAPTIC raises on purpose. `hint` is one line that says what to do. */
export class HapticError extends Error {
  readonly code: `HAPTIC_E_${string}`;
  readonly hint: string | undefined;

  constructor(code: `HAPTIC_E_${string}`, message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = options.hint;
  }
}

/** The command line asked for something that does not exist. */
export class UnknownCommandError extends HapticError {
  constructor(message: string, hint?: string) {
    super("HAPTIC_E_UNKNOWN_COMMAND", message, hint === undefined ? {} : { hint });
  }
}

/** A flag or its value is wrong; the message names the flag. */
export class UsageError extends HapticError {
  constructor(message: string, hint?: string) {
    super("HAPTIC_E_USAGE", message, hint === undefined ? {} : { hint });
  }
}

/** A HAProxyTemplateConfig, alone or with its libraries, that cannot be used. `problems`: one line each, object and field first. */
export class ConfigError extends HapticError {
  readonly problems: readonly string[];

  constructor(message: string, problems: readonly string[], hint?: string) {
    super("HAPTIC_E_CONFIG_INVALID", message, hint === undefined ? {} : { hint });
    this.problems = problems;
  }
}

/** A JSONPath expression of `indexBy`, `ignoreFields` or `fieldSelector` is not in the supported subset. */
export class JsonPathError extends HapticError {
  constructor(expression: string, column: number, what: string) {
    super("HAPTIC_E_JSON_PATH", `JSONPath "${expression}", column ${column}: ${what}`, {
      hint: "write metadata.name, metadata.labels.kubernetes\\.io/service-name, spec.rules[0].host, endpoints[*].zone",
    });
  }
}

/** A name or value that would become another command on HAProxy's command line. Nothing was sent. */
export class RuntimeTokenError extends HapticError {
  constructor(message: string) {
    super("HAPTIC_E_RUNTIME_TOKEN", message);
  }
}

/** HAProxy's worker socket cannot be reached, or its answer cannot be read. */
export class RuntimeError extends HapticError {
  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super("HAPTIC_E_RUNTIME", message, options);
  }
}

/** HAProxy's master socket cannot be reached (`retriable`: it is re-executing itself or busy), or its answer cannot be read. */
export class MasterError extends HapticError {
  readonly retriable: boolean;

  constructor(message: string, options: { cause?: unknown; retriable?: boolean } = {}) {
    super("HAPTIC_E_MASTER", message, options.cause === undefined ? {} : { cause: options.cause });
    this.retriable = options.retriable ?? false;
  }
}

/** A request to the agent breaks the contract: limits, paths, sizes, digests, or the multipart form. Nothing was changed. */
export class AgentRequestError extends HapticError {
  readonly status: number;

  constructor(message: string, status = 400) {
    super("HAPTIC_E_AGENT_REQUEST", message);
    this.status = status;
  }
}

/** The agent's files or its journal cannot be read or written. */
export class AgentTreeError extends HapticError {
  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super("HAPTIC_E_AGENT_TREE", message, options);
  }
}

/** The controller's side: the agent gave no answer (`status` 0), refused the identity, or failed. */
export class AgentClientError extends HapticError {
  readonly status: number;

  constructor(message: string, status: number, options: { cause?: unknown; hint?: string } = {}) {
    super("HAPTIC_E_AGENT_CLIENT", message, options);
    this.status = status;
  }
}

/** Bytes that should be a stored plan are not, or are another plan than they say. The pod's baseline is then unknown. */
export class PlanBlobError extends HapticError {
  constructor(message: string, cause?: unknown) {
    super("HAPTIC_E_PLAN_BLOB", `stored plan: ${message}`, {
      cause,
      hint: "the next deployment sends the full set and reloads; nothing else is needed",
    });
  }
}

/** The haproxy binary cannot be run, or does not say what it should. */
export class HaproxyBinaryError extends HapticError {
  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super("HAPTIC_E_HAPROXY_BINARY", message, {
      hint: "give the path of a HAProxy 3.0 or newer with --haproxy",
      ...options,
    });
  }
}

/** There is no HAProxy to work with, and none could be installed; the hint says how to name one. */
export class HaproxyNotFoundError extends HapticError {
  constructor(message: string, hint?: string) {
    super("HAPTIC_E_HAPROXY_NOT_FOUND", message, hint === undefined ? {} : { hint });
  }
}

/** No way to reach a Kubernetes API was found, or the kubeconfig cannot be used. */
export class KubeConfigError extends HapticError {
  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super("HAPTIC_E_KUBE_CONFIG", message, options);
  }
}

export type KubeErrorCode =
  | "HAPTIC_E_KUBE_UNREACHABLE"
  | "HAPTIC_E_KUBE_TIMEOUT"
  | "HAPTIC_E_KUBE_UNAUTHORIZED"
  | "HAPTIC_E_KUBE_FORBIDDEN"
  | "HAPTIC_E_KUBE_NOT_FOUND"
  | "HAPTIC_E_KUBE_CONFLICT"
  | "HAPTIC_E_KUBE_EXPIRED"
  | "HAPTIC_E_KUBE_INVALID"
  | "HAPTIC_E_KUBE_UNAVAILABLE"
  | "HAPTIC_E_KUBE_PROTOCOL";

/**
 * The Kubernetes API refused a request or did not answer it. The message names verb and object and holds no body.
 * `status` is the HTTP status (0 = no answer), `reason` the Status' reason (`Conflict`, `Expired`, …) or "".
 */
export class KubeError extends HapticError {
  readonly status: number;
  readonly reason: string;
  /** What the server's Retry-After asked for. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: KubeErrorCode,
    message: string,
    options: {
      status?: number;
      reason?: string;
      retryAfterMs?: number | undefined;
      cause?: unknown;
      hint?: string;
    } = {},
  ) {
    super(code, message, options);
    this.status = options.status ?? 0;
    this.reason = options.reason ?? "";
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** `haptic dev` cannot bring up, or keep up, its cluster on this machine. */
export class DevClusterError extends HapticError {
  constructor(message: string, hint?: string) {
    super("HAPTIC_E_DEV_CLUSTER", message, hint === undefined ? {} : { hint });
  }
}

/** A template that does not compile, fails while it runs, or goes beyond a limit of its run. `problem` has the place. */
export class TemplateError extends HapticError {
  readonly problem: TemplateProblem;

  constructor(
    code: "HAPTIC_E_TEMPLATE_COMPILE" | "HAPTIC_E_TEMPLATE_RUN" | "HAPTIC_E_TEMPLATE_LIMIT",
    problem: TemplateProblem,
    cause?: unknown,
  ) {
    super(code, `${problem.template}:${problem.line}:${problem.column}: ${problem.message}`, {
      ...(cause === undefined ? {} : { cause }),
      ...(problem.hint === undefined ? {} : { hint: problem.hint }),
    });
    this.problem = problem;
  }
}

/** Why what is in force is not published; one word for metrics, conditions and alerts. */
export type PublishFailure =
  | "TooLarge"
  | "Forbidden"
  | "QuotaExceeded"
  | "NotServed"
  | "Invalid"
  | "Conflict"
  | "Outdated"
  | "Unavailable"
  | "Unreachable"
  | "Failed";

/** What is in force cannot be published as it is. Traffic does not depend on it. */
export class PublishError extends HapticError {
  readonly reason: PublishFailure;

  constructor(reason: PublishFailure, message: string, hint?: string, cause?: unknown) {
    super("HAPTIC_E_PUBLISH", message, { ...(hint !== undefined && { hint }), ...(cause !== undefined && { cause }) });
    this.reason = reason;
  }
}

/** The controller cannot do a step now: what it is about is gone, or something that it needs is not there. */
export class ControllerError extends HapticError {
  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super("HAPTIC_E_CONTROLLER", message, options);
  }
}
