/** Rules of services. */
import { asText, at, isFields, listAt } from "../../objects.ts";
import type { ApiObject, Fields } from "../../objects.ts";
import { isLabel1035, labelFault } from "../../operations/metadata.ts";
import { fieldDuplicate, fieldForbidden, fieldInvalid, fieldNotSupported, fieldRequired } from "../../status.ts";
import type { FieldError } from "../../status.ts";
import type { KindRules, RuleContext } from "../definition.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

const specOf = (object: ApiObject): Fields => (isFields(object["spec"]) ? object["spec"] : {});

function portDefaults(port: Fields): Fields {
  const made: Fields = { ...port };
  made["protocol"] ??= "TCP";
  const target = made["targetPort"];
  if (target === undefined || target === 0 || target === "") made["targetPort"] = made["port"];
  return made;
}

/** `VIP` is how an address of a load balancer is meant unless something else is said. */
const entryDefaults = (entry: unknown): unknown =>
  at(entry, "ip") === undefined ? entry : { ipMode: "VIP", ...(entry as Fields) };

function defaults(object: ApiObject): void {
  const spec: Fields = { ...specOf(object) };
  spec["sessionAffinity"] ??= "None";
  spec["type"] ??= "ClusterIP";
  const type = spec["type"];
  spec["ports"] = listAt(spec, "ports").map((port) => portDefaults(port as Fields));
  if ((spec["ports"] as unknown[]).length === 0) delete spec["ports"];
  if (spec["sessionAffinity"] === "ClientIP" && spec["sessionAffinityConfig"] === undefined) {
    spec["sessionAffinityConfig"] = { clientIP: { timeoutSeconds: 10_800 } };
  }
  if (type === "NodePort" || type === "LoadBalancer") spec["externalTrafficPolicy"] ??= "Cluster";
  if (type !== "ExternalName") spec["internalTrafficPolicy"] ??= "Cluster";
  if (type === "LoadBalancer") spec["allocateLoadBalancerNodePorts"] ??= true;
  object["spec"] = spec;
  const entries = listAt(object, "status", "loadBalancer", "ingress");
  if (type === "LoadBalancer" && entries.length > 0) {
    const ingress = entries.map(entryDefaults);
    object["status"] = { ...(object["status"] as Fields), loadBalancer: { ingress } };
  }
}

const isExternal = (spec: Fields): boolean => spec["type"] === "NodePort" || spec["type"] === "LoadBalancer";

/** A service that is no longer reached from outside loses what it only had for that. */
function dropNodePorts(spec: Fields, before: Fields): void {
  if (isExternal(spec) || !isExternal(before)) return;
  spec["ports"] = listAt(spec, "ports").map((port) => {
    const { nodePort: _dropped, ...rest } = port as Fields;
    return rest;
  });
  for (const key of ["externalTrafficPolicy", "allocateLoadBalancerNodePorts"]) {
    if (spec[key] === before[key]) delete spec[key];
  }
}

function withNodePort(port: Fields, known: readonly unknown[], context: RuleContext): Fields {
  if (typeof port["nodePort"] === "number" && port["nodePort"] !== 0) return port;
  const same = known.find((other) => at(other, "port") === port["port"] && at(other, "protocol") === port["protocol"]);
  return { ...port, nodePort: at(same, "nodePort") ?? context.allocateNodePort() };
}

/** Addresses and ports that the server gives; what `old` has is kept. */
function allocate(object: ApiObject, old: ApiObject | undefined, context: RuleContext): void {
  const spec: Fields = { ...specOf(object) };
  const before = old === undefined ? {} : specOf(old);
  if (spec["type"] === "ExternalName") {
    for (const key of ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]) delete spec[key];
    object["spec"] = spec;
    return;
  }
  const wanted = spec["clusterIP"];
  const address = wanted === undefined || wanted === "" ? (before["clusterIP"] ?? context.allocateIP()) : wanted;
  spec["clusterIP"] = address;
  // a headless service without a selector may have endpoints of both families
  const both = address === "None" && spec["selector"] === undefined;
  spec["clusterIPs"] ??= before["clusterIPs"] ?? [address];
  spec["ipFamilies"] ??=
    before["ipFamilies"] ?? (both ? ["IPv4", "IPv6"] : [asText(address).includes(":") ? "IPv6" : "IPv4"]);
  spec["ipFamilyPolicy"] ??= before["ipFamilyPolicy"] ?? (both ? "RequireDualStack" : "SingleStack");
  dropNodePorts(spec, before);
  if (
    spec["type"] === "NodePort" ||
    (spec["type"] === "LoadBalancer" && spec["allocateLoadBalancerNodePorts"] !== false)
  ) {
    const known = listAt(before, "ports");
    spec["ports"] = listAt(spec, "ports").map((port) => withNodePort(port as Fields, known, context));
  }
  object["spec"] = spec;
}

function portErrors(spec: Fields): FieldError[] {
  const errors: FieldError[] = [];
  const ports = listAt(spec, "ports");
  const needsPorts = spec["type"] !== "ExternalName" && spec["clusterIP"] !== "None";
  if (ports.length === 0 && needsPorts) errors.push(fieldRequired("spec.ports"));
  const names = new Set<unknown>();
  const numbers = new Set<string>();
  for (const [i, port] of ports.entries()) {
    const path = `spec.ports[${i}]`;
    const name = at(port, "name");
    const number = at(port, "port");
    if (ports.length > 1 && (name === undefined || name === "")) errors.push(fieldRequired(`${path}.name`));
    else if (typeof name === "string" && name !== "") {
      const fault = labelFault(name);
      if (fault !== undefined) errors.push(fieldInvalid(`${path}.name`, name, fault));
      else if (names.has(name)) errors.push(fieldDuplicate(`${path}.name`, name));
      names.add(name);
    }
    if (typeof number !== "number" || number < 1 || number > 65_535) {
      errors.push(fieldInvalid(`${path}.port`, number ?? 0, "must be between 1 and 65535, inclusive"));
    }
    const target = at(port, "targetPort");
    if (typeof target === "number" && (target < 1 || target > 65_535)) {
      errors.push(fieldInvalid(`${path}.targetPort`, target, "must be between 1 and 65535, inclusive"));
    }
    const protocol = at(port, "protocol");
    if (!["TCP", "UDP", "SCTP"].includes(String(protocol))) {
      errors.push(fieldNotSupported(`${path}.protocol`, protocol, ["SCTP", "TCP", "UDP"]));
    }
    const id = `${String(protocol)}/${String(number)}`;
    if (numbers.has(id)) {
      const shown = { Name: "", Protocol: protocol, AppProtocol: null, Port: number, TargetPort: 0, NodePort: 0 };
      errors.push(fieldDuplicate(path, shown));
    }
    numbers.add(id);
  }
  return errors;
}

const NAME_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

function validate(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const spec = specOf(object);
  const errors: FieldError[] = [];
  if (old === undefined && !isLabel1035(object.metadata.name) && labelFault(object.metadata.name) !== undefined) {
    const text = object.metadata.name.includes(".") ? "must not contain dots" : NAME_TEXT;
    errors.push(fieldInvalid("metadata.name", object.metadata.name, text));
  }
  errors.push(...portErrors(spec));
  if (!TYPES.includes(String(spec["type"]))) errors.push(fieldNotSupported("spec.type", spec["type"], TYPES));
  if (!["ClientIP", "None"].includes(String(spec["sessionAffinity"]))) {
    errors.push(fieldNotSupported("spec.sessionAffinity", spec["sessionAffinity"], ["ClientIP", "None"]));
  }
  if (spec["type"] === "ExternalName" && !spec["externalName"]) {
    errors.push(fieldRequired("spec.externalName"));
  }
  if (spec["type"] !== "LoadBalancer" && listAt(object, "status", "loadBalancer", "ingress").length > 0) {
    errors.push(fieldForbidden("status.loadBalancer.ingress", "may only be used when `spec.type` is 'LoadBalancer'"));
  }
  const before = old === undefined ? undefined : specOf(old);
  if (
    before?.["clusterIP"] !== undefined &&
    before["type"] !== "ExternalName" &&
    spec["type"] !== "ExternalName" &&
    spec["clusterIP"] !== before["clusterIP"]
  ) {
    errors.push(fieldInvalid("spec.clusterIPs[0]", [spec["clusterIP"]], "may not change once set"));
  }
  return errors;
}

export const serviceRules: KindRules = {
  nameRule: "none",
  defaults,
  prepareCreate(object, context) {
    allocate(object, undefined, context);
    object["status"] = { loadBalancer: {} };
  },
  prepareUpdate(object, old, context) {
    allocate(object, old, context);
  },
  validate,
};
