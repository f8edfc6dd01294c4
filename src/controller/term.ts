/** The present term: its epoch, the number of its newest render, and the highest epoch that any agent or Lease spoke of. */
export class Term {
  highestSeen = 0;
  epoch = 0;
  seq = 0;

  /** An agent or a Lease said that there is this epoch. */
  saw(epoch: number): void {
    this.highestSeen = Math.max(this.highestSeen, epoch);
  }

  nextRender(): number {
    this.seq += 1;
    return this.seq;
  }

  begin(epoch: number): void {
    this.epoch = epoch;
    this.seq = 0;
  }
}
