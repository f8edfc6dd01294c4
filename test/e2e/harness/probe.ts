/** Asks a health path again and again, as a kubelet would, and keeps the longest time that an answer took. */
export interface ProbeReport {
  /** Answers of 200. */
  readonly answers: number;
  /** What else came: another status, or none. */
  readonly failures: readonly string[];
  readonly longestMs: number;
}

const PAUSE_MS = 10;
/** What a kubelet waits for, if nobody says otherwise (`timeoutSeconds: 1`). */
export const KUBELET_MS = 1_000;

/** Until the function that it gives is called. */
export function probe(url: string): () => Promise<ProbeReport> {
  const failures: string[] = [];
  let [answers, longestMs, ended] = [0, 0, false];
  const asking = (async () => {
    while (!ended) {
      const began = performance.now();
      try {
        const answer = await fetch(url, { signal: AbortSignal.timeout(10 * KUBELET_MS) });
        await answer.arrayBuffer();
        if (answer.status === 200) answers += 1;
        else failures.push(String(answer.status));
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error));
      }
      longestMs = Math.max(longestMs, performance.now() - began);
      await new Promise((wake) => setTimeout(wake, PAUSE_MS));
    }
  })();
  return async () => {
    ended = true;
    await asking;
    return { answers, failures, longestMs };
  };
}
