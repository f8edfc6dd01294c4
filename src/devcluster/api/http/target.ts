/** What a path names: a resource, perhaps an object and a subresource of it. */

export interface Target {
  readonly apiVersion: string;
  readonly namespace: string | undefined;
  readonly plural: string;
  readonly name: string | undefined;
  readonly subresource: string;
  /** The old form `/api/v1/watch/…`. */
  readonly watch: boolean;
}

/** Undefined for a path that is not of the form of a resource's. */
export function parseTarget(path: string): Target | undefined {
  let parts: string[];
  try {
    parts = path.split("/").slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
  let apiVersion: string;
  if (parts[0] === "api" && parts.length > 2) apiVersion = parts[1] ?? "";
  else if (parts[0] === "apis" && parts.length > 3) apiVersion = `${parts[1]}/${parts[2]}`;
  else return undefined;
  let rest = parts.slice(parts[0] === "api" ? 2 : 3);
  const watch = rest[0] === "watch";
  if (watch) rest = rest.slice(1);
  let namespace: string | undefined;
  // `namespaces/x/y` is in a namespace; `namespaces/x` and its own subresources are the Namespace itself
  if (
    rest[0] === "namespaces" &&
    rest.length > 2 &&
    !(rest.length === 3 && ["status", "finalize"].includes(rest[2] ?? ""))
  ) {
    namespace = rest[1];
    rest = rest.slice(2);
  }
  const [plural = "", name, subresource = "", ...more] = rest;
  if (plural === "" || more.length > 0) return undefined;
  return { apiVersion, namespace, plural, name: name === "" ? undefined : name, subresource, watch };
}
