/**
 * What asks this process to end. SIGUSR1 is the image's stop signal: HAProxy, which runs from the same image, ends its
 * connections at it before it goes.
 */
const NAMES = ["SIGTERM", "SIGUSR1", "SIGINT", "SIGHUP"] as const;

function endAtOnce(): void {
  process.exit(0);
}

/**
 * Until `stopSignal` is called there is nothing to finish. Process 1 of a container must say so: signals that it has no
 * handler for do nothing to it, and a pod that is deleted while it starts would live until its grace period is over.
 */
export function endAtSignals(): void {
  for (const name of NAMES) process.on(name, endAtOnce);
}

/** Resolves with the name of the first signal that asks this process to end; later ones change nothing. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const name of NAMES) {
      process.on(name, () => resolve(name));
      process.off(name, endAtOnce);
    }
  });
}
