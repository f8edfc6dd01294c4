/** Cluster IPs and node ports, each given once. */
export class Allocator {
  #ip = 10;
  #port = 30_000;

  /** The next address of 10.96.0.0/16. */
  ip(): string {
    const n = this.#ip++;
    return `10.96.${(n >> 8) & 255}.${n & 255}`;
  }

  nodePort(): number {
    if (this.#port > 32_767) this.#port = 30_000;
    return this.#port++;
  }
}
