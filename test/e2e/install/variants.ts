/** What the chart can be asked for: the API server judges each of them. */
export interface Variant {
  readonly name: string;
  readonly sets: readonly string[];
}

/** Kinds that other projects define; their CRDs here take any spec. */
export const foreignKinds: readonly { readonly group: string; readonly kind: string; readonly version: string }[] = [
  { group: "cert-manager.io", kind: "Issuer", version: "v1" },
  { group: "cert-manager.io", kind: "Certificate", version: "v1" },
  { group: "monitoring.coreos.com", kind: "PodMonitor", version: "v1" },
  { group: "monitoring.coreos.com", kind: "ServiceMonitor", version: "v1" },
];

export const variants: readonly Variant[] = [
  { name: "its own values", sets: [] },
  {
    name: "as many HAProxy pods as traffic wants, and files of one's own",
    sets: [
      "haproxy.autoscaling.enabled=true",
      "haproxy.autoscaling.behavior.scaleDown.stabilizationWindowSeconds=600",
      "haproxy.autoscaling.metrics[0].type=Resource",
      "haproxy.autoscaling.metrics[0].resource.name=memory",
      "haproxy.autoscaling.metrics[0].resource.target.type=Utilization",
      "haproxy.autoscaling.metrics[0].resource.target.averageUtilization=80",
      "haproxy.extraVolumes[0].name=lua",
      "haproxy.extraVolumes[0].configMap.name=lua",
      "haproxy.extraVolumeMounts[0].name=lua",
      "haproxy.extraVolumeMounts[0].mountPath=/usr/local/share/lua",
    ],
  },
  {
    name: "a DaemonSet on the nodes' ports",
    sets: [
      "haproxy.kind=DaemonSet",
      "haproxy.hostPorts.http=80",
      "haproxy.hostPorts.https=443",
      "haproxy.service.type=ClusterIP",
    ],
  },
  {
    name: "fixed node ports, local traffic and one replica of each",
    sets: [
      "controller.replicas=1",
      "haproxy.replicas=1",
      "haproxy.service.type=NodePort",
      "haproxy.service.externalTrafficPolicy=Local",
      "haproxy.service.http.nodePort=30080",
      "haproxy.service.https.nodePort=30443",
    ],
  },
  {
    name: "certificates, configuration and default certificate of one's own",
    sets: [
      "tls.source=existing",
      "tls.agentSecret=a",
      "tls.controllerSecret=c",
      "config.create=false",
      "config.name=mine",
      "defaultCertificate.create=false",
      "ingressClass.create=false",
    ],
  },
  {
    name: "cert-manager and an authority of the release's own, and monitors",
    sets: [
      "tls.source=certManager",
      "monitoring.podMonitor.enabled=true",
      "monitoring.serviceMonitor.enabled=true",
      "monitoring.serviceMonitor.labels.release=prometheus",
    ],
  },
  {
    name: "cert-manager and an issuer of the cluster",
    sets: [
      "tls.source=certManager",
      "tls.certManager.issuerRef.name=all",
      "tls.certManager.issuerRef.kind=ClusterIssuer",
    ],
  },
  {
    name: "labels, annotations, places and rights of one's own",
    sets: [
      "fullnameOverride=edge",
      "commonLabels.team=edge",
      "commonAnnotations.team=edge",
      "ingressClass.default=true",
      "ingressClass.name=edge",
      "haproxy.nodeSelector.role=edge",
      "haproxy.tolerations[0].operator=Exists",
      "haproxy.priorityClassName=system-cluster-critical",
      "haproxy.podDisruptionBudget.minAvailable=1",
      "controller.extraEnv[0].name=TZ",
      "controller.extraEnv[0].value=UTC",
      "rbac.extraRules[0].apiGroups[0]=gateway.networking.k8s.io",
      "rbac.extraRules[0].resources[0]=httproutes",
      "rbac.extraRules[0].verbs[0]=get",
      "imagePullSecrets[0].name=pull",
    ],
  },
];
