/** Who made what differs between two plans, as far as the render that made the newer one knows. */
import type { RenderPlan } from "./types.ts";

/** `Ingress default/web`; cluster-scoped objects have no namespace. `id` is `namespace/name`. */
export function objectName(kind: string, id: string): string {
  return `${kind} ${id.replace(/^\//, "")}`;
}

/** The first of many, and how many more there are. */
export function fewObjects(objects: Iterable<string>): string {
  const [first = "", second, ...more] = new Set([...objects].filter((object) => object !== ""));
  if (second === undefined) return first;
  return more.length === 0 ? `${first} and ${second}` : `${first} and ${more.length + 1} more`;
}

export class Makers {
  /** Name of the configuration where it is another one than the baseline's; "" where it is the same, or nobody knows. */
  readonly configuration: string;
  readonly #next: RenderPlan;

  constructor(next: RenderPlan, baseline: RenderPlan) {
    const [was, is] = [baseline.origins, next.origins];
    const changed = was !== undefined && is !== undefined && was.configuration !== is.configuration;
    this.configuration = changed ? is.configurationName || "the configuration" : "";
    this.#next = next;
  }

  /** The object behind a part; `rendered` is the one whose template run wrote it, where that is known. */
  of(part: string, rendered = ""): string {
    if (rendered !== "") return this.configuration === "" ? rendered : `${this.configuration} for ${rendered}`;
    return this.#next.origins?.objects.get(part) ?? this.configuration;
  }

  /** Where the templates write a section or a line of it. */
  field(section: string, line?: string): string {
    return this.#next.origins?.place(section, line)?.field ?? "haproxyConfig.template";
  }
}
