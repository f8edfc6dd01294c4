/** What a test file tells the runner besides its passes and failures. The runner reads it when the file has ended. */

export interface Skip {
  readonly name: string;
  readonly reason: string;
}

/** A line of the bench's table; times are milliseconds unless the name says another unit. */
export interface Row {
  /** Begins with the goal's name: `G1 endpoint change, event to served`. */
  readonly name: string;
  readonly objects: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
  /** p50 of the floor measured in the same run; absent where there is none. */
  readonly floor?: number;
  /** p50 / floor. */
  readonly ratio?: number;
  /** p99 of the same floor, and p99 / floorP99. */
  readonly floorP99?: number;
  readonly ratioP99?: number;
}

export const skips: Skip[] = [];
export const rows: Row[] = [];

/** Adds a row to the bench's table (and to the file that `--json` names). */
export function recordRow(row: Row): void {
  rows.push(row);
}
