// The layout is the architecture: imports go down. `npm run layers` fails on an edge that goes up or sideways.
const path = require("node:path");

/** From the top; a layer may import itself and what stands below it. Layers on one line do not see each other. */
const layers = [
  ["cli", "devcluster"],
  ["controller"],
  ["admission", "publish", "agent", "kube", "observe"],
  ["render"],
  ["plan", "haproxy"],
  ["config"],
  ["templating", "stores"],
];
const pure = "^src/(templating|stores|plan|config)/";

const upward = layers.slice(1).map((row, index) => ({
  name: `no-upward-import-from-${row.join("-")}`,
  comment: "Imports go down: see CONTRIBUTING.md, layers.",
  severity: "error",
  from: { path: `^src/(${row.join("|")})/` },
  to: {
    path: `^src/(main|(${layers
      .slice(0, index + 1)
      .flat()
      .join("|")})/)`,
  },
}));

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      comment: "Charts may name each other's events: a cycle of types alone is none.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    ...upward,
    {
      name: "no-sideways-import-between-libraries",
      comment: "templating and stores do not see each other but for types.",
      severity: "error",
      from: { path: "^src/(templating|stores)/" },
      to: { path: "^src/(templating|stores)/", pathNot: "^src/$1/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "another-part-by-its-face",
      comment: "A folder's index.ts (or types.ts, api.ts, ops.ts, client.ts) is its whole public face.",
      severity: "error",
      from: { path: "^src/([^/]+)/" },
      to: {
        path: "^src/([^/]+)/",
        pathNot: ["^src/$1/", "^src/[^/]+/(index|types|api|ops|client|generated|[^/]+\\.generated)\\.ts$"],
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "machines-are-charts-only",
      comment: "A chart has no I/O, clock or randomness: xstate, other charts, and types.",
      severity: "error",
      from: { path: "^machines/" },
      to: { pathNot: ["^machines/", "^node_modules/xstate/"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "libraries-are-pure",
      comment: "templating, stores, plan and config know nothing of actors, buses, HTTP or Kubernetes clients.",
      severity: "error",
      from: { path: pure },
      to: { path: "^(machines/|node_modules/(xstate|rxjs|undici|pino|prom-client|@kubernetes)/)" },
    },
    {
      name: "libraries-do-no-network",
      severity: "error",
      from: { path: pure },
      to: { path: "^(node:)?(http|https|http2|tls|dgram|child_process|worker_threads|cluster)$" },
    },
    {
      name: "agent-and-controller-share-the-wire-types-only",
      comment: "src/agent is a program of its own; the controller's side of it is client.ts and api.ts.",
      severity: "error",
      from: { path: "^src/(controller|publish|render|plan|kube|admission)/" },
      to: { path: "^src/agent/", pathNot: "^src/agent/(api|client|index)\\.ts$" },
    },
    {
      name: "product-does-not-import-tests",
      severity: "error",
      from: { path: "^(src|machines)/" },
      to: { path: "^(test|\\.ci)/" },
    },
    {
      name: "no-development-package-in-the-product",
      severity: "error",
      from: { path: "^(src|machines)/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
    },
    { name: "not-resolvable", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "no-utils",
      comment: "A file is named for what it holds.",
      severity: "error",
      from: {},
      to: { path: "(^|/)(utils?|helpers?)(\\.ts|/)", pathNot: "node_modules" },
    },
  ],
  options: {
    baseDir: path.resolve(__dirname),
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|coverage)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      extensions: [".ts", ".mts", ".mjs", ".cjs", ".js", ".json"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
