/** Resolves with the name of the first signal that asks this process to end; later ones change nothing. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(name, () => resolve(name));
  });
}
