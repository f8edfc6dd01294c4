/** What `haptic dev` tells a person once there is live traffic: where everything is, and what to try. */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { DevSession } from "./session.ts";

/** A route of the manifests that can be asked for. */
export interface DemoRoute {
  readonly host: string;
  /** The Service behind it, and its port. */
  readonly service: string;
  readonly port: number;
  /** Which of the examples' ways leads there. */
  readonly by: "Ingress" | "Route";
}

interface IngressRule {
  readonly host?: string;
  readonly http?: {
    readonly paths?: readonly { readonly backend?: { readonly service?: { readonly name?: string } } }[];
  };
}

/** The first Ingress with a host, or the first object of another kind with `spec.host` and `spec.service`. */
export function demoRoute({ api, config }: DevSession): DemoRoute | undefined {
  const { objects } = api;
  const routeTo = (by: DemoRoute["by"], host: string, service: string): DemoRoute => {
    const object = objects.get({ apiVersion: "v1", kind: "Service", name: service, namespace: config.namespace });
    const { ports = [] } = (object?.["spec"] ?? {}) as { ports?: { port: number }[] };
    return { by, host, service, port: ports[0]?.port ?? 80 };
  };
  for (const ingress of objects.list("networking.k8s.io/v1", "Ingress")) {
    const { rules = [] } = ingress["spec"] as { rules?: readonly IngressRule[] };
    for (const { host, http } of rules) {
      const name = http?.paths?.[0]?.backend?.service?.name;
      if (host !== undefined && name !== undefined) return routeTo("Ingress", host, name);
    }
  }
  if (!objects.serves("demo.example.com/v1", "Route")) return undefined;
  for (const route of objects.list("demo.example.com/v1", "Route")) {
    const { host, service } = route["spec"] as { host?: string; service?: string };
    if (host !== undefined && service !== undefined) return routeTo("Route", host, service);
  }
  return undefined;
}

function isOnPath(program: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** An object that brings hello.localhost to the demo's Service, and the API's collection that takes it. */
function helloObject(route: DemoRoute, namespace: string): { readonly object: object; readonly collection: string } {
  const metadata = { name: "hello", namespace };
  if (route.by === "Route") {
    const apiVersion = "demo.example.com/v1";
    const spec = { host: "hello.localhost", service: route.service };
    return {
      object: { apiVersion, kind: "Route", metadata, spec },
      collection: `${apiVersion}/namespaces/${namespace}/routes`,
    };
  }
  const apiVersion = "networking.k8s.io/v1";
  const backend = { service: { name: route.service, port: { number: route.port } } };
  const spec = { rules: [{ host: "hello.localhost", http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }] };
  return {
    object: { apiVersion, kind: "Ingress", metadata, spec },
    collection: `${apiVersion}/namespaces/${namespace}/ingresses`,
  };
}

/** Three things to try: ask, scale, and bring a new host; with kubectl where it is, else with curl. */
function tries(session: DevSession, route: DemoRoute): string[] {
  const [pod] = session.pods;
  const { namespace } = session.config;
  const front = `http://${pod!.spec.address}:${pod!.spec.httpPort}/`;
  const ask = `  curl -H 'Host: ${route.host}' ${front}`;
  const hello = `  curl -H 'Host: hello.localhost' ${front}`;
  const { object, collection } = helloObject(route, namespace);
  if (isOnPath("kubectl", session.options.environment["PATH"] ?? "")) {
    return [
      `  export KUBECONFIG=${session.kubeconfigPath}`,
      ask,
      `  kubectl scale deployment ${route.service} --replicas=5`,
      route.by === "Ingress"
        ? `  kubectl create ingress hello --rule='hello.localhost/*=${route.service}:${route.port}'; sleep 1`
        : `  echo '${JSON.stringify(object)}' | kubectl apply -f -; sleep 1`,
      hello,
    ];
  }
  const { url } = session.api;
  return [
    ask,
    `  curl -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"spec":{"replicas":5}}' \\`,
    `    ${url}/apis/apps/v1/namespaces/${namespace}/deployments/${route.service}/scale`,
    `  curl -H 'Content-Type: application/json' -d '${JSON.stringify(object)}' \\`,
    `    ${url}/apis/${collection}; sleep 1`,
    hello,
  ];
}

/** The lines that a person sees when everything is up. */
export function introduction(session: DevSession): string[] {
  const { name, namespace } = session.config;
  const route = demoRoute(session);
  return [
    `HAProxy ${session.haproxy.version} (${session.haproxy.source}: ${session.haproxy.path})`,
    ...session.pods.map(({ spec, baseDir }) => `pod ${spec.name}: ${spec.address}, files in ${baseDir}`),
    `Kubernetes API: ${session.api.url}, kubeconfig ${session.kubeconfigPath}`,
    `serving HAProxyTemplateConfig ${namespace}/${name}; manifests in ${session.options.manifests}`,
    ...session.controllers.flatMap(({ name, livePage, metricsUrl, debugUrl }) => {
      const whose = session.controllers.length > 1 ? ` of ${name}` : "";
      return [
        `live page${whose}: ${livePage} (every component, its chart, each change from the API to HAProxy)`,
        `metrics${whose}: ${metricsUrl}; debug variables: ${debugUrl}/debug/vars`,
      ];
    }),
    ...(route === undefined ? [] : ["", "Try, in another terminal:", ...tries(session, route)]),
    "",
  ];
}
