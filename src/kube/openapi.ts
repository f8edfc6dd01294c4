/**
 * The server's OpenAPI v3 documents, one a group version. Each is fetched once: its address holds the hash of its content, and the
 * index of `/openapi/v3` tells the present addresses. Every authenticated client may read them (ClusterRole `system:discovery`).
 */
import type { KubeTransport } from "./transport.ts";
import type { OpenApiAnswer } from "./types.ts";

const INDEX = "/openapi/v3";
/** Nobody waits longer for what can be done without. */
const LIMIT_MS = 5_000;

interface IndexBody {
  readonly paths?: Readonly<Record<string, { readonly serverRelativeURL?: unknown }>>;
}

interface Held {
  readonly address: string;
  readonly document: unknown;
}

export class OpenApiReader {
  readonly #transport: KubeTransport;
  readonly #counted: () => void;
  /** By group version, of those that were asked for last. */
  #held: ReadonlyMap<string, Held> = new Map();

  constructor(transport: KubeTransport, counted: () => void) {
    this.#transport = transport;
    this.#counted = counted;
  }

  /** Rejects with the signal's reason only. A server that does not answer leaves what it said last in force. */
  async read(apiVersions: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, OpenApiAnswer>> {
    const before = this.#held;
    const held = new Map<string, Held>();
    const answers = new Map<string, OpenApiAnswer>();
    let paths: IndexBody["paths"];
    let fault = "";
    try {
      paths = ((await this.#json(INDEX, signal)) as IndexBody | null)?.paths ?? {};
    } catch (error) {
      signal?.throwIfAborted();
      fault = messageOf(error);
    }
    const answer = async (apiVersion: string): Promise<void> => {
      const old = before.get(apiVersion);
      const key = apiVersion.includes("/") ? `apis/${apiVersion}` : `api/${apiVersion}`;
      const listed = paths !== undefined && Object.hasOwn(paths, key) ? paths[key]?.serverRelativeURL : undefined;
      const address = paths === undefined ? old?.address : listed;
      // An address of another server is not followed.
      if (typeof address !== "string" || !/^\/(?!\/)/.test(address)) {
        answers.set(apiVersion, { missing: fault === "" ? `${INDEX} lists no ${key}` : fault });
        return;
      }
      let found = old?.address === address ? old : undefined;
      if (found === undefined) {
        try {
          found = { address, document: await this.#json(address, signal) };
        } catch (error) {
          if (signal?.aborted === true) return;
          fault = messageOf(error);
          found = old;
        }
      }
      if (found === undefined) return void answers.set(apiVersion, { missing: fault });
      held.set(apiVersion, found);
      answers.set(apiVersion, { document: found.document });
    };
    await Promise.all([...new Set(apiVersions)].map(answer));
    signal?.throwIfAborted();
    this.#held = held;
    return answers;
  }

  async #json(address: string, signal: AbortSignal | undefined): Promise<unknown> {
    this.#counted();
    const [path = "", search] = address.split("?");
    const query = Object.fromEntries(new URLSearchParams(search));
    const request = { method: "GET", path, query, signal, what: `read ${path}`, limitMs: LIMIT_MS } as const;
    return (await this.#transport.json(request)).body;
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
