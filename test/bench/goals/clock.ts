/** Milliseconds of the machine's monotonic clock, which all processes of a bench share. */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;
