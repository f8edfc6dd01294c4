/** The configuration of the proofs: templates as a user would write them, over objects that say what shall be served. */
import { createRenderService, type RenderService } from "../../../src/render/index.ts";
import { createStoreSet, type KubeObject, ObjectStore, type StoreSet } from "../../../src/stores/index.ts";

export const MAPS = {
  host: "maps/host.map",
  regex: "maps/regex.map",
  notes: "maps/notes.map",
  unloaded: "maps/unloaded.map",
} as const;
/** Of these the first entry that matches answers, so their order counts. */
export const isOrdered = (map: string): boolean => map === MAPS.regex;

const TEMPLATES: Readonly<Record<string, string>> = {
  "haproxy.cfg": `global
    default-path config
    stats socket "\${HAPTIC_BASE}/haproxy-worker.sock" mode 600 level admin
    hard-stop-after 1s
    maxconn 2000
defaults base
    mode http
    timeout connect 1s
    timeout client 10s
    timeout server 10s
    option idle-close-on-response
    errorfile 503 {{ pathResolver.GetPath("503.http", "file") }}
{% for _, file := range resources.files.List() %}
{%- if file.spec.kind == "file" -%}{% fileRegistry.Register("file", tostring(file.metadata.name), tostring(file.spec.text), file.spec.reload == true) %}
{%- else -%}{% fileRegistry.Register(tostring(file.spec.kind), tostring(file.metadata.name), tostring(file.spec.text)) %}{%- end -%}
{% end %}
{% for _, profile := range resources.profiles.List() %}{% planRegistry.Profile(profile.spec) %}{% end %}
{{ planRegistry.ProfileGroup() }}
{% for _, section := range resources.sections.List() %}
{{ section.spec.text }}
{% end %}
frontend http from base
    bind "\${HAPTIC_BIND_ADDRESS}:8080"
{% for _, line := range resources.lines.List() %}
    {{ line.spec.text }}
{% end %}
    http-request set-header x-note %[req.hdr(host),map_str(maps/notes.map,none)]
    use_backend %[req.hdr(host),lower,map_str(maps/host.map)]
    use_backend %[req.hdr(host),lower,map_reg(maps/regex.map)]
    default_backend none
frontend https from base
    bind "\${HAPTIC_BIND_ADDRESS}:8443" ssl crt-list general/sites.txt ca-file ssl/clients.pem verify optional
    default_backend none
backend none from base
    http-request return status 404
{{ render "backends" }}
`,
  "map:host.map": `# host -> backend\n{{ render "hosts" }}`,
  "map:regex.map": `{% for _, rule := range resources.rules.List() %}{{ rule.spec.pattern }} {{ rule.spec.backend }}\n{% end %}`,
  "map:notes.map": `{% for _, note := range resources.notes.List() %}{{ note.metadata.name }} {{ note.spec.text }}\n{% end %}`,
  "map:unloaded.map": `{% for _, note := range resources.notes.List() %}{{ note.metadata.name }} unloaded\n{% end %}`,
  hosts: "{{ item.spec.host }} {{ item.spec.backend }}\n",
  backends: `{%- var profile = planRegistry.Profile(item.spec.profile) -%}
{%- var name = tostring(item.metadata.name) -%}
{%- var record = map[string]any{"name": name, "profile": profile, "servers": item.spec.servers, "shape": item.spec.shape, "guid": item.spec.guid, "mode": item.spec.mode, "balance": item.spec.balance, "hashType": item.spec.hashType, "defaultServer": item.spec.defaultServer, "body": item.spec.body} -%}
{{ planRegistry.Backend(record, "backend " + name + " from " + profile + "\\n" + tostring(item.spec.text)) }}
`,
};

const ALIASES = ["backends", "routes", "rules", "notes", "lines", "sections", "profiles", "files"] as const;
export type Alias = (typeof ALIASES)[number];

export function createStores(): { readonly set: StoreSet; readonly stores: Readonly<Record<Alias, ObjectStore>> } {
  const stores = Object.fromEntries(
    ALIASES.map((alias) => [
      alias,
      new ObjectStore({ indexBy: ["metadata.name"], ignoreFields: [], fieldSelector: "" }, "example.org/v1"),
    ]),
  ) as Record<Alias, ObjectStore>;
  return { set: createStoreSet(Object.entries(stores)), stores };
}

export function createService(): RenderService {
  const snippets = Object.keys(TEMPLATES).filter((name) => name !== "haproxy.cfg" && !name.startsWith("map:"));
  const { service, problems } = createRenderService({
    spec: {
      watchedResources: Object.fromEntries(ALIASES.map((alias) => [alias, { indexBy: ["metadata.name"] }])),
      templateSnippets: Object.fromEntries(
        snippets.map((name) => [
          name,
          {
            incremental: name === "backends" ? { source: "backends", effects: ["backendPlan"] } : { source: "routes" },
          },
        ]),
      ),
      maps: Object.fromEntries(
        Object.keys(MAPS).map((name) => [`${name}.map`, { ordered: isOrdered(`maps/${name}.map`) }]),
      ),
    },
    sources: Object.entries(TEMPLATES).map(([name, text]) => ({ name, text })),
    dataplane: {
      mapsDir: "/etc/haproxy/maps",
      sslCertsDir: "/etc/haproxy/ssl",
      generalStorageDir: "/etc/haproxy/general",
    },
  });
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.text).join("\n"));
  return service;
}

export const objectOf = (kind: string, name: string, spec: object): KubeObject => ({
  apiVersion: "example.org/v1",
  kind,
  metadata: { name },
  spec,
});
