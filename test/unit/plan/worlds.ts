/** Small worlds of plans: what a test says of backends, maps and files, as a plan. */
import {
  assemblePlan,
  type BackendRecord,
  ChunkedTree,
  cutBlocks,
  diffPlans,
  emptyTrees,
  type Op,
  type OpKind,
  planBackend,
  planFile,
  planProfile,
  type PlanFile,
  type PlanMap,
  type RenderPlan,
  structureKey,
} from "../../../src/plan/index.ts";
import { AGENT_OPS_34 } from "../../../src/agent/capabilities.ts";
import { fileDigest, mapDigest } from "../../../src/plan/plan.ts";

export const ALL_OPS = new Set<OpKind>(AGENT_OPS_34);
export const OPTIONS = { haproxyVersion: "3.4.7", agentOps: ALL_OPS };

export const PROFILE = planProfile(
  "haptic-be-1",
  "    mode http\n    balance roundrobin\n    default-server check inter 2s\n",
);

export interface World {
  backends?: Record<string, Partial<BackendRecord>>;
  maps?: Record<string, string>;
  ordered?: boolean;
  certs?: Record<string, string>;
  caFiles?: Record<string, string>;
  crtList?: string;
  /** The list's first entry is no default certificate. */
  strict?: boolean;
  general?: Record<string, { text: string; reload: boolean }>;
  structure?: Record<string, string>;
  profiles?: ReturnType<typeof planProfile>[];
}

function text(record: BackendRecord): string {
  const body = [`backend ${record.name} from ${record.profile}`, ...(record.body === undefined ? [] : [record.body])];
  const servers = record.servers.map(
    (server) => `    server ${server.name} ${server.address}:${server.port} ${server.extra ?? ""}`,
  );
  return `${[...body, ...servers].join("\n")}\n`;
}

function crtList(content: string, strict: boolean): PlanFile {
  const file = planFile("general/list.txt", "crtlist", cutBlocks(content));
  return strict ? { ...file, defaultFirst: false } : file;
}

export function plan(world: World): RenderPlan {
  const trees = emptyTrees();
  const backends = Object.entries(world.backends ?? {}).map(([name, partial]) => {
    const record: BackendRecord = { name, profile: PROFILE.name, servers: [], shape: "dynamic", ...partial };
    return [name, planBackend(record, text(record))] as const;
  });
  const files = [
    planFile("haproxy.cfg", "config", cutBlocks(JSON.stringify([world.backends, world.structure]))),
    ...Object.entries(world.maps ?? {}).map(([path, content]) => planFile(path, "map", cutBlocks(content))),
    ...Object.entries(world.certs ?? {}).map(([path, content]) => planFile(path, "cert", cutBlocks(content))),
    ...Object.entries(world.caFiles ?? {}).map(([path, content]) => planFile(path, "ca", cutBlocks(content))),
    ...Object.entries(world.general ?? {}).map(([path, file]) =>
      planFile(path, "general", cutBlocks(file.text), { reloadOnChange: file.reload }),
    ),
    ...(world.crtList === undefined ? [] : [crtList(world.crtList, world.strict === true)]),
  ];
  return assemblePlan({
    structure: trees.structure.update(
      new Map(Object.entries(world.structure ?? {}).map(([key, value]) => [structureKey(key, "0"), value])),
    ),
    backends: trees.backends.update(new Map(backends)),
    profiles: trees.profiles.update(new Map((world.profiles ?? [PROFILE]).map((profile) => [profile.name, profile]))),
    files: ChunkedTree.from(
      files.map((file) => [file.path, file] as const),
      fileDigest,
    ),
    maps: ChunkedTree.from(
      Object.keys(world.maps ?? {}).map((path): [string, PlanMap] => [
        path,
        { ordered: world.ordered ?? false, fileDigest: "" },
      ]),
      mapDigest,
    ),
  });
}

export const server = (name: string, address = "10.0.0.1", more: object = {}) => ({ name, address, port: 80, ...more });
export const diff = (next: World, baseline: World, options: Partial<Parameters<typeof diffPlans>[2]> = {}) =>
  diffPlans(plan(next), plan(baseline), { ...OPTIONS, ...options });
export const kinds = (ops: readonly Op[]): string[] => ops.map((op) => op.kind);
