/** The rules of the built-in kinds. */
import type { KindRules } from "../definition.ts";
import {
  autoscalerRules,
  bindingRules,
  budgetRules,
  networkPolicyRules,
  priorityClassRules,
  roleRules,
} from "./access.ts";
import { configMapRules, eventRules, leaseRules, namespaceRules, secretRules } from "./core.ts";
import { crdRules } from "./crd.ts";
import { endpointSliceRules, ingressClassRules, ingressRules } from "./ingress.ts";
import { serviceRules } from "./service.ts";
import { cronJobRules, daemonSetRules, jobRules, statefulSetRules } from "./sets.ts";
import { mutatingConfigurationRules, validatingConfigurationRules } from "./webhooks.ts";
import { deploymentRules, podRules, replicaSetRules } from "./workloads.ts";

const rules: Readonly<Record<string, KindRules>> = {
  ClusterRole: roleRules,
  ClusterRoleBinding: bindingRules,
  ConfigMap: configMapRules,
  CronJob: cronJobRules,
  CustomResourceDefinition: crdRules,
  DaemonSet: daemonSetRules,
  Deployment: deploymentRules,
  EndpointSlice: endpointSliceRules,
  Event: eventRules,
  HorizontalPodAutoscaler: autoscalerRules,
  Ingress: ingressRules,
  IngressClass: ingressClassRules,
  Job: jobRules,
  Lease: leaseRules,
  MutatingWebhookConfiguration: mutatingConfigurationRules,
  Namespace: namespaceRules,
  NetworkPolicy: networkPolicyRules,
  Pod: podRules,
  PodDisruptionBudget: budgetRules,
  PriorityClass: priorityClassRules,
  ReplicaSet: replicaSetRules,
  Role: roleRules,
  RoleBinding: bindingRules,
  Secret: secretRules,
  Service: serviceRules,
  StatefulSet: statefulSetRules,
  ValidatingWebhookConfiguration: validatingConfigurationRules,
};

/** No entry: nothing but what holds for every object. */
export const rulesOf = (kind: string): KindRules => rules[kind] ?? {};
