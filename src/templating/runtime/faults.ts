/** What goes wrong while a template runs, before it has a position. */

/**
 * An error that a function or a host method raises on purpose; its message is for the template's author. In the form
 * `v, err := f()` the template gets it as a value, everywhere else it ends the run.
 */
export class TemplateFault extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    // The place is found from the stack, so it must reach down to the emitted code.
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 60;
    super(message);
    Error.stackTraceLimit = limit;
    this.name = "TemplateFault";
    this.hint = hint;
  }
}

/** What fail() raises: `v, err := f()` does not catch it, even when a callback of f calls it. */
export class FailFault extends TemplateFault {}

/** A bound of the run was reached; no template can catch it. */
export class LimitFault extends Error {
  constructor(message: string) {
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 60;
    super(message);
    Error.stackTraceLimit = limit;
    this.name = "LimitFault";
  }
}

/**
 * Thrown by a run when a store read inside a function value needs an answer first: natives run their callbacks to the
 * end, so such a read cannot wait. The driver gets the answer into the store and starts the run again from clean state.
 */
export class RestartNeeded extends Error {
  readonly request: unknown;

  constructor(request: unknown) {
    super("a read inside a function value must be answered before the run starts again");
    this.name = "RestartNeeded";
    this.request = request;
  }
}
