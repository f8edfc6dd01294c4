/** How much of the faults a run does: a part in CI, all of them, and for as long as it takes, with HAPTIC_FAULTS=full (`npm run faults`). */

export const FULL = process.env["HAPTIC_FAULTS"] === "full";

/** The API server is away for so long. */
export const OUTAGE_MS = FULL ? 120_000 : 5_000;

type Add = (name: string, body: () => Promise<void>) => void;

/** `test` in a full run, and in CI too where `inCi` says so; else nothing: what a run was not asked for is not skipped. */
export function extent(test: Add): (inCi: boolean) => Add {
  return (inCi) => (FULL || inCi ? test : () => undefined);
}
