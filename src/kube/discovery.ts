/** What the server serves: aggregated discovery in two requests, or one request a group version where that is not known. */
import { groupVersionPath } from "./resource-path.ts";
import type { KubeTransport } from "./transport.ts";
import type { ServedResource } from "./types.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";

interface AggregatedBody {
  readonly items: readonly {
    readonly metadata: { readonly name?: string };
    readonly versions: readonly {
      readonly version: string;
      readonly resources?: readonly {
        readonly resource: string;
        readonly scope: string;
        readonly responseKind?: { readonly kind: string };
        readonly subresources?: readonly { readonly subresource: string }[];
      }[];
    }[];
  }[];
}

interface PlainBody {
  readonly versions?: readonly string[];
  readonly groups?: readonly { readonly versions: readonly { readonly groupVersion: string }[] }[];
}

interface ResourceListBody {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced: boolean }[];
}

/**
 * Every served resource; the versions of a group in the server's order of preference. In the plain form a group whose
 * server does not answer is left out. Throws KubeError.
 */
export async function discover(
  transport: KubeTransport,
  counted: () => void,
  signal?: AbortSignal,
): Promise<ServedResource[]> {
  const served = await Promise.all(["/api", "/apis"].map((path) => discoverRoot(transport, path, counted, signal)));
  return served.flat();
}

async function discoverRoot(
  transport: KubeTransport,
  path: string,
  counted: () => void,
  signal?: AbortSignal,
): Promise<ServedResource[]> {
  counted();
  const { body, contentType } = await transport.json({
    method: "GET",
    path,
    accept: AGGREGATED,
    signal,
    what: `discover ${path}`,
  });
  if (contentType.includes("as=APIGroupDiscoveryList")) return fromAggregated(body as AggregatedBody);
  const plain = body as PlainBody;
  const groupVersions =
    plain.versions ?? plain.groups?.flatMap((group) => group.versions.map((version) => version.groupVersion)) ?? [];
  const lists = await Promise.allSettled(
    groupVersions.map(async (groupVersion) => {
      counted();
      const list = await transport.json({
        method: "GET",
        path: groupVersionPath(groupVersion),
        signal,
        what: `discover ${groupVersion}`,
      });
      return fromList(groupVersion, list.body as ResourceListBody);
    }),
  );
  signal?.throwIfAborted();
  return lists.flatMap((list) => (list.status === "fulfilled" ? list.value : []));
}

function fromAggregated(body: AggregatedBody): ServedResource[] {
  const served: ServedResource[] = [];
  for (const group of body.items) {
    for (const version of group.versions) {
      for (const resource of version.resources ?? []) {
        served.push({
          group: group.metadata.name ?? "",
          version: version.version,
          resource: resource.resource,
          kind: resource.responseKind?.kind ?? "",
          namespaced: resource.scope === "Namespaced",
          subresources: (resource.subresources ?? []).map((sub) => sub.subresource),
        });
      }
    }
  }
  return served;
}

function fromList(groupVersion: string, body: ResourceListBody): ServedResource[] {
  const [group, version] = groupVersion.includes("/") ? groupVersion.split("/") : ["", groupVersion];
  const all = body.resources ?? [];
  return all
    .filter((resource) => !resource.name.includes("/"))
    .map((resource) => ({
      group: group!,
      version: version!,
      resource: resource.name,
      kind: resource.kind,
      namespaced: resource.namespaced,
      subresources: all
        .filter((sub) => sub.name.startsWith(`${resource.name}/`))
        .map((sub) => sub.name.slice(resource.name.length + 1)),
    }));
}
