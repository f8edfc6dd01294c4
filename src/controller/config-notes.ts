/** What a person should know of a configuration beside its verdict: resources without types, calls that have no effect yet. */
import type { FaultRegistry } from "../observe/index.ts";
import type { CallNotice } from "../render/types.ts";
import type { Log } from "./ports.ts";
import type { ResourceTyping } from "./resource-schemas.ts";

/** Calls that the debug page lists; the faults count them all. */
const LISTED = 200;

export interface ConfigNotesDeps {
  readonly faults: FaultRegistry;
  readonly log: Log;
  /** `Kind namespace/name` of the configuration object. */
  readonly configName: string;
}

export class ConfigNotes {
  readonly #deps: ConfigNotesDeps;
  #typings: readonly ResourceTyping[] = [];
  #calls: readonly CallNotice[] = [];

  constructor(deps: ConfigNotesDeps) {
    this.#deps = deps;
  }

  /** Of the configuration that was tried last. */
  get typings(): readonly ResourceTyping[] {
    return this.#typings;
  }

  /** Calls of the last render that are recorded and not carried out: what, by which template, about what. */
  get calls(): readonly object[] {
    return this.#calls
      .slice(0, LISTED)
      .map(({ call: { call, subject }, template, message }) => ({ call, template, subject, message }));
  }

  noteTypings(typings: readonly ResourceTyping[]): void {
    const before = new Map(this.#typings.map((typing) => [typing.alias, typing]));
    this.#typings = typings;
    for (const { alias, resource, typed, why } of typings) {
      const old = before.get(alias);
      if (old?.resource === resource && old.typed === typed && old.why === why) continue;
      if (typed) this.#deps.log.debug({ alias, resource }, "Fields of a watched resource are checked in templates");
      else
        this.#deps.log.warn({ alias, resource, why }, "Fields of a watched resource are not checked: it has no schema");
    }
  }

  /** A render hands the same list on while none came or went. */
  noteCalls(calls: readonly CallNotice[]): void {
    if (calls === this.#calls) return;
    this.#calls = calls;
    const found = new Map<string, { readonly subject: string; count: number }>();
    for (const { call, template } of calls) {
      const key = `${call.call} in ${template}`;
      const known = found.get(key);
      if (known === undefined) found.set(key, { subject: call.subject, count: 1 });
      else known.count += 1;
    }
    const object = this.#deps.configName;
    const messages = [...found].map(
      ([what, { subject, count }]) => `${what} (${subject}${count === 1 ? "" : ` and ${count - 1} more`})`,
    );
    const message = `recorded, without an effect in this version: ${messages.join(", ")}`;
    this.#deps.faults.state("calls", messages.length === 0 ? [] : [{ object, reason: "NotCarriedOut", message }]);
  }
}
