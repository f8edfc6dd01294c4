/** Reads and writes of published objects. Every write of the HAProxyCfg names the version that it changes. */
import type { HAProxyCfg, HAProxyCfgStatus } from "../config/index.ts";
import { KubeError, PublishError, type PublishFailure } from "../errors.ts";
import type { KubeClient, ResourceTarget } from "../kube/types.ts";
import type { KubeObject } from "../stores/types.ts";
import { storedBytes, storedContent } from "./content.ts";
import {
  API_VERSION,
  CFG_LABEL,
  CHECKSUM_ANNOTATION,
  cfgName,
  COMPRESSED_ANNOTATION,
  CONFIG_LABEL,
  FILE_RESOURCES,
  labelValue,
  PLAN_ANNOTATION,
  SET_ANNOTATION,
  TYPE_LABEL,
} from "./names.ts";
import type { FileObject, PublishedSet } from "./published-set.ts";

/** The object that a published file is in, as its metadata tell it. */
export interface Held {
  readonly target: ResourceTarget;
  readonly name: string;
  readonly uid: string;
  /** Written as it is and never changed; belongs to this HAProxyCfg. */
  readonly intact: boolean;
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

/** One word for what the API server said, and its words. */
export function troubleOf(error: unknown): { readonly reason: PublishFailure; readonly message: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof PublishError) return { reason: error.reason, message };
  if (!(error instanceof KubeError)) return { reason: "Failed", message };
  const { status } = error;
  if (status === 413 || /request is too large|Request entity too large/i.test(message))
    return { reason: "TooLarge", message };
  if (status === 403) return { reason: /exceeded quota/i.test(message) ? "QuotaExceeded" : "Forbidden", message };
  if (status === 404) return { reason: "NotServed", message };
  if (status === 409) return { reason: "Conflict", message };
  if (status === 429 || status >= 500) return { reason: "Unavailable", message };
  return { reason: status >= 400 ? "Invalid" : "Unreachable", message };
}

function withoutContent(object: KubeObject): HAProxyCfg {
  const cfg = object as HAProxyCfg;
  return { ...cfg, spec: { ...cfg.spec, content: "" } };
}

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

  async find(signal: AbortSignal): Promise<Found> {
    const cfg = await this.#client.get(this.#target, this.name, signal).then(withoutContent, (error: unknown) => {
      if (isStatus(error, 404)) return undefined;
      throw error;
    });
    const files = new Map<string, Held>();
    for (const { apiVersion, resource } of FILE_RESOURCES) {
      const target: ResourceTarget = { apiVersion, resource, namespace: this.#namespace };
      const labelSelector = `${CFG_LABEL}=${labelValue(this.name)}`;
      const { items } = await this.#client.list(target, { labelSelector, metadataOnly: true }, signal);
      for (const object of items) {
        const { name, uid = "", generation = 1 } = object.metadata;
        const isOurs = cfg !== undefined && ownersOf(object).some((owner) => owner.uid === cfg.metadata.uid);
        files.set(keyOf(resource, name), { target, name, uid, intact: isOurs && generation === 1 });
      }
    }
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
    const { carrier, name } = file;
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
    const body =
      kind === "Secret" ? await secretOf(file, metadata, threshold) : await fileOf(file, metadata, threshold);
    const object = { apiVersion, kind, ...body } as KubeObject;
    const made = await this.#client.create(target, object, { signal }).catch((error: unknown) => {
      if (!isStatus(error, 409)) throw error;
      const what = `${kind} ${this.#namespace}/${name}`;
      throw new PublishError("Conflict", `${what} is there already`, `delete it if nobody else needs it`, error);
    });
    found.files.set(key, { target, name, uid: made.metadata.uid ?? "", intact: true });
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

const SECRET_TYPES: Readonly<Record<FileObject["carrier"]["list"], string>> = {
  sslCertificates: "ssl-certificate",
  sslCaFiles: "ssl-ca",
  mapFiles: "map",
  generalFiles: "general-file",
  crtListFiles: "crt-list",
};

const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

async function fileOf(
  { carrier, path, checksum, file }: FileObject,
  metadata: object,
  threshold: number,
): Promise<object> {
  const { content, compressed } = await storedContent(file, threshold);
  const name = fileName(path);
  const text = carrier.list === "generalFiles" ? { content } : { entries: content };
  const named =
    carrier.list === "mapFiles"
      ? { mapName: name }
      : carrier.list === "generalFiles"
        ? { fileName: name }
        : { listName: name };
  return { metadata, spec: { ...named, path, ...text, checksum, compressed, size: file.size } };
}

async function secretOf({ path, checksum, file }: FileObject, metadata: object, threshold: number): Promise<object> {
  const { bytes, compressed } = await storedBytes(file, threshold);
  const annotations = { [CHECKSUM_ANNOTATION]: checksum, [COMPRESSED_ANNOTATION]: String(compressed) };
  return {
    metadata: { ...metadata, annotations },
    type: "Opaque",
    immutable: true,
    data: { certificate: bytes.toString("base64"), path: Buffer.from(path).toString("base64") },
  };
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
