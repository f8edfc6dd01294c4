/**
 * Loopback addresses of one cluster: 127.77.N.0/24, with the first N that no other `haptic dev` holds. HAProxy binds with
 * SO_REUSEPORT, so two clusters on one address would share their traffic without a word; the block's lock prevents that.
 */
import { createServer, type Server } from "node:net";
import { DevClusterError } from "../errors.ts";

const LOCK_PORT = 6442;
const BLOCKS = 100;

export interface AddressBlock {
  /** Of the Kubernetes API. */
  readonly api: string;
  /** Of HAProxy pod number `index`, from 0. */
  pod(index: number): string;
  /** The next free address for a sample backend; one that was given back is used last. */
  take(): string;
  give(address: string): void;
  release(): void;
}

function lock(address: string): Promise<Server | undefined> {
  return new Promise((done) => {
    const server = createServer((socket) => socket.destroy());
    server.unref();
    server.on("error", () => done(undefined));
    server.listen({ host: address, port: LOCK_PORT, exclusive: true }, () => done(server));
  });
}

/** Takes a block and holds it until `release`. */
export async function takeAddresses(): Promise<AddressBlock> {
  for (let block = 0; block < BLOCKS; block++) {
    const prefix = `127.77.${block}`;
    const held = await lock(`${prefix}.1`);
    if (held === undefined) continue;
    const free = Array.from({ length: 150 }, (_, index) => `${prefix}.${100 + index}`);
    return {
      api: `${prefix}.1`,
      pod: (index) => `${prefix}.${11 + index}`,
      take() {
        const address = free.shift();
        if (address === undefined)
          throw new DevClusterError("no address is left: a sample backend each has one of 150");
        return address;
      },
      give: (address) => void free.push(address),
      release: () => void held.close(),
    };
  }
  throw new DevClusterError(`all of 127.77.0.0 to 127.77.${BLOCKS - 1}.0 are in use`, "end another `haptic dev` first");
}
