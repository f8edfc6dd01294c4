/** Objects and templates that the engine and the baseline render: routes, their services and endpoint slices. */
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import {
  type CompiledSet,
  createEngine,
  type EngineOptions,
  hostObject,
  type TemplateSource,
} from "../../../src/templating/index.ts";

interface Item {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [key: string]: unknown;
}

export interface Data {
  readonly routes: readonly Item[];
  readonly services: (namespace: string, name: string) => Item | null;
  readonly slices: (namespace: string, name: string) => readonly Item[];
  readonly settings: Readonly<Record<string, unknown>>;
}

/** Every third route has annotations, every fifth three endpoints; all as the API server would send them. */
export function makeData(count: number): Data {
  const routes: Item[] = [];
  const services = new Map<string, Item>();
  const slices = new Map<string, Item[]>();
  for (let i = 0; i < count; i++) {
    const namespace = `team-${i % 40}`;
    const name = `application-${i}`;
    const annotations: Record<string, string> = {};
    if (i % 3 === 0) annotations["example.org/balance"] = i % 2 === 0 ? "LeastConn" : "random";
    if (i % 3 === 1) annotations["example.org/check"] = "true";
    if (i % 4 === 0) annotations["example.org/timeout-server"] = `${10 + (i % 50)}s`;
    if (i % 5 === 0) annotations["example.org/set-headers"] = "X-Team = blue, X-Tier=front";
    if (i % 7 === 0) annotations["example.org/maxconn"] = "200";
    routes.push({
      apiVersion: "example.org/v1",
      kind: "Route",
      metadata: { namespace, name, uid: `uid-${i}`, ...(i % 6 === 5 ? {} : { annotations }) },
      spec: {
        ...(i % 2 === 0 ? { ingressClassName: "haproxy" } : {}),
        rules: [
          {
            host: `www.application-${i}.${namespace}.example.com`,
            http: {
              paths: [
                { path: "/", pathType: "Prefix", backend: { service: { name, port: { number: 8080 } } } },
                { path: "/static", pathType: "Prefix", backend: { service: { name, port: { number: 8080 } } } },
              ],
            },
          },
        ],
      },
    });
    services.set(`${namespace}/${name}`, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace, name },
      spec: { ports: [{ name: "http", port: 8080, targetPort: 9000 + (i % 100) }] },
    });
    slices.set(`${namespace}/${name}`, [
      {
        apiVersion: "discovery.k8s.io/v1",
        kind: "EndpointSlice",
        metadata: { namespace, name: `${name}-x` },
        endpoints: Array.from({ length: i % 5 === 0 ? 4 : 3 }, (_, e) => ({
          addresses: [`10.${i % 200}.${e}.${(i * 7 + e) % 250}`],
          conditions: { ready: !(i % 11 === 0 && e === 0) },
        })),
      },
    ]);
  }
  const none: readonly Item[] = [];
  return {
    routes,
    services: (namespace, name) => services.get(`${namespace}/${name}`) ?? null,
    slices: (namespace, name) => slices.get(`${namespace}/${name}`) ?? none,
    settings: {
      maxconn: 20_000,
      global: ["log stdout format raw local0", "ssl-default-bind-options ssl-min-ver TLSv1.2"],
    },
  };
}

export function templateSources(): TemplateSource[] {
  return globSync(`${import.meta.dirname}/*.tmpl`).map((file) => ({
    name: basename(file, ".tmpl"),
    text: readFileSync(file, "utf8"),
  }));
}

export function engineOptions(sources: readonly TemplateSource[]): EngineOptions {
  return {
    sources,
    entries: [{ template: "haproxy.cfg", kind: "root" }],
    incremental: () => false,
    globals: { root: { resources: { type: "Stores" }, settings: { type: "map[string]any" } }, component: {} },
    hostTypes: {
      Stores: { members: { routes: "Store", services: "Store", slices: "Store" } },
      Store: {
        methods: {
          List: { signature: "func() []any", reads: true },
          Fetch: { signature: "func(keys ...any) []any", reads: true },
          GetSingle: { signature: "func(keys ...any) any", reads: true },
        },
      },
    },
  };
}

export function compile(sources: readonly TemplateSource[]): CompiledSet {
  const set = createEngine(engineOptions(sources));
  if (set.problems.length > 0) throw new Error(set.problems.map((problem) => problem.text).join("\n"));
  return set;
}

type Lookup = (namespace: string, name: string) => unknown;

export function globalsOf({ routes, services, slices, settings }: Data): Readonly<Record<string, unknown>> {
  const none: Lookup = () => [];
  const store = (list: () => unknown, fetch: Lookup, single: Lookup): unknown =>
    hostObject("Store", { List: list, Fetch: fetch, GetSingle: single });
  return {
    settings,
    resources: hostObject(
      "Stores",
      {},
      {
        routes: store(() => routes, none, none),
        services: store(() => [], none, services),
        slices: store(() => [], slices, none),
      },
    ),
  };
}
