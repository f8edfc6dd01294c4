/** Default bounds of one run. */

/** Loop turns, calls and units of work of functions. About ten seconds of plain loops. */
export const DEFAULT_FUEL = 200_000_000;
/** UTF-16 units of text produced: output, macro results over 1 KiB, concatenations over 1 KiB. */
export const DEFAULT_OUTPUT = 256 * 1024 * 1024;
/** Nested macro calls, function values and includes. Each costs a resumption of a slice a little. */
export const DEFAULT_DEPTH = 200;
/** Ticks between two looks at the clock. */
export const TICKS_PER_LOOK = 64;
