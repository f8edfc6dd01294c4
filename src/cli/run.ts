/** `haptic run`: the controller, in a cluster or beside one. */
import { pino } from "pino";
import { startController } from "../controller/index.ts";
import { UsageError } from "../errors.ts";
import { locateHaproxy } from "../haproxy/index.ts";
import { createKubeClient, findConnection } from "../kube/index.ts";
import { readFlags, wholeNumber } from "./flags.ts";
import { stopSignal } from "./signals.ts";
import type { Command } from "./types.ts";

const usage = `Usage: haptic run [flags]

Runs the controller until SIGTERM or SIGINT. A flag wins over its environment variable, that one over the default.

  --crd-name NAME          HAPTIC's configuration: the HAProxyTemplateConfig   (CRD_NAME; haproxy-config)
  --kubeconfig FILE        default: KUBECONFIG, the pod's service account, ~/.kube/config
  --namespace NAME         where the configuration and HAProxy's pods are      (POD_NAMESPACE; the connection's)
  --agent-tls-dir DIR      tls.crt, tls.key, ca.crt towards the agents         (AGENT_TLS_DIR; /etc/haptic/controller-tls/..data)
  --agent-tls-name NAME    DNS name in the agents' certificates                (AGENT_TLS_NAME; haptic-agent.NAMESPACE.svc)
  --haproxy PATH|VERSION   judges configurations; default: HAPTIC_HAPROXY, PATH, the cache folder
  --debug-port PORT        /debug/vars and health paths; 0 = none              (DEBUG_PORT; 0)
  --debug-address HOST     where that listens                                  (127.0.0.1)

Environment: LOG_LEVEL (debug, info, warn, error; default info), POD_NAME (holder of the Lease; standalone).
`;

const flagTypes = {
  "crd-name": { type: "string" },
  kubeconfig: { type: "string" },
  namespace: { type: "string" },
  "agent-tls-dir": { type: "string" },
  "agent-tls-name": { type: "string" },
  haproxy: { type: "string" },
  "debug-port": { type: "string" },
  "debug-address": { type: "string" },
} as const;

const LEVELS = new Set(["trace", "debug", "info", "warn", "error", "fatal"]);

function logLevel(text: string | undefined): string {
  const level = (text ?? "info").toLowerCase();
  if (!LEVELS.has(level))
    throw new UsageError(`LOG_LEVEL: ${JSON.stringify(text)} is none of ${[...LEVELS].join(", ")}`);
  return level;
}

export const command: Command = {
  summary: "run the controller in a cluster",
  usage,
  async run(argv) {
    const flags = readFlags("run", argv, flagTypes);
    const { env } = process;
    const log = pino({ level: logLevel(env["LOG_LEVEL"]) });
    const stop = stopSignal();
    const connection = await findConnection(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig });
    const namespace = flags.namespace ?? env["POD_NAMESPACE"] ?? connection.namespace;
    const debugPort = wholeNumber("--debug-port", flags["debug-port"] ?? env["DEBUG_PORT"] ?? "0", {
      min: 0,
      max: 65_535,
    });
    const haproxy = await locateHaproxy({ wanted: flags.haproxy, environment: env, say: (line) => log.info(line) });
    log.info({ server: connection.server, origin: connection.origin, haproxy: haproxy.path }, "Connecting");
    const kube = createKubeClient(connection, { env });
    const controller = await startController({
      kube,
      namespace,
      configName: flags["crd-name"] ?? env["CRD_NAME"] ?? "haproxy-config",
      agentTls: {
        dir: flags["agent-tls-dir"] ?? env["AGENT_TLS_DIR"] ?? "/etc/haptic/controller-tls/..data",
        serverName: flags["agent-tls-name"] ?? env["AGENT_TLS_NAME"] ?? `haptic-agent.${namespace}.svc`,
      },
      haproxyBinary: haproxy.path,
      identity: env["POD_NAME"] ?? "standalone",
      ...(debugPort > 0 && { debugPort }),
      ...(flags["debug-address"] !== undefined && { debugHost: flags["debug-address"] }),
      log,
    });
    const signal = await stop;
    log.info({ signal }, "Stopping");
    await controller.close();
    await kube.close();
    return 0;
  },
};
