/**
 * The embedded Kubernetes API: an API server in this process, for `haptic dev` and for fast tests. kubectl, helm-like
 * clients and informers work with it; docs/embedded-api.md says what it does and where it is more lenient than a cluster.
 */
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { Counters } from "./counters.ts";
import { Faults } from "./faults/index.ts";
import { createApiServer } from "./http/server.ts";
import { Watches } from "./http/watch.ts";
import { ManifestsFolder } from "./manifests.ts";
import type { ApiObject } from "./objects.ts";
import { ObjectsApi } from "./objects-api.ts";
import { newState } from "./state.ts";

export type { ApiObject } from "./objects.ts";
export type { ObjectsApi } from "./objects-api.ts";
export type { Faults } from "./faults/index.ts";
export type { Counters } from "./counters.ts";

export interface EmbeddedApiOptions {
  /** Loopback address; default 127.0.0.1. */
  readonly host?: string;
  /** Default 0: a free port. */
  readonly port?: number;
  /** Folder of YAML files that is applied and followed. */
  readonly manifests?: string;
  /** Milliseconds since 1970; default Date.now. */
  readonly now?: () => number;
  /** For the random parts of names; default Math.random. */
  readonly random?: () => number;
  readonly log?: (text: string) => void;
  /** Lets faults be switched over HTTP too (`/faults`); default false. */
  readonly switchboard?: boolean;
  /** Changes each resource remembers; default 10,000. */
  readonly history?: number;
}

export interface EmbeddedApi {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** A kubeconfig as YAML text. */
  readonly kubeconfig: string;
  readonly counters: Counters;
  readonly faults: Faults;
  /** The objects, for code in the same process. */
  readonly objects: ObjectsApi;
  /** `listener` hears of each change in the moment it is stored, by the plural name of its resource. */
  onChange(listener: (resource: string, object: ApiObject, deleted: boolean) => void): void;
  /** Open watches. */
  readonly watches: number;
  /** Applies a folder of YAML files and follows it until the API is closed. Resolves when it was applied once. */
  follow(folder: string): Promise<void>;
  /** Cuts all connections and refuses new ones for so long; what is stored stays. */
  outage(ms: number): Promise<void>;
  /** Ends everything, open watches included. */
  close(): Promise<void>;
}

const kubeconfigOf = (url: string): string => `apiVersion: v1
kind: Config
clusters: [{name: haptic-dev, cluster: {server: "${url}"}}]
users: [{name: haptic-dev, user: {}}]
contexts: [{name: haptic-dev, context: {cluster: haptic-dev, user: haptic-dev, namespace: default}}]
current-context: haptic-dev
`;

/** Starts an API; it is ready when the promise resolves. Rejects when the address is taken. */
export async function startEmbeddedApi(options: EmbeddedApiOptions = {}): Promise<EmbeddedApi> {
  const log = options.log ?? (() => undefined);
  const state = newState({
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    history: options.history ?? 10_000,
  });
  const watches = new Watches();
  const faults = new Faults(watches, state.database);
  const counters = new Counters();
  const server = createApiServer({
    state,
    watches,
    faults,
    counters,
    log,
    switchboard: options.switchboard === true,
  });
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const host = options.host ?? "127.0.0.1";
  const listen = async (port: number): Promise<void> => {
    server.listen(port, host);
    await once(server, "listening");
  };
  const shut = async (): Promise<void> => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(options.port ?? 0);
  const { port } = server.address() as AddressInfo;
  const url = `http://${host}:${port}`;
  const objects = new ObjectsApi(state, "haptic-dev");
  const folders: ManifestsFolder[] = [];
  let closed = false;
  const follow = async (path: string): Promise<void> => {
    // Whoever asked may not have heard yet: a folder that is followed from now on would keep the process alive for ever.
    if (closed) return;
    const folder = new ManifestsFolder(path, objects, log);
    folders.push(folder);
    await folder.start();
  };
  if (options.manifests !== undefined) await follow(options.manifests);
  return {
    url,
    kubeconfig: kubeconfigOf(url),
    counters,
    faults,
    objects,
    get watches() {
      return watches.size;
    },
    follow,
    onChange: (listener) =>
      state.database.listen((resource, change) => listener(resource.plural, change.after.object, change.deleted)),
    outage: async (ms) => {
      await shut();
      await new Promise((resolve) => setTimeout(resolve, ms));
      await listen(port);
    },
    close: async () => {
      closed = true;
      for (const folder of folders) folder.close();
      await shut();
    },
  };
}
