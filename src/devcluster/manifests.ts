/**
 * A folder of YAML as a cluster's content: read, put into an order in which it can be created, applied, and applied again
 * as the files change. What leaves the folder leaves the cluster.
 */
import { type FSWatcher, watch } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { auditTime, Observable } from "rxjs";
import { parseAllDocuments } from "yaml";
import { DevClusterError } from "../errors.ts";
import type { KubeClient, ResourceTarget, ServedResource } from "../kube/index.ts";
import type { KubeObject } from "../stores/types.ts";

export interface ManifestObject {
  readonly object: KubeObject;
  /** `file.yaml`, relative to the folder; for messages. */
  readonly file: string;
}

/** The manager kubectl itself uses for server-side apply: a user who goes on with kubectl meets no conflict. */
const MANAGER = "kubectl";
/** Kinds that others need to be there first, in this order; everything else follows. */
const FIRST = [
  "CustomResourceDefinition",
  "Namespace",
  "ConfigMap",
  "Secret",
  "HAProxyTemplateLibrary",
  "HAProxyTemplateConfig",
];
/** An editor writes a file in several steps. */
const QUIET_MS = 40;

/** Every object of the `.yaml`, `.yml` and `.json` files below `folder`; Lists are taken apart. */
export async function readManifests(folder: string): Promise<ManifestObject[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.(ya?ml|json)$/.test(name)).sort();
  const found: ManifestObject[] = [];
  for (const file of names) {
    const text = await readFile(join(folder, file), "utf8");
    // As Kubernetes reads YAML: version 1.1, where `on` and `yes` are booleans, and merge keys.
    const documents = parseAllDocuments(text, { version: "1.1", merge: true });
    for (const document of Array.isArray(documents) ? documents : []) {
      const [problem] = document.errors;
      if (problem !== undefined) throw new DevClusterError(`${join(folder, file)}: ${problem.message}`);
      const value: unknown = document.toJS();
      if (value === null || value === undefined) continue;
      const { kind, apiVersion, items } = value as { kind?: string; apiVersion?: string; items?: KubeObject[] };
      if (typeof kind !== "string" || typeof apiVersion !== "string") {
        throw new DevClusterError(`${join(folder, file)}: a document lacks kind or apiVersion`);
      }
      const objects = kind === "List" ? (items ?? []) : [value as KubeObject];
      found.push(...objects.map((object) => ({ object, file: relative(folder, join(folder, file)) })));
    }
  }
  const rank = ({ object }: ManifestObject): number =>
    FIRST.includes(object.kind) ? FIRST.indexOf(object.kind) : FIRST.length;
  return found.sort((left, right) => rank(left) - rank(right));
}

/** `Kind namespace/name`: what an object is called in lines for people. */
export function nameOf(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  return `${object.kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

export class ManifestApplier {
  readonly #client: KubeClient;
  readonly #defaultNamespace: string;
  #served: readonly ServedResource[] = [];
  /** What is in the cluster because of us, by name: its place and the text that was applied. */
  #applied = new Map<string, { readonly where: ResourceTarget; readonly name: string; readonly text: string }>();

  constructor(client: KubeClient, defaultNamespace: string) {
    this.#client = client;
    this.#defaultNamespace = defaultNamespace;
  }

  /**
   * Brings the cluster to hold these objects and no longer those of the last call that are missing now. Goes on after an
   * object that is refused; the answer holds one line for each of those, and the names of what changed.
   */
  async apply(objects: readonly ManifestObject[]): Promise<{ changed: string[]; refused: string[] }> {
    const [changed, refused]: [string[], string[]] = [[], []];
    const wanted = new Set<string>();
    for (const { object, file } of objects) {
      try {
        const where = await this.#placeOf(object);
        const full = where.namespace === undefined ? object : withNamespace(object, where.namespace);
        const [name, text] = [nameOf(full), JSON.stringify(full)];
        wanted.add(name);
        if (this.#applied.get(name)?.text === text) continue;
        await this.#client.apply(where, full, { fieldManager: MANAGER, force: true });
        this.#applied.set(name, { where, name: full.metadata.name, text });
        changed.push(name);
        if (object.kind === "CustomResourceDefinition") await this.#waitForKind(object);
      } catch (error) {
        refused.push(`${file}: ${nameOf(object)}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    if (refused.length === 0) {
      for (const [name, { where, name: plain }] of this.#applied) {
        if (wanted.has(name)) continue;
        await this.#client.delete(where, plain).catch(() => undefined);
        this.#applied.delete(name);
        changed.push(`${name} (deleted)`);
      }
    }
    return { changed, refused };
  }

  async #placeOf(object: KubeObject): Promise<ResourceTarget> {
    const matching = (): ServedResource | undefined =>
      this.#served.find(
        ({ kind, group, version }) =>
          kind === object.kind && (group === "" ? version : `${group}/${version}`) === object.apiVersion,
      );
    if (matching() === undefined) this.#served = await this.#client.discover();
    const served = matching();
    if (served === undefined) throw new DevClusterError(`this cluster knows no ${object.kind} of ${object.apiVersion}`);
    const where = { apiVersion: object.apiVersion, resource: served.resource };
    return served.namespaced ? { ...where, namespace: object.metadata.namespace ?? this.#defaultNamespace } : where;
  }

  /** A definition serves its kind a moment after it was written. */
  async #waitForKind(definition: KubeObject): Promise<void> {
    const { names } = definition["spec"] as { names: { kind: string } };
    for (let tries = 0; tries < 100; tries++) {
      this.#served = await this.#client.discover();
      if (this.#served.some(({ kind }) => kind === names.kind)) return;
      await new Promise((wake) => setTimeout(wake, 50));
    }
    throw new DevClusterError(`${definition.metadata.name} is not served`);
  }
}

function withNamespace(object: KubeObject, namespace: string): KubeObject {
  return { ...object, metadata: { ...object.metadata, namespace } };
}

/** Tells that something below the folder changed; several changes at once are told once. */
export function folderChanges(folder: string): Observable<void> {
  return new Observable<void>((subscriber) => {
    const watcher: FSWatcher = watch(folder, { recursive: true });
    watcher.on("change", () => subscriber.next());
    watcher.on("error", (error) => subscriber.error(error));
    return () => watcher.close();
  }).pipe(auditTime(QUIET_MS));
}
