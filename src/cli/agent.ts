/** `haptic agent`: the container beside HAProxy; `prepare` is the start wrapper's step, `state` and `health` look inside. */
import {
  type AgentIdentity,
  agentPaths,
  askAgent,
  chosenBasic,
  drain,
  drainDefaults,
  type DrainTiming,
  type PathFlags,
  prepareStart,
  runAgent,
} from "../agent/index.ts";
import { UsageError } from "../errors.ts";
import { byteCount, milliseconds, readFlags } from "./flags.ts";
import { stopSignal } from "./signals.ts";
import type { Command } from "./types.ts";

const usage = `Usage: haptic agent [flags]            serve until SIGTERM, SIGUSR1 or SIGINT
       haptic agent prepare [flags]    before HAProxy starts: make the files whole, check them, print the configuration's path
       haptic agent state [flags]      what the pod holds and runs, as JSON
       haptic agent health [flags]     exit code 0 when the agent answers
       haptic agent drain [flags]      before HAProxy is stopped: wait until nobody opens connections to it any more

  --base-dir DIR               the tree that the agent owns            (/etc/haproxy)
  --config FILE                HAProxy's configuration inside it       (haproxy.cfg)
  --master-socket PATH         relative to the base directory          (haproxy-master.sock)
  --worker-socket PATH         stats socket, level admin               (haproxy-worker.sock)
  --local-socket PATH          the agent's own unix socket             (.haptic/agent.sock)
  --drain-socket PATH          answers GET /drain; "" = none           (haptic-drain.sock)
  --state-file PATH            a link to the agent's state in the set in force; "" = none (.haptic-agent.json)
  --drain-quiet-period TIME    no new connection for so long = drained (5s)
  --drain-max-wait TIME        drained or not, it ends after this      (45s)
  --drain-ignore-frontend NAME its connections do not count; repeatable
  --listen HOST:PORT           the API                                 (:5555)
  --tls-dir DIR                tls.crt, tls.key, ca.crt                (/etc/haptic/agent-tls/..data)
  --tls-client-name NAME       DNS name in the controller's certificate; needed to serve
  --no-tls                     legacy, in place of the two: HTTP Basic in the clear, with the variables
                               DATAPLANE_USERNAME and DATAPLANE_PASSWORD
  --metrics-listen HOST:PORT   Prometheus metrics; "" = none           (:9101)
  --reload-interval-min TIME   least time between two reloads, to 60s; 0s = reloads never wait (5s)
  --reload-interval-max TIME   what HAProxy's old workers stretch it to (10m)
  --old-workers-memory SIZE    and at once, where one more would exceed it (512Mi)
  --reload-timeout TIME        time for HAProxy's verdict, to 60s      (60s)
  --removal-grace TIME         for running requests of removed servers, to 60s (10s)
  --haproxy PATH               prepare: the haproxy binary             (haproxy)
  --verify                     state: hash the files and ask the worker again
  --plan                       state: with the stored plan, for \`haptic diff --state\`
`;

const flagTypes = {
  "base-dir": { type: "string" },
  config: { type: "string" },
  "master-socket": { type: "string" },
  "worker-socket": { type: "string" },
  "local-socket": { type: "string" },
  "drain-socket": { type: "string" },
  "state-file": { type: "string" },
  "drain-quiet-period": { type: "string" },
  "drain-max-wait": { type: "string" },
  "drain-ignore-frontend": { type: "string", multiple: true },
  listen: { type: "string" },
  "tls-dir": { type: "string" },
  "tls-client-name": { type: "string" },
  "no-tls": { type: "boolean" },
  "metrics-listen": { type: "string" },
  "reload-interval-min": { type: "string" },
  "reload-interval-max": { type: "string" },
  "old-workers-memory": { type: "string" },
  "reload-timeout": { type: "string" },
  "removal-grace": { type: "string" },
  haproxy: { type: "string" },
  verify: { type: "boolean" },
  plan: { type: "boolean" },
} as const;

const MINUTE = 60_000;

function upToAMinute(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = milliseconds(name, text);
  if (value > MINUTE) throw new UsageError(`${name}: ${text} is more than 60s`);
  return value;
}

function drainTiming(flags: {
  readonly "drain-quiet-period"?: string | undefined;
  readonly "drain-max-wait"?: string | undefined;
  readonly "drain-ignore-frontend"?: readonly string[] | undefined;
}): DrainTiming {
  const { quietMs, limitMs, ignoredFrontends } = drainDefaults;
  const [quiet, limit] = [flags["drain-quiet-period"], flags["drain-max-wait"]];
  return {
    quietMs: quiet === undefined ? quietMs : milliseconds("--drain-quiet-period", quiet),
    limitMs: limit === undefined ? limitMs : milliseconds("--drain-max-wait", limit),
    ignoredFrontends: flags["drain-ignore-frontend"] ?? ignoredFrontends,
  };
}

/** By certificates, or by a password where that was chosen; never both. */
function readIdentity(
  flags: {
    readonly "no-tls"?: boolean | undefined;
    readonly "tls-dir"?: string | undefined;
    readonly "tls-client-name"?: string | undefined;
  },
  env: NodeJS.ProcessEnv,
): AgentIdentity {
  const { "tls-dir": tlsDir, "tls-client-name": tlsClientName } = flags;
  const isTlsOff = flags["no-tls"] === true;
  if (isTlsOff && (tlsDir ?? tlsClientName) !== undefined)
    throw new UsageError("--no-tls excludes --tls-dir and --tls-client-name: give one or the other");
  const basic = chosenBasic(isTlsOff, env, "--no-tls");
  if (basic !== undefined) return { basic };
  if (tlsClientName === undefined)
    throw new UsageError("--tls-client-name is missing", "e.g. haptic-controller-tls.haptic.svc");
  return { tlsDir: tlsDir ?? "/etc/haptic/agent-tls/..data", tlsClientName };
}

async function ask(paths: ReturnType<typeof agentPaths>, target: string): Promise<number> {
  const answer = await askAgent(paths.localSocket, "GET", target);
  if (answer === undefined) {
    process.stderr.write(`no agent listens on ${paths.localSocket}\n`);
    return 1;
  }
  process.stdout.write(`${JSON.stringify(answer, undefined, 2)}\n`);
  return 0;
}

export const command: Command = {
  summary: "own one HAProxy's files and runtime sockets",
  usage,
  async run(argv) {
    const [verb = ""] = argv;
    const named = ["prepare", "state", "health", "drain"].includes(verb);
    const flags = readFlags("agent", named ? argv.slice(1) : argv, flagTypes);
    const pathFlags: PathFlags = {
      ...(flags["base-dir"] === undefined ? {} : { baseDir: flags["base-dir"] }),
      ...(flags.config === undefined ? {} : { config: flags.config }),
      ...(flags["master-socket"] === undefined ? {} : { masterSocket: flags["master-socket"] }),
      ...(flags["worker-socket"] === undefined ? {} : { workerSocket: flags["worker-socket"] }),
      ...(flags["local-socket"] === undefined ? {} : { localSocket: flags["local-socket"] }),
      ...(flags["drain-socket"] === undefined ? {} : { drainSocket: flags["drain-socket"] }),
      ...(flags["state-file"] === undefined ? {} : { stateFile: flags["state-file"] }),
    };
    const paths = agentPaths(pathFlags);
    if (verb === "state") {
      const asked = (["verify", "plan"] as const).filter((name) => flags[name] === true);
      return ask(paths, `/state?${asked.map((name) => `${name}=1`).join("&")}`);
    }
    if (verb === "health") return ask(paths, "/health");
    const timing = drainTiming(flags);
    if (verb === "drain") {
      const asked = paths.drainSocket === undefined ? undefined : await askAgent(paths.drainSocket, "GET", "/drain");
      // Without an agent traffic still has to end before HAProxy does.
      const drained = asked ?? (await drain({ ...timing, workerSocket: paths.workerSocket }));
      process.stdout.write(`${JSON.stringify(drained)}\n`);
      return 0;
    }
    if (verb === "prepare") {
      const prepared = await prepareStart({
        ...paths,
        haproxy: flags.haproxy ?? "haproxy",
        now: () => performance.timeOrigin + performance.now(),
      });
      for (const refusal of prepared.refusals) process.stderr.write(`HAProxy refused a set: ${refusal}\n`);
      process.stdout.write(`${prepared.configPath}\n`);
      return 0;
    }
    const identity = readIdentity(flags, process.env);
    const interval = upToAMinute("--reload-interval-min", flags["reload-interval-min"]);
    const [most, memory] = [flags["reload-interval-max"], flags["old-workers-memory"]];
    const timeout = upToAMinute("--reload-timeout", flags["reload-timeout"]);
    const grace = upToAMinute("--removal-grace", flags["removal-grace"]);
    const agent = await runAgent({
      ...pathFlags,
      ...identity,
      drain: timing,
      now: () => performance.timeOrigin + performance.now(),
      monotonic: () => performance.now(),
      ...(flags.listen === undefined ? {} : { listen: flags.listen }),
      metricsListen: flags["metrics-listen"] ?? ":9101",
      ...(interval === undefined ? {} : { reloadIntervalMs: interval }),
      pacing: {
        ...(most === undefined ? {} : { mostMs: milliseconds("--reload-interval-max", most) }),
        ...(memory === undefined ? {} : { memoryBytes: byteCount("--old-workers-memory", memory) }),
      },
      ...(timeout === undefined ? {} : { reloadTimeoutMs: timeout }),
      ...(grace === undefined ? {} : { removalGraceMs: grace }),
    });
    await stopSignal();
    await agent.close();
    return 0;
  },
};
