import { test } from "uvu";
import * as assert from "uvu/assert";
import fc from "fast-check";
import {
  createStoreSet,
  ObjectStore,
  objectId,
  sameContent,
  type KubeObject,
  type StoreSnapshot,
} from "../../../src/stores/index.ts";

const OPTIONS = {
  indexBy: ["metadata.namespace", "spec.key"],
  ignoreFields: ["metadata.managedFields"],
  fieldSelector: "spec.on=yes",
};

interface Spec {
  readonly key?: string;
  readonly on: string;
  readonly value: number;
}

const objectOf = (namespace: string, name: string, spec: Spec, resourceVersion = "1", noise = 0): KubeObject => ({
  apiVersion: "demo.io/v1",
  kind: "Thing",
  metadata: { name, namespace, resourceVersion, managedFields: [{ noise }] },
  spec: { ...spec },
});

const names = fc.constantFrom("a", "b", "c", "d", "e");
const namespaces = fc.constantFrom("n", "n-1", "m");
const specs: fc.Arbitrary<Spec> = fc.record(
  {
    key: fc.constantFrom("k", "k\u0000", "k\u0001", "k\u0000\u0001", "", "kk", "\u0001", "ä", "k!"),
    on: fc.constantFrom("yes", "yes", "yes", "no"),
    value: fc.nat(2),
  },
  { requiredKeys: ["on", "value"] },
);

type Step =
  | { readonly do: "put"; readonly object: KubeObject }
  | { readonly do: "delete"; readonly namespace: string; readonly name: string }
  | { readonly do: "relist"; readonly objects: readonly KubeObject[]; readonly brokenAfter: number }
  | { readonly do: "snapshot" };

const objects = fc
  .tuple(namespaces, names, specs, fc.nat(9), fc.nat(3))
  .map(([namespace, name, spec, version, noise]) => objectOf(namespace, name, spec, String(version), noise));
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: objects.map((object) => ({ do: "put", object }) as const) },
    {
      weight: 3,
      arbitrary: fc.tuple(namespaces, names).map(([namespace, name]) => ({ do: "delete", namespace, name }) as const),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.uniqueArray(objects, { selector: objectId }), fc.nat(4))
        .map(([list, brokenAfter]) => ({ do: "relist", objects: list, brokenAfter }) as const),
    },
    { weight: 2, arbitrary: fc.constant({ do: "snapshot" } as const) },
  ),
  { maxLength: 60 },
);

/** The naive store: a Map, filtered and sorted at each read. */
class Model {
  readonly all = new Map<string, KubeObject>();

  content(): KubeObject[] {
    const held = [...this.all.values()].filter((object) => {
      const spec = object["spec"] as Spec;
      return spec.on === "yes" && spec.key !== undefined;
    });
    const part = (object: KubeObject): string[] => [
      object.metadata.namespace!,
      (object["spec"] as Spec).key!,
      object.metadata.namespace!,
      object.metadata.name,
    ];
    return held.toSorted((a, b) => {
      for (const [i, left] of part(a).entries()) {
        const right = part(b)[i]!;
        if (left !== right) return left < right ? -1 : 1;
      }
      return 0;
    });
  }
}

const bare = (object: KubeObject): unknown => {
  const { managedFields: _noise, resourceVersion: _version, ...metadata } = object.metadata;
  return { ...object, metadata };
};
const bareAll = (list: readonly KubeObject[]): unknown[] => list.map(bare);

test("After any sequence of writes and relists the store equals a naive model, and old snapshots stay what they were", () => {
  fc.assert(
    fc.property(steps, (sequence) => {
      const store = new ObjectStore(OPTIONS, "demo.io/v1");
      const set = createStoreSet([["things", store]]);
      const model = new Model();
      const taken: { snapshot: StoreSnapshot; content: unknown[]; ids: Map<string, unknown> }[] = [];
      const put = (object: KubeObject): void => {
        const before = JSON.stringify(bareAll(model.content()));
        model.all.set(objectId(object), object);
        const changed = store.upsert(structuredClone(object));
        assert.is(changed, before !== JSON.stringify(bareAll(model.content())));
      };
      for (const step of sequence) {
        if (step.do === "put") put(step.object);
        else if (step.do === "delete") {
          const before = model.content().length;
          model.all.delete(`${step.namespace}/${step.name}`);
          const changed = store.remove({ metadata: { namespace: step.namespace, name: step.name } });
          assert.is(changed, before !== model.content().length);
        } else if (step.do === "relist") {
          // A list that breaks off, then a whole one.
          store.beginReplace();
          for (const object of step.objects.slice(0, step.brokenAfter)) put(object);
          store.beginReplace();
          store.page(structuredClone(step.objects.slice(0, 3)));
          store.page(structuredClone(step.objects.slice(3)));
          store.endReplace();
          model.all.clear();
          for (const object of step.objects) model.all.set(objectId(object), object);
        } else {
          const content = model.content();
          taken.push({
            snapshot: set.snapshot(),
            content: bareAll(content),
            ids: new Map(content.map((o) => [objectId(o), bare(o)])),
          });
        }
      }
      taken.push({
        snapshot: set.snapshot(),
        content: bareAll(model.content()),
        ids: new Map(model.content().map((o) => [objectId(o), bare(o)])),
      });
      for (const { snapshot, content, ids } of taken) {
        const view = snapshot.alias("things")!;
        assert.equal(bareAll(view.list()), content);
        assert.is(view.size, content.length);
        for (const [id, object] of ids) assert.equal(bare(view.get(id)!), object);
        for (const keys of [["n"], ["m", "k"], ["n", "k\u0000"], ["n", ""], ["n-1", "k\u0001"], ["absent"]]) {
          const wanted = content.filter((object) => {
            const { metadata, spec } = object as KubeObject & { spec: Spec };
            return metadata.namespace === keys[0] && (keys[1] === undefined || spec.key === keys[1]);
          });
          assert.equal(bareAll(view.fetch(keys)), wanted);
        }
      }
      // Every pair of snapshots: the change log against a comparison of the two.
      for (const [i, older] of taken.entries()) {
        for (const newer of taken.slice(i)) {
          const differing = new Set<string>();
          for (const id of new Set([...older.ids.keys(), ...newer.ids.keys()])) {
            const [a, b] = [older.ids.get(id), newer.ids.get(id)];
            if (a === undefined || b === undefined || !sameContent(a as KubeObject, b as KubeObject)) differing.add(id);
          }
          const changes = newer.snapshot.changesSince(older.snapshot)!;
          assert.equal(changes.map((change) => change.id).toSorted(), [...differing].toSorted());
          for (const { id, before, after } of changes) {
            const keysOf = (object: unknown): string[] | undefined =>
              object === undefined
                ? undefined
                : [(object as KubeObject).metadata.namespace!, ((object as KubeObject)["spec"] as Spec).key!];
            assert.equal(before, keysOf(older.ids.get(id)));
            assert.equal(after, keysOf(newer.ids.get(id)));
          }
        }
      }
    }),
    { numRuns: 400 },
  );
});

test("A tree of many objects stays ordered through growth, shrinking and interleaved versions", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(1500), fc.boolean()), { minLength: 500, maxLength: 3000 }), (writes) => {
      const store = new ObjectStore({ indexBy: ["metadata.name"], ignoreFields: [], fieldSelector: "" }, "v1");
      const held = new Set<string>();
      let frozen: { list: readonly KubeObject[]; names: string[] } | undefined;
      const object = (name: string): KubeObject => ({
        apiVersion: "v1",
        kind: "Thing",
        metadata: { name, namespace: "n" },
      });
      for (let i = 0; i < 1500; i++) {
        store.upsert(object(`o${i}`));
        held.add(`o${i}`);
      }
      for (const [i, [n, add]] of writes.entries()) {
        if (add) {
          store.upsert(object(`o${n}`));
          held.add(`o${n}`);
        } else {
          // Runs of deletions make nodes shrink and merge.
          for (let k = n; k < n + 5; k++) {
            store.remove({ metadata: { name: `o${k}`, namespace: "n" } });
            held.delete(`o${k}`);
          }
        }
        if (i === writes.length >>> 1) frozen = { list: store.version().list(), names: [...held].toSorted() };
      }
      const list = (objects: readonly KubeObject[]): string[] => objects.map((o) => o.metadata.name);
      assert.equal(list(store.version().list()), [...held].toSorted());
      assert.equal(list(frozen!.list), frozen!.names);
      for (const name of held) assert.is(store.version().get(`n/${name}`)?.metadata.name, name);
    }),
    { numRuns: 15 },
  );
});

test("An identical relist changes nothing, whatever the resource versions say", () => {
  const store = new ObjectStore(OPTIONS, "demo.io/v1");
  const list = (version: string): KubeObject[] =>
    ["a", "b", "c"].map((name) => objectOf("n", name, { key: "k", on: "yes", value: 1 }, version, Number(version)));
  store.page(list("1"));
  const before = store.version();
  store.beginReplace();
  assert.is(store.page(list("2")), 0);
  assert.is(store.endReplace(), 0);
  assert.is(store.version(), before);
});

test("During a relist nothing disappears before its end", () => {
  const store = new ObjectStore(OPTIONS, "demo.io/v1");
  const make = (name: string): KubeObject => objectOf("n", name, { key: "k", on: "yes", value: 1 });
  store.page([make("a"), make("b")]);
  store.beginReplace();
  store.page([make("b")]);
  assert.is(store.size, 2);
  assert.is(store.endReplace(), 1);
  assert.equal(
    store
      .version()
      .list()
      .map((o) => o.metadata.name),
    ["b"],
  );
});

test("An object that loses an indexed field leaves the store, is named, and comes back with the field", () => {
  const store = new ObjectStore(OPTIONS, "demo.io/v1");
  assert.ok(store.upsert(objectOf("n", "a", { key: "k", on: "yes", value: 1 })));
  assert.ok(store.upsert(objectOf("n", "a", { on: "yes", value: 1 })));
  assert.is(store.size, 0);
  assert.equal([...store.unindexed], [["n/a", "spec.key"]]);
  assert.ok(store.upsert(objectOf("n", "a", { key: "k", on: "yes", value: 1 })));
  assert.is(store.unindexed.size, 0);
});

test("A field selector turns leaving into a deletion and entering into an addition", () => {
  const store = new ObjectStore(OPTIONS, "demo.io/v1");
  const set = createStoreSet([["things", store]]);
  assert.not(store.upsert(objectOf("n", "a", { key: "k", on: "no", value: 1 })));
  const s0 = set.snapshot();
  store.upsert(objectOf("n", "a", { key: "k", on: "yes", value: 1 }));
  const s1 = set.snapshot();
  assert.equal(s1.changesSince(s0), [{ alias: "things", id: "n/a", before: undefined, after: ["n", "k"] }]);
  store.upsert(objectOf("n", "a", { key: "k", on: "no", value: 1 }));
  assert.equal(set.snapshot().changesSince(s1), [{ alias: "things", id: "n/a", before: ["n", "k"], after: undefined }]);
});

test("Stored objects are frozen through and through, without the ignored fields, and hostile keys stay plain data", () => {
  const store = new ObjectStore(
    { indexBy: ["metadata.name"], ignoreFields: ["metadata.managedFields", "spec.__proto__.x"], fieldSelector: "" },
    "v1",
  );
  const hostile = JSON.parse(
    '{"apiVersion":"v1","kind":"Thing","metadata":{"name":"a","managedFields":[1]},"spec":{"__proto__":{"x":1,"y":{"deep":[{}]}},"constructor":{"prototype":null}}}',
  ) as KubeObject;
  store.upsert(hostile);
  const kept = store.version().get("/a")!;
  assert.is(
    JSON.stringify(kept),
    '{"apiVersion":"v1","kind":"Thing","metadata":{"name":"a"},"spec":{"__proto__":{"y":{"deep":[{}]}},"constructor":{"prototype":null}}}',
  );
  const frozen = (value: unknown): boolean =>
    typeof value !== "object" ||
    value === null ||
    (Object.isFrozen(value) && Object.keys(value).every((key) => frozen((value as Record<string, unknown>)[key])));
  assert.ok(frozen(kept));
  assert.is(({} as Record<string, unknown>)["x"], undefined);
  const changed = structuredClone(JSON.parse(JSON.stringify(kept))) as KubeObject;
  assert.not(store.upsert(changed));
});

test("An object nested deeper than calls can go is stored, compared and trimmed", () => {
  const depth = 50_000;
  const deep = (leaf: number): KubeObject => {
    let value: unknown = leaf;
    for (let i = 0; i < depth; i++) value = [value];
    return { apiVersion: "v1", kind: "Thing", metadata: { name: "a" }, spec: value };
  };
  const store = new ObjectStore({ indexBy: ["metadata.name"], ignoreFields: ["spec.x"], fieldSelector: "" }, "v1");
  assert.ok(store.upsert(deep(1)));
  assert.not(store.upsert(deep(1)));
  assert.ok(store.upsert(deep(2)));
});

test("Beyond its bound the change log says that it does not know", () => {
  const store = new ObjectStore({ indexBy: ["metadata.name"], ignoreFields: [], fieldSelector: "" }, "v1", 10);
  const set = createStoreSet([["things", store]]);
  const s0 = set.snapshot();
  const put = (n: number): boolean => store.upsert({ apiVersion: "v1", kind: "Thing", metadata: { name: `o${n}` } });
  for (let i = 0; i < 10; i++) put(i);
  const s1 = set.snapshot();
  assert.is(s1.changesSince(s0)?.length, 10);
  for (let i = 10; i < 21; i++) put(i);
  assert.is(set.snapshot().changesSince(s0), undefined);
  assert.is(set.snapshot().changesSince(s1), undefined);
  const s2 = set.snapshot();
  put(30);
  assert.is(set.snapshot().changesSince(s2)?.length, 1);
});

test("A snapshot of a set is the same one until something changes, and a replaced store is not compared", () => {
  const options = { indexBy: ["metadata.name"], ignoreFields: [], fieldSelector: "" };
  const store = new ObjectStore(options, "v1");
  const set = createStoreSet([["things", store]]);
  const s0 = set.snapshot();
  assert.is(set.snapshot(), s0);
  assert.is(s0.alias("things")!.list(), s0.alias("things")!.list());
  set.attach("things", new ObjectStore(options, "v2"));
  const s1 = set.snapshot();
  assert.ok(s1.revision > s0.revision);
  assert.is(s1.changesSince(s0), undefined);
  assert.is(s1.alias("things")!.apiVersion, "v2");
  set.attach("others", store);
  assert.is(set.snapshot().changesSince(s1), undefined);
  set.detach("others");
  assert.equal(set.snapshot().changesSince(s1), []);
});

test("A fetch with no key or more keys than the index has finds nothing", () => {
  const store = new ObjectStore(OPTIONS, "demo.io/v1");
  store.upsert(objectOf("n", "a", { key: "k", on: "yes", value: 1 }));
  assert.equal(store.version().fetch([]), []);
  assert.equal(store.version().fetch(["n", "k", "x"]), []);
  assert.is(store.version().fetch(["n", "k"]).length, 1);
});

test.run();
