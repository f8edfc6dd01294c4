/**
 * The component map: where each component stands, wide and tall, and which events of the bus go from whom to whom. Pure data; a test holds it
 * to what the charts say they read.
 *
 * @typedef {{ id: string, label: string, wide: [column: number, row: number], tall: [column: number, row: number], outside?: string }} MapNode
 * @typedef {{ from: string, to: string, types: readonly string[], main?: boolean, source?: string }} MapEdge
 */

/** `id` is the chart's; `outside` marks what is no component of the controller and says what it is.
 * @type {readonly MapNode[]} */
export const nodes = [
  { id: "api", label: "Kubernetes API", wide: [0, 1], tall: [0, 0], outside: "watched and written" },
  { id: "configLoader", label: "configLoader", wide: [1, 0], tall: [1, 0] },
  { id: "watcher", label: "watchers", wide: [1, 1], tall: [0, 1] },
  { id: "discovery", label: "discovery", wide: [1, 2], tall: [1, 3] },
  { id: "leaderElection", label: "leaderElection", wide: [1, 3], tall: [1, 2] },
  { id: "controller", label: "controller", wide: [2, 0], tall: [1, 1] },
  { id: "reconciler", label: "reconciler", wide: [2, 1], tall: [0, 2] },
  { id: "podProbe", label: "podProbe", wide: [2, 2], tall: [1, 4] },
  { id: "coordinator", label: "coordinator", wide: [3, 1], tall: [0, 3] },
  { id: "warmer", label: "warmer", wide: [3, 3], tall: [1, 9] },
  { id: "driftMonitor", label: "driftMonitor", wide: [4, 3], tall: [1, 5] },
  { id: "renderGate", label: "renderGate", wide: [4, 0], tall: [0, 4] },
  { id: "scheduler", label: "scheduler", wide: [4, 1], tall: [0, 5] },
  { id: "deployer", label: "deployer", wide: [5, 1], tall: [0, 6] },
  { id: "statusWriter", label: "statusWriter", wide: [5, 3], tall: [1, 6] },
  { id: "eventRecorder", label: "eventRecorder", wide: [6, 3], tall: [1, 7] },
  { id: "publisher", label: "publisher", wide: [7, 3], tall: [1, 8] },
  { id: "podApply", label: "podApply", wide: [6, 1], tall: [0, 7] },
  { id: "pods", label: "HAProxy pods", wide: [7, 1], tall: [0, 8], outside: "agents and HAProxy" },
];

/** `source`: whose events light this edge, where that is not `from`.
 * @type {readonly MapEdge[]} */
export const edges = [
  { from: "api", to: "watcher", types: ["RESOURCES.CHANGED", "WATCH.SYNCED"], source: "watcher", main: true },
  { from: "watcher", to: "reconciler", types: ["RESOURCES.CHANGED", "WATCH.SYNCED"], main: true },
  { from: "reconciler", to: "coordinator", types: ["RECONCILE.TRIGGERED"], main: true },
  { from: "coordinator", to: "renderGate", types: ["PLAN.RENDERED"], main: true },
  { from: "renderGate", to: "scheduler", types: ["PLAN.RELEASED", "PLAN.REFUSED"], main: true },
  { from: "scheduler", to: "deployer", types: ["DEPLOYMENT.SCHEDULED"], main: true },
  { from: "deployer", to: "podApply", types: ["DEPLOYMENT.SCHEDULED"], source: "scheduler", main: true },
  {
    from: "podApply",
    to: "pods",
    types: ["POD.APPLIED", "POD.FAILED", "POD.REVERTED"],
    source: "deployer",
    main: true,
  },

  {
    from: "api",
    to: "configLoader",
    types: ["CONFIG.LOADED", "CONFIG.INVALID", "CONFIG.HELD"],
    source: "configLoader",
  },
  { from: "configLoader", to: "controller", types: ["CONFIG.LOADED"] },
  { from: "watcher", to: "controller", types: ["RESOURCES.CHANGED"] },
  { from: "discovery", to: "controller", types: ["PODS.CHANGED", "PODS.SETTLED"] },
  { from: "leaderElection", to: "controller", types: ["TERM.BEGAN", "TERM.ENDED"] },
  { from: "leaderElection", to: "controller", types: ["CONTROLLER.STOPPING"], source: "" },
  { from: "controller", to: "leaderElection", types: ["ITERATION.ACCEPTED", "ITERATION.REFUSED"] },
  { from: "controller", to: "leaderElection", types: ["CONTROLLER.STOPPING"], source: "" },
  { from: "configLoader", to: "leaderElection", types: ["ELECTION.CONFIGURED"], source: "" },
  { from: "reconciler", to: "warmer", types: ["RECONCILE.TRIGGERED"] },
  { from: "controller", to: "warmer", types: ["ITERATION.ACCEPTED"] },
  { from: "watcher", to: "discovery", types: ["PODS.LISTED"], source: "" },
  { from: "discovery", to: "podProbe", types: ["PODS.LISTED"], source: "" },
  { from: "discovery", to: "reconciler", types: ["PODS.CHANGED"] },
  { from: "leaderElection", to: "reconciler", types: ["TERM.BEGAN"] },
  { from: "driftMonitor", to: "reconciler", types: ["DRIFT.FIRED"] },
  { from: "controller", to: "coordinator", types: ["ITERATION.ACCEPTED"] },
  { from: "discovery", to: "coordinator", types: ["PODS.SETTLED"] },
  { from: "discovery", to: "scheduler", types: ["PODS.CHANGED"] },
  { from: "deployer", to: "scheduler", types: ["DEPLOYMENT.COMPLETED"] },
  { from: "renderGate", to: "deployer", types: ["PLAN.PASSED", "PLAN.REFUSED"] },
  { from: "discovery", to: "deployer", types: ["PODS.CHANGED"] },
  { from: "deployer", to: "driftMonitor", types: ["DEPLOYMENT.COMPLETED"] },
  { from: "controller", to: "driftMonitor", types: ["ITERATION.ACCEPTED"] },
  { from: "deployer", to: "leaderElection", types: ["TERM.DEPOSED"] },
  { from: "configLoader", to: "statusWriter", types: ["CONFIG.LOADED", "CONFIG.HELD", "CONFIG.INVALID"] },
  { from: "controller", to: "statusWriter", types: ["ITERATION.ACCEPTED", "ITERATION.REFUSED"] },
  { from: "coordinator", to: "statusWriter", types: ["PLAN.RENDERED", "RENDER.FAILED"] },
  { from: "renderGate", to: "statusWriter", types: ["PLAN.PASSED", "PLAN.REFUSED"] },
  { from: "configLoader", to: "eventRecorder", types: ["CONFIG.HELD", "CONFIG.INVALID"] },
  { from: "controller", to: "eventRecorder", types: ["ITERATION.ACCEPTED", "ITERATION.REFUSED"] },
  { from: "coordinator", to: "eventRecorder", types: ["PLAN.RENDERED", "RENDER.FAILED"] },
  { from: "renderGate", to: "eventRecorder", types: ["PLAN.REFUSED", "GATE.RECOVERED"] },
  { from: "deployer", to: "eventRecorder", types: ["DEPLOYMENT.COMPLETED"] },
  { from: "leaderElection", to: "eventRecorder", types: ["TERM.UNDISPUTED"] },
  { from: "watcher", to: "eventRecorder", types: ["WATCH.FAULTED", "WATCH.RECOVERED"] },
  {
    from: "publisher",
    to: "eventRecorder",
    types: ["PUBLICATION.WRITTEN", "PUBLICATION.REFUSED", "PUBLICATION.FAILED", "PUBLICATION.RECOVERED"],
  },
  { from: "coordinator", to: "publisher", types: ["PLAN.RENDERED"] },
  { from: "renderGate", to: "publisher", types: ["PLAN.PASSED", "PLAN.REFUSED", "PLAN.UNPROVEN", "GATE.PINNED"] },
  { from: "deployer", to: "publisher", types: ["POD.APPLIED", "POD.FAILED", "POD.REVERTED"] },
  { from: "discovery", to: "publisher", types: ["PODS.CHANGED"] },
  { from: "watcher", to: "publisher", types: ["PODS.LISTED"], source: "" },
];
