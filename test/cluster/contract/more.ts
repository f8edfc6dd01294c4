/** Commands of the contract beyond the first ones: editing, explaining, what charts install, paging, tokens, events. */
import type { Command } from "./command.ts";

const command = (line: string, more: Omit<Command, "line"> = {}): Command => ({ line, ...more });
const json = (value: object): string => JSON.stringify(value);

const labels = { app: "web" };
const template = {
  metadata: { labels },
  spec: { containers: [{ name: "web", image: "web:1", ports: [{ containerPort: 80 }] }] },
};
const selector = { matchLabels: labels };
const list = (...items: object[]): string => json({ apiVersion: "v1", kind: "List", items });

const installed = list(
  { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "agents" }, spec: { selector, template } },
  {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "store" },
    spec: { serviceName: "store", selector, template },
  },
  {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: "once" },
    spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "once", image: "once" }] } } },
  },
  {
    apiVersion: "batch/v1",
    kind: "CronJob",
    metadata: { name: "nightly" },
    spec: {
      schedule: "0 3 * * *",
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: "OnFailure", containers: [{ name: "n", image: "n:1" }] } } },
      },
    },
  },
  {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name: "web" },
    spec: { minAvailable: "50%", selector },
  },
  {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: "web" },
    spec: { podSelector: selector, ingress: [{ ports: [{ port: 80 }] }] },
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "reader" },
    rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }],
  },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "reader" },
    roleRef: { kind: "Role", name: "reader", apiGroup: "rbac.authorization.k8s.io" },
    subjects: [
      { kind: "User", name: "jane" },
      { kind: "ServiceAccount", name: "robot", namespace: "contract" },
    ],
  },
  {
    apiVersion: "v1",
    kind: "LimitRange",
    metadata: { name: "limits" },
    spec: { limits: [{ type: "Container", max: { cpu: "1" } }] },
  },
);

const generated = list(
  ...Array.from({ length: 7 }, (_, i) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `page-${i}`, labels: { paged: "yes" } },
  })),
);

export const moreCommands: readonly Command[] = [
  // what charts install
  command("create -f -", { stdin: installed }),
  command("get ds,sts,jobs,cronjobs,pdb,netpol,roles,rolebindings,limits"),
  command("get ds,sts,jobs,cronjobs,rolebindings -o wide"),
  command("get ds agents -o yaml --show-managed-fields"),
  command("get sts store -o yaml --show-managed-fields"),
  command("get job once -o yaml --show-managed-fields"),
  command("get cronjob nightly -o yaml --show-managed-fields"),
  command("get pdb,netpol,role,rolebinding -o yaml --show-managed-fields"),
  command("scale sts store --replicas=3"),
  command(
    'patch role reader --type=json -p \'[{"op":"add","path":"/rules/-","value":{"apiGroups":[""],"resources":["nodes"]}}]\'',
  ),
  command('patch rolebinding reader --type=merge -p \'{"roleRef":{"name":"writer"}}\''),
  command("create role pods --verb=get,list --resource=pods,deployments.apps"),
  command("create rolebinding pods --role=pods --serviceaccount=contract:robot --group=devs"),
  command("create clusterrole contract --verb=get --resource=nodes"),
  command("create clusterrolebinding contract --clusterrole=contract --user=jane"),
  command("get clusterrole,clusterrolebinding contract -o yaml"),
  command("create poddisruptionbudget made --selector=app=web --max-unavailable=1"),
  command("create priorityclass high --value=1000 --description=high"),
  command("get priorityclass high"),
  command("create quota made --hard=pods=3"),
  command("create job made --image=made -- true"),
  command("create cronjob made --image=made --schedule='*/5 * * * *'"),
  command("get job,cronjob made -o jsonpath={.items[*].spec.suspend}"),
  command("autoscale sts store --min=2 --max=5 --cpu=70%"),
  command("get hpa"),
  command("delete job once"),
  command("delete ds,sts,jobs,cronjobs,pdb,netpol,roles,rolebindings,limits,quota,hpa --all -o name", {
    unordered: true,
  }),
  command("delete clusterrole,clusterrolebinding contract"),
  command("delete priorityclass high"),

  command("get crd widgets.demo.io -o yaml --show-managed-fields"),

  // editing
  command("create configmap edited --from-literal=a=1"),
  command("edit cm edited", { editor: "edit-note.sh" }),
  command("get cm edited -o yaml --show-managed-fields"),
  command("edit cm edited", { editor: "edit-nothing.sh" }),
  command("edit wd w1", { editor: "edit-invalid.sh" }),
  command("edit cm nobody", { editor: "edit-note.sh" }),

  // explaining
  command("explain wd.spec.ports.protocol"),
  command("explain wd.spec.nothing"),

  // pages
  command("create -f - -o name", { stdin: generated }),
  command("get cm -l paged=yes --chunk-size=3 -o name"),
  command("get cm --chunk-size=2 --field-selector metadata.name=page-5"),
  command("get cm -l paged=yes --chunk-size=3 --sort-by=.metadata.name"),
  command("get --raw /api/v1/namespaces/contract/configmaps?continue=nonsense"),
  command("delete cm -l paged=yes"),

  // who one is and what one may
  command("auth can-i list widgets.demo.io"),
  command("auth can-i delete nodes --all-namespaces"),
  command("auth can-i get /metrics"),
  command("auth can-i frobnicate gadgets"),
  command("auth can-i --list"),
  command("create token robot"),
  command("create token robot --duration=1m"),
  command("create token nobody"),
  command("create token robot --audience=haptic --duration=1h -o jsonpath={.spec}"),

  // events
  command("create -f -", {
    stdin: json({
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: "w1.2", namespace: "contract" },
      eventTime: "2026-01-01T00:00:00.000000Z",
      type: "Warning",
      reason: "Refused",
      action: "Rendering",
      note: "what is wrong",
      reportingController: "demo.io/controller",
      reportingInstance: "one",
      regarding: { apiVersion: "demo.io/v1", kind: "Widget", name: "w1", namespace: "contract" },
    }),
  }),
  command("get events.events.k8s.io w1.2 -o yaml"),
  command("get events w1.2 -o yaml"),
  command("events --types=Warning"),
  command("events --for wd/w1 -o name"),
  command("get events --field-selector reason=Refused,involvedObject.name=w1 -o name"),
  command("get events.events.k8s.io --field-selector regarding.name=w1,type=Warning -o name"),
  command("create -f -", {
    stdin: json({
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { name: "bad", namespace: "contract" },
      type: "Loud",
    }),
  }),
  command("delete events w1.2"),

  // owners
  command("create configmap owner --from-literal=a=1"),
  command("create -f -", {
    stdin: json({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "owned", ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: "" }] },
    }),
  }),
  command("create -f -", {
    stdin: json({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: {
        name: "orphan",
        ownerReferences: [
          { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "7f2b1c7e-0000-4000-8000-000000000000" },
        ],
      },
    }),
  }),
  command("wait --for=delete cm/orphan --timeout=20s"),
  command("delete cm owner --cascade=foreground"),
];
