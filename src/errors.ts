/**
 * The one catalogue of errors. Each kind is a class with a stable `code`; each code has a row in `docs/errors.md`, and a
 * test says so. An error names the object, the field or `template:line:col`, what is wrong (message) and what to do (hint).
 */

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
