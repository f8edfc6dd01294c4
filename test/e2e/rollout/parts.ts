/** The proofs of this folder, whole (`npm run rollout`) and bounded (for CI, which has no two minutes for each). */
import { differentBaselines } from "./baselines.ts";
import { forcedReloads } from "./forced.ts";
import { rollingUpdate } from "./rolling.ts";
import { slowReload } from "./slow.ts";
import { memoryOfOldWorkers } from "./memory.ts";
import { BUSY, type Stage, type StageOptions } from "./stage.ts";

export type Extent = "whole" | "bounded";

interface Part {
  readonly name: string;
  readonly title: string;
  readonly stage: (extent: Extent) => StageOptions;
  /** Resolves with figures; rejects with what is violated. */
  readonly prove: (stage: Stage, extent: Extent) => Promise<string[]>;
}

const ROLLING = {
  whole: { pods: 100, paceMs: 500, rate: 1_700, seconds: 62, leastRequests: 100_000 },
  bounded: { pods: 20, paceMs: 200, rate: 1_000, seconds: 4, leastRequests: 3_000 },
} as const;
const FORCED = {
  whole: { reloads: 34, rate: 2_000, seconds: 60, leastRequests: 100_000 },
  bounded: { reloads: 4, rate: 800, seconds: 6, leastRequests: 3_000 },
} as const;
/** The pod's limit, with agent, HAProxy and all its workers. */
const GIB = 1 << 30;
const MEMORY = {
  whole: { backends: 10_000, sockets: 50, seconds: 120, editMs: 5_000, renewed: 5, limit: GIB, mostWorkers: 5 },
  bounded: { backends: 200, sockets: 20, seconds: 8, editMs: 700, renewed: 4, limit: 0.375 * GIB, mostWorkers: 6 },
} as const;
/** Of few backends a worker is small; so is what old workers may hold. */
const FEW: StageOptions = { pods: 1, agentFlags: ["--reload-interval-min=1s", "--old-workers-memory=64Mi"] };
const HOLD_MS = { whole: 10_000, bounded: 2_000 } as const;

export const PARTS: readonly Part[] = [
  {
    name: "rolling",
    title: "a rolling update under load: no reload, no failed request",
    stage: () => BUSY,
    prove: (stage, extent) => rollingUpdate(stage, ROLLING[extent]),
  },
  {
    name: "forced",
    title: "forced reloads under load: no HTTP/1.1 request fails, h2 and h3 refuse only what is answered when repeated",
    stage: () => BUSY,
    prove: (stage, extent) => forcedReloads(stage, FORCED[extent]),
  },
  {
    name: "slow",
    title: "what changes during a slow reload is in force after it",
    stage: () => BUSY,
    prove: (stage, extent) => slowReload(stage, HOLD_MS[extent]),
  },
  {
    name: "baselines",
    title: "two pods with different baselines each get their own least work",
    stage: () => BUSY,
    prove: (stage) => differentBaselines(stage),
  },
  {
    name: "memory",
    title: "reloads under long connections keep the pod within its memory",
    stage: (extent) => (extent === "whole" ? { pods: 1, agentFlags: [] } : FEW),
    prove: (stage, extent) => memoryOfOldWorkers(stage, MEMORY[extent]),
  },
];
