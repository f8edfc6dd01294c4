/**
 * Resolves with the name of the first signal that asks this process to end; later ones change nothing. SIGUSR1 is the
 * image's stop signal: HAProxy, which runs from the same image, ends its connections at it before it goes.
 */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGUSR1", "SIGINT", "SIGHUP"] as const) process.on(name, () => resolve(name));
  });
}
