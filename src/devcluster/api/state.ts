/** A new, empty API: built-in resources, the namespaces every cluster has. */
import { randomUUID } from "node:crypto";
import { Allocator } from "./operations/allocator.ts";
import { aftermathOf, followOwners } from "./operations/collector.ts";
import { unasked } from "./operations/asking.ts";
import { defaultWriteOptions } from "./operations/context.ts";
import type { ApiState } from "./operations/context.ts";
import { create } from "./operations/write.ts";
import { builtInViews } from "./resources/built-in.ts";
import { followDefinitions } from "./resources/crd-controller.ts";
import { definitionView } from "./resources/crd-definition.ts";
import { Registry } from "./resources/registry.ts";
import { Database } from "./storage/database.ts";

export interface StateOptions {
  readonly now: () => number;
  readonly random: () => number;
  /** Changes that each resource remembers: how far back a watch may resume. */
  readonly history: number;
}

export function newState(options: StateOptions): ApiState {
  const registry = new Registry();
  for (const view of [...builtInViews(), definitionView]) registry.add(view);
  const state: ApiState = {
    database: new Database(options.history),
    registry,
    allocator: new Allocator(),
    aftermath: aftermathOf(() => state),
    now: options.now,
    random: options.random,
    uid: randomUUID,
  };
  followDefinitions(state);
  followOwners(state);
  const namespaces = registry.find("v1", "namespaces");
  if (namespaces !== undefined) {
    for (const name of ["default", "kube-node-lease", "kube-public", "kube-system"]) {
      const options = { ...defaultWriteOptions, fieldManager: "kube-apiserver" };
      unasked(create(state, namespaces, "", { metadata: { name } }, options));
    }
  }
  return state;
}
