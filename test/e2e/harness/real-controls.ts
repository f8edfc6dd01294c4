/** What makes a real API server refuse: rights of the controller's own identity, and a webhook of somebody's that hangs. */
import { createServer } from "node:https";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority } from "../../../src/devcluster/certificates.ts";
import { createKubeClient, findConnection } from "../../../src/kube/index.ts";
import { userKubeconfig } from "../../cluster/kube/real-plane.ts";

const USER = "haptic-controller";
const ROLE = "haptic-controller";
const WEBHOOK_ADDRESS = "127.0.50.2";
const WEBHOOK_PORT = 9443;
const GROUPS = [
  "",
  "networking.k8s.io",
  "coordination.k8s.io",
  "events.k8s.io",
  "apiextensions.k8s.io",
  "haproxy-haptic.org",
];
const SLICES = "discovery.k8s.io";

export interface RealControls {
  readonly controllerKubeconfig: string;
  forbid(on: boolean): Promise<void>;
  failWrites(on: boolean): Promise<void>;
  close(): Promise<void>;
}

export async function realControls(folder: string, kubeconfig: string): Promise<RealControls> {
  const client = createKubeClient(await findConnection({ kubeconfig }), { userAgent: "haptic-e2e-controls" });
  const apply = async (resource: string, group: string, object: object): Promise<void> => {
    await client.apply({ apiVersion: group, resource }, { apiVersion: group, ...object } as never, {
      fieldManager: "e2e",
      force: true,
    });
  };
  const rbac = "rbac.authorization.k8s.io/v1";
  const forbid = (on: boolean): Promise<void> =>
    apply("clusterroles", rbac, {
      kind: "ClusterRole",
      metadata: { name: ROLE },
      rules: [{ apiGroups: on ? GROUPS : [...GROUPS, SLICES], resources: ["*"], verbs: ["*"] }],
    });
  await forbid(false);
  await apply("clusterrolebindings", rbac, {
    kind: "ClusterRoleBinding",
    metadata: { name: ROLE },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: ROLE },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: USER }],
  });
  const controllerKubeconfig = join(folder, "controller-kubeconfig");
  writeFileSync(controllerKubeconfig, await userKubeconfig(folder, USER), { mode: 0o600 });

  // It takes the call and never answers.
  const authority = await createAuthority("somebody's webhook", new Date());
  const { certificate, key } = await authority.issue([WEBHOOK_ADDRESS], "server");
  const hanging = createServer({ cert: certificate, key }, () => undefined);
  hanging.on("clientError", () => undefined);
  await new Promise<void>((done) => hanging.listen(WEBHOOK_PORT, WEBHOOK_ADDRESS, done));
  hanging.unref();
  const registrations = { apiVersion: "admissionregistration.k8s.io/v1", resource: "validatingwebhookconfigurations" };
  const failWrites = async (on: boolean): Promise<void> => {
    if (!on) return client.delete(registrations, "somebody");
    await apply("validatingwebhookconfigurations", registrations.apiVersion, {
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "somebody" },
      webhooks: [
        {
          name: "hangs.somebody.example",
          clientConfig: {
            url: `https://${WEBHOOK_ADDRESS}:${WEBHOOK_PORT}/`,
            caBundle: Buffer.from(authority.certificate).toString("base64"),
          },
          rules: [
            {
              apiGroups: ["haproxy-haptic.org"],
              apiVersions: ["*"],
              operations: ["UPDATE"],
              resources: ["haproxytemplateconfigs/status"],
            },
            { apiGroups: ["", "events.k8s.io"], apiVersions: ["*"], operations: ["*"], resources: ["events"] },
          ],
          timeoutSeconds: 1,
          failurePolicy: "Fail",
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    });
  };
  return {
    controllerKubeconfig,
    forbid,
    failWrites,
    async close() {
      hanging.closeAllConnections();
      hanging.close();
      await client.close();
    },
  };
}
