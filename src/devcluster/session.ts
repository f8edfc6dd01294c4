/**
 * The parts of one `haptic dev` while it lives, and what it knows of them: folder, addresses, certificates, API, pods.
 * When each comes and goes is in machines/devCluster.ts; wiring.ts ties the two together.
 */
import { accessSync, constants, mkdtempSync, readdirSync, readFileSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { DevClusterError } from "../errors.ts";
import { type LocatedHaproxy, locateHaproxy } from "../haproxy/index.ts";
import { createKubeClient, directConnection, type KubeClient } from "../kube/index.ts";
import { type AddressBlock, takeAddresses } from "./addresses.ts";
import { type ApiObject, type EmbeddedApi, startEmbeddedApi } from "./api/index.ts";
import { createAuthority, writeIdentity } from "./certificates.ts";
import { DevPod } from "./pods.ts";
import { controllerNames, DevController } from "./controllers.ts";
import { ProcessKeeper } from "./processes.ts";
import { displayName, isPublished } from "./told-objects.ts";
import { Workloads } from "./workloads.ts";

export interface DevOptions {
  /** Folder of YAML that is applied and followed. */
  readonly manifests: string;
  readonly pods: number;
  readonly controllers: number;
  /** `--haproxy`: a path or a version. */
  readonly haproxy: string | undefined;
  /** Port of the Kubernetes API. */
  readonly apiPort: number;
  /** Port of HAProxy's HTTP frontend in the manifests: it open means that a pod is ready. */
  readonly httpPort: number;
  /** Leave the folder and its logs when everything has ended. */
  readonly keep: boolean;
  /** Name of the HAProxyTemplateConfig; needed when the manifests hold several. */
  readonly configName: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** What a person may be told, in the order in which it happens. */
export interface DevListener {
  say(line: string): void;
  /** A line of a container's output. */
  output(source: string, line: string): void;
  /** An object that the configuration watches, or the configuration, was stored or deleted: `Kind namespace/name`. */
  changed(object: string): void;
}

const CONFIG_API = "haproxy-haptic.org/v1alpha1";
const NODE = "haptic-dev";
const TMPFS_MAGIC = 0x01021994;
/** Time that a process has to end by itself. */
const GRACE_MS = 5_000;

/** /dev/shm where it is a tmpfs that we may write to: the agent's files belong into memory. */
function newFolder(): string {
  try {
    accessSync("/dev/shm", constants.W_OK);
    if (statfsSync("/dev/shm").type === TMPFS_MAGIC) return mkdtempSync("/dev/shm/haptic-dev-");
  } catch {
    // No such folder here: the usual one serves, only slower.
  }
  return mkdtempSync(join(tmpdir(), "haptic-dev-"));
}

/** crds/ lies beside src/ in the repository and beside dist/ in the package. */
function crdFolder(): string {
  for (let folder = import.meta.dirname; dirname(folder) !== folder; folder = dirname(folder)) {
    try {
      if (readdirSync(join(folder, "crds")).length > 0) return join(folder, "crds");
    } catch {
      // Not here: look one folder up.
    }
  }
  throw new DevClusterError("the folder crds/ is not beside the program");
}

export class DevSession {
  readonly options: DevOptions;
  readonly #listener: DevListener;
  #folder: string | undefined;
  #keeper: ProcessKeeper | undefined;
  #addresses: AddressBlock | undefined;
  #haproxy: LocatedHaproxy | undefined;
  #api: EmbeddedApi | undefined;
  #apiStart: Promise<void> | undefined;
  #apiEnd: Promise<void> | undefined;
  #objectsCreated: Promise<void> | undefined;
  #clearing = false;
  #client: KubeClient | undefined;
  #workloads: Workloads | undefined;
  #config: { readonly name: string; readonly namespace: string } | undefined;
  readonly controllers: readonly DevController[];
  readonly pods: DevPod[] = [];
  readonly #generations = new Map<string, number>();
  #watchedLast: ReadonlySet<string> = new Set();

  constructor(options: DevOptions, listener: DevListener) {
    this.options = options;
    this.#listener = listener;
    this.controllers = controllerNames(options.controllers).map(
      (name, index) =>
        new DevController(name, index, () => ({
          keeper: this.#there(this.#keeper),
          folder: this.folder,
          kubeconfig: this.kubeconfigPath,
          haproxy: this.haproxy.path,
          host: this.#there(this.#addresses).api,
          config: this.config,
          onLine: (source, line) => this.#listener.output(source, line),
        })),
    );
  }

  get haproxy(): LocatedHaproxy {
    return this.#there(this.#haproxy);
  }
  get folder(): string {
    return this.#there(this.#folder);
  }
  get api(): EmbeddedApi {
    return this.#there(this.#api);
  }
  get client(): KubeClient {
    return this.#there(this.#client);
  }
  get workloads(): Workloads {
    return this.#there(this.#workloads);
  }
  get kubeconfigPath(): string {
    return join(this.folder, "kubeconfig");
  }
  /** The configuration that the controller serves. */
  get config(): { readonly name: string; readonly namespace: string } {
    return this.#there(this.#config);
  }

  /** HAProxy, folder, addresses, certificates. */
  async prepare(): Promise<void> {
    const { environment, haproxy } = this.options;
    this.#haproxy = await locateHaproxy({ wanted: haproxy, environment, say: (line) => this.#listener.say(line) });
    if (this.#clearing) return;
    this.#folder = newFolder();
    this.#keeper = new ProcessKeeper(this.#folder, this.options.keep);
    this.#addresses = await takeAddresses();
  }

  startApi(): Promise<void> {
    this.#apiStart = this.#openApi();
    return this.#apiStart;
  }

  async #openApi(): Promise<void> {
    const { api: host } = this.#there(this.#addresses);
    const api = await startEmbeddedApi({
      host,
      port: this.options.apiPort,
      log: (text) => this.#listener.say(text),
    });
    this.#api = api;
    api.onChange((resource, object, deleted) => this.#tellChange(resource, object, deleted));
    writeFileSync(this.kubeconfigPath, api.kubeconfig, { mode: 0o600 });
    this.#client = createKubeClient(directConnection({ server: api.url, origin: "haptic dev" }), {
      userAgent: "haptic-dev",
    });
    this.#workloads = new Workloads({
      client: this.#client,
      addresses: this.#there(this.#addresses),
      node: NODE,
      now: () => new Date(),
    });
  }

  /** Ends the API, also one that is just starting; clear() waits for it. */
  closeApi(): Promise<void> {
    const close = async (): Promise<void> => {
      await this.#apiStart?.catch(() => undefined);
      await this.#workloads?.close();
      await this.#client?.close();
      await this.#api?.close();
    };
    this.#apiEnd = close();
    return this.#apiEnd;
  }

  /** CRDs, manifests, identities, Pod objects. */
  createObjects(): Promise<void> {
    this.#objectsCreated = this.#createObjects();
    return this.#objectsCreated;
  }

  async #createObjects(): Promise<void> {
    const { objects } = this.api;
    const folder = crdFolder();
    for (const file of readdirSync(folder).filter((name) => /\.ya?ml$/.test(name))) {
      for (const document of parseAllDocuments(readFileSync(join(folder, file), "utf8"))) {
        objects.apply(document.toJS() as object);
      }
    }
    // A definition is served a turn of the event loop after it was stored.
    await new Promise((done) => setImmediate(done));
    await this.api.follow(this.options.manifests);
    const config = this.#chooseConfig();
    const { name, namespace = "default" } = config.metadata;
    this.#config = { name, namespace };
    const { podSelector } = config["spec"] as { podSelector?: { matchLabels?: Record<string, string> } };
    await this.#writeIdentities(namespace);
    const { version, path } = this.haproxy;
    for (let index = 0; index < this.options.pods; index++) {
      const pod = new DevPod(
        {
          name: `haproxy-${index + 1}`,
          namespace,
          labels: podSelector?.matchLabels ?? {},
          address: this.#there(this.#addresses).pod(index),
          folder: join(this.folder, `haproxy-${index + 1}`),
          haproxy: path,
          haproxyVersion: version,
          tlsFolder: join(this.folder, "agent-tls"),
          controllerName: `haptic-controller-tls.${namespace}.svc`,
          httpPort: this.options.httpPort,
          environment: {},
        },
        {
          keeper: this.#there(this.#keeper),
          client: this.client,
          node: NODE,
          now: () => new Date(),
          onLine: (source, container, line) => this.#listener.output(`${source}/${container}`, line),
        },
      );
      await pod.createObject();
      this.pods.push(pod);
    }
  }

  pod(name: string): DevPod {
    return this.#there(this.pods.find(({ spec }) => spec.name === name));
  }

  /** Ends what is left and removes the folder (unless it shall be kept). */
  async clear(): Promise<void> {
    this.#clearing = true;
    await this.#apiEnd;
    // It writes into the folder: one that is still at it would bring the folder back.
    await this.#objectsCreated?.catch(() => undefined);
    await this.#keeper?.clear(GRACE_MS);
    this.#addresses?.release();
  }

  /** A write to the status alone brings no new generation; most kinds that are watched here have none. */
  #tellChange(resource: string, object: ApiObject, deleted: boolean): void {
    const { uid = "", generation } = object.metadata;
    const isConfig = resource.startsWith("haproxytemplate");
    if (!isConfig && (isPublished(object) || !this.#watched().has(resource))) return;
    if (!deleted && generation !== undefined && this.#generations.get(uid) === generation) return;
    if (deleted) this.#generations.delete(uid);
    else if (generation !== undefined) this.#generations.set(uid, generation);
    this.#listener.changed(`${displayName(object)}${deleted ? " (deleted)" : ""}`);
  }

  /** Plural names of what the configuration watches; while it is away the controller goes on with what it watched. */
  #watched(): ReadonlySet<string> {
    const id = { apiVersion: CONFIG_API, kind: "HAProxyTemplateConfig" };
    const config = this.#config && this.api.objects.get({ ...id, ...this.#config });
    const { watchedResources } = (config?.["spec"] ?? {}) as {
      watchedResources?: Record<string, { resources: string }>;
    };
    if (watchedResources !== undefined)
      this.#watchedLast = new Set(Object.values(watchedResources).map(({ resources }) => resources));
    return this.#watchedLast;
  }

  #chooseConfig(): ApiObject {
    const all = this.api.objects.list(CONFIG_API, "HAProxyTemplateConfig");
    const { configName, manifests } = this.options;
    const chosen = configName === undefined ? all : all.filter(({ metadata }) => metadata.name === configName);
    if (chosen.length === 1) return chosen[0]!;
    if (all.length === 0)
      throw new DevClusterError(
        `${manifests} holds no HAProxyTemplateConfig that the API takes`,
        "what was refused is named above; where nothing is, the folder lacks one: examples/ingress/config.yaml is one to begin with",
      );
    const names = all.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`).join(", ");
    throw chosen.length === 0
      ? new DevClusterError(`${manifests} holds no HAProxyTemplateConfig ${configName}`, `it holds ${names}`)
      : new DevClusterError(
          `${manifests} holds ${all.length} HAProxyTemplateConfigs (${names}), and it is not clear which one is meant`,
          configName === undefined ? "name it with --crd-name" : "leave one of that name in the folder",
        );
  }

  async #writeIdentities(namespace: string): Promise<void> {
    const authority = await createAuthority("haptic-dev", new Date());
    const agent = await authority.issue([`haptic-agent.${namespace}.svc`], "server");
    const controller = await authority.issue([`haptic-controller-tls.${namespace}.svc`], "client");
    writeIdentity(join(this.folder, "agent-tls"), agent, authority);
    writeIdentity(join(this.folder, "controller-tls"), controller, authority);
  }

  #there<T>(part: T | undefined): T {
    if (part === undefined) throw new DevClusterError("a part was asked for before it was there, or after it went");
    return part;
  }
}
