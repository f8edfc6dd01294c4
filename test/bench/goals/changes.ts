/** The changes that are measured: what a user's cluster does, and the same runtime commands for the floor. */
import {
  type Endpoint,
  addressOf,
  application,
  backendOf,
  BACKEND_PORT,
  hostOf,
  ingressOf,
  serviceOf,
  sliceOf,
  STRUCTURE_HOST,
  structureOf,
} from "./objects.ts";
import type { Floor, Rig } from "./rig.ts";

/** Changes at run time, and one that needs a reload. */
export type Goal = "G1" | "G2" | "G3" | "G4";

export const TITLES: Readonly<Record<Goal, string>> = {
  G1: "one changed endpoint, watch bytes to the new pod's answer",
  G2: "one new host on an existing Service, watch bytes to its answer",
  G3: "one new host with a new backend, watch bytes to its answer",
  G4: "one changed line of a frontend, watch bytes to its answer by a new worker",
};

/** Services whose one endpoint is replaced again and again. */
export const PROBES = 10;
const LIMIT_MS = 20_000;

/** Two endpoints each, and the probes with one. */
export function bulk(objects: number): object[] {
  const made: object[] = [];
  for (let index = 0; index < objects - PROBES; index++) {
    const name = `app-${index}`;
    made.push(
      ...application(
        name,
        [1, 2].map((at) => ({ address: addressOf(index * 2 + at), pod: `${name}-${at}` })),
      ),
    );
  }
  for (let probe = 0; probe < PROBES; probe++) made.push(...application(`probe-${probe}`, [firstEndpoint(probe)]));
  return made;
}

const firstEndpoint = (probe: number): Endpoint => ({
  address: addressOf(50_000 + probe),
  pod: `probe-${probe}-first`,
});

interface Change {
  readonly number: number;
  readonly name: string;
  readonly probe: number;
  readonly existing: string;
  readonly endpoint: Endpoint;
  readonly after: number;
}

export class Changes {
  readonly #rig: Rig;
  readonly #floor: Floor;
  /** Services that are no probes. */
  readonly #others: number;
  /** The server that a probe's backend has in the floor's HAProxy, once it was replaced. */
  readonly #replaced = new Map<number, string>();
  #number = 0;

  constructor(rig: Rig, floor: Floor, objects: number) {
    this.#rig = rig;
    this.#floor = floor;
    this.#others = objects - PROBES;
  }

  /** Milliseconds from the bytes of the change on the controller's socket to the first answer that shows it. */
  async product(goal: Goal): Promise<number> {
    if (goal === "G4") return this.#structure();
    const { name, probe, existing, endpoint, after } = this.#next("p");
    if (goal === "G3") {
      await this.#rig.order({ do: "put", objects: [serviceOf(name), sliceOf(name, [endpoint])] });
      await rest(250);
    }
    const object =
      goal === "G1" ? sliceOf(`probe-${probe}`, [endpoint]) : ingressOf(name, goal === "G2" ? existing : name);
    const mark = goal === "G1" ? `"${endpoint.pod}"` : `"${name}"`;
    const host = hostOf(goal === "G1" ? `probe-${probe}` : name);
    const wanted = goal === "G2" ? "x-served-by" : `x-served-by: ${endpoint.address}\r\n`;
    const answered = this.#rig.poller.until(host, wanted, LIMIT_MS);
    const at = await this.#rig.order({ do: "put", objects: [object], mark, after });
    if (at === 0) throw new Error(`nobody watched ${mark}`);
    return (await answered) - at;
  }

  /** The same with nothing between socket and HAProxy but one POST. */
  async floor(goal: Goal): Promise<number> {
    if (goal === "G4") return this.#floorStructure();
    const { name, probe, existing, endpoint, after } = this.#next("f");
    const { profile, map } = this.#floor;
    const at = `${endpoint.address}:${BACKEND_PORT}`;
    const entry = (service: string): string => `add map ${map} ${hostOf(name)}/ ${backendOf(service)}`;
    let commands: string[];
    if (goal === "G1") {
      const backend = backendOf(`probe-${probe}`);
      const old = this.#replaced.get(probe) ?? firstEndpoint(probe).pod;
      this.#replaced.set(probe, endpoint.pod);
      commands = [
        `add server ${backend}/${endpoint.pod} ${at}`,
        `enable server ${backend}/${endpoint.pod}`,
        `disable server ${backend}/${old}`,
      ];
    } else if (goal === "G2") {
      commands = [entry(existing)];
    } else {
      const backend = backendOf(name);
      commands = [
        `add backend ${backend} from ${profile} guid bench-${name}`,
        `add server ${backend}/${endpoint.pod} ${at}`,
        `enable server ${backend}/${endpoint.pod}`,
        `publish backend ${backend}`,
        entry(name),
      ];
    }
    const host = hostOf(goal === "G1" ? `probe-${probe}` : name);
    const wanted = goal === "G2" ? "x-served-by" : `x-served-by: ${endpoint.address}\r\n`;
    const answered = this.#rig.floorPoller.until(host, wanted, LIMIT_MS);
    const sent = await this.#rig.order({ do: "line", text: `${commands.join(";")}\n`, after });
    return (await answered) - sent;
  }

  async #structure(): Promise<number> {
    const { number, after } = this.#next("p");
    const answered = this.#rig.poller.until(STRUCTURE_HOST, `x-structure: ${number}\r\n`, LIMIT_MS);
    const mark = `"version":"${number}"`;
    const at = await this.#rig.order({ do: "put", objects: [structureOf(number)], mark, after });
    if (at === 0) throw new Error(`nobody watched ${mark}`);
    return (await answered) - at;
  }

  async #floorStructure(): Promise<number> {
    const { number, after } = this.#next("f");
    const answered = this.#rig.floorPoller.until(STRUCTURE_HOST, `x-structure: ${number}\r\n`, LIMIT_MS);
    const sent = await this.#rig.order({ do: "line", text: `structure ${number}\n`, after });
    return (await answered) - sent;
  }

  /**
   * `after`: how long the client asks already when the change comes. The client's questions are 1 to 2 ms apart: at a fixed
   * distance from the first one all changes of one kind would wait equally long for the next.
   */
  #next(side: "p" | "f"): Change {
    this.#number += 1;
    const number = this.#number;
    const name = `new-${side}-${number}`;
    return {
      number,
      name,
      probe: number % PROBES,
      // Not a probe: the hosts that name it would add up, and each is looked at again when its endpoint changes.
      existing: `app-${number % this.#others}`,
      endpoint: { address: addressOf(20_000 + number), pod: `${name}-pod` },
      after: 1 + ((number * 0.618_034) % 1) * 3,
    };
  }
}

export const rest = (ms: number): Promise<void> => new Promise((wake) => setTimeout(wake, ms));
