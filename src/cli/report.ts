/** How an error that ended a command is told. */
import { HapticError } from "../errors.ts";

/** One line for an error of ours (with its hint); the stack only for what nobody foresaw. */
export function errorText(error: unknown): string {
  if (error instanceof HapticError)
    return `haptic: ${error.message} (${error.code})\n${error.hint === undefined ? "" : `  ${error.hint}\n`}`;
  return `haptic: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
}
