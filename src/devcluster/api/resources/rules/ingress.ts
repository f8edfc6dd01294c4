/** Rules of ingresses and ingress classes. */
import { isIP } from "node:net";
import { asText, at, isFields, listAt, stringAt } from "../../objects.ts";
import type { ApiObject, Fields } from "../../objects.ts";
import { labelFault, subdomainFault } from "../../operations/metadata.ts";
import { fieldInvalid, fieldNotSupported, fieldRequired } from "../../status.ts";
import type { FieldError } from "../../status.ts";
import type { KindRules, RuleContext } from "../definition.ts";

const CLASS_ANNOTATION = "kubernetes.io/ingress.class";
const DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class";
const WILDCARD = /^\*(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
const WILDCARD_TEXT =
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const PATH_TYPES = ["Exact", "ImplementationSpecific", "Prefix"];

function backendErrors(backend: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const service = at(backend, "service");
  const resource = at(backend, "resource");
  if (isFields(service) && isFields(resource)) {
    return [fieldInvalid(path, "", "cannot set both resource and service backends")];
  }
  if (!isFields(service) && !isFields(resource))
    return [fieldInvalid(path, "", "resource or service backend is required")];
  if (!isFields(service)) return errors;
  if (stringAt(service, "name") === "") errors.push(fieldRequired(`${path}.service.name`));
  const name = stringAt(service, "port", "name");
  const number = at(service, "port", "number");
  const numbered = typeof number === "number" && number !== 0;
  if (name !== "" && numbered) {
    errors.push(fieldInvalid(path, "", "cannot set both port name & port number"));
  } else if (name === "" && !numbered) {
    errors.push(fieldRequired(path, "port name or number is required"));
  } else if (numbered && (number < 1 || number > 65_535)) {
    errors.push(fieldInvalid(`${path}.service.port.number`, number, "must be between 1 and 65535, inclusive"));
  }
  return errors;
}

function pathErrors(entry: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const type = at(entry, "pathType");
  const text = stringAt(entry, "path");
  if (type === undefined) errors.push(fieldRequired(`${path}.pathType`, "pathType must be specified"));
  else if (!PATH_TYPES.includes(asText(type))) errors.push(fieldNotSupported(`${path}.pathType`, type, PATH_TYPES));
  else if (type !== "ImplementationSpecific") {
    if (!text.startsWith("/")) errors.push(fieldInvalid(`${path}.path`, text, "must be an absolute path"));
    for (const bad of ["//", "/./", "/../", "%2f", "%2F"]) {
      if (text.includes(bad)) errors.push(fieldInvalid(`${path}.path`, text, `must not contain '${bad}'`));
    }
    for (const bad of ["/..", "/."]) {
      if (text.endsWith(bad)) errors.push(fieldInvalid(`${path}.path`, text, `cannot end with '${bad}'`));
    }
  } else if (text !== "" && !text.startsWith("/")) {
    errors.push(fieldInvalid(`${path}.path`, text, "must be an absolute path"));
  }
  return [...errors, ...backendErrors(at(entry, "backend"), `${path}.backend`)];
}

function hostErrors(host: string, path: string): FieldError[] {
  if (host === "") return [];
  if (isIP(host) !== 0) return [fieldInvalid(path, host, "must be a DNS name, not an IP address")];
  if (host.includes("*")) return WILDCARD.test(host) ? [] : [fieldInvalid(path, host, WILDCARD_TEXT)];
  const fault = subdomainFault(host);
  return fault === undefined ? [] : [fieldInvalid(path, host, fault)];
}

function validateIngress(object: ApiObject, old: ApiObject | undefined): FieldError[] {
  const errors: FieldError[] = [];
  const spec = at(object, "spec");
  const rules = listAt(spec, "rules");
  const fallback = at(spec, "defaultBackend");
  const annotation = object.metadata.annotations?.[CLASS_ANNOTATION];
  const className = at(spec, "ingressClassName");
  if (old === undefined && annotation !== undefined && typeof className === "string" && className !== annotation) {
    errors.push(
      fieldInvalid(
        "annotations.kubernetes.io/ingress.class",
        annotation,
        "must match `ingressClassName` when both are specified",
      ),
    );
  }
  if (rules.length === 0 && fallback === undefined) {
    errors.push(fieldInvalid("spec", null, "either `defaultBackend` or `rules` must be specified"));
  }
  if (fallback !== undefined) errors.push(...backendErrors(fallback, "spec.defaultBackend"));
  for (const [i, rule] of rules.entries()) {
    const path = `spec.rules[${i}]`;
    errors.push(...hostErrors(stringAt(rule, "host"), `${path}.host`));
    const http = at(rule, "http");
    if (http === undefined) continue;
    const paths = listAt(http, "paths");
    if (paths.length === 0) errors.push(fieldRequired(`${path}.http.paths`));
    for (const [n, entry] of paths.entries()) errors.push(...pathErrors(entry, `${path}.http.paths[${n}]`));
  }
  for (const [i, tls] of listAt(spec, "tls").entries()) {
    for (const [n, host] of listAt(tls, "hosts").entries())
      errors.push(...hostErrors(String(host), `spec.tls[${i}].hosts[${n}]`));
  }
  if (typeof className === "string") {
    const fault = subdomainFault(className);
    if (fault !== undefined) errors.push(fieldInvalid("spec.ingressClassName", className, fault));
  }
  return errors;
}

/** The class a new ingress gets when it names none. */
function defaultClass(context: RuleContext): string | undefined {
  const classes = context.store({ group: "networking.k8s.io", plural: "ingressclasses" }).records();
  const marked = classes.filter((record) => record.object.metadata.annotations?.[DEFAULT_CLASS] === "true");
  const created = (index: number): string => marked[index]?.object.metadata.creationTimestamp ?? "";
  let best = 0;
  for (let i = 1; i < marked.length; i++) if (created(i) > created(best)) best = i;
  return marked[best]?.object.metadata.name;
}

export const ingressRules: KindRules = {
  prepareCreate(object, context) {
    object["status"] = { loadBalancer: {} };
    const annotation = object.metadata.annotations?.[CLASS_ANNOTATION];
    if (annotation !== undefined) {
      if ((at(object, "spec", "ingressClassName") ?? annotation) !== annotation) return;
      context.warn(`annotation "${CLASS_ANNOTATION}" is deprecated, please use 'spec.ingressClassName' instead`);
      return;
    }
    if (at(object, "spec", "ingressClassName") !== undefined) return;
    const name = defaultClass(context);
    if (name !== undefined) object["spec"] = { ...(object["spec"] as Fields), ingressClassName: name };
  },
  validate: validateIngress,
};

export const ingressClassRules: KindRules = {
  defaults(object) {
    const parameters = at(object, "spec", "parameters");
    if (!isFields(parameters) || parameters["scope"] !== undefined) return;
    object["spec"] = { ...(object["spec"] as Fields), parameters: { ...parameters, scope: "Cluster" } };
  },
  validate(object, old) {
    const controller = stringAt(object, "spec", "controller");
    const errors: FieldError[] = [];
    if (controller === "") errors.push(fieldRequired("spec.controller"));
    else if (!/^[a-z0-9.-]+\/.+$/.test(controller)) {
      errors.push(
        fieldInvalid("spec.controller", controller, `must be a domain-prefixed path (such as "acme.io/foo")`),
      );
    }
    if (old !== undefined && stringAt(old, "spec", "controller") !== controller) {
      errors.push(fieldInvalid("spec.controller", controller, "field is immutable"));
    }
    return errors;
  },
};

function addressErrors(type: unknown, endpoint: unknown, path: string): FieldError[] {
  const addresses = listAt(endpoint, "addresses").map(String);
  if (addresses.length === 0) return [fieldRequired(`${path}.addresses`)];
  const errors: FieldError[] = [];
  for (const [i, address] of addresses.entries()) {
    const at = `${path}.addresses[${i}]`;
    if (type === "IPv4" && isIP(address) !== 4)
      errors.push(fieldInvalid(`${path}.addresses`, address, "must be an IPv4 address"));
    if (type === "IPv6" && isIP(address) !== 6)
      errors.push(fieldInvalid(`${path}.addresses`, address, "must be an IPv6 address"));
    const fault = type === "FQDN" ? subdomainFault(address) : undefined;
    if (fault !== undefined) errors.push(fieldInvalid(at, address, fault));
  }
  return errors;
}

/** Loopback addresses are allowed here, unlike in a cluster: pods of a development machine live there. */
export const endpointSliceRules: KindRules = {
  defaults(object) {
    const ports = object["ports"];
    if (!Array.isArray(ports)) return;
    object["ports"] = ports.map((port: Fields) => Object.assign({ name: "", protocol: "TCP" }, port));
  },
  validate(object, old) {
    const errors: FieldError[] = [];
    const type = object["addressType"];
    const types = ["FQDN", "IPv4", "IPv6"];
    if (type === undefined || type === "") errors.push(fieldRequired("addressType"));
    else if (!types.includes(asText(type))) errors.push(fieldNotSupported("addressType", type, types));
    if (old !== undefined && old["addressType"] !== type)
      return [fieldInvalid("addressType", null, "field is immutable")];
    for (const [i, endpoint] of listAt(object, "endpoints").entries()) {
      errors.push(...addressErrors(type, endpoint, `endpoints[${i}]`));
    }
    const names = new Set<string>();
    for (const [i, port] of listAt(object, "ports").entries()) {
      const name = stringAt(port, "name");
      if (names.has(name))
        errors.push({
          field: `ports[${i}].name`,
          reason: "FieldValueDuplicate",
          message: `Duplicate value: ${JSON.stringify(name)}`,
        });
      names.add(name);
      const fault = name === "" ? undefined : labelFault(name);
      if (fault !== undefined) errors.push(fieldInvalid(`ports[${i}].name`, name, fault));
    }
    return errors;
  },
};
