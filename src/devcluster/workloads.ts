/**
 * What a cluster's own controllers and kubelet do for the demo: each Deployment's replicas become sample backends with Pod
 * objects, each Service with a selector gets an EndpointSlice of its pods, and a Deployment's status tells of them.
 * Level-based: `reconcile` looks at what is and what should be; who calls it when is the chart's affair (machines/devWorkloads.ts).
 */
import type { Subscription } from "rxjs";
import type { KubeClient, ResourceTarget } from "../kube/index.ts";
import type { KubeObject } from "../stores/types.ts";
import type { AddressBlock } from "./addresses.ts";
import { ObjectFold } from "./object-fold.ts";
import { type SampleBackend, startSample } from "./samples.ts";

/** The parts of the objects that matter here. */
interface PodTemplate {
  readonly metadata?: { readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly containers?: readonly Container[] };
}
interface Container {
  readonly name: string;
  readonly image?: string;
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
}
interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly targetPort?: number | string;
}

interface RunningPod {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly owner: string;
  /** The template it was made of, as text: another one means another pod. */
  readonly template: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly ports: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly backend: SampleBackend;
  terminating: boolean;
}

export interface WorkloadsDeps {
  readonly client: KubeClient;
  readonly addresses: Pick<AddressBlock, "take" | "give">;
  readonly node: string;
  readonly now: () => Date;
}

const MANAGER = "haptic-dev";
const DEFAULT_PORT = 8080;
const target = (apiVersion: string, resource: string, namespace?: string): ResourceTarget =>
  namespace === undefined ? { apiVersion, resource } : { apiVersion, resource, namespace };
const idOf = (object: KubeObject): string => `${object.metadata.namespace}/${object.metadata.name}`;

function matches(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}

export class Workloads {
  readonly #deps: WorkloadsDeps;
  readonly #deployments: ObjectFold;
  readonly #services: ObjectFold;
  readonly #podObjects: ObjectFold;
  #pods: RunningPod[] = [];
  /** Pods that terminate, and whose endpoints do not say so yet. */
  readonly #leaving: RunningPod[] = [];
  #serial = 0;
  #closed = false;
  /** What was written last, by object; an equal write is left out. */
  readonly #written = new Map<string, string>();
  #changed: () => void = () => undefined;

  constructor(deps: WorkloadsDeps) {
    this.#deps = deps;
    this.#deployments = new ObjectFold(deps.client, target("apps/v1", "deployments"));
    this.#services = new ObjectFold(deps.client, target("v1", "services"));
    this.#podObjects = new ObjectFold(deps.client, target("v1", "pods"));
  }

  /** Follows Deployments, Services and Pods; `changed` hears that a look is due. Unsubscribe to end it. */
  watch(changed: () => void): Subscription {
    this.#changed = changed;
    const subscription = this.#deployments.follow(changed);
    subscription.add(this.#services.follow(changed));
    subscription.add(
      this.#podObjects.follow((type, object) => {
        if (type === undefined || object === undefined) return;
        if (type === "DELETED" || object.metadata["deletionTimestamp"] !== undefined) this.#takeAway(object);
      }),
    );
    return subscription;
  }

  /** Names of the pods that serve, per Deployment `namespace/name`. */
  serving(deployment: string): readonly string[] {
    return this.#pods.filter((pod) => pod.owner === deployment && !pod.terminating).map((pod) => pod.name);
  }

  /** Ends every backend, without grace for the objects. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#pods.map((pod) => pod.backend.stop()));
  }

  async reconcile(): Promise<void> {
    if (!this.#deployments.synced || !this.#services.synced) return;
    for (const deployment of this.#deployments.values()) await this.#scale(deployment);
    for (const pod of this.#pods) if (!this.#deployments.has(pod.owner)) this.#terminate(pod);
    await this.#publishEndpoints();
    this.#endLeaving();
    for (const deployment of this.#deployments.values()) await this.#publishStatus(deployment);
  }

  /** A Pod object that somebody deleted takes its backend with it; the next look brings another. */
  #takeAway(object: KubeObject): void {
    const pod = this.#pods.find((one) => one.uid === object.metadata.uid);
    if (pod === undefined || pod.terminating) return;
    this.#terminate(pod);
    this.#changed();
  }

  async #scale(deployment: KubeObject): Promise<void> {
    const owner = idOf(deployment);
    const { replicas = 1, template = {} } = deployment["spec"] as { replicas?: number; template?: PodTemplate };
    const text = JSON.stringify(template);
    const alive = this.#pods.filter((pod) => pod.owner === owner && !pod.terminating);
    const current = alive.filter((pod) => pod.template === text);
    for (let missing = replicas - current.length; missing > 0; missing--) await this.#start(deployment, template, text);
    // New pods serve before old ones go.
    for (const pod of alive.filter((one) => one.template !== text)) this.#terminate(pod);
    for (const pod of current.slice(replicas)) this.#terminate(pod);
  }

  async #start(deployment: KubeObject, template: PodTemplate, text: string): Promise<void> {
    if (this.#closed) return;
    const { namespace = "default", name: deploymentName, uid = "" } = deployment.metadata;
    const name = `${deploymentName}-${++this.#serial}`;
    const containers = template.spec?.containers ?? [];
    const declared = containers.flatMap((container) => container.ports ?? []);
    const ports = declared.length > 0 ? declared : [{ containerPort: DEFAULT_PORT }];
    const address = this.#deps.addresses.take();
    const backend = await startSample({ name, address, ports: [...new Set(ports.map((port) => port.containerPort))] });
    const labels = template.metadata?.labels ?? {};
    const startedAt = this.#deps
      .now()
      .toISOString()
      .replace(/\.\d+Z$/, "Z");
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name: deploymentName, uid, controller: true };
    const pods = target("v1", "pods", namespace);
    const pod = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace, labels, ownerReferences: [owner] },
      spec: { ...template.spec, nodeName: this.#deps.node },
    };
    const created = await this.#deps.client.create(pods, pod).catch(async (error: unknown) => {
      // Nobody would know of it: its port would stay taken, and keep the process alive.
      await backend.stop();
      this.#deps.addresses.give(address);
      throw error;
    });
    if (this.#closed) return backend.stop();
    this.#pods.push({
      name,
      namespace,
      uid: created.metadata.uid ?? "",
      owner: idOf(deployment),
      template: text,
      labels,
      ports,
      backend,
      terminating: false,
    });
    const condition = (type: string): object => ({ type, status: "True", lastTransitionTime: startedAt });
    const status = {
      phase: "Running",
      hostIP: address,
      podIP: address,
      podIPs: [{ ip: address }],
      startTime: startedAt,
      conditions: ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map(condition),
      containerStatuses: containers.map((container) => ({
        name: container.name,
        image: container.image ?? "",
        imageID: "",
        ready: true,
        started: true,
        restartCount: 0,
        state: { running: { startedAt } },
      })),
    };
    await this.#deps.client.mergePatch(pods, name, { status }, { subresource: "status", fieldManager: MANAGER });
  }

  /** Takes a pod out: first its endpoint says terminating; once that is stored the backend stops, after its grace. */
  #terminate(pod: RunningPod): void {
    if (pod.terminating) return;
    pod.terminating = true;
    this.#leaving.push(pod);
  }

  #endLeaving(): void {
    for (const pod of this.#leaving.splice(0)) {
      // A Pod object that cannot be deleted any more is gone, or goes with the API.
      this.#end(pod).catch(() => undefined);
    }
  }

  async #end(pod: RunningPod): Promise<void> {
    await pod.backend.stop();
    this.#pods = this.#pods.filter((other) => other !== pod);
    this.#deps.addresses.give(pod.backend.address);
    this.#changed();
    await this.#deps.client.delete(target("v1", "pods", pod.namespace), pod.name, { uid: pod.uid });
  }

  async #publishEndpoints(): Promise<void> {
    const wanted = new Set<string>();
    for (const service of this.#services.values()) {
      const { selector, ports = [] } = service["spec"] as { selector?: Record<string, string>; ports?: ServicePort[] };
      if (selector === undefined || Object.keys(selector).length === 0) continue;
      const { namespace = "default", name } = service.metadata;
      const pods = this.#pods.filter((pod) => pod.namespace === namespace && matches(selector, pod.labels));
      wanted.add(`endpointslice ${namespace}/${name}-dev`);
      await this.#write(
        target("discovery.k8s.io/v1", "endpointslices", namespace),
        `endpointslice ${namespace}/${name}-dev`,
        {
          apiVersion: "discovery.k8s.io/v1",
          kind: "EndpointSlice",
          metadata: {
            name: `${name}-dev`,
            namespace,
            labels: { "kubernetes.io/service-name": name, "endpointslice.kubernetes.io/managed-by": MANAGER },
            ownerReferences: [
              { apiVersion: "v1", kind: "Service", name, uid: service.metadata.uid ?? "", controller: true },
            ],
          },
          addressType: "IPv4",
          endpoints: pods.map((pod) => ({
            addresses: [pod.backend.address],
            conditions: { ready: !pod.terminating, serving: true, terminating: pod.terminating },
            nodeName: this.#deps.node,
            targetRef: { kind: "Pod", name: pod.name, namespace, uid: pod.uid },
          })),
          ports: ports.map((port) => ({
            name: port.name ?? "",
            protocol: port.protocol ?? "TCP",
            port: targetPort(port, pods[0]),
          })),
        },
      );
    }
    for (const id of this.#written.keys()) {
      if (!id.startsWith("endpointslice ") || wanted.has(id)) continue;
      this.#written.delete(id);
      const [namespace, name] = id.slice("endpointslice ".length).split("/") as [string, string];
      await this.#deps.client
        .delete(target("discovery.k8s.io/v1", "endpointslices", namespace), name)
        .catch(() => undefined);
    }
  }

  async #publishStatus(deployment: KubeObject): Promise<void> {
    const { namespace = "default", name, generation = 1 } = deployment.metadata;
    const serving = this.serving(idOf(deployment)).length;
    const status = {
      observedGeneration: generation,
      replicas: serving,
      updatedReplicas: serving,
      readyReplicas: serving,
      availableReplicas: serving,
    };
    const id = `status ${idOf(deployment)}`;
    if (this.#written.get(id) === JSON.stringify(status)) return;
    const deployments = target("apps/v1", "deployments", namespace);
    await this.#deps.client.mergePatch(deployments, name, { status }, { subresource: "status", fieldManager: MANAGER });
    this.#written.set(id, JSON.stringify(status));
  }

  async #write(where: ResourceTarget, id: string, object: KubeObject): Promise<void> {
    const text = JSON.stringify(object);
    if (this.#written.get(id) === text) return;
    await this.#deps.client.apply(where, object, { fieldManager: MANAGER, force: true });
    this.#written.set(id, text);
  }
}

/** The number that a Service's port means on a pod: its own, or that of the container's port of that name. */
function targetPort(port: ServicePort, pod: RunningPod | undefined): number {
  const wanted = port.targetPort ?? port.port;
  if (typeof wanted === "number") return wanted;
  return pod?.ports.find((one) => one.name === wanted)?.containerPort ?? port.port;
}
