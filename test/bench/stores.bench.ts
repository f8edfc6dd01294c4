/** Stores: what a write, a snapshot and a read cost at 10,000 and 50,000 objects (times in µs). */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createStoreSet, ObjectStore, type KubeObject } from "../../src/stores/index.ts";
import { OrderedTree } from "../../src/stores/ordered-tree.ts";
import { recordRow } from "../support/report.ts";

const ROUNDS = 5_000;

/** An ingress-like object with everything that a real one carries. */
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
      rules: [
        {
          host: `h${i}.example.com`,
          http: {
            paths: [{ path: "/", pathType: "Prefix", backend: { service: { name: `s${i}`, port: { number: 80 } } } }],
          },
        },
      ],
    },
  });
const parse = (i: number, version: number): KubeObject => JSON.parse(text(i, version)) as KubeObject;

/** Times `run` alone; `prepare` makes its input. */
function measure<T>(
  name: string,
  objects: number,
  rounds: number,
  prepare: (round: number) => T,
  run: (input: T) => unknown,
): void {
  const samples = new Float64Array(rounds);
  for (let i = 0; i < rounds; i++) {
    const input = prepare(i);
    const start = performance.now();
    run(input);
    samples[i] = (performance.now() - start) * 1000;
  }
  const sorted = samples.toSorted();
  const at = (q: number): number => sorted[Math.min(rounds - 1, Math.floor(q * rounds))]!;
  recordRow({ name: `store: ${name}, µs`, objects, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) });
}

for (const size of [10_000, 50_000]) {
  test(`Stores are measured with ${size} objects`, () => {
    let at = 0;
    const pick = (): number => (at = (at + 7919) % size);
    const key = (i: number): string => `team-${i % 97}\u0000ingress-${i}\u0000`;

    const tree = new OrderedTree<number>();
    for (let i = 0; i < size; i++) tree.set(key(i), i);
    measure(
      "write of the ordered structure alone, each after a snapshot",
      size,
      ROUNDS,
      () => (tree.version(), key(pick())),
      (k) => tree.set(k, 1),
    );

    const store = new ObjectStore(
      { indexBy: ["metadata.namespace", "metadata.name"], ignoreFields: ["metadata.managedFields"], fieldSelector: "" },
      "networking.k8s.io/v1",
    );
    const set = createStoreSet([["ingresses", store]]);
    const view = (): NonNullable<ReturnType<ReturnType<typeof set.snapshot>["alias"]>> =>
      set.snapshot().alias("ingresses")!;
    const objects = Array.from({ length: size }, (_, i) => parse(i, 1));
    for (let i = 0; i < size; i += 100) store.page(objects.slice(i, i + 100));
    let version = 1;
    const changed = (): KubeObject => parse(pick(), ++version);
    measure(
      "parse of an object (floor of a write)",
      size,
      ROUNDS,
      () => text(pick(), 1),
      (line) => JSON.parse(line) as unknown,
    );
    measure("write of a changed object", size, ROUNDS, changed, (object) => store.upsert(object));
    measure(
      "write that changes nothing",
      size,
      ROUNDS,
      () => structuredClone(view().list()[pick()]!),
      (object) => store.upsert(object),
    );
    measure(
      "snapshot and write of a changed object",
      size,
      ROUNDS,
      changed,
      (object) => (set.snapshot(), store.upsert(object)),
    );
    measure(
      "snapshot after a write",
      size,
      ROUNDS,
      () => store.upsert(changed()),
      () => set.snapshot(),
    );
    measure(
      "deletion and addition",
      size,
      ROUNDS,
      () => parse(pick(), 1),
      (object) => (store.remove(object), store.upsert(object)),
    );
    measure(
      "fetch of a namespace",
      size,
      1_000,
      () => [`team-${pick() % 97}`],
      (keys) => view().fetch(keys),
    );
    measure(
      "fetch of one object",
      size,
      ROUNDS,
      () => {
        const i = pick();
        return [`team-${i % 97}`, `ingress-${i}`];
      },
      (keys) => view().fetch(keys),
    );
    measure(
      "get by id",
      size,
      ROUNDS,
      () => {
        const i = pick();
        return `team-${i % 97}/ingress-${i}`;
      },
      (id) => view().get(id),
    );
    measure(
      "list of a new revision",
      size,
      200,
      () => store.upsert(changed()),
      () => view().list(),
    );
    measure(
      "list of the same revision",
      size,
      ROUNDS,
      () => 0,
      () => view().list(),
    );
    const older = set.snapshot();
    for (let i = 0; i < 100; i++) store.upsert(changed());
    measure(
      "changes of 100 writes",
      size,
      200,
      () => 0,
      () => set.snapshot().changesSince(older),
    );

    const again = JSON.parse(JSON.stringify(view().list())) as KubeObject[];
    const { revision } = store;
    store.beginReplace();
    let from = 0;
    measure(
      "page of 100 of an identical relist",
      size,
      size / 100,
      () => again.slice(from, (from += 100)),
      (page) => store.page(page),
    );
    store.endReplace();
    assert.is(store.revision, revision);
    assert.is(store.size, size);
  });
}

test.run();
