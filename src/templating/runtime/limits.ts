/** Default bounds of one run. */

/** Loop turns, calls and units of work of functions. About ten seconds of plain loops. */
export const DEFAULT_FUEL = 200_000_000;
/** UTF-16 units of text produced: output, macro results over 1 KiB, what longer texts are made of. */
export const DEFAULT_OUTPUT = 256 * 1024 * 1024;
/** Nested macro calls, function values and includes. Each costs a resumption of a slice a little. */
export const DEFAULT_DEPTH = 200;
/** Ticks between two looks at the clock. */
export const TICKS_PER_LOOK = 256;
/** Units of work that may be done where a run cannot pause: one call of a function with all its callbacks. About 50 ms. */
export const MAX_STRETCH = 5_000_000;
/** A loop turn inside a callback counts like this many units: a turn is more than a step of a built-in function. */
export const CALLBACK_WEIGHT = 4;
/** What a call of a function value costs beside its work: it can be suspended. */
export const CALL_COST = 8;
/** Elements of one list: it is copied when it grows. */
export const MAX_LIST = 4_000_000;
/** Entries made in one map, and in all maps of a run: a table is built anew when it grows. */
export const MAX_MAP = 500_000;
export const MAX_ENTRIES = 5_000_000;
/** UTF-16 units of one text: it is flattened in one go. */
export const MAX_TEXT = 32 * 1024 * 1024;
/** A run ends when the process uses more than this part of its heap; V8 would end the process a little later. */
export const MAX_HEAP = 0.9;
/** Looks at the clock between two looks at the heap. */
export const LOOKS_PER_HEAP_CHECK = 128;
