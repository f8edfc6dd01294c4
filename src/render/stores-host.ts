/** `resources.ALIAS` and `controller.haproxy_pods`: reads of one snapshot, each noted with the run that makes it. */
import type { AliasView, KubeObject } from "../stores/types.ts";
import { hostObject, TemplateFault } from "../templating/index.ts";
import type { ReadIndex } from "./reads.ts";

/** What a store of templates reads from; the view is replaced when a render begins. */
export interface ViewHolder {
  view: AliasView | undefined;
  /** How many parts an object's key has. */
  readonly keys: number;
}

/** Name under which reads of the HAProxy pods are noted; no alias can have it. */
export const PODS = "\u0002haproxy_pods";

/** `type` = the host type's name: stores of resources with a schema have one of their own. */
export function storeObject(
  alias: string,
  shownName: string,
  holder: ViewHolder,
  reads: ReadIndex,
  type = "Store",
): unknown {
  const checked = (method: string, given: readonly unknown[]): string[] => {
    if (given.length === 0 || given.length > holder.keys) {
      throw new TemplateFault(
        `${shownName}.${method} got ${given.length} keys; its index has ${holder.keys}`,
        given.length === 0 ? "List() gives all objects" : "fewer keys than the index has select by prefix",
      );
    }
    const keys = given.map((key) => keyText(key, `${shownName}.${method}`));
    reads.keys(alias, keys);
    return keys;
  };
  return hostObject(type, {
    List: (): readonly KubeObject[] => {
      reads.list(alias);
      return holder.view?.list() ?? [];
    },
    Fetch: (...given: readonly unknown[]): readonly KubeObject[] => {
      const keys = checked("Fetch", given);
      return holder.view?.fetch(keys) ?? [];
    },
    GetSingle: (...given: readonly unknown[]): KubeObject | null => {
      const keys = checked("GetSingle", given);
      const found = holder.view?.fetch(keys) ?? [];
      if (found.length > 1)
        throw new TemplateFault(
          `${shownName}.GetSingle(${keys.join(", ")}) found ${found.length} objects`,
          "give more keys, or use Fetch",
        );
      return found[0] ?? null;
    },
    APIVersion: (): string => holder.view?.apiVersion ?? "",
  });
}

function keyText(key: unknown, where: string): string {
  if (typeof key === "string") return key;
  if (typeof key === "number" || typeof key === "boolean" || typeof key === "bigint") return String(key);
  if (key === null || key === undefined)
    throw new TemplateFault(`${where} got nil for a key`, 'use fallback("") where a field may be absent');
  throw new TemplateFault(`${where} got a list or map for a key`);
}
