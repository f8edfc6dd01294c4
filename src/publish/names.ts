/** Names, labels and annotations of published objects (CRD reference: published kinds). Pure. */
import { sha256 } from "../plan/index.ts";
import type { FileKind } from "../plan/types.ts";

export const API_VERSION = "haproxy-haptic.org/v1alpha1";

const PREFIX = "haproxy-haptic.org";
/** On a HAProxyCfg: the configuration that it was rendered from. */
export const CONFIG_LABEL = `${PREFIX}/template-config`;
/** On each other published object: the HAProxyCfg that it belongs to. */
export const CFG_LABEL = `${PREFIX}/runtime-config`;
export const TYPE_LABEL = `${PREFIX}/type`;
/** On a HAProxyCfg, written with its spec: which set of other files it needs. */
export const SET_ANNOTATION = `${PREFIX}/auxiliary-set-id`;
export const PLAN_ANNOTATION = `${PREFIX}/plan-id`;
export const CHECKSUM_ANNOTATION = `${PREFIX}/checksum`;
export const COMPRESSED_ANNOTATION = `${PREFIX}/compressed`;

/** Where a list of references is in `status.auxiliaryFiles`. */
export type FileList = "mapFiles" | "generalFiles" | "crtListFiles" | "sslCertificates" | "sslCaFiles";

/** How a kind of file is published. */
export interface Carrier {
  readonly apiVersion: string;
  readonly kind: string;
  readonly resource: string;
  readonly list: FileList;
  /** Begin of the objects' names. */
  readonly prefix: string;
}

const own = (kind: string, list: FileList, prefix: string): Carrier => ({
  apiVersion: API_VERSION,
  kind,
  resource: `${kind.toLowerCase()}s`,
  list,
  prefix,
});
const secret = (list: FileList, prefix: string): Carrier => ({
  apiVersion: "v1",
  kind: "Secret",
  resource: "secrets",
  list,
  prefix,
});

const CARRIERS: Readonly<Record<Exclude<FileKind, "config">, Carrier>> = {
  map: own("HAProxyMapFile", "mapFiles", "haproxy-map"),
  general: own("HAProxyGeneralFile", "generalFiles", "haproxy-file"),
  crtlist: own("HAProxyCRTListFile", "crtListFiles", "haproxy-crtlist"),
  cert: secret("sslCertificates", "haproxy-cert"),
  ca: secret("sslCaFiles", "haproxy-ca"),
};

/** What carries a file. Whatever holds key material goes into a Secret, whichever kind it is. */
export function carrierOf(kind: Exclude<FileKind, "config">, isSecret: boolean): Carrier {
  const carrier = CARRIERS[kind];
  return isSecret && carrier.kind !== "Secret" ? secret(carrier.list, carrier.prefix) : carrier;
}

/** Every resource that files are published as. */
export const FILE_RESOURCES: readonly Pick<Carrier, "apiVersion" | "kind" | "resource">[] = [
  CARRIERS.map,
  CARRIERS.general,
  CARRIERS.crtlist,
  CARRIERS.cert,
];

const MAX_LABEL = 63;
/** Hexadecimal digits of the digest in a name: 80 bits. */
const NAME_DIGITS = 20;

/** Name of the HAProxyCfg of a configuration. */
export const cfgName = (configName: string): string => `${configName.slice(0, 240)}-haproxycfg`;

/** A name as a label's value, which may be shorter than a name: a long one is cut and told apart by its digest. */
export const labelValue = (name: string): string =>
  name.length <= MAX_LABEL ? name : `${name.slice(0, 44).replace(/[^A-Za-z0-9]+$/, "")}-${sha256(name).slice(0, 16)}`;

/**
 * Name of a file's object: readable, and another one for another content, path, use or HAProxyCfg. A file that did not change keeps its
 * object.
 */
export function fileObjectName(
  carrier: Carrier,
  path: string,
  checksum: string,
  parent: { readonly name: string; readonly uid: string },
): string {
  const file = path.slice(path.lastIndexOf("/") + 1);
  // The ending of a map says which one it is (host.map, host.list); others end alike.
  const base = carrier.list === "mapFiles" ? file : file.replace(/(?<=.)\.[^.]*$/, "");
  const readable = base
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 100);
  const digest = sha256([parent.name, parent.uid, carrier.kind, carrier.list, path, checksum].join("\n"));
  return [carrier.prefix, readable, digest.slice(0, NAME_DIGITS)].filter((part) => part !== "").join("-");
}
