/** A folder of YAML and JSON files that is applied and followed: what is added, changed or removed there happens in the API. */
import { readdir, readFile } from "node:fs/promises";
import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import { join } from "node:path";
import { parseYaml } from "./http/body.ts";
import { deepEqual, isFields } from "./objects.ts";
import type { Fields } from "./objects.ts";
import type { ObjectName, ObjectsApi } from "./objects-api.ts";

/** Editors write a file in several steps: wait so long for the last one. */
const SETTLE_MS = 30;

interface Manifest {
  readonly target: ObjectName;
  readonly body: Fields;
  /** The file that says it. */
  readonly file: string;
}

const idOf = (target: ObjectName): string =>
  `${target.apiVersion}/${target.kind}/${target.namespace ?? ""}/${target.name}`;

/** Definitions and namespaces first: others need them. */
const rank = (manifest: Manifest): number => {
  if (manifest.target.kind === "CustomResourceDefinition") return 0;
  return manifest.target.kind === "Namespace" ? 1 : 2;
};

function documentsOf(text: string, file: string): unknown[] {
  return file.endsWith(".json") ? [JSON.parse(text) as unknown] : parseYaml(text);
}

function manifestsOf(document: unknown, file: string): Manifest[] {
  if (document === null || document === undefined) return [];
  if (!isFields(document)) throw new Error(`${file}: a document that is no object`);
  if (document["kind"] === "List" && Array.isArray(document["items"])) {
    return document["items"].flatMap((item) => manifestsOf(item, file));
  }
  const { apiVersion, kind, metadata } = document;
  if (
    typeof apiVersion !== "string" ||
    typeof kind !== "string" ||
    !isFields(metadata) ||
    typeof metadata["name"] !== "string"
  ) {
    throw new Error(`${file}: a document without apiVersion, kind or metadata.name`);
  }
  const namespace = typeof metadata["namespace"] === "string" ? { namespace: metadata["namespace"] } : {};
  return [{ target: { apiVersion, kind, name: metadata["name"], ...namespace }, body: document, file }];
}

export class ManifestsFolder {
  readonly #folder: string;
  readonly #api: ObjectsApi;
  readonly #log: (text: string) => void;
  #applied = new Map<string, Manifest>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Files that were written since they were last read. */
  #saved = new Set<string>();
  #running: Promise<void> = Promise.resolve();

  constructor(folder: string, api: ObjectsApi, log: (text: string) => void) {
    this.#folder = folder;
    this.#api = api;
    this.#log = log;
  }

  /** Applies everything; then follows the folder. */
  async start(): Promise<void> {
    this.#watcher = watch(this.#folder, { recursive: true }, (_, file) => this.#soon(file));
    this.#watcher.on("error", (error) => this.#log(`manifests: ${error.message}`));
    await this.#reload();
  }

  close(): void {
    this.#watcher?.close();
    clearTimeout(this.#timer);
  }

  #soon(file: string | null): void {
    if (file !== null) this.#saved.add(file);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#running = this.#running.then(() => this.#reload());
    }, SETTLE_MS);
  }

  /** Files in the order of their names. A file that cannot be read keeps what it said before. */
  async #read(): Promise<{ manifests: Map<string, Manifest>; complete: boolean }> {
    const manifests = new Map<string, Manifest>();
    let complete = true;
    const entries = await readdir(this.#folder, { recursive: true });
    for (const name of entries.filter((entry) => /\.(ya?ml|json)$/.test(entry)).toSorted()) {
      try {
        const documents = documentsOf(await readFile(join(this.#folder, name), "utf8"), name);
        for (const manifest of documents.flatMap((document) => manifestsOf(document, name))) {
          manifests.set(idOf(manifest.target), manifest);
        }
      } catch (error) {
        complete = false;
        this.#log(`manifests: ${name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    return { manifests, complete };
  }

  async #reload(): Promise<void> {
    const saved = this.#saved;
    this.#saved = new Set();
    const { manifests, complete } = await this.#read();
    const next = new Map(this.#applied);
    for (const manifest of [...manifests.values()].toSorted((a, b) => rank(a) - rank(b))) {
      const id = idOf(manifest.target);
      const known = deepEqual(this.#applied.get(id)?.body, manifest.body);
      // What somebody else deleted comes back when its file is saved again, and does not with every other file.
      if (known && !(saved.has(manifest.file) && this.#isGone(manifest))) continue;
      if (await this.#apply(manifest)) next.set(id, manifest);
    }
    for (const [id, manifest] of this.#applied) {
      if (manifests.has(id) || !complete) continue;
      this.#attempt(manifest, () => this.#api.delete(manifest.target));
      next.delete(id);
    }
    this.#applied = next;
  }

  #isGone({ target }: Manifest): boolean {
    try {
      return this.#api.get(target) === undefined;
    } catch {
      return true;
    }
  }

  async #apply(manifest: Manifest): Promise<boolean> {
    const applied = this.#attempt(manifest, () => this.#api.apply(manifest.body));
    // a definition is served a turn of the event loop after it was stored
    if (applied && manifest.target.kind === "CustomResourceDefinition") await new Promise((done) => setImmediate(done));
    return applied;
  }

  #attempt(manifest: Manifest, action: () => unknown): boolean {
    try {
      action();
      return true;
    } catch (error) {
      this.#log(`manifests: ${idOf(manifest.target)}: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  }
}
