/** From an answer that is not a success to a KubeError that names object and verb, and no content. */
import { errors as undici } from "undici";
import { HapticError, KubeError, type KubeErrorCode } from "../errors.ts";

interface StatusBody {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: { readonly retryAfterSeconds?: number };
}

const LONGEST_MESSAGE = 400;

function codeOf(status: number): KubeErrorCode {
  if (status === 401) return "HAPTIC_E_KUBE_UNAUTHORIZED";
  if (status === 403) return "HAPTIC_E_KUBE_FORBIDDEN";
  if (status === 404) return "HAPTIC_E_KUBE_NOT_FOUND";
  if (status === 409) return "HAPTIC_E_KUBE_CONFLICT";
  if (status === 410) return "HAPTIC_E_KUBE_EXPIRED";
  if (status === 429 || status >= 500) return "HAPTIC_E_KUBE_UNAVAILABLE";
  if (status >= 400) return "HAPTIC_E_KUBE_INVALID";
  return "HAPTIC_E_KUBE_PROTOCOL";
}

/** The server repeats rejected values in some messages; they may be secret, and always are noise. */
function withoutValues(message: string): string {
  const cleaned = message.replace(/((?:Invalid|Unsupported|Duplicate) value: )("(?:[^"\\]|\\.)*"|[^\s:,\]]+)/g, "$1…");
  return cleaned.length > LONGEST_MESSAGE ? `${cleaned.slice(0, LONGEST_MESSAGE)}…` : cleaned;
}

/** `what` = verb and object: `update leases.coordination.k8s.io default/haptic-leader`. */
export function refusal(what: string, status: number, body: unknown, retryAfter?: string): KubeError {
  const answer: StatusBody =
    typeof body === "object" && body !== null && (body as StatusBody).kind === "Status" ? body : {};
  const seconds = answer.details?.retryAfterSeconds ?? (retryAfter === undefined ? NaN : Number(retryAfter));
  const said = typeof answer.message === "string" && answer.message !== "" ? `: ${withoutValues(answer.message)}` : "";
  return new KubeError(codeOf(status), `${what}: ${status}${answer.reason ? ` ${answer.reason}` : ""}${said}`, {
    status,
    reason: answer.reason ?? "",
    retryAfterMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined,
  });
}

/** The Status that a watch's ERROR event carries. */
export function watchRefusal(what: string, object: unknown): KubeError {
  const code = (object as StatusBody | null)?.code;
  return refusal(what, typeof code === "number" ? code : 500, object);
}

const TIMEOUTS = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "UND_ERR_CONNECT_TIMEOUT", "ETIMEDOUT"]);

/** Whether the connection broke in a way that says nothing about the request, so that a read may be sent again at once. */
export function brokenConnection(error: unknown): boolean {
  const code = (error as { code?: string } | null)?.code;
  return error instanceof undici.SocketError || code === "ECONNRESET" || code === "EPIPE";
}

/** An error of the transport itself; one that was named before (a KubeError, unreadable credentials) stays what it is. */
export function unreachable(what: string, cause: unknown): HapticError {
  if (cause instanceof HapticError) return cause;
  const { code, message } = cause as { code?: string; message?: string };
  const timeout = code !== undefined && TIMEOUTS.has(code);
  const certificate = code !== undefined && /CERT|SSL|TLS|SELF_SIGNED|VERIFY|ISSUER/.test(code);
  return new KubeError(
    timeout ? "HAPTIC_E_KUBE_TIMEOUT" : "HAPTIC_E_KUBE_UNREACHABLE",
    `${what}: ${message ?? String(cause)}`,
    {
      cause,
      ...(certificate && { hint: "the server's certificate is not trusted: check the CA and the server name" }),
    },
  );
}
