/** How objects are told of to a person, and which are not. */
import type { ApiObject } from "./api/index.ts";

/** `Ingress default/demo`. */
export const displayName = (object: ApiObject): string =>
  [object.kind, [object.metadata.namespace, object.metadata.name].filter(Boolean).join("/")].join(" ");

/** What the controller wrote itself, such as a certificate's Secret: no change follows from it. */
export const isPublished = ({ metadata }: ApiObject): boolean =>
  metadata.ownerReferences?.some(({ kind }) => kind === "HAProxyCfg") ?? false;
