/** What the API server refused, in one word. */
import { KubeError, PublishError, type PublishFailure } from "../errors.ts";

/** One word for what the API server said, and its words. */
export function troubleOf(error: unknown): { readonly reason: PublishFailure; readonly message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof PublishError) return { reason: error.reason, message };
  if (!(error instanceof KubeError)) return { reason: "Failed", message };
  const { status } = error;
  if (status === 413 || /request is too large|Request entity too large/i.test(message))
    return { reason: "TooLarge", message };
  if (status === 403) return { reason: /exceeded quota/i.test(message) ? "QuotaExceeded" : "Forbidden", message };
  if (status === 404) return { reason: "NotServed", message };
  if (status === 409) return { reason: "Conflict", message };
  if (status === 429 || status >= 500) return { reason: "Unavailable", message };
  return { reason: status >= 400 ? "Invalid" : "Unreachable", message };
}
