/** How long a request's body may take: one slow client holds no memory and no room on the disk for ever. */
import type { IncomingMessage } from "node:http";
import { AgentRequestError } from "../errors.ts";

export interface BodyTimes {
  /** Milliseconds without a byte. */
  readonly idleMs: number;
  /** Milliseconds for the whole body. */
  readonly totalMs: number;
}

/** 64 MiB in a minute is a megabyte a second. */
export const BODY_TIMES: BodyTimes = { idleMs: 10_000, totalMs: 60_000 };

export interface BodyTime {
  /** Bytes came. @throws AgentRequestError (408) when it was too long in all. */
  readonly came: () => void;
  /** The body is there. */
  readonly over: () => void;
}

const tooSlow = (what: string): AgentRequestError => new AgentRequestError(`the body came too slowly: ${what}`, 408);

/**
 * `onIdle` hears when nothing came for too long; the reader then still waits. A process that was stopped itself finds its time
 * over before it has looked at what came: it looks first.
 */
export function watchBody(
  request: IncomingMessage,
  { idleMs, totalMs }: BodyTimes,
  monotonic: () => number,
  onIdle: (error: AgentRequestError) => void,
): BodyTime {
  const { socket } = request;
  const began = monotonic();
  const onTimeout = (): void => {
    const seen = socket.bytesRead;
    setImmediate(() => {
      if (socket.bytesRead === seen) onIdle(tooSlow(`nothing for ${idleMs / 1_000} s`));
    });
  };
  request.setTimeout(idleMs, onTimeout);
  return {
    came: () => {
      if (monotonic() - began > totalMs) throw tooSlow(`more than ${totalMs / 1_000} s in all`);
    },
    over: () => {
      request.off("timeout", onTimeout);
      request.setTimeout(0);
    },
  };
}
