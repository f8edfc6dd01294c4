/** Which resources are served, by group, version and plural. Custom resources come and go while the server runs. */
import type { ResourceDefinition, View } from "./definition.ts";

export class Registry {
  readonly #views = new Map<string, View>();
  readonly #order: View[] = [];
  #generation = 0;

  /** Grows with each change: discovery documents are made again. */
  get generation(): number {
    return this.#generation;
  }

  add(view: View): void {
    const id = `${view.apiVersion}/${view.definition.plural}`;
    const known = this.#views.get(id);
    this.#views.set(id, view);
    if (known === undefined) this.#order.push(view);
    else this.#order[this.#order.indexOf(known)] = view;
    this.#generation++;
  }

  remove(view: View): void {
    const id = `${view.apiVersion}/${view.definition.plural}`;
    if (this.#views.get(id) !== view) return;
    this.#views.delete(id);
    this.#order.splice(this.#order.indexOf(view), 1);
    this.#generation++;
  }

  find(apiVersion: string, plural: string): View | undefined {
    return this.#views.get(`${apiVersion}/${plural}`);
  }

  /** The view that serves `kind` in `apiVersion`. */
  findKind(apiVersion: string, kind: string): View | undefined {
    return this.#order.find((view) => view.apiVersion === apiVersion && view.definition.kind === kind);
  }

  /** The view in which objects of a definition are stored. */
  storageView(group: string, plural: string): View | undefined {
    return this.#order.find(
      (view) =>
        view.definition.group === group &&
        view.definition.plural === plural &&
        view.version === view.definition.storageVersion &&
        view.group === group,
    );
  }

  /** In the order of registration. */
  views(): readonly View[] {
    return this.#order;
  }

  definitions(): readonly ResourceDefinition[] {
    return [...new Set(this.#order.map((view) => view.definition))];
  }
}
