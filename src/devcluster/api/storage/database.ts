/** Every resource's store under one revision counter, and the index of owner references that garbage collection uses. */
import type { ApiObject } from "../objects.ts";
import { qualified } from "../status.ts";
import type { ResourceName } from "../status.ts";
import { ResourceStore } from "./resource-store.ts";
import type { Change } from "./record.ts";

/** Where a dependent lives. */
export interface StoredAt {
  readonly resource: ResourceName;
  readonly key: string;
}

export class Database {
  readonly #stores = new Map<string, ResourceStore>();
  readonly #byUid = new Map<string, StoredAt>();
  readonly #dependents = new Map<string, Map<string, StoredAt>>();
  readonly #historyCapacity: number;
  readonly #listeners: ((resource: ResourceName, change: Change) => void)[] = [];
  /** Where a store that is made again begins to know its past. */
  readonly #dropped = new Map<string, number>();
  #revision = 0;

  constructor(historyCapacity: number) {
    this.#historyCapacity = historyCapacity;
  }

  get revision(): number {
    return this.#revision;
  }

  /** The store of a resource; made on first use. */
  store(resource: ResourceName): ResourceStore {
    const id = qualified(resource.plural, resource.group);
    const known = this.#stores.get(id);
    if (known !== undefined) return known;
    const store = new ResourceStore(
      { next: () => ++this.#revision, current: () => this.#revision },
      this.#historyCapacity,
    );
    store.history.expire(this.#dropped.get(id) ?? 0);
    store.listen((change) => {
      this.#index(resource, id, change);
      for (const listener of this.#listeners) listener(resource, change);
    });
    this.#stores.set(id, store);
    return store;
  }

  /** `listener` hears each change of every resource, in the moment it is stored. */
  listen(listener: (resource: ResourceName, change: Change) => void): void {
    this.#listeners.push(listener);
  }

  drop(resource: ResourceName): void {
    const id = qualified(resource.plural, resource.group);
    this.#stores.get(id)?.close();
    this.#stores.delete(id);
    this.#dropped.set(id, this.#revision);
  }

  /** Where the object with this uid is. */
  locate(uid: string): StoredAt | undefined {
    return this.#byUid.get(uid);
  }

  /** Objects that name `uid` as an owner. */
  dependentsOf(uid: string): readonly StoredAt[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  /** Forgets the past of every resource: watches from older revisions and old continue tokens are then refused. */
  expireHistory(): void {
    for (const store of this.#stores.values()) store.history.expire(this.#revision);
  }

  #index(resource: ResourceName, id: string, change: Change): void {
    const key = change.after.key;
    const member = `${id}/${key}`;
    for (const owner of owners(change.before?.object)) {
      const members = this.#dependents.get(owner);
      members?.delete(member);
      if (members?.size === 0) this.#dependents.delete(owner);
    }
    const uid = change.after.object.metadata.uid ?? "";
    if (change.deleted) {
      this.#byUid.delete(uid);
      return;
    }
    if (change.before === undefined) this.#byUid.set(uid, { resource, key });
    for (const owner of owners(change.after.object)) {
      let members = this.#dependents.get(owner);
      if (members === undefined) this.#dependents.set(owner, (members = new Map()));
      members.set(member, { resource, key });
    }
  }
}

const owners = (object: ApiObject | undefined): readonly string[] =>
  object?.metadata.ownerReferences?.map((reference) => reference.uid) ?? [];
