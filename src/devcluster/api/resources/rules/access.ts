/** Rules of roles and their bindings, network policies, budgets, autoscalers and priority classes. */
import { at, deepEqual, isFields, listAt, stringAt } from "../../objects.ts";
import type { ApiObject, Fields } from "../../objects.ts";
import { fieldForbidden, fieldInvalid, fieldRequired } from "../../status.ts";
import type { FieldError } from "../../status.ts";
import type { KindRules } from "../definition.ts";

const RBAC = "rbac.authorization.k8s.io";
const fields = (value: unknown): Fields => (isFields(value) ? value : {});

function ruleErrors(object: ApiObject): FieldError[] {
  return listAt(object, "rules").flatMap((rule, i) => {
    const errors: FieldError[] = [];
    if (listAt(rule, "verbs").length === 0) errors.push(fieldRequired(`rules[${i}].verbs`));
    if (listAt(rule, "nonResourceURLs").length > 0) {
      if (object.kind === "Role") {
        const message = "namespaced rules cannot apply to non-resource URLs";
        errors.push(fieldInvalid(`rules[${i}].nonResourceURLs`, at(rule, "nonResourceURLs"), message));
      }
      return errors;
    }
    if (listAt(rule, "apiGroups").length === 0) {
      errors.push(fieldRequired(`rules[${i}].apiGroups`, "resource rules must supply at least one api group"));
    }
    if (listAt(rule, "resources").length === 0) {
      errors.push(fieldRequired(`rules[${i}].resources`, "resource rules must supply at least one resource"));
    }
    return errors;
  });
}

export const roleRules: KindRules = { nameRule: "path", validate: ruleErrors };

export const bindingRules: KindRules = {
  nameRule: "path",
  defaults(object) {
    const reference = fields(object["roleRef"]);
    object["roleRef"] = { ...reference, apiGroup: stringAt(reference, "apiGroup") || RBAC };
    if (!Array.isArray(object["subjects"])) return;
    object["subjects"] = object["subjects"].map((subject: Fields) =>
      subject["kind"] === "ServiceAccount" || subject["apiGroup"] ? subject : { ...subject, apiGroup: RBAC },
    );
  },
  validate(object, old) {
    const errors: FieldError[] = [];
    if (stringAt(object, "roleRef", "name") === "") errors.push(fieldRequired("roleRef.name"));
    for (const [i, subject] of listAt(object, "subjects").entries()) {
      if (stringAt(subject, "name") === "") errors.push(fieldRequired(`subjects[${i}].name`));
      if (stringAt(subject, "kind") === "ServiceAccount" && stringAt(subject, "namespace") === "") {
        errors.push(fieldRequired(`subjects[${i}].namespace`));
      }
    }
    if (old !== undefined && !deepEqual(object["roleRef"], old["roleRef"])) {
      const { apiGroup, kind, name } = fields(object["roleRef"]);
      errors.push(fieldInvalid("roleRef", { APIGroup: apiGroup, Kind: kind, Name: name }, "field is immutable"));
    }
    return errors;
  },
};

const withProtocol = (rule: Fields): Fields =>
  Array.isArray(rule["ports"])
    ? { ...rule, ports: rule["ports"].map((port: Fields) => ({ protocol: "TCP", ...port })) }
    : rule;

export const networkPolicyRules: KindRules = {
  defaults(object) {
    const spec: Fields = { ...fields(object["spec"]) };
    for (const side of ["ingress", "egress"]) {
      if (Array.isArray(spec[side])) spec[side] = (spec[side] as Fields[]).map(withProtocol);
    }
    spec["policyTypes"] ??= listAt(spec, "egress").length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
    object["spec"] = spec;
  },
};

export const budgetRules: KindRules = {
  prepareCreate(object) {
    object["status"] = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  validate(object) {
    const { minAvailable, maxUnavailable } = fields(object["spec"]);
    if (minAvailable === undefined || maxUnavailable === undefined) return [];
    return [fieldInvalid("spec", fields(object["spec"]), "minAvailable and maxUnavailable cannot be both set")];
  },
};

export const autoscalerRules: KindRules = {
  defaults(object) {
    const spec: Fields = { ...fields(object["spec"]) };
    spec["minReplicas"] ??= 1;
    if (listAt(spec, "metrics").length === 0) {
      const target = { type: "Utilization", averageUtilization: 80 };
      spec["metrics"] = [{ type: "Resource", resource: { name: "cpu", target } }];
    }
    object["spec"] = spec;
  },
  prepareCreate(object) {
    object["status"] = { desiredReplicas: 0, currentMetrics: null };
  },
  validate(object) {
    const least = at(object, "spec", "minReplicas");
    const most = at(object, "spec", "maxReplicas");
    if (typeof most !== "number" || most < 1) {
      return [fieldInvalid("spec.maxReplicas", most ?? 0, "must be greater than 0")];
    }
    if (typeof least !== "number" || least <= most) return [];
    return [fieldInvalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")];
  },
};

export const priorityClassRules: KindRules = {
  defaults(object) {
    object["preemptionPolicy"] ??= "PreemptLowerPriority";
  },
  validate: (object, old) =>
    old === undefined || object["value"] === old["value"]
      ? []
      : [fieldForbidden("value", "may not be changed in an update.")],
};
