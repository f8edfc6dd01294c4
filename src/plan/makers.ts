/** Who made what differs between two plans, as far as the render that made the newer one knows. */
import type { RenderPlan } from "./types.ts";

/** `Ingress default/web`; cluster-scoped objects have no namespace. `id` is `namespace/name`. */
export function objectName(kind: string, id: string): string {
  return `${kind} ${id.startsWith("/") ? id.slice(1) : id}`;
}

/** The first of many, and how many more there are. */
export function fewObjects(objects: Iterable<string>): string {
  const [first = "", second, ...more] = new Set([...objects].filter((object) => object !== ""));
  if (second === undefined) return first;
  return more.length === 0 ? `${first} and ${second}` : `${first} and ${more.length + 1} more`;
}

export class Makers {
  readonly #next: RenderPlan;
  readonly #baseline: RenderPlan;

  constructor(next: RenderPlan, baseline: RenderPlan) {
    this.#next = next;
    this.#baseline = baseline;
  }

  /** Name of the configuration where it is another one than the baseline's; "" where it is the same, or nobody knows. */
  get #configuration(): string {
    const [was, is] = [this.#baseline.origins?.configuration, this.#next.origins?.configuration];
    if (was === undefined || is === undefined || was === is || was.id === is.id) return "";
    return is.name === "" ? "the configuration" : is.name;
  }

  /** The object behind a part; `rendered` is the one whose template run wrote it, where that is known. */
  of(part: string, rendered = ""): string {
    const known = this.#next.origins?.objects.get(part);
    const configuration = this.#configuration;
    if (configuration === "") return known ?? rendered;
    return rendered === "" ? (known ?? configuration) : `${configuration} for ${rendered}`;
  }

  /** Where the templates write a section or a line of it. */
  field(section: string, line?: string): string {
    return this.#next.origins?.configuration.place(section, line)?.field ?? "haproxyConfig.template";
  }
}
