/** Objects of the ingress example's kinds, as short as a test needs them. */

export interface PathSpec {
  readonly path?: string;
  readonly type?: "Exact" | "Prefix" | "ImplementationSpecific";
  readonly service?: string;
  readonly port?: string | number;
}

const backend = (service: string, port: string | number): object => ({
  service: { name: service, port: typeof port === "number" ? { number: port } : { name: port } },
});

/** An Ingress in the namespace default with one rule; `host` "" = none. */
export function ingress(name: string, host: string, paths: readonly PathSpec[], more: object = {}): object {
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace: "default", uid: `uid-${name}` },
    spec: {
      rules: [
        {
          ...(host === "" ? {} : { host }),
          http: {
            paths: paths.map(({ path = "/", type = "Prefix", service = "web", port = 80 }) => ({
              path,
              pathType: type,
              backend: backend(service, port),
            })),
          },
        },
      ],
      ...more,
    },
  };
}

export function service(name: string, ports: readonly object[] = [{ port: 80 }], more: object = {}): object {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "default" }, spec: { ports, ...more } };
}

export interface EndpointSpec {
  readonly address: string;
  readonly pod?: string;
  readonly conditions?: object;
}

export function slice(
  serviceName: string,
  endpoints: readonly EndpointSpec[],
  ports: readonly object[] = [{ port: 8080 }],
): object {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${serviceName}-1`, namespace: "default", labels: { "kubernetes.io/service-name": serviceName } },
    addressType: "IPv4",
    ports,
    endpoints: endpoints.map(({ address, pod, conditions = { ready: true } }) => ({
      addresses: [address],
      conditions,
      ...(pod === undefined ? {} : { targetRef: { kind: "Pod", name: pod, namespace: "default" } }),
    })),
  };
}

export function tlsSecret(name: string, crt: string, key: string): object {
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  return {
    apiVersion: "v1",
    kind: "Secret",
    type: "kubernetes.io/tls",
    metadata: { name, namespace: "default", uid: `uid-${name}` },
    data: { "tls.crt": encode(crt), "tls.key": encode(key) },
  };
}
