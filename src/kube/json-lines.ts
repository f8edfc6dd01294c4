/** Lines of a byte stream, as a watch sends its events. */

const NEWLINE = 10;
/** The API server's largest object is about 3 MiB; a line far beyond that is no watch event. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** Cuts chunks into lines. A line may span many chunks; only new bytes are searched. */
export class LineSplitter {
  #pending: Buffer[] = [];
  #length = 0;

  /** The lines that this chunk completes. Empty lines are left out. Throws RangeError for an endless line. */
  *push(chunk: Buffer): Generator<string, void> {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      let line: string;
      if (this.#pending.length === 0) line = chunk.toString("utf8", from, at);
      else {
        this.#pending.push(chunk.subarray(from, at));
        line = Buffer.concat(this.#pending).toString("utf8");
        this.#pending = [];
        this.#length = 0;
      }
      from = at + 1;
      if (line !== "" && line !== "\r") yield line;
    }
    if (from < chunk.length) {
      this.#pending.push(chunk.subarray(from));
      this.#length += chunk.length - from;
      if (this.#length > LONGEST_LINE)
        throw new RangeError(`a line of the stream is longer than ${LONGEST_LINE} bytes`);
    }
  }
}
