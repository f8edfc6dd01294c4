/** Hosts of a traffic proof: what a user creates with kubectl so that a host is served, and looking whether it is. */
import { request } from "node:http";
import { request as requestTls } from "node:https";
import { BACKEND_PORT } from "./backends-process.ts";
import { type Cluster, until } from "./cluster.ts";
import { ingress, service, tlsSecret } from "../../unit/examples/objects.ts";

export interface HostOptions {
  /** Also served over HTTPS, by a certificate of its own in a Secret. */
  readonly tls?: boolean;
  /** Backends to begin with; default 1. */
  readonly endpoints?: number;
  /** These are its backends, and answer already, on the port of all. */
  readonly at?: readonly { readonly address: string; readonly pod: string }[];
}

/** Objects without the uid that their builders give for tests of templates. */
function asUserWrites(object: object): object {
  const { metadata, ...rest } = object as { metadata: { uid?: string } };
  const { uid: _, ...named } = metadata;
  return { ...rest, metadata: named };
}

/** The objects that make `host` be served by new backends of the Service `name`; not yet created. */
export async function hostObjects(
  cluster: Cluster,
  name: string,
  host: string,
  options: HostOptions = {},
): Promise<object[]> {
  const { tls = false, endpoints = 1, at } = options;
  const made = at ?? (await cluster.newEndpoints(name, endpoints));
  cluster.noteEndpoints(name, made);
  const objects = [
    service(name, [{ name: "http", port: 80, targetPort: BACKEND_PORT, protocol: "TCP" }]),
    cluster.sliceOf(name, made),
    ingress(name, host, [{ service: name }], {
      ingressClassName: "haptic",
      ...(tls && { tls: [{ hosts: [host], secretName: `${name}-tls` }] }),
    }),
  ];
  if (tls) {
    const { certificate, key } = await cluster.authority.issue([host], "server");
    objects.unshift(tlsSecret(`${name}-tls`, certificate, key));
  }
  return objects.map((object) => asUserWrites(object));
}

export interface HostAnswer {
  readonly status: number;
  /** Name of the backend's pod; "" of an answer that is HAProxy's own. */
  readonly pod: string;
}

/** One request through a pod; over TLS the certificate must be good for the host. */
export function ask(cluster: Cluster, pod: number, host: string, tls = false): Promise<HostAnswer> {
  return new Promise((done, failed) => {
    const common = { host: cluster.address(pod), path: "/", headers: { host }, agent: false, timeout: 3_000 } as const;
    const outgoing = tls
      ? requestTls({ ...common, port: 8443, servername: host, ca: cluster.authority.certificate })
      : request({ ...common, port: 8080 });
    outgoing.on("response", (response) => {
      response.resume();
      response.on("end", () =>
        done({ status: response.statusCode ?? 0, pod: String(response.headers["x-served-by"] ?? "") }),
      );
    });
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer within 3 s")));
    outgoing.on("error", failed);
    outgoing.end();
  });
}

/** Waits until every pod (or each of `pods`) answers the host with 200; milliseconds that it took. */
export async function served(
  cluster: Cluster,
  host: string,
  options: { tls?: boolean; limitMs?: number; by?: string; pods?: readonly number[] } = {},
): Promise<number> {
  const { tls = false, limitMs = 20_000, by, pods = [...cluster.pods.keys()] } = options;
  const began = performance.now();
  await Promise.all(
    pods.map((pod) =>
      until(
        `${tls ? "https" : "http"}://${host} is served by ${by ?? "anybody"} through pod ${pod}`,
        async () => {
          const answer = await ask(cluster, pod, host, tls);
          return answer.status === 200 && (by === undefined || answer.pod === by);
        },
        limitMs,
      ).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${cluster.tail()}`, { cause: error });
      }),
    ),
  );
  return performance.now() - began;
}
