/** Columns of services, endpoints and ingresses. */
import { isFields, listAt, at, stringAt } from "../objects.ts";
import type { ApiObject } from "../objects.ts";
import type { Column } from "../resources/definition.ts";
import { ageColumn, column, nameColumn, wide } from "./columns.ts";
import { labelsText } from "./selector-text.ts";

const orNone = (text: string): string => (text === "" ? "<none>" : text);

function loadBalancerAddresses(object: ApiObject): readonly string[] {
  const entries = listAt(object, "status", "loadBalancer", "ingress");
  return entries.map((entry) => stringAt(entry, "ip") || stringAt(entry, "hostname")).filter((text) => text !== "");
}

function externalAddress(object: ApiObject): string {
  const external = listAt(object, "spec", "externalIPs").map(String);
  switch (stringAt(object, "spec", "type")) {
    case "LoadBalancer": {
      const all = [...loadBalancerAddresses(object), ...external];
      return all.length === 0 ? "<pending>" : all.join(",");
    }
    case "ExternalName":
      return stringAt(object, "spec", "externalName");
    default:
      return orNone(external.join(","));
  }
}

function servicePorts(object: ApiObject): string {
  const ports = listAt(object, "spec", "ports").map((port) => {
    const node = at(port, "nodePort");
    const number = `${String(at(port, "port"))}${typeof node === "number" && node > 0 ? `:${node}` : ""}`;
    return `${number}/${stringAt(port, "protocol")}`;
  });
  return orNone(ports.join(","));
}

export const serviceColumns: readonly Column[] = [
  nameColumn,
  column("Type", (object) => stringAt(object, "spec", "type")),
  column("Cluster-IP", (object) => orNone(stringAt(object, "spec", "clusterIP"))),
  column("External-IP", externalAddress),
  column("Port(s)", servicePorts),
  ageColumn,
  wide("Selector", (object) => labelsText(at(object, "spec", "selector"))),
];

function endpointAddresses(object: ApiObject): string {
  const shown: string[] = [];
  let count = 0;
  for (const subset of listAt(object, "subsets")) {
    const ports = listAt(subset, "ports");
    for (const address of listAt(subset, "addresses")) {
      const ip = stringAt(address, "ip");
      const texts = ports.length === 0 ? [ip] : ports.map((port) => `${ip}:${String(at(port, "port"))}`);
      for (const text of texts) if (count++ < 3) shown.push(text);
    }
  }
  const more = count > 3 ? ` + ${count - 3} more...` : "";
  return orNone(`${shown.join(",")}${more}`);
}

export const endpointsColumns: readonly Column[] = [nameColumn, column("Endpoints", endpointAddresses), ageColumn];

/** The first three, and how many more. */
function firstThree(items: readonly string[]): string {
  if (items.length === 0) return "<unset>";
  const more = items.length > 3 ? ` + ${items.length - 3} more...` : "";
  return `${items.slice(0, 3).join(",")}${more}`;
}

const slicePorts = (object: ApiObject): string =>
  firstThree(
    listAt(object, "ports").map((port) => {
      const number = at(port, "port");
      if (typeof number === "number") return String(number);
      return stringAt(port, "name") || "*";
    }),
  );

const sliceAddresses = (object: ApiObject): string =>
  firstThree(listAt(object, "endpoints").flatMap((endpoint) => listAt(endpoint, "addresses").map(String)));

export const endpointSliceColumns: readonly Column[] = [
  nameColumn,
  column("AddressType", (object) => stringAt(object, "addressType")),
  column("Ports", slicePorts),
  column("Endpoints", sliceAddresses),
  ageColumn,
];

function ingressHosts(object: ApiObject): string {
  const hosts = listAt(object, "spec", "rules")
    .map((rule) => stringAt(rule, "host"))
    .filter((host) => host !== "");
  if (hosts.length === 0) return "*";
  const more = hosts.length > 3 ? ` + ${hosts.length - 3} more...` : "";
  return `${hosts.slice(0, 3).join(",")}${more}`;
}

export const ingressColumns: readonly Column[] = [
  nameColumn,
  column("Class", (object) => orNone(stringAt(object, "spec", "ingressClassName"))),
  column("Hosts", ingressHosts),
  column("Address", (object) => loadBalancerAddresses(object).toSorted().join(",")),
  column("Ports", (object) => (listAt(object, "spec", "tls").length > 0 ? "80, 443" : "80")),
  ageColumn,
];

const DEFAULT_CLASS = "ingressclass.kubernetes.io/is-default-class";

function classParameters(object: ApiObject): string {
  const parameters = at(object, "spec", "parameters");
  if (!isFields(parameters)) return "<none>";
  const group = stringAt(parameters, "apiGroup");
  const kind = stringAt(parameters, "kind");
  return `${kind}${group === "" ? "" : `.${group}`}/${stringAt(parameters, "name")}`;
}

export const ingressClassColumns: readonly Column[] = [
  {
    ...nameColumn,
    cell: (object) =>
      object.metadata.annotations?.[DEFAULT_CLASS] === "true"
        ? `${object.metadata.name} (default)`
        : object.metadata.name,
  },
  column("Controller", (object) => stringAt(object, "spec", "controller")),
  column("Parameters", classParameters),
  ageColumn,
];
