/** What most traffic proofs serve: a host that is under load, another whose endpoints move meanwhile, and hosts that come. */
import * as assert from "uvu/assert";
import type { Cluster } from "./cluster.ts";
import { hostObjects, served } from "./hosts.ts";
import type { LoadReport } from "./load.ts";

/** The host under load and its Service. */
export const HOST = "app.example";
export const NAME = "app";
/** The host whose endpoints move. */
export const OTHER_HOST = "other.example";
export const OTHER = "other";
const FIRST_MS = 40_000;

export class Site {
  readonly #cluster: Cluster;
  #hosts = 0;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Both hosts, served by every pod; `endpoints` of the one under load, default 2. */
  async create(options: { readonly endpoints?: number; readonly otherTls?: boolean } = {}): Promise<void> {
    const { endpoints = 2, otherTls = false } = options;
    const cluster = this.#cluster;
    await cluster.apply(...(await hostObjects(cluster, NAME, HOST, { tls: true, endpoints })));
    await cluster.apply(...(await hostObjects(cluster, OTHER, OTHER_HOST, { tls: otherTls })));
    await served(cluster, HOST, { tls: true, limitMs: FIRST_MS });
    await served(cluster, OTHER_HOST, { tls: otherTls });
    await cluster.settled();
  }

  /** One more host, also over HTTPS, with a backend of its own; created, perhaps not served yet. */
  async newHost(): Promise<string> {
    this.#hosts += 1;
    const host = `host-${this.#hosts}.example`;
    await this.#cluster.apply(...(await hostObjects(this.#cluster, `host-${this.#hosts}`, host, { tls: true })));
    return host;
  }

  /** The other host's endpoint is another pod from now on; its name. */
  async moveOther(): Promise<string> {
    const [moved] = await this.#cluster.newEndpoints(OTHER, 1);
    await this.#cluster.setEndpoints(OTHER, [moved!]);
    return moved!.pod;
  }

  /** No request of the load has failed, and there was load. */
  unharmed({ requests, failed, failures, parts }: LoadReport, least = 300): void {
    assert.is(failed, 0, [...failures, ...parts, this.#cluster.tail()].join("\n"));
    assert.ok(requests > least, `only ${requests} requests`);
  }
}
