/** A small but whole configuration of routes, services and endpoints, with the stores to feed it. */
import { joinBlocks, type RenderPlan } from "../../../src/plan/index.ts";
import {
  createRenderService,
  type RenderContext,
  type RenderOutcome,
  type RenderService,
  type RenderServiceOptions,
} from "../../../src/render/index.ts";
import { createStoreSet, type KubeObject, ObjectStore, type StoreSet } from "../../../src/stores/index.ts";

export const DATAPLANE = {
  mapsDir: "/etc/haproxy/maps",
  sslCertsDir: "/etc/haproxy/ssl",
  generalStorageDir: "/etc/haproxy/general",
};

export const INDEXES: Readonly<Record<string, readonly string[]>> = {
  routes: ["metadata.namespace", "metadata.name"],
  services: ["metadata.namespace", "metadata.name"],
  endpoints: ["metadata.namespace", "metadata.labels.service"],
};

export const TEMPLATES: Readonly<Record<string, string>> = {
  "haproxy.cfg": `global
    default-path origin {{ pathResolver.GetBaseDir() }}
defaults base
    mode http
    timeout connect 1s
    timeout client 10s
    timeout server 10s
{{ planRegistry.ProfileGroup() }}
frontend http from base
    bind 127.34.0.1:18081
    use_backend %[req.hdr(host),lower,map_str({{ pathResolver.GetPath("host.map", "map") }})]
    default_backend none
backend none from base
    http-request return status 404
{{ render "backends" }}
`,
  "map:host.map": `# host -> backend\n{{ render "hosts" }}`,
  "map:names.map": `{% for _, route := range resources.routes.List() %}{{ route.metadata.name }} {{ route.spec.service }}\n{% end %}`,
  "file:error.http": "HTTP/1.0 503 Unavailable\n\nsorry",
  hosts: "{{ item.spec.host }} {{ item.metadata.namespace }}_{{ item.spec.service }}\n",
  backends: `{%- var service = resources.services.GetSingle(item.metadata.namespace, item.spec.service) -%}
{%- var profile = planRegistry.Profile(map[string]any{"mode": "http", "balance": service | dig_string("roundrobin", "spec", "balance")}) -%}
{%- var name = tostring(item.metadata.namespace) + "_" + tostring(item.spec.service) -%}
{%- var lines = "backend " + name + " from " + profile + "\\n" -%}
{%- var servers []any = []any{} -%}
{%- for _, slice := range resources.endpoints.Fetch(item.metadata.namespace, item.spec.service) -%}
{%- for i, address := range slice | dig("addresses") | toSlice() -%}
{%- var server = tostring(slice.metadata.name) + "-" + tostring(i) -%}
{%- servers = append(servers, map[string]any{"name": server, "address": address, "port": 8080}) -%}
{%- lines = lines + "    server " + server + " " + tostring(address) + ":8080\\n" -%}
{%- end -%}
{%- end -%}
{%- if isNil(service) -%}
{%- recordEvent(item, "ServiceNotFound", "there is no service " + tostring(item.spec.service)) -%}
{%- end -%}
{%- if item.spec.broken == true -%}
{%- fail("this route is broken") -%}
{%- end %}
# route {{ item.metadata.name }}
{{ planRegistry.Backend(map[string]any{"name": name, "profile": profile, "servers": servers, "shape": "dynamic"}, lines) }}
`,
};

export function options(
  templates: Readonly<Record<string, string>> = TEMPLATES,
  more: Partial<RenderServiceOptions> = {},
): RenderServiceOptions {
  const incremental = {
    hosts: { source: "routes" },
    rules: { source: "routes" },
    aaa: { source: "routes", effects: ["backendPlan"] },
    backends: { source: "routes", effects: ["backendPlan", "recordEvent"] },
  };
  const names = (prefix: string): string[] =>
    Object.keys(templates)
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length));
  return {
    spec: {
      watchedResources: Object.fromEntries(Object.entries(INDEXES).map(([alias, indexBy]) => [alias, { indexBy }])),
      templateSnippets: Object.fromEntries(
        Object.keys(templates)
          .filter((name) => name !== "haproxy.cfg" && !/^(map|file|cert):/.test(name))
          .map((name) => [
            name,
            name in incremental ? { incremental: incremental[name as keyof typeof incremental] } : {},
          ]),
      ),
      maps: Object.fromEntries(names("map:").map((name) => [name, { ordered: name !== "host.map" }])),
      files: Object.fromEntries(names("file:").map((name) => [name, {}])),
      sslCertificates: Object.fromEntries(names("cert:").map((name) => [name, {}])),
      templatingSettings: { extraContext: { greeting: "hello" } },
    },
    sources: Object.entries(templates).map(([name, text]) => ({ name, text })),
    dataplane: DATAPLANE,
    ...more,
  };
}

export function service(
  templates?: Readonly<Record<string, string>>,
  more?: Partial<RenderServiceOptions>,
): RenderService {
  const { service: made, problems } = createRenderService(options(templates, more));
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.text).join("\n"));
  return made;
}

export interface World {
  readonly set: StoreSet;
  readonly stores: Readonly<Record<string, ObjectStore>>;
  put(alias: string, object: KubeObject): void;
  drop(alias: string, namespace: string, name: string): void;
}

export function world(apiVersion = "v1"): World {
  const stores = Object.fromEntries(
    Object.entries(INDEXES).map(([alias, indexBy]) => [
      alias,
      new ObjectStore({ indexBy, ignoreFields: [], fieldSelector: "" }, apiVersion),
    ]),
  );
  return {
    set: createStoreSet(Object.entries(stores)),
    stores,
    put: (alias, object) => void stores[alias]?.upsert(object),
    drop: (alias, namespace, name) => void stores[alias]?.remove({ metadata: { namespace, name } }),
  };
}

export const route = (namespace: string, name: string, host: string, to: string, more: object = {}): KubeObject => ({
  apiVersion: "example.org/v1",
  kind: "Route",
  metadata: { namespace, name, uid: `${namespace}-${name}` },
  spec: { host, service: to, ...more },
});
export const target = (namespace: string, name: string, balance?: string): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace, name },
  spec: balance === undefined ? {} : { balance },
});
export const slice = (namespace: string, name: string, of: string, addresses: readonly string[]): KubeObject => ({
  apiVersion: "v1",
  kind: "Slice",
  metadata: { namespace, name, labels: { service: of } },
  addresses,
});

export function context(of: World, more: Partial<RenderContext> = {}): RenderContext {
  return {
    snapshot: of.set.snapshot(),
    haproxyPods: undefined,
    capabilities: { supports_crt_list: true },
    renderMode: "reconcile",
    ...more,
  };
}

export const never = new AbortController().signal;

export async function render(of: RenderService, on: World, more: Partial<RenderContext> = {}): Promise<RenderOutcome> {
  return of.render(context(on, more), never);
}

export async function planOf(of: RenderService, on: World): Promise<RenderPlan> {
  const { result, problems } = await render(of, on);
  if (result === undefined) throw new Error(problems.map((problem) => problem.text).join("\n"));
  return result.plan;
}

export function text(plan: RenderPlan, path: string): string | undefined {
  const file = plan.files.get(path);
  return file === undefined ? undefined : joinBlocks(file.blocks).toString("utf8");
}

export function texts(plan: RenderPlan): Record<string, string | undefined> {
  return Object.fromEntries([...plan.files.entries()].map(([path]) => [path, text(plan, path)]));
}
