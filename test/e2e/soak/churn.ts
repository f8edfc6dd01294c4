/** What happens to the cluster of a soak: all at once, each at its own pace, from a seed. */
import type { KubeObject } from "../../../src/stores/types.ts";
import { tlsSecret } from "../../unit/examples/objects.ts";
import type { Cluster } from "../harness/cluster.ts";
import { hostObjects } from "../harness/hosts.ts";

/** Milliseconds between two changes of a kind. */
export const PACE = {
  endpoints: 100,
  loaded: 1_500,
  hosts: 3_000,
  certificates: 4_000,
  broken: 15_000,
  mended: 5_000,
  drops: 20_000,
  expiries: 60_000,
} as const;

const MOST_ENDPOINTS = 5;
const EXTRA_HOSTS = 20;
/** One Service in so many has a host with a certificate of its own. */
const TLS_EVERY = 5;

const TARGETS: Readonly<Record<string, { apiVersion: string; resource: string }>> = {
  Service: { apiVersion: "v1", resource: "services" },
  Secret: { apiVersion: "v1", resource: "secrets" },
  EndpointSlice: { apiVersion: "discovery.k8s.io/v1", resource: "endpointslices" },
  Ingress: { apiVersion: "networking.k8s.io/v1", resource: "ingresses" },
};

export interface Tally {
  endpointChanges: number;
  hostsAdded: number;
  hostsRemoved: number;
  rotations: number;
  broken: number;
  drops: number;
  expiries: number;
}

export const hostOf = (name: string): string => `${name}.example`;

export class Churn {
  readonly tally: Tally = {
    endpointChanges: 0,
    hostsAdded: 0,
    hostsRemoved: 0,
    rotations: 0,
    broken: 0,
    drops: 0,
    expiries: 0,
  };
  readonly #cluster: Cluster;
  readonly #services: readonly string[];
  readonly #random: () => number;
  readonly #extra: string[] = [];
  #number = 0;
  #stopping = false;
  #loops: Promise<void>[] = [];
  readonly #pauses = new Set<() => void>();

  constructor(cluster: Cluster, services: readonly string[], random: () => number) {
    this.#cluster = cluster;
    this.#services = services;
    this.#random = random;
  }

  /** What serves when the churn begins. */
  async populate(): Promise<void> {
    for (const [index, name] of this.#services.entries())
      await this.#write(
        await hostObjects(this.#cluster, name, hostOf(name), { tls: index % TLS_EVERY === 0, endpoints: 2 }),
      );
  }

  /** `loaded` = the Services whose hosts are under load: their endpoints move, too, more slowly. */
  start(loaded: readonly string[]): void {
    const { api } = this.#cluster;
    this.#loops = [
      this.#every(PACE.endpoints, () => this.#changeEndpoints(this.#services)),
      this.#every(PACE.loaded, () => this.#changeEndpoints(loaded)),
      this.#every(PACE.hosts, () => this.#changeHosts()),
      this.#every(PACE.certificates, () => this.#rotate()),
      this.#every(PACE.broken, () => this.#breakSecret()),
      this.#every(PACE.drops, async () => {
        await api.drop?.();
        this.tally.drops += 1;
      }),
      this.#every(PACE.expiries, async () => {
        await api.expire?.();
        this.tally.expiries += 1;
      }),
    ];
  }

  /** Ends all of it; what was broken is mended. Rejects with what went wrong in a loop. */
  async stop(): Promise<void> {
    this.#stopping = true;
    for (const end of this.#pauses) end();
    await Promise.all(this.#loops);
  }

  /** Hosts that must be served now. */
  hosts(): string[] {
    return [...this.#services, ...this.#extra].map((name) => hostOf(name));
  }

  async #every(paceMs: number, change: () => Promise<void>): Promise<void> {
    while (!this.#stopping) {
      await this.#pause(paceMs * (0.5 + this.#random()));
      if (!this.#stopping) await change();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((done) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#pauses.delete(end);
        done();
      };
      const timer = setTimeout(end, ms);
      this.#pauses.add(end);
    });
  }

  #pick<T>(all: readonly T[]): T {
    return all[Math.floor(this.#random() * all.length)]!;
  }

  async #changeEndpoints(among: readonly string[]): Promise<void> {
    const service = this.#pick(among);
    const now = [...this.#cluster.endpointsOf(service)];
    const dice = this.#random();
    if (dice < 0.3 && now.length < MOST_ENDPOINTS) now.push(...(await this.#cluster.newEndpoints(service, 1)));
    else if (dice < 0.6 && now.length > 1) now.splice(Math.floor(this.#random() * now.length), 1);
    else now.splice(Math.floor(this.#random() * now.length), 1, ...(await this.#cluster.newEndpoints(service, 1)));
    await this.#cluster.setEndpoints(service, now);
    this.tally.endpointChanges += 1;
  }

  async #changeHosts(): Promise<void> {
    this.#number += 1;
    const name = `new-${this.#number}`;
    await this.#write(await hostObjects(this.#cluster, name, hostOf(name), { tls: this.#number % 2 === 0 }));
    this.#extra.push(name);
    this.tally.hostsAdded += 1;
    if (this.#extra.length <= EXTRA_HOSTS) return;
    const gone = this.#extra.shift()!;
    for (const [kind, object] of [
      ["Ingress", gone],
      ["Service", gone],
      ["EndpointSlice", `${gone}-1`],
      ["Secret", `${gone}-tls`],
    ] as const)
      await this.#cluster.client.delete({ ...TARGETS[kind]!, namespace: "default" }, object).catch(() => undefined);
    await this.#cluster.backends.remove(this.#cluster.endpointsOf(gone).map(({ address }) => address));
    this.#cluster.noteEndpoints(gone, []);
    this.tally.hostsRemoved += 1;
  }

  #tlsServices(): readonly string[] {
    return this.#services.filter((_, index) => index % TLS_EVERY === 0);
  }

  async #secret(name: string, broken: boolean): Promise<void> {
    const { certificate, key } = await this.#cluster.authority.issue([hostOf(name)], "server");
    const other = broken ? (await this.#cluster.authority.issue([hostOf(name)], "server")).key : key;
    await this.#write([tlsSecret(`${name}-tls`, certificate, other)]);
  }

  async #rotate(): Promise<void> {
    await this.#secret(this.#pick(this.#tlsServices()), false);
    this.tally.rotations += 1;
  }

  /** A key that is not the certificate's; mended a while later. Not the first one's: its host is under load over TLS. */
  async #breakSecret(): Promise<void> {
    const name = this.#pick(this.#tlsServices().slice(1));
    await this.#secret(name, true);
    this.tally.broken += 1;
    await this.#pause(PACE.mended);
    await this.#secret(name, false);
  }

  async #write(objects: readonly object[]): Promise<void> {
    for (const object of objects) {
      const { kind, metadata, ...rest } = object as KubeObject & { kind: string };
      const { uid: _, ...named } = metadata;
      const whole = { kind, ...rest, metadata: { ...named, namespace: "default" } } as unknown as KubeObject;
      await this.#cluster.client.apply({ ...TARGETS[kind]!, namespace: "default" }, whole, {
        fieldManager: "soak",
        force: true,
      });
    }
  }
}
