/** Where the API server is and how to prove who we are: in-cluster, a kubeconfig, or a plain address. */
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { KubeConfigError } from "../errors.ts";

/** What one request needs besides its address. PEM texts. */
export interface Credentials {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Ready values of request headers: `authorization`, impersonation. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Name to check the server's certificate against, when it is not the address. */
  readonly serverName?: string;
  /** Do not check the server's certificate. */
  readonly insecure?: boolean;
}

export interface KubeConnection {
  /** `https://host:port` and a path prefix, if any. */
  readonly server: string;
  /** A proxy that the kubeconfig names; it goes before the environment's. */
  readonly proxyUrl?: string;
  /** For logs: `in-cluster`, `kubeconfig /path, context NAME`. */
  readonly origin: string;
  /** Namespace of the pod or of the kubeconfig's context. */
  readonly namespace: string;
  /** Reads the credentials as they are now; files may have been rotated. `refused` = the last ones were answered by 401. */
  credentials(refused: boolean): Promise<Credentials>;
}

/** Files that a pod's service account brings. */
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

export interface DirectConnectionOptions {
  readonly server: string;
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly tokenFile?: string;
  readonly token?: string;
  /** PEM texts, where there are no files. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly insecure?: boolean;
  readonly namespace?: string;
  readonly origin?: string;
}

/** A connection from its parts, for the embedded API, tests and in-cluster use. Files are read anew as they rotate. */
export function directConnection(options: DirectConnectionOptions): KubeConnection {
  const file = async (path: string | undefined, inline: string | undefined): Promise<string | undefined> => {
    if (path === undefined) return inline;
    try {
      return await readFile(path, "utf8");
    } catch (cause) {
      throw new KubeConfigError(`cannot read ${path}`, { cause, hint: "the file must exist and be readable" });
    }
  };
  return {
    server: options.server.replace(/\/+$/, ""),
    origin: options.origin ?? options.server,
    namespace: options.namespace ?? "default",
    async credentials() {
      const [ca, cert, key, token] = await Promise.all([
        file(options.caFile, options.ca),
        file(options.certFile, options.cert),
        file(options.keyFile, options.key),
        file(options.tokenFile, options.token),
      ]);
      return {
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...(key !== undefined && { key }),
        ...(token !== undefined && { headers: { authorization: `Bearer ${token.trim()}` } }),
        ...(options.insecure === true && { insecure: true }),
      };
    },
  };
}

/** The service account of the pod that we run in. Throws KubeConfigError outside a cluster. */
export async function inClusterConnection(
  env: NodeJS.ProcessEnv = process.env,
  directory = SERVICE_ACCOUNT,
): Promise<KubeConnection> {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"] ?? "443";
  if (host === undefined || host === "")
    throw new KubeConfigError("not inside a cluster: KUBERNETES_SERVICE_HOST is not set");
  const namespace = await readFile(join(directory, "namespace"), "utf8").then(
    (text) => text.trim(),
    () => env["POD_NAMESPACE"] ?? "default",
  );
  return directConnection({
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    caFile: join(directory, "ca.crt"),
    tokenFile: join(directory, "token"),
    namespace,
    origin: "in-cluster",
  });
}

/**
 * Finds the API server as kubectl does: an explicit kubeconfig, then `KUBECONFIG`, then the pod's service account, then
 * `~/.kube/config`. Throws KubeConfigError (HAPTIC_E_KUBE_CONFIG).
 */
export async function findConnection(
  options: { kubeconfig?: string; context?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<KubeConnection> {
  const env = options.env ?? process.env;
  const named = options.kubeconfig ?? (env["KUBECONFIG"] === "" ? undefined : env["KUBECONFIG"]);
  if (named === undefined && (env["KUBERNETES_SERVICE_HOST"] ?? "") !== "") return inClusterConnection(env);
  // client-node costs a second and tens of megabytes, so it is loaded only where a kubeconfig is used.
  const { kubeconfigConnection } = await import("./kubeconfig.ts");
  return kubeconfigConnection(named ?? join(env["HOME"] ?? homedir(), ".kube", "config"), options.context);
}
