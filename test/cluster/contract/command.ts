/** One command of the contract. */

/** What differs between the places where the two servers run. */
export interface Place {
  /** The webhooks' authority, as a configuration names it. */
  readonly caBundle: string;
  /** An address that the server's EndpointSlices may name and where the webhooks listen. */
  readonly serviceAddress: string;
}

export interface Command {
  /** Arguments of kubectl; single quotes keep blanks. */
  readonly line: string;
  readonly stdin?: string | ((place: Place) => string);
  /** Commands run while this one watches; it is ended afterwards. */
  readonly during?: readonly string[];
  /** Lines come in any order. */
  readonly unordered?: true;
  /** What both servers must publish before the command is run: a server lists a new kind's schema some time after it is Established. */
  readonly published?: { readonly path: string; readonly word: string };
  /** A command to be repeated afterwards until what it says contains these words: a server acts by some objects a moment later. */
  readonly until?: { readonly line: string; readonly stdin?: string; readonly words: readonly string[] };
  /** The editor that kubectl is given: a script of this folder's fixtures. */
  readonly editor?: string;
}
