/** Why an agent refused an apply, in one text: for the log, the fault, and the pod's row of HAProxyCfg's status. */
import type { ApplyResult } from "../agent/api.ts";
import { refusalWords } from "../haproxy/index.ts";

/**
 * `STAGE: MESSAGE`. The agent hands on all that HAProxy said, once or twice (`reload.output` is a part of the message of the
 * stages `reload` and `known_bad`); what is told is what HAProxy refused the set for, without the passwords that a quoted
 * line may hold.
 */
export function refusalOf({ error, op_results, reload }: Pick<ApplyResult, "error" | "op_results" | "reload">): string {
  const output = reload?.output ?? "";
  const words = (text: string): string => (output === "" ? text : text.replace(output, () => refusalWords(output)));
  if (error !== undefined) return `${error.stage}: ${words(error.message)}`;
  const failed = op_results.find((op) => !op.ok);
  if (failed !== undefined) return `${failed.kind}: ${failed.output}`;
  return words(output) || "the agent refused the apply";
}
