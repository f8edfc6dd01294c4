/** What helm (and kubectl after it) must say the same on the embedded API and on a real one, in this order. */

export interface HelmCommand {
  readonly program: "helm" | "kubectl";
  /** Arguments; single quotes keep blanks. */
  readonly line: string;
  /** Lines come in any order. */
  readonly unordered?: true;
  /** Refused by both is not good enough. */
  readonly succeeds?: true;
}

const helm = (line: string): HelmCommand => ({ program: "helm", line: `${line} --namespace hns` });
const must = (line: string): HelmCommand => ({ ...helm(line), succeeds: true });
const kubectl = (line: string): HelmCommand => ({ program: "kubectl", line: `${line} --namespace hns` });

const content =
  "get cm,secret,svc,sa,role,rolebinding,pdb,ing,panel,deploy -l app.kubernetes.io/managed-by=Helm -o custom-columns=KIND:.kind,NAME:.metadata.name,GENERATION:.metadata.generation,RELEASE:.metadata.annotations.meta\\.helm\\.sh/release-name";

export const commands: readonly HelmCommand[] = [
  // a release is made
  helm("install demo chart --create-namespace --dry-run=server"),
  must("install demo chart --create-namespace --wait --timeout 30s"),
  helm("install demo chart"),
  helm("list"),
  { ...helm("status demo"), unordered: true },
  helm("get values demo --all"),
  helm("get manifest demo"),
  helm("get hooks demo"),
  helm("get metadata demo"),
  helm("history demo"),
  kubectl(content),
  kubectl("get cm demo-settings -o yaml --show-managed-fields"),
  kubectl("get svc,role,rolebinding,pdb,ing demo -o yaml --show-managed-fields"),
  kubectl(
    "get secret sh.helm.release.v1.demo.v1 -o jsonpath={.type}{.metadata.labels.status}{.metadata.managedFields[*].manager}",
  ),
  kubectl("get cm demo-before demo-after"),
  kubectl("get crd panels.helm.demo.io -o jsonpath={.metadata.managedFields[*].manager}"),
  must("test demo"),

  // it changes
  kubectl("create cm looked-up --from-literal=x=y"),
  must("upgrade demo chart --set color=green --wait --timeout 30s"),
  kubectl("get cm demo-settings demo-before -o jsonpath={.items[*].data}"),
  kubectl("get panel demo -o jsonpath={.spec.color}/{.metadata.generation}"),
  helm("upgrade demo chart --set color=pink"),
  helm("history demo"),
  { ...helm("status demo"), unordered: true },
  helm("upgrade demo chart --set color=blue --set deployment=true"),
  kubectl("get deploy demo -o yaml --show-managed-fields"),
  helm("upgrade demo chart --set color=blue --set settings.b=null"),
  kubectl(content),
  kubectl("get cm demo-settings -o jsonpath={.data}"),
  must("rollback demo 2 --wait --timeout 30s"),
  kubectl("get panel demo -o jsonpath={.spec.color}/{.metadata.generation}"),
  helm("history demo"),
  helm("upgrade demo chart --set deployment=true --wait --timeout 2s"),
  helm("upgrade demo chart --set color=red --set deployment=true --set replicas=3 --rollback-on-failure --timeout 2s"),
  helm("upgrade demo chart --reuse-values"),

  // others' fields, others' objects
  kubectl(`patch cm demo-settings --type=merge --field-manager=other -p '{"data":{"a":"theirs"}}'`),
  helm("upgrade demo chart --set settings.a=ours"),
  helm("upgrade demo chart --set settings.a=ours --force-conflicts"),
  kubectl("get cm demo-settings -o jsonpath={.data.a}"),
  kubectl("create cm taken-settings --from-literal=a=b"),
  helm("install taken chart"),
  helm("list --all"),

  // the older way, without server-side apply
  must("install older chart --server-side=false --skip-crds"),
  helm("upgrade older chart --server-side=false --set color=green --set deployment=true"),
  kubectl("get cm older-settings -o yaml --show-managed-fields"),
  kubectl("get panel older -o jsonpath={.spec}{.metadata.managedFields[*].operation}"),
  must("rollback older 1"),
  must("uninstall older --wait --timeout 30s"),

  // it goes
  must("uninstall demo --keep-history"),
  helm("list --all"),
  helm("uninstall demo --wait --timeout 30s"),
  helm("uninstall demo"),
  helm("status demo"),
  kubectl(content),
  kubectl("get secret -l owner=helm"),
  kubectl("get crd panels.helm.demo.io -o name"),

  // the product's own chart: no pod will run, but everything of it is accepted and the same
  must("install haptic ../../../charts/haptic --set image.repository=example.com/haptic"),
  kubectl("get deploy,svc,cm,secret,sa,role,rolebinding,pdb,ingressclass -l app.kubernetes.io/managed-by=Helm -o name"),
  kubectl("get deploy -o yaml --show-managed-fields"),
  kubectl("get haproxytemplateconfigs,haproxytemplatelibraries"),
  must("upgrade haptic ../../../charts/haptic --reuse-values"),
  must("uninstall haptic --wait --timeout 30s"),
];
