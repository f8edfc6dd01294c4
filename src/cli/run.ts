/** `haptic run`: the controller, in a cluster or beside one. */
import { hostname } from "node:os";
import { pino } from "pino";
import manifest from "../../package.json" with { type: "json" };
import { type LeaseTimes, parseDuration } from "../config/index.ts";
import { startController } from "../controller/index.ts";
import { UsageError } from "../errors.ts";
import { locateHaproxy } from "../haproxy/index.ts";
import { createKubeClient, findConnection } from "../kube/index.ts";
import { isLogLevel, LOG_LEVELS } from "../observe/index.ts";
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
  --agent-no-tls           legacy, in place of the two: HTTP Basic in the clear, with --secret-name
  --secret-name NAME       Secret with dataplane_username and dataplane_password, for that (SECRET_NAME)
  --haproxy PATH|VERSION   judges configurations; default: HAPTIC_HAPROXY, PATH, the cache folder
  --debug-port PORT        live page, /debug and health paths; 0 = none        (DEBUG_PORT; 0)
  --debug-address HOST     where that listens                                  (127.0.0.1)
  --metrics-port PORT      /metrics for Prometheus; 0 = none                   (METRICS_PORT; 9090)
  --metrics-address HOST   where that listens; default: every address
  --lease-times L,D,R      leaseDuration, renewDeadline and retryPeriod of the election where the configuration
                           gives none                                          (LEASE_TIMES; 30s,20s,5s)

Environment: LOG_LEVEL (debug, info, warn, error; default info; PUT /debug/log-level changes it while it runs),
POD_NAME (holder of the Lease while this replica leads; the host's name).
`;

const flagTypes = {
  "crd-name": { type: "string" },
  kubeconfig: { type: "string" },
  namespace: { type: "string" },
  "agent-tls-dir": { type: "string" },
  "agent-tls-name": { type: "string" },
  "agent-no-tls": { type: "boolean" },
  "secret-name": { type: "string" },
  haproxy: { type: "string" },
  "debug-port": { type: "string" },
  "debug-address": { type: "string" },
  "metrics-port": { type: "string" },
  "metrics-address": { type: "string" },
  "lease-times": { type: "string" },
} as const;

/** `3s,2s,500ms`: how long a Lease lasts, when its holder gives up, how often it is renewed. */
function readLeaseTimes(text: string | undefined): LeaseTimes | undefined {
  if (text === undefined || text === "") return undefined;
  const [leaseDuration = "", renewDeadline = "", retryPeriod = "", ...more] = text.split(",");
  const [lease, deadline, retry] = [leaseDuration, renewDeadline, retryPeriod].map((each) => parseDuration(each) ?? 0);
  if (more.length > 0 || !(lease! > deadline! && deadline! > retry! && retry! > 0)) {
    throw new UsageError(
      `--lease-times: ${JSON.stringify(text)} are not three durations, each shorter than the one before it`,
      "give leaseDuration,renewDeadline,retryPeriod, as in 30s,20s,5s",
    );
  }
  return { leaseDuration, renewDeadline, retryPeriod };
}

/** HTTP Basic towards agents is used only where it was chosen as a whole, and never beside certificates. */
function chosenSecret(isTlsOff: boolean, name: string | undefined, hasTls: boolean): string | undefined {
  if (!isTlsOff) {
    if (name === undefined || name === "") return undefined;
    throw new UsageError(
      "--secret-name (SECRET_NAME) is given, but with TLS nobody asks for what the Secret holds",
      "take it away, or choose HTTP Basic without TLS with --agent-no-tls",
    );
  }
  if (hasTls)
    throw new UsageError("--agent-no-tls excludes --agent-tls-dir and --agent-tls-name: give one or the other");
  if (name === undefined || name === "")
    throw new UsageError(
      "--agent-no-tls: --secret-name (SECRET_NAME) is missing",
      "it names a Secret with dataplane_username and dataplane_password, in the controller's namespace",
    );
  return name;
}

function logLevel(text: string | undefined): string {
  const level = (text ?? "info").toLowerCase();
  if (!isLogLevel(level))
    throw new UsageError(`LOG_LEVEL: ${JSON.stringify(text)} is none of ${LOG_LEVELS.join(", ")}`);
  return level;
}

export const command: Command = {
  summary: "run the controller in a cluster",
  usage,
  async run(argv) {
    const flags = readFlags("run", argv, flagTypes);
    const { env } = process;
    const [tlsDir, tlsName] = [
      flags["agent-tls-dir"] ?? env["AGENT_TLS_DIR"],
      flags["agent-tls-name"] ?? env["AGENT_TLS_NAME"],
    ];
    const secretName = flags["secret-name"] ?? env["SECRET_NAME"];
    const basicSecret = chosenSecret(flags["agent-no-tls"] === true, secretName, (tlsDir ?? tlsName) !== undefined);
    const log = pino({ level: logLevel(env["LOG_LEVEL"]) });
    const stop = stopSignal();
    const connection = await findConnection(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig });
    const namespace = flags.namespace ?? env["POD_NAMESPACE"] ?? connection.namespace;
    const debugPort = wholeNumber("--debug-port", flags["debug-port"] ?? env["DEBUG_PORT"] ?? "0", {
      min: 0,
      max: 65_535,
    });
    const metricsPort = wholeNumber("--metrics-port", flags["metrics-port"] ?? env["METRICS_PORT"] ?? "9090", {
      min: 0,
      max: 65_535,
    });
    const leaseTimes = readLeaseTimes(flags["lease-times"] ?? env["LEASE_TIMES"]);
    const haproxy = await locateHaproxy({ wanted: flags.haproxy, environment: env, say: (line) => log.info(line) });
    log.info({ server: connection.server, origin: connection.origin, haproxy: haproxy.path }, "Connecting");
    const kube = createKubeClient(connection, { env });
    const controller = await startController({
      kube,
      namespace,
      configName: flags["crd-name"] ?? env["CRD_NAME"] ?? "haproxy-config",
      agents:
        basicSecret === undefined
          ? {
              tls: {
                dir: tlsDir ?? "/etc/haptic/controller-tls/..data",
                serverName: tlsName ?? `haptic-agent.${namespace}.svc`,
              },
            }
          : { basicSecret },
      haproxyBinary: haproxy.path,
      identity: env["POD_NAME"] ?? hostname(),
      ...(leaseTimes !== undefined && { leaseTimes }),
      ...(debugPort > 0 && { debugPort }),
      ...(flags["debug-address"] !== undefined && { debugHost: flags["debug-address"] }),
      ...(metricsPort > 0 && { metricsPort }),
      ...(flags["metrics-address"] !== undefined && { metricsHost: flags["metrics-address"] }),
      logLevel: {
        get: () => log.level,
        set: (level) => {
          log.level = level;
        },
      },
      version: manifest.version,
      log,
    });
    const signal = await stop;
    log.info({ signal }, "Stopping");
    await controller.close();
    await kube.close();
    return 0;
  },
};
