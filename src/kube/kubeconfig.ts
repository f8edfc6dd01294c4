/** A kubeconfig as a connection, exec plugins included. Import lazily: client-node is heavy. */
import type { RequestOptions } from "node:https";
import { delimiter } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { KubeConfigError } from "../errors.ts";
import type { Credentials, KubeConnection } from "./connection.ts";

/**
 * `path` may be a list as in `KUBECONFIG`. The files are read again whenever credentials are wanted, so rotated certificates,
 * tokens and edited files are seen; an exec plugin is asked anew when its credential expired or was refused.
 */
export function kubeconfigConnection(path: string, context?: string): KubeConnection {
  const first = load(path, context);
  const { server, proxyUrl } = first.getCurrentCluster()!;
  const current = first.getContextObject(first.getCurrentContext());
  let config = forCredentials(first);
  return {
    server: server.replace(/\/+$/, ""),
    ...(proxyUrl !== undefined && proxyUrl !== "" && { proxyUrl }),
    origin: `kubeconfig ${path}, context ${first.getCurrentContext()}`,
    namespace: current?.namespace ?? "default",
    async credentials(refused) {
      const user = config.getCurrentUser();
      // The plugin's answer is cached inside KubeConfig; a fresh one is asked only when the server refused it.
      if (refused || user?.exec === undefined) config = forCredentials(load(path, context));
      const options: RequestOptions = {};
      try {
        await config.applyToHTTPSOptions(options);
      } catch (cause) {
        throw new KubeConfigError(`the credentials of ${path} cannot be had`, {
          cause,
          hint: "run the credential plugin that the kubeconfig names by hand and see what it says",
        });
      }
      return credentialsOf(options);
    },
  };
}

/**
 * applyToHTTPSOptions() also makes an agent, which we do not use: it refuses plain HTTP (an API on this machine may speak it)
 * and would open a proxy's pool.
 */
function forCredentials(config: KubeConfig): KubeConfig {
  config.clusters = config.clusters.map(({ proxyUrl: _unused, ...cluster }) => ({
    ...cluster,
    server: cluster.server.replace(/^http:/, "https:"),
  }));
  return config;
}

function credentialsOf(options: RequestOptions): Credentials {
  const pem = (value: RequestOptions["ca"] | RequestOptions["key"]): string | undefined =>
    typeof value === "string" || Buffer.isBuffer(value) ? value.toString() : undefined;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {}))
    if (value !== undefined) headers[name.toLowerCase()] = String(value);
  if (typeof options.auth === "string")
    headers["authorization"] ??= `Basic ${Buffer.from(options.auth).toString("base64")}`;
  const [ca, cert, key] = [pem(options.ca), pem(options.cert), pem(options.key)];
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(options.servername !== undefined && { serverName: options.servername }),
    ...(options.rejectUnauthorized === false && { insecure: true }),
    headers,
  };
}

function load(path: string, context: string | undefined): KubeConfig {
  const config = new KubeConfig();
  try {
    for (const [i, file] of path
      .split(delimiter)
      .filter((part) => part !== "")
      .entries()) {
      if (i === 0) config.loadFromFile(file);
      else {
        const more = new KubeConfig();
        more.loadFromFile(file);
        config.mergeConfig(more, true);
      }
    }
  } catch (cause) {
    // What else is wrong is not repeated: the words of a YAML parser may hold a part of the file, so a key.
    if ((cause as { code?: unknown }).code === "ENOENT")
      throw new KubeConfigError(`there is no kubeconfig ${path}`, {
        cause,
        hint: "name one with --kubeconfig or KUBECONFIG; in a pod the service account is used",
      });
    throw new KubeConfigError(`cannot load the kubeconfig ${path}`, {
      cause,
      hint: "check the file with `kubectl config view`",
    });
  }
  if (context !== undefined) {
    if (config.getContextObject(context) === null)
      throw new KubeConfigError(`the kubeconfig ${path} has no context "${context}"`);
    config.setCurrentContext(context);
  }
  if (!config.getCurrentCluster()?.server) {
    throw new KubeConfigError(`the kubeconfig ${path} has no current cluster`, {
      hint: "set one with `kubectl config use-context NAME`",
    });
  }
  return config;
}
