/** The start wrapper's requests to a living agent: make the files whole, or go back to the last known good set. */
import { AgentTreeError } from "../errors.ts";
import type { Holding } from "./holding.ts";
import { foldForStart, returnToLastGood } from "./start-files.ts";

interface StartTicket {
  readonly fallBack: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class StartDesk {
  readonly #holding: Holding;
  readonly #tickets = new Map<number, StartTicket>();
  #last = 0;

  constructor(holding: Holding) {
    this.#holding = holding;
  }

  /** The promise settles when the files are ready for HAProxy to read. */
  open(fallBack: boolean): { id: number; done: Promise<void> } {
    // Below zero: the charts carry numbers of applies and of starts side by side.
    this.#last -= 1;
    const id = this.#last;
    const done = new Promise<void>((resolve, reject) => this.#tickets.set(id, { fallBack, resolve, reject }));
    return { id, done };
  }

  async serve(id: number): Promise<void> {
    const ticket = this.#tickets.get(id);
    if (ticket === undefined) return;
    this.#holding.settle();
    if (ticket.fallBack) await returnToLastGood(this.#holding);
    else await foldForStart(this.#holding);
    this.#tickets.delete(id);
    ticket.resolve();
  }

  fail(id: number, error: unknown): void {
    const ticket = this.#tickets.get(id);
    this.#tickets.delete(id);
    ticket?.reject(error instanceof Error ? error : new AgentTreeError(String(error)));
  }
}
