/**
 * Tells a person what happens: the steps of the start, each change that is in force and how long it took, faults that come
 * and go. It reads the controller's log (one JSON object a line) and hears of the objects as they are stored.
 */
import { InForceLedger, type InForce } from "./in-force.ts";
import type { DevListener } from "./session.ts";

/** Where the lines go: text for people, or one JSON object each. */
export interface Outlet {
  line(text: string, fields: Readonly<Record<string, unknown>>): void;
}

export interface NarratorOptions {
  readonly pods: number;
  readonly controllers: number;
  readonly outlet: Outlet;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Every line of every container too. */
  readonly verbose: boolean;
  /** Adds where in the manifests a message speaks of. */
  readonly placed?: (message: string) => string;
}

const KEPT_LINES = 20;

/** What HAProxy adds to every refusal, after it has said what is wrong. */
const CLOSING_REMARK = /Error\(s\) found in configuration file|Fatal errors found in configuration\./;

/** An agent that will not ask HAProxy again yet repeats what HAProxy said. */
const REPEATED = /^known_bad: /;

interface LogLine {
  readonly level?: number;
  readonly msg?: string;
  readonly pod?: string;
  readonly plan?: string;
  readonly mode?: string;
  readonly epoch?: number;
  readonly object?: string;
  readonly field?: string;
  readonly reason?: string;
  readonly message?: string;
}

function parse(line: string): LogLine | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return undefined;
  }
}

export class Narrator implements DevListener {
  readonly #options: NarratorOptions;
  readonly #ledger: InForceLedger;
  readonly #tails = new Map<string, string[]>();
  #hushed = false;
  #serves = false;
  /** Which controllers have a fault, or gave a warning. */
  readonly #faults = new Map<string, Set<string>>();
  /** Faults that were told and are not mended, by object and reason. */
  readonly #standing = new Set<string>();
  readonly #followers = new Set<(reached: InForce) => void>();

  constructor(options: NarratorOptions) {
    this.#options = options;
    this.#ledger = new InForceLedger(options.pods);
  }

  say(line: string): void {
    this.#options.outlet.line(line, { type: "note" });
  }

  /** `follower` hears of each change that is in force; the answer ends that. */
  onInForce(follower: (reached: InForce) => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  changed(object: string): void {
    const now = this.#options.now();
    if (isConfiguration(object)) this.#ledger.configurationChanged(object, now);
    else this.#ledger.changed(object, now);
  }

  output(source: string, line: string): void {
    const tail = this.#tails.get(source) ?? [];
    this.#tails.set(source, [...tail, line].slice(-KEPT_LINES));
    if (this.#options.verbose) this.#options.outlet.line(`${source}: ${line}`, { type: "output", source });
    if (this.#hushed) return;
    const entry = parse(line);
    if (entry !== undefined && source.startsWith("controller")) this.#controllerSaid(source, entry);
    else if (!this.#options.verbose && /\[ALERT\]/.test(line) && !CLOSING_REMARK.test(line))
      this.say(`${source}: ${line}`);
  }

  /** From now on containers end because they shall: what they say about it is no news. */
  hush(): void {
    this.#hushed = true;
  }

  /** The last lines of a source's output, for a report of what went wrong. */
  tail(source: string): readonly string[] {
    return this.#tails.get(source) ?? [];
  }

  get sources(): readonly string[] {
    return [...this.#tails.keys()];
  }

  controllerEnded(controller: string, how: string): void {
    if (this.#hushed) return;
    for (const sources of this.#faults.values()) sources.delete(controller);
    this.#options.outlet.line(`${controller} ended (${how}) and is started again`, {
      type: "controllerEnded",
      controller,
      how,
    });
  }

  /** Of several controllers each tells of a fault; a person hears of it once, until none has it any more. */
  #isNews(source: string, key: string, begins: boolean): boolean {
    const sources = this.#faults.get(key) ?? new Set();
    this.#faults.set(key, sources);
    if (!begins) return sources.delete(source) && sources.size === 0;
    const news = sources.size === 0 || sources.has(source);
    sources.add(source);
    return news;
  }

  #tell(reached: InForce | undefined): void {
    if (reached === undefined) return;
    // The first set is what everything was started for: that there is live traffic says it, and how long it took.
    if (this.#serves) this.#options.outlet.line(sentence(reached), { type: "inForce", ...reached });
    this.#serves = true;
    for (const follower of this.#followers) follower(reached);
  }

  #controllerSaid(source: string, entry: LogLine): void {
    const { outlet, now, controllers } = this.#options;
    const { msg, object = "", field = "", reason = "", message = "", pod = "", plan = "", mode = "" } = entry;
    if (msg === "Applied") {
      this.#tell(this.#ledger.applied({ pod, plan, mode }, now()));
    } else if (msg === "Configuration in force") {
      this.#tell(this.#ledger.configurationAccepted(plan, now()));
    } else if (msg === "Leading" && controllers > 1) {
      outlet.line(`${source} leads, epoch ${entry.epoch}`, { type: "leads", controller: source, epoch: entry.epoch });
    } else if (msg === "Fault") {
      if (isConfiguration(object)) this.#ledger.configurationRefused();
      const isTold = this.#standing.has(`${object} ${reason}`);
      if (!this.#isNews(source, `${object} ${reason} ${message}`, true) || (isTold && REPEATED.test(message))) return;
      this.#standing.add(`${object} ${reason}`);
      const told = this.#options.placed?.(message) ?? message;
      outlet.line(`fault: ${object}: ${reason}: ${told}`, { type: "fault", object, reason, message: told });
    } else if (msg === "Fault mended") {
      if (
        ![...this.#faults.keys()]
          .filter((key) => key.startsWith(`${object} ${reason} `))
          .some((key) => this.#isNews(source, key, false))
      )
        return;
      this.#standing.delete(`${object} ${reason}`);
      outlet.line(`mended: ${object}: ${reason}`, { type: "mended", object, reason });
    } else if (msg === "Configuration warning") {
      if (!this.#isNews(source, `warning ${object} ${field} ${message}`, true)) return;
      outlet.line(`warning: ${object} ${field}: ${message}`, { type: "warning", object, field, message });
    } else if ((entry.level ?? 0) >= 50 && !this.#options.verbose) {
      outlet.line(`${source}: ${msg ?? ""} ${message}`.trimEnd(), { type: "error", message: msg });
    }
  }
}

/** Whether plans follow from this object only once the controller has accepted it. */
const isConfiguration = (object: string): boolean => /^HAProxyTemplate(Config|Library) /.test(object);

/** `EndpointSlice default/web-dev: in force on 2 pods after 8 ms, no reload`. */
export function sentence({ objects, pods, tookMs, mode }: InForce): string {
  const [first = "", second, ...more] = objects;
  const what =
    more.length > 0
      ? `${first}, ${second} and ${more.length} more`
      : second === undefined
        ? first
        : `${first} and ${second}`;
  const where = `on ${pods} ${pods === 1 ? "pod" : "pods"} after ${tookMs < 10 ? tookMs.toFixed(1) : Math.round(tookMs)} ms`;
  return mode === "scheduled"
    ? `${what}: ready ${where}, in force with the next reload, 5 s after the last one`
    : `${what}: in force ${where}, ${mode === "reload" ? "with a reload" : "no reload"}`;
}
