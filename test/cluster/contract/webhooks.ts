/** Webhook configurations of the contract and the commands that meet them. */
import type { Command, Place } from "./command.ts";

/** Where the webhooks listen: the same for both servers but for the address behind the Service. */
export const HOOK_PORT = 9443;
export const HOOK_ADDRESS = "127.98.22.1";
/** An address that the certificate does not name. */
export const HOOK_STRANGER = "127.98.22.4";
export const HOOK_SERVICE = "hook.contract.svc";

type Webhook = Record<string, unknown>;

const url =
  (path: string, address = HOOK_ADDRESS, port = HOOK_PORT) =>
  (place: Place) => ({
    url: `https://${address}:${port}${path}`,
    caBundle: place.caBundle,
  });
const service =
  (name: string, port = 443) =>
  (place: Place) => ({
    service: { name, namespace: "contract", path: "/warn", port },
    caBundle: place.caBundle,
  });

interface Hook {
  readonly name: string;
  readonly client: (place: Place) => Record<string, unknown>;
  readonly more?: Webhook;
}

const hook = (name: string, client: Hook["client"] = url(`/${name}`), more: Webhook = {}): Hook => ({
  name,
  client,
  more,
});

const everything = [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*/*"], scope: "*" }];
const quick = { timeoutSeconds: 1 };
const ignored = { failurePolicy: "Ignore" };
const condition = (expression: string): Webhook => ({ matchConditions: [{ name: "it", expression }] });

const validating: readonly Hook[] = [
  hook("awake"),
  hook("deny"),
  hook("deny-silently"),
  hook("deny-reason"),
  hook("deny-status"),
  hook("warn"),
  hook("warn-and-deny"),
  hook("echo"),
  hook("patch-in-validating", url("/patch")),
  hook("absent"),
  hook("wrong-uid"),
  hook("wrong-version"),
  hook("garbage"),
  hook("status-500"),
  hook("status-404"),
  hook("status-503"),
  hook("slow", url("/slow"), quick),
  hook("slow-ignored", url("/slow"), { ...quick, ...ignored }),
  hook("refused", url("/allow", HOOK_ADDRESS, HOOK_PORT + 1)),
  hook("refused-ignored", url("/allow", HOOK_ADDRESS, HOOK_PORT + 1), ignored),
  hook("wrong-name", url("/allow", HOOK_STRANGER)),
  hook("untrusted", () => ({ url: `https://${HOOK_ADDRESS}:${HOOK_PORT}/allow` })),
  hook("no-bundle", () => ({
    url: `https://${HOOK_ADDRESS}:${HOOK_PORT}/allow`,
    caBundle: Buffer.from("x").toString("base64"),
  })),
  hook("by-service", service("hook")),
  hook("no-service", service("nowhere")),
  hook("no-port", service("hook", 444)),
  hook("no-endpoints", service("empty")),
  hook("condition-true", url("/warn"), condition("object.data.a == '1' && request.operation == 'CREATE'")),
  hook("condition-false", url("/deny"), condition("has(object.data.b)")),
  hook("condition-error", url("/deny"), condition("object.data.missing == '1'")),
  hook("condition-error-ignored", url("/deny"), { ...ignored, ...condition("object.data.missing == '1'") }),
  hook("here", url("/deny"), { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "contract" } } }),
  hook("elsewhere", url("/deny"), {
    namespaceSelector: {
      matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["contract"] }],
    },
  }),
  hook("scale", url("/echo"), {
    objectSelector: {},
    rules: [{ apiGroups: ["demo.io"], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["widgets/scale"] }],
  }),
  hook("beta", url("/warn"), { admissionReviewVersions: ["v1beta1"] }),
  hook("equivalent", url("/echo"), {
    rules: [{ apiGroups: ["demo.io"], apiVersions: ["v1beta1"], operations: ["CREATE"], resources: ["gears"] }],
  }),
  hook("exact", url("/deny"), {
    matchPolicy: "Exact",
    rules: [{ apiGroups: ["demo.io"], apiVersions: ["v1beta1"], operations: ["CREATE"], resources: ["gears"] }],
  }),
  hook("cluster-wide", url("/deny"), {
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["*"], scope: "Cluster" }],
  }),
  hook("on-delete", url("/deny"), {
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["DELETE"], resources: ["configmaps"] }],
  }),
];

const mutating: readonly Hook[] = [
  hook("awake", url("/awake-mutating")),
  hook("echo"),
  hook("patch"),
  hook("color"),
  hook("pink"),
  hook("unknown-field"),
  hook("replicas", url("/replicas"), {
    objectSelector: {},
    rules: [{ apiGroups: ["demo.io"], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["widgets/scale"] }],
  }),
  hook("failing-test"),
  hook("patch-without-type"),
  hook("merge-patch"),
  hook("deny-early", url("/deny")),
  hook("trail-1", url("/one")),
  hook("trail-2", url("/two"), { reinvocationPolicy: "IfNeeded" }),
  hook("trail-3", url("/three")),
];

/** Webhooks take objects that are labelled `hook: NAME` (`trail-1` those labelled `trail`). */
const webhooks = (hooks: readonly Hook[], place: Place): Webhook[] =>
  hooks.map(({ name, client, more }) => ({
    name: `${name}.contract.test`,
    clientConfig: client(place),
    rules: everything,
    objectSelector: { matchLabels: { hook: name.replace(/-\d$/, "") } },
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    ...more,
  }));

const configuration = (kind: string, content: Webhook[]): Webhook => ({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind,
  metadata: { name: "contract" },
  webhooks: content,
});

const list = (...items: object[]): string => JSON.stringify({ apiVersion: "v1", kind: "List", items });

const configurations = (place: Place): string =>
  list(
    configuration("MutatingWebhookConfiguration", webhooks(mutating, place)),
    configuration("ValidatingWebhookConfiguration", webhooks(validating, place)),
  );

const services = (place: Place): string =>
  list(
    { apiVersion: "v1", kind: "Service", metadata: { name: "hook" }, spec: { ports: [{ port: 443, name: "https" }] } },
    { apiVersion: "v1", kind: "Service", metadata: { name: "empty" }, spec: { ports: [{ port: 443 }] } },
    {
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: { name: "hook-1", labels: { "kubernetes.io/service-name": "hook" } },
      addressType: "IPv4",
      endpoints: [{ addresses: [place.serviceAddress] }],
      ports: [{ name: "https", port: HOOK_PORT, protocol: "TCP" }],
    },
  );

const object = (apiVersion: string, kind: string, name: string, label: string, more: object): string =>
  JSON.stringify({ apiVersion, kind, metadata: { name, labels: { hook: label } }, ...more });
const configMap = (name: string, label: string): string => object("v1", "ConfigMap", name, label, { data: { a: "1" } });
const widget = (name: string, label: string, spec: object = { color: "red" }): string =>
  object("demo.io/v1", "Widget", name, label, { spec });

const creating = (label: string, more = ""): Command => ({
  line: `create -f - -o jsonpath={.metadata.labels}{.metadata.annotations}{.data}%${more}`,
  stdin: configMap(label, label),
});
const creatingWidget = (label: string): Command => ({
  line: "create -f - -o jsonpath={.metadata.labels}{.spec}%",
  stdin: widget(`hooked-${label}`, label),
});

const invalidConfiguration = JSON.stringify({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "invalid" },
  webhooks: [
    {
      name: "short",
      clientConfig: { url: "http://example.com/a" },
      rules: [{ apiGroups: ["*", "demo.io"], apiVersions: [], operations: ["WATCH"], resources: ["*"] }],
      sideEffects: "Unknown",
      admissionReviewVersions: ["v2"],
      timeoutSeconds: 60,
      failurePolicy: "Maybe",
    },
    { name: "a.b.test", clientConfig: {}, admissionReviewVersions: [] },
  ],
});

const failures = validating
  .map(({ name }) => name)
  .filter((name) => !["awake", "echo", "scale", "equivalent", "exact", "cluster-wide", "on-delete"].includes(name));
const patches = ["patch", "failing-test", "patch-without-type", "merge-patch", "deny-early", "trail"];

export const webhookCommands: readonly Command[] = [
  { line: "apply -f -", stdin: services },
  { line: "create -f -", stdin: invalidConfiguration },
  { line: "apply -f gear-crd.yaml" },
  { line: "wait --for=condition=Established crd/gears.demo.io --timeout=10s" },
  {
    line: "apply -f -",
    stdin: configurations,
    // a server may take a second to act by a configuration
    until: {
      line: "create -f - --dry-run=server -o name",
      stdin: configMap("probe", "awake"),
      words: ["mutating awake", "Warning: awake"],
    },
  },
  { line: "get mutatingwebhookconfigurations,validatingwebhookconfigurations" },
  { line: "get validatingwebhookconfigurations contract -o jsonpath={.metadata.generation}{.webhooks[0]}" },
  ...[...failures, ...patches].map((name) => creating(name)),
  { line: "create -f - --dry-run=server", stdin: configMap("deny", "deny") },

  // what a webhook is asked
  { line: "create -f -", stdin: configMap("echo", "echo") },
  {
    line: "create -f - --dry-run=server",
    stdin: JSON.stringify({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { generateName: "gen-", labels: { hook: "echo" } },
    }),
  },
  { line: `patch cm echo --type=merge -p '{"data":{"a":"2"}}'` },
  { line: `patch cm echo --type=merge -p '{"data":{"a":"2"}}'` },
  { line: "apply --server-side --field-manager=one -f -", stdin: configMap("echo", "echo") },
  { line: "delete cm echo" },
  { line: "create -f -", stdin: widget("echo", "echo") },
  { line: `patch wd echo --subresource=status --type=merge -p '{"status":{"phase":"Ready"}}'` },
  { line: "create -f -", stdin: widget("scaled", "none") },
  { line: "scale wd scaled --replicas=3" },
  { line: "delete --raw /apis/demo.io/v1/namespaces/contract/widgets/echo" },
  { line: "create -f -", stdin: object("demo.io/v1", "Gear", "equivalent", "equivalent", { spec: { teeth: 3 } }) },
  { line: "create -f -", stdin: object("demo.io/v1", "Gear", "exact", "exact", { spec: { teeth: 3 } }) },
  { line: "create -f -", stdin: object("v1", "Namespace", "cluster-wide", "cluster-wide", {}) },
  { line: "create -f -", stdin: configMap("cluster-wide", "cluster-wide") },
  { line: "create -f -", stdin: configMap("on-delete", "on-delete") },
  { line: "delete cm on-delete" },
  { line: "label cm on-delete hook-" },
  { line: "delete cm on-delete" },

  // what becomes of custom resources
  ...["color", "pink", "unknown-field", "deny"].map(creatingWidget),
  { line: "get wd hooked-color -o yaml --show-managed-fields" },
  { line: "get wd scaled -o jsonpath={.spec.replicas}" },
  { line: "delete mutatingwebhookconfigurations,validatingwebhookconfigurations contract" },
  { line: "delete crd gears.demo.io" },
  { line: "delete svc hook empty" },
  { line: "delete endpointslice hook-1" },
];
