/** The configuration object and the libraries of its namespace, folded from two watches; and their assembly. */
import { fromCallback } from "xstate";
import type { AssembleReply, ConfigLoaderEvent } from "../../machines/configLoader.ts";
import { formatProblem, judge } from "../config/index.ts";
import type { Assembled, ConfigProblem, HAProxyTemplateConfig, HAProxyTemplateLibrary } from "../config/index.ts";
import type { KubeClient } from "../kube/types.ts";
import type { KubeObject } from "../stores/types.ts";

const API_VERSION = "haproxy-haptic.org/v1alpha1";

export interface LoadedConfig {
  /** Equal text = equal input. */
  readonly version: string;
  readonly generation: number;
  readonly assembled: Assembled;
  readonly warnings: readonly ConfigProblem[];
}

export interface ConfigSourceOptions {
  readonly kube: KubeClient;
  readonly namespace: string;
  readonly name: string;
  readonly onWarnings: (warnings: readonly ConfigProblem[]) => void;
  /** Why a kind of the configuration cannot be read; undefined = it can again. */
  readonly onWatch: (resource: string, fault: string | undefined) => void;
}

export class ConfigSource {
  readonly #options: ConfigSourceOptions;
  #config: HAProxyTemplateConfig | undefined;
  readonly #libraries = new Map<string, HAProxyTemplateLibrary>();
  #loaded: LoadedConfig | undefined;

  constructor(options: ConfigSourceOptions) {
    this.#options = options;
  }

  /** The newest configuration that could be assembled. */
  get loaded(): LoadedConfig | undefined {
    return this.#loaded;
  }

  /** The live object, status included. */
  get config(): HAProxyTemplateConfig | undefined {
    return this.#config;
  }

  /** The answer to a status write: what it says counts at once, its watch event comes later. */
  adopt(written: KubeObject): void {
    if (this.#config !== undefined && written.metadata.uid === this.#config.metadata.uid)
      this.#config = written as HAProxyTemplateConfig;
  }

  /** Says SOURCE.CHANGED when the spec of the configuration or of a library changed; a status write is none. */
  stream() {
    return fromCallback<{ type: "unused" }>(({ sendBack }) => {
      const { kube, namespace, name } = this.#options;
      const seen = new Map<string, KubeObject>();
      const synced = { haproxytemplateconfigs: false, haproxytemplatelibraries: false };
      let told = "";
      const look = (): void => {
        if (!synced.haproxytemplateconfigs || !synced.haproxytemplatelibraries) return;
        const config = seen.get(`haproxytemplateconfigs/${name}`) as HAProxyTemplateConfig | undefined;
        this.#config = config;
        this.#libraries.clear();
        for (const [key, object] of seen) {
          if (key.startsWith("haproxytemplatelibraries/"))
            this.#libraries.set(object.metadata.name, object as HAProxyTemplateLibrary);
        }
        const wanted = new Set((config?.spec.libraryRefs ?? []).map((reference) => reference.name));
        const identity =
          config === undefined
            ? "gone"
            : [config, ...[...this.#libraries.values()].filter((library) => wanted.has(library.metadata.name))]
                .map(({ metadata: { name: each, uid, generation } }) => `${each} ${uid} ${generation}`)
                .sort()
                .join(",");
        if (identity === told) return;
        told = identity;
        const event: ConfigLoaderEvent = config === undefined ? { type: "SOURCE.GONE" } : { type: "SOURCE.CHANGED" };
        sendBack(event);
      };
      const follow = (resource: keyof typeof synced) => {
        let listed = new Set<string>();
        let isFaulted = false;
        return kube.listWatch({ apiVersion: API_VERSION, resource, namespace }).subscribe({
          next: (signal) => {
            if (signal.type === "FAULT" || (isFaulted && signal.type !== "RELIST")) {
              isFaulted = signal.type === "FAULT";
              this.#options.onWatch(resource, signal.type === "FAULT" ? signal.error.message : undefined);
            }
            switch (signal.type) {
              case "RELIST":
                listed = new Set();
                return;
              case "PAGE":
                for (const object of signal.objects) {
                  listed.add(`${resource}/${object.metadata.name}`);
                  seen.set(`${resource}/${object.metadata.name}`, object);
                }
                return;
              case "SYNCED":
                for (const key of seen.keys()) if (key.startsWith(`${resource}/`) && !listed.has(key)) seen.delete(key);
                synced[resource] = true;
                return look();
              case "ADDED":
              case "MODIFIED":
                seen.set(`${resource}/${signal.object.metadata.name}`, signal.object);
                return look();
              case "DELETED":
                seen.delete(`${resource}/${signal.object.metadata.name}`);
                return look();
              case "BOOKMARK":
              case "FAULT":
            }
          },
          error: (error: unknown) => {
            throw error;
          },
        });
      };
      const subscriptions = [follow("haproxytemplateconfigs"), follow("haproxytemplatelibraries")];
      return () => {
        for (const subscription of subscriptions) subscription.unsubscribe();
      };
    });
  }

  assemble(): AssembleReply {
    const config = this.#config;
    if (config === undefined) return { kind: "invalid", generation: 0, message: "the configuration object is gone" };
    const generation = config.metadata.generation ?? 0;
    const judged = judge(config, [...this.#libraries.values()]);
    if ("state" in judged) return { kind: "held", generation, message: judged.message };
    const { assembled, problems, warnings } = judged;
    if (problems.length > 0) return { kind: "invalid", generation, message: problems.map(formatProblem).join("\n") };
    if (warnings.length > 0) this.#options.onWarnings(warnings);
    const version = `${config.metadata.uid ?? ""} ${assembled.members.join(" ")}`;
    this.#loaded = { version, generation, assembled, warnings };
    return { kind: "assembled", version, generation };
  }
}
