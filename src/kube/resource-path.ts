/** URL paths of resources. */
import type { ResourceTarget } from "./types.ts";

/** `/api/v1` or `/apis/GROUP/VERSION`. */
export function groupVersionPath(apiVersion: string): string {
  return apiVersion.includes("/")
    ? `/apis/${apiVersion.split("/").map(encodeURIComponent).join("/")}`
    : `/api/${encodeURIComponent(apiVersion)}`;
}

/** Path of a collection, or of one object and its subresource. */
export function resourcePath(target: ResourceTarget, name?: string, subresource?: string): string {
  let path = groupVersionPath(target.apiVersion);
  if (target.namespace !== undefined) path += `/namespaces/${encodeURIComponent(target.namespace)}`;
  path += `/${encodeURIComponent(target.resource)}`;
  if (name !== undefined) path += `/${encodeURIComponent(name)}`;
  if (subresource !== undefined) path += `/${encodeURIComponent(subresource)}`;
  return path;
}

/** `ingresses.networking.k8s.io default/web`: how errors and logs name an object. */
export function objectName(target: ResourceTarget, name?: string, subresource?: string): string {
  const group = target.apiVersion.includes("/") ? `.${target.apiVersion.split("/")[0]}` : "";
  const place = [target.namespace, name].filter((part) => part !== undefined).join("/");
  return `${target.resource}${group}${subresource === undefined ? "" : `/${subresource}`}${place === "" ? "" : ` ${place}`}`;
}
