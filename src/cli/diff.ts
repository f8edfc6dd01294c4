/** `haptic diff`: what a change would ask of HAProxy, before it is made. */
import { agentOpsBeside, chosenBasic } from "../agent/index.ts";
import { loadFiles } from "../config/index.ts";
import { agentReload, diffOptionsOf, MAX_OPS } from "../controller/index.ts";
import { UsageError } from "../errors.ts";
import { createKubeClient, findConnection } from "../kube/index.ts";
import { diffPlans, type DiffOptions, type PlanDiff, type RenderPlan, WORKER_BEHIND } from "../plan/index.ts";
import { diffJson, diffText, type VersionDiff } from "./diff-report.ts";
import { type Side, SideProblems } from "./diff-rendering.ts";
import { agentSide, ClusterSides, fileSide, type PodSide, stateSide } from "./diff-sides.ts";
import { readWords } from "./flags.ts";
import { load, type Loaded } from "./loading.ts";
import { listing, outputForm, printJson, say } from "./problems.ts";
import { errorText } from "./report.ts";
import { schemaPaths, schemasIn } from "./schemas.ts";
import type { Command } from "./types.ts";

const usage = `Usage: haptic diff OLD NEW [-f PATH…] [flags]           what the files of NEW change against those of OLD
       haptic diff --cluster -f PATH… [flags]           what an edit would change in a cluster
       haptic diff --state FILE|--agent URL -f PATH…    what would change in a pod

Says for each version of HAProxy whether a change is taken at run time or by a reload, by which operations, and of each
reload why it is needed, which object and field it comes from, and what would avoid it. Nothing is changed.

  OLD, NEW                a file or folder: what differs between the sides, be it the configuration or resources
  -f, --file PATH         files that both sides have; with --cluster, --state and --agent: the new configuration and its
                          libraries, with --state and --agent the resources, too. Repeatable
      --cluster           resources are those of the cluster, and libraries that no file has. Before: the configuration as
                          it is there
      --kubeconfig FILE   default: KUBECONFIG, the pod's service account, ~/.kube/config
      --namespace NAME    of the configuration in the cluster              (its file's; the connection's)
      --crd-name NAME     the configuration in the cluster                 (its file's)
      --state FILE        before: a pod, as \`haptic agent state --plan\` prints it; - = standard input
      --agent URL         before: a pod, asked at https://ADDRESS:5555 with a controller's certificate, or at http://… with
                          DATAPLANE_USERNAME and DATAPLANE_PASSWORD
      --agent-tls-dir DIR tls.crt, tls.key, ca.crt towards the agent       (/etc/haptic/controller-tls/..data)
      --agent-tls-name NAME  DNS name in the agent's certificate           (haptic-agent.NAMESPACE.svc)
      --haproxy-version VERSION  3.0, 3.2 or 3.4; repeatable               (all three; a pod's own)
      --schema-dir PATH   schemas of resources, as for \`haptic render\`. Repeatable (HAPTIC_SCHEMA_DIR)
  -o, --output text|json  how it is told                                   (text)
      --json              the same as -o json

Exit codes: 0 = nothing changes, 1 = something does, 2 = there is no answer: the command line, a file, a template, the cluster
or the pod is at fault.
`;

const flagTypes = {
  file: { type: "string", short: "f", multiple: true },
  cluster: { type: "boolean" },
  kubeconfig: { type: "string" },
  namespace: { type: "string" },
  "crd-name": { type: "string" },
  state: { type: "string" },
  agent: { type: "string" },
  "agent-tls-dir": { type: "string" },
  "agent-tls-name": { type: "string" },
  "haproxy-version": { type: "string", multiple: true },
  "schema-dir": { type: "string", multiple: true },
  output: { type: "string", short: "o" },
  json: { type: "boolean" },
} as const;

const VERSIONS = ["3.4", "3.2", "3.0"];

type Flags = ReturnType<typeof readWords<typeof flagTypes>>["values"];

interface Sides {
  readonly before: Side | PodSide;
  readonly after: Side;
}

function loaded(
  paths: readonly string[],
  common: readonly string[],
  libraries: Parameters<typeof load>[2] = [],
): Loaded {
  const found = load([...common, ...paths], [], libraries);
  if (!("config" in found)) throw new SideProblems(found);
  return found;
}

async function sidesOf(flags: Flags, words: readonly string[]): Promise<Sides> {
  const common = flags.file ?? [];
  const pod = await podOf(flags);
  const folders = schemaPaths(flags["schema-dir"]);
  const typed = folders.length === 0 ? undefined : schemasIn(folders);
  if (typed !== undefined && typed.problems.length > 0) throw new SideProblems(typed.problems);
  if (flags.cluster === true || pod !== undefined) {
    if (words.length > 0)
      throw new UsageError(
        `${words.join(" ")}: OLD and NEW do not go with --cluster, --state and --agent`,
        "give the new files with -f",
      );
    if (flags.cluster === true) return clusterSides(flags, common, pod);
    if (common.length === 0) throw new UsageError("give the new configuration and resources with -f, or --cluster");
    return { before: pod!, after: fileSide(common.join(", "), loaded(common, []), typed?.schemas) };
  }
  const [old, now, ...more] = words;
  if (old === undefined || now === undefined || more.length > 0)
    throw new UsageError(
      words.length > 2 ? `${more.join(" ")}: there are two sides only` : "give two sides, OLD and NEW",
      "`haptic help diff` shows how; files of both sides go with -f",
    );
  return {
    before: fileSide(old, loaded([old], common), typed?.schemas),
    after: fileSide(now, loaded([now], common), typed?.schemas),
  };
}

async function podOf(flags: Flags): Promise<PodSide | undefined> {
  if (flags.state !== undefined && flags.agent !== undefined)
    throw new UsageError("--state and --agent are two ways to the same: give one");
  if (flags.state !== undefined) return stateSide(flags.state);
  if (flags.agent === undefined) return undefined;
  // What stands before an @ could be a password.
  if (flags.agent.includes("@"))
    throw new UsageError(
      "--agent: the address holds an @: a user name or password does not belong into it",
      "it is like https://10.0.0.7:5555; HTTP Basic takes DATAPLANE_USERNAME and DATAPLANE_PASSWORD",
    );
  if (/^http:\/\/[^/]+$/.test(flags.agent)) {
    if ((flags["agent-tls-dir"] ?? flags["agent-tls-name"]) !== undefined)
      throw new UsageError(
        "--agent http://… goes without TLS: --agent-tls-dir and --agent-tls-name belong to https://…",
      );
    const basic = chosenBasic(true, process.env, "--agent http://…");
    return agentSide({ url: flags.agent, basic: () => basic });
  }
  if (!/^https:\/\/[^/]+$/.test(flags.agent))
    throw new UsageError(`--agent: ${JSON.stringify(flags.agent)} is no address`, "it is like https://10.0.0.7:5555");
  return agentSide({
    url: flags.agent,
    tls: {
      dir: flags["agent-tls-dir"] ?? "/etc/haptic/controller-tls/..data",
      serverName: flags["agent-tls-name"] ?? `haptic-agent.${flags.namespace ?? "default"}.svc`,
    },
  });
}

async function clusterSides(flags: Flags, common: readonly string[], pod: PodSide | undefined): Promise<Sides> {
  const connection = await findConnection(flags.kubeconfig === undefined ? {} : { kubeconfig: flags.kubeconfig });
  const kube = createKubeClient(connection, { env: process.env });
  try {
    if (common.length === 0 && (pod === undefined || flags["crd-name"] === undefined))
      throw new UsageError(
        "--cluster wants the edited configuration: -f FILE",
        "or a pod to compare with (--state, --agent) and the configuration's name (--crd-name)",
      );
    const own = common.length === 0 ? undefined : namesOf(common);
    const namespace = flags.namespace ?? own?.namespace ?? connection.namespace;
    const name = flags["crd-name"] ?? own!.name;
    const cluster = new ClusterSides(kube, namespace);
    const libraries = await cluster.libraries();
    const after =
      common.length === 0
        ? await cluster.live(name, libraries)
        : await cluster.edited(common.join(", "), loaded(common, [], libraries));
    return { before: pod ?? (await cluster.live(name, libraries)), after };
  } finally {
    await kube.close();
  }
}

/** Name and namespace of the configuration among files, whatever else is wrong with it. */
function namesOf(paths: readonly string[]): { readonly name: string; readonly namespace: string | undefined } {
  const found = load(paths, [], []);
  if ("config" in found) return { name: found.config.metadata.name, namespace: found.config.metadata.namespace };
  // Its libraries may be in the cluster only.
  const { objects } = loadFiles(paths);
  const config = objects.find(({ object }) => object.kind === "HAProxyTemplateConfig")?.object;
  if (config === undefined) throw new SideProblems(found);
  return { name: config.metadata.name, namespace: config.metadata.namespace };
}

function optionsOf(before: Side | PodSide, version: string): DiffOptions {
  if ("state" in before) {
    return { ...diffOptionsOf(before.state), haproxyVersion: version };
  }
  return { haproxyVersion: version, agentOps: new Set(agentOpsBeside(version)), maxOps: MAX_OPS };
}

function versionsOf(flags: Flags, before: Side | PodSide): readonly string[] {
  const wanted = flags["haproxy-version"];
  const own = "state" in before && before.state.haproxyVersion !== "" ? [before.state.haproxyVersion] : VERSIONS;
  for (const version of wanted ?? []) {
    if (!/^3\.(0|2|4)(\.\d+)?$/.test(version))
      throw new UsageError(`--haproxy-version: ${JSON.stringify(version)} is none of ${VERSIONS.join(", ")}`);
  }
  return wanted ?? own;
}

/** As the controller would see it: a worker that is behind what its pod was given is reloaded in any case. */
function diffOf(before: Side | PodSide, now: RenderPlan, old: RenderPlan | undefined, haproxy: string): PlanDiff {
  const diff = diffPlans(now, old, optionsOf(before, haproxy));
  if (!("state" in before) || diff.verdict === "noop" || before.state.workerOps === before.state.applied) return diff;
  const { owed } = before.state;
  const behind = owed === "" ? WORKER_BEHIND : agentReload(owed);
  return { ...diff, verdict: "reload", reloads: [...diff.reloads, behind], ops: [] };
}

async function compare(flags: Flags, words: readonly string[], json: boolean): Promise<number> {
  const { before, after } = await sidesOf(flags, words);
  const diffs: VersionDiff[] = [];
  const rendered = new Set<string>();
  for (const haproxy of versionsOf(flags, before)) {
    const old = await before.plan(haproxy);
    const now = await after.plan(haproxy, before);
    if (old !== undefined) rendered.add(old.id);
    diffs.push({ haproxy, diff: diffOf(before, now!, old, haproxy) });
  }
  if (before.published !== undefined && !rendered.has(before.published)) {
    before.notes.add(
      `the cluster has published plan ${before.published.slice(0, 12)}, which is not what its configuration gives now`,
    );
  }
  const notes = [...new Set([...before.notes, ...after.notes])];
  const changes = diffs.some(({ diff }) => diff.verdict !== "noop");
  if (json)
    printJson({ ok: true, changes, before: before.name, after: after.name, notes, versions: diffs.map(diffJson) });
  else {
    for (const note of notes) say(note);
    process.stdout.write(diffText(diffs));
  }
  return changes ? 1 : 0;
}

export const command: Command = {
  summary: "what a change would ask of HAProxy: at run time, or a reload and why",
  usage,
  async run(argv) {
    let json = argv.includes("--json");
    try {
      const { values: flags, words } = readWords("diff", argv, flagTypes);
      json ||= outputForm(flags.output) === "json";
      return await compare(flags, words, json);
    } catch (error) {
      const problems = error instanceof SideProblems ? error.problems : undefined;
      if (problems === undefined) process.stderr.write(errorText(error));
      else if (json) printJson({ ok: false, problems });
      else process.stderr.write(listing(problems));
      return 2;
    }
  },
};
