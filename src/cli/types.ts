/** What a sub-command's file exports as `command`; main.ts loads the file only when it is asked for. */
export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** The whole help text of the command, printed by `haptic help COMMAND` and `haptic COMMAND --help`. */
  readonly usage: string;
  /** Runs it with what follows its name; the answer is the exit code. Errors are HapticErrors where they are ours. */
  run(argv: readonly string[]): Promise<number>;
}
