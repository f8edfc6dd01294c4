/** Discovery: aggregated (what kubectl asks for first) and the older lists it falls back to. */
import { createHash } from "node:crypto";
import type { Fields } from "../objects.ts";
import { compareVersions } from "../resources/crd-view.ts";
import type { View } from "../resources/definition.ts";
import type { Registry } from "../resources/registry.ts";
import { pageNotFound, sendBytes, sendJson } from "./respond.ts";
import type { ApiRequest } from "./request.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

interface Version {
  readonly group: string;
  readonly version: string;
  readonly views: readonly View[];
}

/** Groups in the order of registration, each with its versions in the order of stability. */
function groupsOf(registry: Registry): Map<string, Version[]> {
  const groups = new Map<string, Version[]>();
  for (const view of registry.views()) {
    if (view.verbs.length === 0) continue;
    const versions = groups.get(view.group) ?? [];
    groups.set(view.group, versions);
    const known = versions.find((v) => v.version === view.version);
    if (known === undefined) versions.push({ group: view.group, version: view.version, views: [view] });
    else (known.views as View[]).push(view);
  }
  for (const versions of groups.values()) versions.sort((a, b) => compareVersions(a.version, b.version));
  return groups;
}

const responseKind = (view: View): Fields =>
  view.definition.builtIn
    ? { group: "", version: "", kind: view.definition.kind }
    : { group: view.group, version: view.version, kind: view.definition.kind };

function subresources(view: View): Fields[] {
  const found: Fields[] = [];
  const verbs = ["get", "patch", "update"];
  if (view.definition.status) found.push({ subresource: "status", responseKind: responseKind(view), verbs });
  if (view.definition.scale !== undefined) {
    const kind = { group: "autoscaling", version: "v1", kind: "Scale" };
    found.push({ subresource: "scale", responseKind: kind, verbs });
  }
  return found;
}

function aggregatedResource(view: View): Fields {
  const { definition } = view;
  const below = subresources(view);
  return {
    resource: definition.plural,
    responseKind: responseKind(view),
    scope: definition.namespaced ? "Namespaced" : "Cluster",
    singularResource: definition.singular,
    verbs: view.verbs,
    ...(definition.shortNames.length === 0 ? {} : { shortNames: definition.shortNames }),
    ...(definition.categories.length === 0 ? {} : { categories: definition.categories }),
    ...(below.length === 0 ? {} : { subresources: below }),
  };
}

const aggregated = (name: string, versions: readonly Version[]): Fields => ({
  metadata: name === "" ? {} : { name },
  versions: versions.map((version) => ({
    version: version.version,
    freshness: "Current",
    resources: version.views.map(aggregatedResource),
  })),
});

const groupVersion = (version: Version): string =>
  version.group === "" ? version.version : `${version.group}/${version.version}`;

function apiGroup(name: string, versions: readonly Version[]): Fields {
  const named = versions.map((version) => ({ groupVersion: groupVersion(version), version: version.version }));
  return { name, versions: named, preferredVersion: named[0] };
}

function plainSubresource(view: View, sub: Fields): Fields {
  const { group, version, kind } = sub["responseKind"] as { group: string; version: string; kind: string };
  const foreign = group === "autoscaling" ? { group, version } : {};
  return {
    name: `${view.definition.plural}/${String(sub["subresource"])}`,
    singularName: "",
    namespaced: view.definition.namespaced,
    ...foreign,
    kind,
    verbs: sub["verbs"],
  };
}

function resourceList(version: Version): Fields {
  const resources = version.views.flatMap((view) => {
    const { definition } = view;
    const own: Fields = {
      name: definition.plural,
      singularName: definition.singular,
      namespaced: definition.namespaced,
      kind: definition.kind,
      verbs: view.verbs,
      ...(definition.shortNames.length === 0 ? {} : { shortNames: definition.shortNames }),
      ...(definition.categories.length === 0 ? {} : { categories: definition.categories }),
      storageVersionHash: createHash("sha256")
        .update(`${definition.group}/${definition.plural}`)
        .digest("base64")
        .slice(0, 12),
    };
    const below = subresources(view).map((sub) => plainSubresource(view, sub));
    return [own, ...below];
  });
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: groupVersion(version), resources };
}

/** The documents, made again when the registry changes. */
export class Discovery {
  readonly #registry: Registry;
  #generation = -1;
  #groups = new Map<string, Version[]>();
  #documents = new Map<string, { readonly bytes: Buffer; readonly etag: string }>();

  constructor(registry: Registry) {
    this.#registry = registry;
  }

  /** Answers a discovery path; false when the path is none. */
  serve(request: ApiRequest): boolean {
    const parts = request.path.split("/").filter((part) => part !== "");
    if (parts[0] !== "api" && parts[0] !== "apis") return false;
    if (parts.length > (parts[0] === "api" ? 2 : 3)) return false;
    if (this.#generation !== this.#registry.generation) {
      this.#generation = this.#registry.generation;
      this.#groups = groupsOf(this.#registry);
      this.#documents = new Map();
    }
    if (parts.length === 1) this.#root(request, parts[0]);
    else if (parts[0] === "api") this.#list(request, "", parts[1] ?? "");
    else if (parts.length === 2) this.#group(request, parts[1] ?? "");
    else this.#list(request, parts[1] ?? "", parts[2] ?? "");
    return true;
  }

  #root(request: ApiRequest, root: "api" | "apis"): void {
    const accept = request.raw.headers.accept ?? "";
    const whole = accept
      .split(",")
      .some((range) => range.includes("as=APIGroupDiscoveryList") && /v=v2(;|$)/.test(range));
    const document = this.#document(`${root} ${whole}`, () =>
      whole ? this.#aggregatedRoot(root) : this.#plainRoot(root),
    );
    const headers = { ETag: document.etag, Vary: "Accept", "Cache-Control": "public" };
    if (request.raw.headers["if-none-match"] === document.etag) {
      request.response.writeHead(304, headers).end();
      return;
    }
    sendBytes(request, 200, document.bytes, whole ? AGGREGATED : "application/json", headers);
  }

  #document(id: string, make: () => Fields): { readonly bytes: Buffer; readonly etag: string } {
    let document = this.#documents.get(id);
    if (document === undefined) {
      const bytes = Buffer.from(JSON.stringify(make()));
      document = { bytes, etag: `"${createHash("sha256").update(bytes).digest("hex").toUpperCase()}"` };
      this.#documents.set(id, document);
    }
    return document;
  }

  #aggregatedRoot(root: "api" | "apis"): Fields {
    const groups = [...this.#groups].filter(([name]) => (name === "") === (root === "api"));
    return {
      kind: "APIGroupDiscoveryList",
      apiVersion: "apidiscovery.k8s.io/v2",
      metadata: {},
      items: groups.map(([name, versions]) => aggregated(name, versions)),
    };
  }

  #plainRoot(root: "api" | "apis"): Fields {
    if (root === "api") {
      return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [] };
    }
    const groups = [...this.#groups].filter(([name]) => name !== "");
    return {
      kind: "APIGroupList",
      apiVersion: "v1",
      groups: groups.map(([name, versions]) => apiGroup(name, versions)),
    };
  }

  #group(request: ApiRequest, name: string): void {
    const versions = this.#groups.get(name);
    if (versions === undefined || name === "") pageNotFound(request);
    else sendJson(request, 200, { kind: "APIGroup", apiVersion: "v1", ...apiGroup(name, versions) });
  }

  #list(request: ApiRequest, group: string, version: string): void {
    const found = this.#groups.get(group)?.find((v) => v.version === version);
    if (found === undefined) pageNotFound(request);
    else sendJson(request, 200, resourceList(found));
  }
}
