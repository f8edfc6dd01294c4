/** What a render provides, for the page of functions: each name with what it does and an example that a test renders. */
import { type FunctionPageFamily, type HostTypeDeclaration } from "../templating/index.ts";
import { GLOBALS, hostTypes } from "./declarations.ts";

/** Where a name is known: roots, incremental snippets, or both. */
type Where = "both" | "root" | "component";

interface Provided {
  /** `resources`, `http.Fetch`. */
  readonly name: string;
  readonly where: Where;
  readonly doc: string;
  /** A template and its output; of an incremental snippet where the name is known there only. The test's fixture has a route `default/web`. */
  readonly examples?: readonly (readonly [template: string, output: string])[];
  /** Its examples stand in haproxy.cfg, as other roots may not use the name; the output is what haproxy.cfg says. */
  readonly inConfiguration?: boolean;
}

const ROUTE = '{% var route = resources.routes.GetSingle("default", "web") %}';

const OBJECTS: readonly Provided[] = [
  {
    name: "resources.ALIAS.List",
    where: "both",
    doc: "All objects of a watched resource, by the order of its index. The bare ALIAS stands for the same list, where no other name hides it. With a schema the objects have types (see the language page); without one they are any. They cannot be changed.",
    examples: [
      ["{% for _, r := range resources.routes.List() %}{{ r.metadata.name }} {% end %}", "api web \n"],
      ["{{ len(routes) }}", "2\n"],
    ],
  },
  {
    name: "resources.ALIAS.Fetch",
    where: "both",
    doc: "The objects whose index key (indexBy) begins with the given keys. Nil for a key fails.",
    examples: [['{{ len(resources.routes.Fetch("default")) }} {{ len(resources.routes.Fetch("other")) }}', "2 0\n"]],
  },
  {
    name: "resources.ALIAS.GetSingle",
    where: "both",
    doc: "The one object with this key, or nil. Several are an error.",
    examples: [[`${ROUTE}{{ route.spec.host }}`, "web.example\n"]],
  },
  {
    name: "resources.ALIAS.APIVersion",
    where: "both",
    doc: "The version that is watched: group/version.",
    examples: [["{{ resources.routes.APIVersion() }}", "example.org/v1\n"]],
  },
  {
    name: "resource",
    where: "both",
    doc: "The store of a watched resource whose alias is only known while rendering, with List, Fetch, GetSingle and APIVersion. An unknown alias fails.",
    examples: [['{% for alias in []string{"routes"} %}{{ len(resource(alias).List()) }}{% end %}', "2\n"]],
  },
  {
    name: "controller.haproxy_pods",
    where: "both",
    doc: "The HAProxy pods, with the same methods; the index is namespace, name.",
    examples: [["{{ len(controller.haproxy_pods.List()) }}", "0\n"]],
  },
  {
    name: "deriveResource",
    where: "both",
    doc: "A copy of the item with a value at a JSONPath, as jsonpathSet gives it, and a request that later reads of the alias see the copy. The request is recorded and not carried out yet. Incremental snippets need the effect deriveResource.",
    examples: [
      [
        `${ROUTE}{% var changed = deriveResource("routes", route, "$.spec.host", "x.example") %}{{ changed.spec.host }}`,
        "x.example\n",
      ],
    ],
  },
  {
    name: "item",
    where: "component",
    doc: "The object that the incremental snippet is rendered for.",
    examples: [["{{ item.metadata.name }}\n", "api\nweb\n"]],
  },
  {
    name: "source",
    where: "component",
    doc: "The alias that item comes from.",
    examples: [["{{ source }}\n", "routes\nroutes\n"]],
  },
  {
    name: "props",
    where: "component",
    doc: "Properties that the snippet was bound with; empty without bindings.",
    examples: [["{{ len(props) }}\n", "0\n0\n"]],
  },
  {
    name: "renderSubject",
    where: "component",
    doc: "What is rendered: mode (reconcile or admission), source, namespace, name.",
    examples: [["{{ renderSubject.namespace }}/{{ renderSubject.name }}\n", "default/api\ndefault/web\n"]],
  },
];

const SETTINGS: readonly Provided[] = [
  {
    name: "capabilities",
    where: "both",
    doc: "What the oldest HAProxy of the fleet can do; false for an unknown key. Before pods are found it is the controller's own HAProxy.",
    examples: [["{{ capabilities.supports_crt_list }} {{ capabilities.supports_magic }}", "true false\n"]],
  },
  {
    name: "dataplane",
    where: "both",
    doc: "The dataplane block of the configuration with its defaults.",
    examples: [["{{ dataplane.mapsDir }}", "/etc/haproxy/maps\n"]],
  },
  {
    name: "extraContext",
    where: "both",
    doc: "templatingSettings.extraContext.",
    examples: [["{{ extraContext.greeting }}", "hello\n"]],
  },
  {
    name: "templateSnippets",
    where: "both",
    doc: "Names of the snippets, sorted.",
    examples: [['{{ templateSnippets contains "nope" }}', "false\n"]],
  },
  {
    name: "runtimeEnvironment",
    where: "both",
    doc: "GOMAXPROCS: into how many parts work is worth splitting; 1.",
    examples: [["{{ runtimeEnvironment.GOMAXPROCS }}", "1\n"]],
  },
  {
    name: "renderMode",
    where: "root",
    doc: "reconcile, or admission where a change is only judged.",
    examples: [["{{ renderMode }}", "reconcile\n"]],
  },
  {
    name: "admissionSubject",
    where: "root",
    doc: "What an admission judges: namespace, name, stores (a map of aliases) and, where one alias alone is concerned, store.",
    examples: [['{{ admissionSubject.name == "" }}', "true\n"]],
  },
  {
    name: "currentConfig",
    where: "root",
    doc: "The deployed configuration's ServerIndex[backend][server] with Address and Port; nil before the first deployment: ask with isNil.",
    examples: [["{{ isNil(currentConfig) }}", "true\n"]],
  },
  {
    name: "currentFiles",
    where: "root",
    doc: "Contents of the last accepted maps, general files and crt-lists by file name, without secrets; a template can carry a generated value on with it.",
    examples: [['{{ currentFiles["host.map"] | strip() }}', "\n"]],
  },
];

const OUTPUTS: readonly Provided[] = [
  {
    name: "pathResolver.GetPath",
    where: "both",
    doc: "The path of a file as HAProxy sees it; the kind is map, file, cert or crt-list. An empty name gives the folder. In names of certificates and crt-lists other characters than letters, digits, _ and - become _.",
    examples: [
      [
        '{{ pathResolver.GetPath("host.map", "map") }} {{ pathResolver.GetPath("example.com.pem", "cert") }}',
        "maps/host.map ssl/example_com.pem\n",
      ],
    ],
  },
  {
    name: "pathResolver.GetBaseDir",
    where: "both",
    doc: "The folder that paths are relative to, for default-path origin.",
    examples: [["{{ pathResolver.GetBaseDir() }}", "/etc/haproxy\n"]],
  },
  {
    name: "fileRegistry.Register",
    where: "root",
    doc: "Adds a file and gives its path. The kind is file, cert, map, crt-list or ca-file; a file may say with reloadOnPush whether its change reloads (default true). The same file twice is one; other content under one path is an error.",
    examples: [['{{ fileRegistry.Register("file", "note.txt", "hello") }}', "general/note.txt\n"]],
  },
  {
    name: "planRegistry.Profile",
    where: "both",
    doc: "Declares what backends share and gives the name of their defaults section: mode, balance, hashType, defaultServer, body, and with backend the settings of that backend, which come from maps where HAProxy can read them there, so that they change without a reload. Directives that kill HAProxy in a defaults section are refused.",
    examples: [
      [
        '{% profile := planRegistry.Profile(map[string]any{"mode": "http", "balance": "leastconn"}) %}{{ planRegistry.ProfileGroup() }}backend web from {{ profile }}',
        "defaults haptic-be-001e5578c14aba56\n    mode http\n    balance leastconn\nbackend web from haptic-be-001e5578c14aba56\n",
      ],
      [
        '{{ planRegistry.ProfileGroup() }}{% planRegistry.Profile(map[string]any{"backend": "web", "settings": map[string]any{"timeout server": "5s", "retries": "2"}}) %}frontend f',
        "defaults haptic-be-a99f27f839e9a024\n    mode http\n    http-request set-var(txn.haptic_timeout_server) be_name,map_str(maps/haptic-setting-timeout-server.map)\n    http-request set-timeout server var(txn.haptic_timeout_server) if { var(txn.haptic_timeout_server) -m found }\n    retries 2\nfrontend f\n",
      ],
    ],
    inConfiguration: true,
  },
  {
    name: "planRegistry.ProfileGroup",
    where: "root",
    doc: "The place in haproxy.cfg where the profiles stand; exactly once.",
    examples: [
      [
        'global\n{{ planRegistry.ProfileGroup() }}{% planRegistry.Profile(map[string]any{"mode": "tcp"}) %}frontend f',
        "global\ndefaults haptic-be-894c025885794f82\n    mode tcp\nfrontend f\n",
      ],
    ],
    inConfiguration: true,
  },
  {
    name: "planRegistry.Backend",
    where: "both",
    doc: "Declares a backend with its servers and gives what stands for its text: name, guid, mode, balance, hashType, profile, defaultServer, body, servers, comments, shape, shapeReason. A server has name, address, port, weight, disabled, guid, comment, extra. Unknown keys fail.",
    examples: [
      [
        '{{ planRegistry.Backend(map[string]any{"name": "web"}, "backend web\\n    mode http\\n    server a 192.0.2.1:80\\n") }}',
        "backend web\n    mode http\n    server a 192.0.2.1:80\n",
      ],
    ],
    inConfiguration: true,
  },
  {
    name: "planRegistry.BackendWhenAny",
    where: "component",
    doc: "A backend that stands there only when one of the keys was published in the cell. Recorded, not carried out yet.",
    examples: [
      [
        '{{ planRegistry.BackendWhenAny(map[string]any{"name": item.metadata.name}, "backend " + tostring(item.metadata.name), "hosts", []any{item.spec.host}) }}ok\n',
        "ok\nok\n",
      ],
    ],
  },
  {
    name: "planRegistry.Section",
    where: "root",
    doc: "Declares a section's text by kind (profile or backend) and name, and gives what stands for it.",
    examples: [
      [
        '{{ planRegistry.Section("profile", "base", "defaults base\\n    mode http\\n") }}',
        "defaults base\n    mode http\n",
      ],
    ],
    inConfiguration: true,
  },
  {
    name: "planRegistry.Fragment",
    where: "root",
    doc: "Text that is no section of its own.",
    examples: [['{{ planRegistry.Fragment("note", "# by hand\\n") }}', "# by hand\n"]],
  },
  {
    name: "planRegistry.MapMeta",
    where: "root",
    doc: "Says whether the order of a map's entries matters.",
    examples: [['{{ planRegistry.MapMeta("maps/host.map", false) }}done', "done\n"]],
  },
  {
    name: "planRegistry.CrtListMeta",
    where: "root",
    doc: "Says whether the first entry of a crt-list is its default certificate. It is none where the bind line has strict-sni; such a list may begin with anything, and be empty, without a reload.",
    examples: [['{{ planRegistry.CrtListMeta("general/certificates.list", false) }}done', "done\n"]],
  },
];

const EFFECTS: readonly Provided[] = [
  {
    name: "recordEvent",
    where: "both",
    doc: "A Warning Event on the object; it writes nothing. The reason is one word in CamelCase. Equal calls count once; the Event is given again as long as it is true.",
    examples: [[`${ROUTE}{% recordEvent(route, "NoService", "there is no service") %}done`, "done\n"]],
  },
  {
    name: "statusPatch",
    where: "both",
    doc: "What shall stand below the object's status, by outcome: a map with some of rendered, deployed, renderFailed and deployFailed. It writes nothing. Recorded, not carried out yet.",
    examples: [
      [`${ROUTE}{% statusPatch(route, map[string]any{"deployed": map[string]any{"ready": true}}) %}done`, "done\n"],
    ],
  },
  {
    name: "http.Fetch",
    where: "both",
    doc: "The content of a URL. Options: interval (a duration; none or 0 fetches once), timeout (30s), retries (2), critical (false), acceptStatus (a list of codes). Auth: type bearer with token, basic with username and password, or header with headers. Unknown options and types fail, and so do two ways to fetch one URL in a render. Without content a fetch gives the empty text, or fails where it is critical. Requests are recorded and not carried out yet, so there is no content.",
    examples: [
      ['[{{ http.Fetch("https://list.example/ips", map[string]any{"interval": "5m"}) }}]', "[]\n"],
      [
        '{% var _, err = http.Fetch("https://list.example/ips", map[string]any{"critical": true}) %}{{ err }}',
        "http.Fetch: https://list.example/ips is critical and has no content yet\n",
      ],
    ],
  },
  {
    name: "http.Pending",
    where: "both",
    doc: "Whether a URL has no accepted content yet.",
    examples: [['{{ http.Pending("https://list.example/ips") }}', "true\n"]],
  },
];

const SHARING: readonly Provided[] = [
  {
    name: "shared.ComputeIfAbsent",
    where: "both",
    doc: "The value under a key, made by the function where it is not there; the second result says whether it was made now. Nil is a value too. The roots of one render share values; an incremental snippet has its own.",
    examples: [
      ['{% var v, made = shared.ComputeIfAbsent("k", func() any { return 5 }) %}{{ v }} {{ made }}', "5 true\n"],
    ],
  },
  {
    name: "shared.Get",
    where: "both",
    doc: "The value under a key, or nil.",
    examples: [['{{ isNil(shared.Get("nothing")) }}', "true\n"]],
  },
  {
    name: "shared.Publish",
    where: "component",
    doc: "Publishes a value under a key in a cell of the snippet's group (effect publishValue). Recorded, not carried out yet.",
    examples: [['{% shared.Publish("hosts", item.spec.host, 1) %}ok\n', "ok\nok\n"]],
  },
  {
    name: "shared.PublishRanked",
    where: "component",
    doc: "As Publish, where of several values of a key the one with the smallest rank counts. Recorded, not carried out yet.",
    examples: [['{% shared.PublishRanked("hosts", item.spec.host, "10", 1) %}ok\n', "ok\nok\n"]],
  },
  {
    name: "shared.Unique",
    where: "component",
    doc: "A text that stands once for its key, whoever gives it; such a snippet writes nothing else. Recorded, not carried out yet.",
    examples: [['{% shared.Unique("hosts", item.spec.host, "text") %}ok\n', "ok\nok\n"]],
  },
  {
    name: "shared.Select",
    where: "component",
    doc: "The value published under a key of a group's cell, and whether there is one.",
    examples: [['{% var _, ok = shared.Select("names", "hosts", "a") %}{{ ok }}\n', "false\nfalse\n"]],
  },
  {
    name: "shared.SelectValues",
    where: "component",
    doc: "All values of a group's cell.",
    examples: [['{{ len(shared.SelectValues("names", "hosts")) }}\n', "0\n0\n"]],
  },
  {
    name: "shared.Count",
    where: "component",
    doc: "The number of values of a group's cell.",
    examples: [['{{ shared.Count("names", "hosts") }}\n', "0\n0\n"]],
  },
  {
    name: "incremental_values",
    where: "both",
    doc: "All values that a group of incremental snippets published in a cell; an unknown cell has none, an unknown group fails.",
    examples: [['{{ len(incremental_values("names", "hosts")) }}', "0\n"]],
  },
  {
    name: "incremental_value_count",
    where: "both",
    doc: "The number of those values.",
    examples: [['{{ incremental_value_count("names", "hosts") }}', "0\n"]],
  },
  {
    name: "first_seen",
    where: "both",
    doc: "Whether this combination of parts is asked for the first time in this render. Without parts always true.",
    examples: [['{{ first_seen("a", 1) }} {{ first_seen("a", 1) }}', "true false\n"]],
  },
];

const FAMILIES: readonly (readonly [title: string, entries: readonly Provided[]])[] = [
  ["Objects of the cluster", OBJECTS],
  ["Settings and circumstances", SETTINGS],
  ["Files and the plan", OUTPUTS],
  ["Events, statuses and contents of URLs", EFFECTS],
  ["Values shared in a render", SHARING],
];

const types = hostTypes(new Map([["ALIAS", undefined]]));

/** The declared type of a name: a signature, or the type of a value. */
function declared({ name, where }: Provided): string {
  const [global, ...members] = name.split(".");
  let type = GLOBALS[where === "component" ? "component" : "root"][global!]?.type;
  for (const member of members) {
    const host: HostTypeDeclaration | undefined = type === undefined ? undefined : types[type];
    const method = host?.methods?.[member];
    type = method === undefined ? host?.members?.[member] : typeof method === "string" ? method : method.signature;
  }
  if (type === undefined) throw new TypeError(`${name} is not declared`);
  return type;
}

const PLACES: Readonly<Record<Where, string>> = {
  both: "",
  root: " Only in haproxy.cfg, maps, files and certificates.",
  component: " Only in incremental snippets.",
};

const CONFIGURATION_ONLY: Readonly<Record<Where, string>> = {
  ...PLACES,
  both: " Only in haproxy.cfg and incremental snippets.",
  root: " Only in haproxy.cfg.",
};

/** Families for the page; the tests render their examples. */
export const providedFamilies: readonly FunctionPageFamily[] = FAMILIES.map(([title, entries]) => ({
  title,
  functions: entries.map((entry) => {
    const type = declared(entry);
    return {
      name: entry.name,
      signature: type.startsWith("func(") ? type : `${entry.name} ${type}`,
      doc: entry.doc + (entry.inConfiguration ? CONFIGURATION_ONLY : PLACES)[entry.where],
      examples: entry.examples ?? [],
      component: entry.where === "component",
      inConfiguration: entry.inConfiguration === true,
    };
  }),
}));
