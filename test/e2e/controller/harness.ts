/** A controller against the embedded API, with real agents and real HAProxies, and the ingress example as its configuration. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createServer } from "node:http";
import type { Server } from "node:http";
import { parse, parseAllDocuments } from "yaml";
import { pino } from "pino";
import type { BasicCredentials } from "../../../src/agent/client.ts";
import { agentPaths } from "../../../src/agent/index.ts";
import { startController } from "../../../src/controller/index.ts";
import type { ControllerHandle } from "../../../src/controller/index.ts";
import { startEmbeddedApi } from "../../../src/devcluster/api/index.ts";
import type { EmbeddedApi } from "../../../src/devcluster/api/index.ts";
import { createKubeClient, directConnection } from "../../../src/kube/index.ts";
import { testHaproxy } from "../../support/parts.ts";
import type { HaproxyVersion } from "../../support/parts.ts";
import { makeIdentities, removeScratch, scratch, startPod, until } from "../agent/harness.ts";
import type { Identities, Pod } from "../agent/harness.ts";

export { until } from "../agent/harness.ts";

export interface Stage {
  readonly api: EmbeddedApi;
  readonly pods: readonly Pod[];
  readonly identities: Identities;
  readonly controller: () => ControllerHandle;
  counters(): Counters;
  /** Ends the controller and starts another one, as a restart does. */
  restartController(): Promise<void>;
  close(): Promise<void>;
}

export interface Counters {
  readonly applies: number;
  readonly reloads: number;
  readonly checks: number;
  readonly appliesRefused: number;
  readonly apiWrites: Readonly<Record<string, number>>;
}

export const CONFIG_NAME = "ingress";

/** Without TLS: what the agents ask for, and the Secret in which the controller looks for it. */
export interface Legacy {
  readonly secret: string;
  readonly credentials: BasicCredentials;
}

/** `prefix` is a loopback network of the test's own: `127.92.1`. */
export async function startStage(
  prefix: string,
  podCount = 1,
  version: HaproxyVersion = "3.4",
  legacy?: Legacy,
): Promise<Stage> {
  const root = scratch("controller");
  const identities = await makeIdentities(root);
  const api = await startEmbeddedApi({ host: `${prefix}.1` });
  const binary = testHaproxy(version);
  if (binary === undefined) throw new Error(`HAProxy ${version} is not installed`);
  const crds = new URL("../../../crds/", import.meta.url);
  for (const crd of readdirSync(crds)) {
    api.objects.apply(parse(readFileSync(new URL(crd, crds), "utf8")) as object);
  }
  await until("the configuration's kinds are served", () => {
    try {
      return api.objects.list("haproxy-haptic.org/v1alpha1", "HAProxyTemplateConfig").length === 0;
    } catch {
      return false;
    }
  });
  const example = readFileSync(new URL("../../../examples/ingress/config.yaml", import.meta.url), "utf8");
  for (const document of parseAllDocuments(example)) api.objects.apply(document.toJS() as object);
  const pods: Pod[] = [];
  for (let index = 0; index < podCount; index += 1) {
    const address = `${prefix}.${11 + index}`;
    const name = `haproxy-${index}`;
    // The example's configuration takes the socket's place from the environment, as a pod gives it.
    process.env["HAPTIC_WORKER_SOCKET"] = agentPaths({ baseDir: join(root, name) }).workerSocket;
    pods.push(await startPod({ binary, address, identities, name, ...(legacy && { basic: legacy.credentials }) }));
    addPod(api, `haproxy-${index}`, address);
  }
  const start = () =>
    startController({
      kube: createKubeClient(directConnection({ server: api.url })),
      namespace: "default",
      configName: CONFIG_NAME,
      agents:
        legacy === undefined
          ? { tls: { dir: identities.controllerDir, serverName: "haptic-agent.haptic.svc" } }
          : { basicSecret: legacy.secret },
      haproxyBinary: binary,
      debugPort: 0,
      log: pino({ level: process.env["TEST_LOG"] ?? "silent" }),
    });
  let controller = await start();
  return {
    api,
    pods,
    identities,
    controller: () => controller,
    counters: () => controller.variables["counters"]?.() as Counters,
    restartController: async () => {
      await controller.close();
      controller = await start();
    },
    close: async () => {
      await controller.close();
      for (const pod of pods) await pod.close();
      await api.close();
      removeScratch(root);
    },
  };
}

function addPod(api: EmbeddedApi, name: string, address: string): void {
  api.objects.create({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "default", labels: { "app.kubernetes.io/component": "loadbalancer" } },
    spec: { containers: [{ name: "agent", image: "haptic", ports: [{ name: "agent", containerPort: 5555 }] }] },
  });
  api.objects.patch(
    { apiVersion: "v1", kind: "Pod", name },
    { status: { phase: "Running", podIP: address } },
    "status",
  );
}

/** An ingress class, a service and its endpoints; `host` leads to it. */
export function addHost(
  api: EmbeddedApi,
  name: string,
  host: string,
  endpoints: readonly string[],
  port: number,
): void {
  api.objects.apply({
    apiVersion: "networking.k8s.io/v1",
    kind: "IngressClass",
    metadata: { name: "haptic" },
    spec: { controller: "haproxy-haptic.org/ingress" },
  });
  api.objects.apply({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "default" },
    spec: { ports: [{ name: "http", port: 80, targetPort: port, protocol: "TCP" }] },
  });
  setEndpoints(api, name, endpoints, port);
  api.objects.apply({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: { name, namespace: "default" },
    spec: {
      ingressClassName: "haptic",
      rules: [
        {
          host,
          http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name, port: { number: 80 } } } }] },
        },
      ],
    },
  });
}

export function setEndpoints(api: EmbeddedApi, name: string, endpoints: readonly string[], port: number): void {
  api.objects.apply({
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: `${name}-1`, namespace: "default", labels: { "kubernetes.io/service-name": name } },
    addressType: "IPv4",
    endpoints: endpoints.map((address, index) => ({
      addresses: [address],
      conditions: { ready: true },
      targetRef: { kind: "Pod", name: `${name}-${index}`, namespace: "default" },
    })),
    ports: [{ name: "http", port, protocol: "TCP" }],
  });
}

/** Servers that answer with their address. */
export async function startUpstreams(addresses: readonly string[], port: number): Promise<() => Promise<void>> {
  const servers: Server[] = [];
  for (const address of addresses) {
    const server = createServer((_, response) => response.end(address));
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    servers.push(server);
  }
  return async () => {
    for (const server of servers) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  };
}
