/** Reads and writes of published objects. Every write of the HAProxyCfg names the version that it changes. */
import type { HAProxyCfg, HAProxyCfgStatus } from "../config/index.ts";
import { KubeError, PublishError } from "../errors.ts";
import type { KubeClient, ResourceTarget } from "../kube/types.ts";
import type { KubeObject } from "../stores/types.ts";
import { storedContent } from "./content.ts";
import { bodyOf, SECRET_TYPES } from "./file-body.ts";
import {
  API_VERSION,
  CFG_LABEL,
  cfgName,
  CONFIG_LABEL,
  FILE_RESOURCES,
  labelValue,
  PLAN_ANNOTATION,
  SET_ANNOTATION,
  TYPE_LABEL,
} from "./names.ts";
import { type FileStatus, toldBy, type ToldFile } from "./file-status.ts";
import type { FileObject, PublishedSet } from "./published-set.ts";

/** The object that a published file is in, as its metadata tell it. */
export interface Held {
  readonly target: ResourceTarget;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  /** Written as it is and never changed; belongs to this HAProxyCfg. */
  readonly intact: boolean;
  readonly version: string;
  /** Of a kind that has a status: what it says. */
  told: Told | undefined;
}

export interface Told extends ToldFile {
  /** `toldBy` of it. */
  readonly key: string;
}

/** What is published, as far as it was read or written. */
export interface Found {
  /** Without its content. */
  cfg: HAProxyCfg | undefined;
  /** By `resource/name`. */
  readonly files: Map<string, Held>;
}

export interface Owner {
  readonly name: string;
  readonly uid: string;
}

/** Requests of one publication that run at the same time. */
const ABREAST = 2;

const isStatus = (error: unknown, status: number): boolean => error instanceof KubeError && error.status === status;
const keyOf = (resource: string, name: string): string => `${resource}/${name}`;

function withoutContent(object: KubeObject): HAProxyCfg {
  const cfg = object as HAProxyCfg;
  return { ...cfg, spec: { ...cfg.spec, content: "" } };
}

const toldOf = (file: ToldFile): Told => ({ ...file, key: toldBy(file) });

interface Reference {
  readonly uid?: string;
}
const ownersOf = (object: KubeObject): readonly Reference[] =>
  (object.metadata["ownerReferences"] as readonly Reference[] | undefined) ?? [];

export class PublishedObjects {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #target: ResourceTarget;
  readonly name: string;
  readonly #configName: string;

  constructor(client: KubeClient, namespace: string, configName: string) {
    this.#client = client;
    this.#namespace = namespace;
    this.#configName = configName;
    this.#target = { apiVersion: API_VERSION, resource: "haproxycfgs", namespace };
    this.name = cfgName(configName);
  }

  /** `before` = what was found or written last: a file that has the same version as then is not read again. */
  async find(signal: AbortSignal, before?: Found): Promise<Found> {
    const cfg = await this.#client.get(this.#target, this.name, signal).then(withoutContent, (error: unknown) => {
      if (isStatus(error, 404)) return undefined;
      throw error;
    });
    const files = new Map<string, Held>();
    for (const { apiVersion, kind, resource } of FILE_RESOURCES) {
      const target: ResourceTarget = { apiVersion, resource, namespace: this.#namespace };
      const labelSelector = `${CFG_LABEL}=${labelValue(this.name)}`;
      const { items } = await this.#client.list(target, { labelSelector, metadataOnly: true }, signal);
      for (const object of items) {
        const { name, uid = "", generation = 1, resourceVersion: version = "" } = object.metadata;
        const isOurs = cfg !== undefined && ownersOf(object).some((owner) => owner.uid === cfg.metadata.uid);
        const known = before?.files.get(keyOf(resource, name));
        const told = known?.uid === uid && known.version === version ? known.told : undefined;
        files.set(keyOf(resource, name), {
          target,
          kind,
          name,
          uid,
          intact: isOurs && generation === 1,
          version,
          told,
        });
      }
    }
    const unread = [...files].filter(([, { kind, told }]) => kind !== "Secret" && told === undefined);
    await abreast(unread, async ([key, held]) => {
      signal.throwIfAborted();
      const object = await this.#client.get(held.target, held.name, signal).catch((error: unknown) => {
        if (isStatus(error, 404)) return undefined;
        throw error;
      });
      if (object === undefined) return void files.delete(key);
      const { path, checksum } = object["spec"] as { path: string; checksum: string };
      held.told = toldOf({ path, checksum, status: object["status"] as FileStatus | undefined });
    });
    return { cfg, files };
  }

  /** The plan whose set is published whole, as the objects say of themselves; "" = none, or something was changed by others. */
  planOf({ cfg, files }: Found, owner: Owner): string {
    const annotations = cfg?.metadata.annotations ?? {};
    const { auxiliaryFiles: lists, observedGeneration } = cfg?.status ?? {};
    if (cfg === undefined || !ownersOf(cfg).some(({ uid }) => uid === owner.uid)) return "";
    if (observedGeneration !== cfg.metadata.generation || lists?.setID !== annotations[SET_ANNOTATION]) return "";
    const named = [lists?.mapFiles, lists?.generalFiles, lists?.crtListFiles, lists?.sslCertificates, lists?.sslCaFiles]
      .flatMap((list) => list ?? [])
      .map(({ kind, name }) => keyOf(`${kind.toLowerCase()}s`, name));
    const whole = named.length === files.size && named.every((key) => files.get(key)?.intact === true);
    return whole ? (annotations[PLAN_ANNOTATION] ?? "") : "";
  }

  /** Whether the HAProxyCfg holds this set's haproxy.cfg and names its files. */
  holds({ cfg }: Found, set: PublishedSet, owner: Owner): boolean {
    return (
      cfg !== undefined &&
      ownersOf(cfg).some(({ uid }) => uid === owner.uid) &&
      cfg.spec.checksum === set.checksum &&
      cfg.spec.path === set.cfg.path &&
      cfg.metadata.annotations?.[SET_ANNOTATION] === set.setId &&
      (cfg.status === undefined || cfg.status.observedGeneration === cfg.metadata.generation)
    );
  }

  async writeCfg(found: Found, set: PublishedSet, owner: Owner, threshold: number, signal: AbortSignal): Promise<void> {
    const { content, compressed } = await storedContent(set.cfg, threshold);
    signal.throwIfAborted();
    const object: KubeObject = {
      apiVersion: API_VERSION,
      kind: "HAProxyCfg",
      metadata: {
        ...this.#identity(found),
        labels: { [CONFIG_LABEL]: labelValue(this.#configName) },
        annotations: { [SET_ANNOTATION]: set.setId, [PLAN_ANNOTATION]: set.planId },
        ownerReferences: [
          {
            apiVersion: API_VERSION,
            kind: "HAProxyTemplateConfig",
            name: owner.name,
            uid: owner.uid,
            controller: true,
          },
        ],
      },
      spec: { path: set.cfg.path, content, checksum: set.checksum, compressed },
    };
    found.cfg = withoutContent(await this.#client.apply(this.#target, object, { force: true, signal }));
  }

  async writeStatus(found: Found, status: HAProxyCfgStatus, signal: AbortSignal): Promise<void> {
    const object: KubeObject = { apiVersion: API_VERSION, kind: "HAProxyCfg", metadata: this.#identity(found), status };
    found.cfg = withoutContent(
      await this.#client.apply(this.#target, object, { subresource: "status", force: true, signal }),
    );
  }

  /** Says of files which pods have them. Gives their number. */
  async writeFileStatuses(
    found: Found,
    lacking: ReadonlyMap<string, FileStatus>,
    signal: AbortSignal,
  ): Promise<number> {
    await abreast([...lacking], async ([key, status]) => {
      signal.throwIfAborted();
      const held = found.files.get(key);
      if (held?.told === undefined) return;
      const { target, kind, name, uid, told } = held;
      const metadata = { name, namespace: this.#namespace, ...(uid !== "" && { uid }) };
      const object: KubeObject = { apiVersion: API_VERSION, kind, metadata, status };
      const written = await this.#client.apply(target, object, { subresource: "status", force: true, signal });
      const version = written.metadata.resourceVersion ?? "";
      found.files.set(key, { ...held, version, told: toldOf({ ...told, status }) });
    });
    return lacking.size;
  }

  /** Creates the objects that are not there, and in place of those that were changed. Gives their number. */
  async createFiles(found: Found, set: PublishedSet, threshold: number, signal: AbortSignal): Promise<number> {
    const missing = set.files.filter(
      ({ carrier, name }) => found.files.get(keyOf(carrier.resource, name))?.intact !== true,
    );
    await abreast(missing, async (file) => {
      signal.throwIfAborted();
      await this.#createFile(found, file, threshold, signal);
    });
    return missing.length;
  }

  /** Deletes the objects that belong to no file of the set. Gives their number. */
  async prune(found: Found, set: PublishedSet, signal: AbortSignal): Promise<number> {
    const wanted = new Set(set.files.map(({ carrier, name }) => keyOf(carrier.resource, name)));
    const orphans = [...found.files].filter(([key]) => !wanted.has(key));
    await abreast(orphans, async ([key, held]) => {
      signal.throwIfAborted();
      await this.#remove(held, signal);
      found.files.delete(key);
    });
    return orphans.length;
  }

  async #createFile(found: Found, file: FileObject, threshold: number, signal: AbortSignal): Promise<void> {
    const { carrier, name, path, checksum } = file;
    const { apiVersion, kind, resource } = carrier;
    const target: ResourceTarget = { apiVersion, resource, namespace: this.#namespace };
    const key = keyOf(resource, name);
    const changed = found.files.get(key);
    if (changed !== undefined) await this.#remove(changed, signal);
    found.files.delete(key);
    const { cfg } = found;
    const metadata = {
      name,
      namespace: this.#namespace,
      labels: {
        [CFG_LABEL]: labelValue(this.name),
        ...(kind === "Secret" && { [TYPE_LABEL]: SECRET_TYPES[carrier.list] }),
      },
      ownerReferences: [
        {
          apiVersion: API_VERSION,
          kind: "HAProxyCfg",
          name: this.name,
          uid: cfg?.metadata.uid ?? "",
          controller: true,
        },
      ],
    };
    const object = { apiVersion, kind, ...(await bodyOf(file, metadata, threshold)) } as KubeObject;
    const made = await this.#client.create(target, object, { signal }).catch((error: unknown) => {
      if (!isStatus(error, 409)) throw error;
      const what = `${kind} ${this.#namespace}/${name}`;
      throw new PublishError("Conflict", `${what} is there already`, `delete it if nobody else needs it`, error);
    });
    const { uid = "", resourceVersion: version = "" } = made.metadata;
    const told = kind === "Secret" ? undefined : toldOf({ path, checksum, status: undefined });
    found.files.set(key, { target, kind, name, uid, intact: true, version, told });
  }

  async #remove({ target, name, uid }: Held, signal: AbortSignal): Promise<void> {
    await this.#client.delete(target, name, { ...(uid !== "" && { uid }), signal }).catch((error: unknown) => {
      // Gone already, or another one of this name by now.
      if (!isStatus(error, 404) && !isStatus(error, 409)) throw error;
    });
  }

  #identity({ cfg }: Found): KubeObject["metadata"] {
    const version = cfg?.metadata.resourceVersion;
    return {
      name: this.name,
      namespace: this.#namespace,
      ...(version !== undefined && { resourceVersion: version }),
    };
  }
}

/** Runs `work` for each item, a few at a time; rejects with the first error after what runs has ended. */
async function abreast<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const failures: unknown[] = [];
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      if (failures.length > 0) return;
      await work(item).catch((error: unknown) => {
        failures.push(error);
      });
    }
  };
  await Promise.all(Array.from({ length: ABREAST }, worker));
  if (failures.length > 0) throw failures[0];
}
