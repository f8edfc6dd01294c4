/** Counts of requests, for tests that promise silence. */

export class Counters {
  readonly #requests = new Map<string, number>();
  readonly #writes = new Map<string, number>();

  /** Requests by verb and resource: `get ingresses.networking.k8s.io`, `watch secrets`. */
  get requests(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#requests);
  }

  /** Requests that may write, in the same form: `patch leases.coordination.k8s.io`. */
  get writes(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#writes);
  }

  count(verb: string, resource: string): void {
    const id = `${verb} ${resource}`;
    this.#requests.set(id, (this.#requests.get(id) ?? 0) + 1);
    if (["create", "update", "patch", "delete", "deletecollection"].includes(verb)) {
      this.#writes.set(id, (this.#writes.get(id) ?? 0) + 1);
    }
  }

  reset(): void {
    this.#requests.clear();
    this.#writes.clear();
  }
}
