/** Stores: what a write, a snapshot and a read cost at 10,000 and 50,000 objects. `node test/bench/stores.bench.ts` */
import { createStoreSet, ObjectStore, type KubeObject } from "../../src/stores/index.ts";

const text = (i: number, version: number): string =>
  JSON.stringify({
    apiVersion: "networking.k8s.io/v1",
    kind: "Ingress",
    metadata: {
      name: `ingress-${i}`,
      namespace: `team-${i % 97}`,
      uid: `00000000-0000-0000-0000-${i}`,
      resourceVersion: String(version),
      generation: version,
      labels: { app: `app-${i}`, tier: "web" },
      annotations: { "demo.io/timeout": `${version}s` },
      managedFields: [{ manager: "kubectl", operation: "Update", fieldsV1: { "f:spec": { "f:rules": {} } } }],
    },
    spec: {
      ingressClassName: "haptic",
      tls: [{ hosts: [`h${i}.example.com`], secretName: `tls-${i}` }],
      rules: [{ host: `h${i}.example.com`, http: { paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: `s${i}`, port: { number: 80 } } } }] } }],
    },
  });
const parse = (i: number, version: number): KubeObject => JSON.parse(text(i, version)) as KubeObject;

function quantiles(samples: Float64Array): string {
  const sorted = samples.toSorted();
  const at = (q: number): string => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]!.toFixed(2).padStart(8);
  return `p50 ${at(0.5)}  p95 ${at(0.95)}  p99 ${at(0.99)}  max ${at(1)}  µs`;
}

function measure(name: string, count: number, prepare: (i: number) => unknown, run: (input: never) => unknown): void {
  const samples = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const input = prepare(i) as never;
    const start = performance.now();
    run(input);
    samples[i] = (performance.now() - start) * 1000;
  }
  process.stdout.write(`${name.padEnd(44)} ${quantiles(samples)}\n`);
}

for (const size of [10_000, 50_000]) {
  const store = new ObjectStore({ indexBy: ["metadata.namespace", "metadata.name"], ignoreFields: ["metadata.managedFields"], fieldSelector: "" }, "v1");
  const set = createStoreSet([["ingresses", store]]);
  const objects = Array.from({ length: size }, (_, i) => parse(i, 1));
  const start = performance.now();
  store.page(objects);
  process.stdout.write(`\n${size} objects: loaded in ${(performance.now() - start).toFixed(1)} ms\n`);
  let n = 0;
  const pick = (): number => (n += 7919) % size;
  const rounds = 5_000;
  measure("write of a changed object", rounds, (i) => parse(pick(), i + 2), (object) => store.upsert(object));
  measure("write that changes nothing", rounds, () => structuredClone(store.version().list()[pick()]), (object) => store.upsert(object));
  measure("snapshot, write of a changed object", rounds, (i) => parse(pick(), i + 10_002), (object) => (set.snapshot(), store.upsert(object)));
  measure("snapshot after a write", rounds, (i) => store.upsert(parse(pick(), i + 20_002)), () => set.snapshot());
  measure("delete and add again", rounds, () => parse(pick(), 1), (object) => (store.remove(object), store.upsert(object)));
  measure("fetch of one namespace", rounds, () => 0, () => set.snapshot().alias("ingresses")!.fetch([`team-${pick() % 97}`]));
  measure("fetch of one object", rounds, () => pick(), (i) => set.snapshot().alias("ingresses")!.fetch([`team-${i % 97}`, `ingress-${i}`]));
  measure("get by id", rounds, () => pick(), (i) => set.snapshot().alias("ingresses")!.get(`team-${i % 97}/ingress-${i}`));
  measure("list of a new revision", 200, (i) => store.upsert(parse(pick(), i + 30_002)), () => set.snapshot().alias("ingresses")!.list());
  measure("list again", rounds, () => 0, () => set.snapshot().alias("ingresses")!.list());
  const older = set.snapshot();
  for (let i = 0; i < 100; i++) store.upsert(parse(pick(), i + 40_002));
  measure("changes since 100 writes ago", 200, () => 0, () => set.snapshot().changesSince(older));
  const same = JSON.parse(JSON.stringify(set.snapshot().alias("ingresses")!.list())) as KubeObject[];
  const relist = performance.now();
  store.beginReplace();
  for (let i = 0; i < size; i += 100) store.page(same.slice(i, i + 100));
  store.endReplace();
  process.stdout.write(`identical relist: ${(performance.now() - relist).toFixed(1)} ms, changes ${store.revision - set.snapshot().revision}\n`);
}
