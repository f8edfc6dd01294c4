/** The rules of the built-in kinds. */
import type { KindRules } from "../definition.ts";
import { configMapRules, eventRules, leaseRules, namespaceRules, secretRules } from "./core.ts";
import { crdRules } from "./crd.ts";
import { endpointSliceRules, ingressClassRules, ingressRules } from "./ingress.ts";
import { serviceRules } from "./service.ts";
import { deploymentRules, podRules, replicaSetRules } from "./workloads.ts";

const rules: Readonly<Record<string, KindRules>> = {
  ConfigMap: configMapRules,
  CustomResourceDefinition: crdRules,
  Deployment: deploymentRules,
  EndpointSlice: endpointSliceRules,
  Event: eventRules,
  Ingress: ingressRules,
  IngressClass: ingressClassRules,
  Lease: leaseRules,
  Namespace: namespaceRules,
  Pod: podRules,
  ReplicaSet: replicaSetRules,
  Secret: secretRules,
  Service: serviceRules,
};

/** No entry: nothing but what holds for every object. */
export const rulesOf = (kind: string): KindRules => rules[kind] ?? {};
