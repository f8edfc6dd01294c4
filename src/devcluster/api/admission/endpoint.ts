/** Where a webhook is: by its URL, or by its Service and one of the addresses behind it. */
import { checkServerIdentity } from "node:tls";
import type { PeerCertificate } from "node:tls";
import { isIP } from "node:net";
import { at, listAt, stringAt } from "../objects.ts";
import type { ApiObject, Fields } from "../objects.ts";
import type { ApiState } from "../operations/context.ts";
import { rangeOf } from "../storage/sorted-records.ts";
import { CallFailure } from "./call.ts";

export interface Endpoint {
  /** As error messages and the webhook's own logs show it, without a query. */
  readonly url: string;
  /** The Host header. */
  readonly host: string;
  readonly address: string;
  readonly port: number;
  /** The name that the certificate must be for. */
  readonly serverName: string;
  /** Sent in the TLS handshake; "" for an address. */
  readonly sni: string;
  /** PEM; undefined: what the system trusts. */
  readonly ca: string | undefined;
  readonly checkIdentity: (host: string, certificate: PeerCertificate) => Error | undefined;
}

function certificatesOf(config: unknown): string | undefined {
  const bundle = stringAt(config, "caBundle");
  if (bundle === "") return undefined;
  const pem = Buffer.from(bundle, "base64").toString("utf8");
  if (!pem.includes("-----BEGIN CERTIFICATE-----")) {
    throw new CallFailure(
      "could not get REST client: unable to load root certificates: unable to parse bytes as PEM block",
    );
  }
  return pem;
}

const named = (serverName: string) => ({
  serverName,
  sni: isIP(serverName) === 0 ? serverName : "",
  checkIdentity: (_host: string, certificate: PeerCertificate) => checkServerIdentity(serverName, certificate),
});

function byUrl(text: string, ca: string | undefined): Endpoint {
  const url = new URL(text);
  const address = url.hostname.replace(/^\[|\]$/g, "");
  const port = url.port === "" ? 443 : Number(url.port);
  return { url: `https://${url.host}${url.pathname}`, host: url.host, address, port, ca, ...named(address) };
}

/** The port of the pods behind a Service's port: by number or name. */
function sliceAddresses(state: ApiState, service: ApiObject, portName: string): { address: string; port: number }[] {
  const { name, namespace = "" } = service.metadata;
  const slices = state.database.store({ group: "discovery.k8s.io", plural: "endpointslices" }).records();
  const [from, to] = rangeOf(slices, namespace);
  const found: { address: string; port: number }[] = [];
  for (const { object } of slices.slice(from, to)) {
    if (object.metadata.labels?.["kubernetes.io/service-name"] !== name) continue;
    const port = listAt(object, "ports").find((entry) => stringAt(entry, "name") === portName);
    const number = at(port, "port");
    if (typeof number !== "number") continue;
    for (const endpoint of listAt(object, "endpoints")) {
      if (at(endpoint, "conditions", "ready") === false) continue;
      const address = listAt(endpoint, "addresses")[0];
      if (typeof address === "string") found.push({ address, port: number });
    }
  }
  return found;
}

function byService(state: ApiState, reference: Fields, ca: string | undefined, url: string): Endpoint {
  const name = stringAt(reference, "name");
  const namespace = stringAt(reference, "namespace");
  const port = at(reference, "port");
  const number = typeof port === "number" ? port : 443;
  const failed = (why: string): CallFailure =>
    new CallFailure(`failed to call webhook: Post ${JSON.stringify(url)}: ${why}`);
  const services = state.database.store({ group: "", plural: "services" });
  const service = services.get(`${namespace}/${name}`)?.object;
  if (service === undefined) throw failed(`service ${JSON.stringify(name)} not found`);
  const entry = listAt(service, "spec", "ports").find((candidate) => at(candidate, "port") === number);
  if (entry === undefined) throw failed(`no service port ${number} found for service ${JSON.stringify(name)}`);
  const targets = sliceAddresses(state, service, stringAt(entry, "name"));
  const target = targets[Math.floor(state.random() * targets.length)];
  if (target === undefined) throw failed(`no endpoints available for service ${JSON.stringify(name)}`);
  const serverName = `${name}.${namespace}.svc`;
  return { url: url.split("?")[0] ?? url, host: `${serverName}:${number}`, ...target, ca, ...named(serverName) };
}

/** Throws CallFailure where the webhook cannot be reached by what its configuration says. */
export function endpointOf(state: ApiState, webhook: Fields, seconds: number): Endpoint {
  const config = webhook["clientConfig"];
  const ca = certificatesOf(config);
  const text = stringAt(config, "url");
  if (text !== "") return byUrl(text, ca);
  const service = (at(config, "service") ?? {}) as Fields;
  const port = at(service, "port");
  const path = stringAt(service, "path").replace(/^\/?/, "/");
  const host = `${stringAt(service, "name")}.${stringAt(service, "namespace")}.svc:${typeof port === "number" ? port : 443}`;
  return byService(state, service, ca, `https://${host}${path}?timeout=${seconds}s`);
}
