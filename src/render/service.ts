/**
 * The render service: runs what changed, assembles files and plan. One per accepted configuration; holds the warm graph.
 */
import { randomBytes } from "node:crypto";
import { TemplateError } from "../errors.ts";
import {
  createEngine,
  createEngineInSlices,
  type CompiledSet,
  isWatchdogTimeout,
  Profile,
  Provenance,
  type TemplateProblem,
} from "../templating/index.ts";
import { Assembly } from "./assembly.ts";
import { Graph, type IncrementalSource } from "./graph.ts";
import { Host, type RunHost } from "./host.ts";
import { OutputSink, type Tokens } from "./output.ts";
import { mountedIn, type Outline, outlineOf, type OutlineOptions, processings } from "./outline.ts";
import { ConfigurationSource } from "./places.ts";
import { ReadIndex } from "./reads.ts";
import { SharedValues } from "./shared.ts";
import { Notices } from "./notices.ts";
import { publishingGroups } from "./resource-types.ts";
import { type SliceOptions, Slices, StarvedError, systemMilliseconds } from "./slices.ts";
import type { ViewHolder } from "./stores-host.ts";
import type {
  RenderContext,
  RenderOutcome,
  RenderProfile,
  RenderResult,
  RenderService,
  TemplateEvent,
} from "./types.ts";
import { byOrder, type Instance, type Root, type RunResult } from "./unit.ts";

export interface RenderServiceOptions extends OutlineOptions {
  /** The instant of a render in milliseconds since 1970 (default Date.now), for templates that ask. */
  readonly wallClock?: () => number;
  /** Length of a slice of work between two turns of the event loop, in ms (default 6). */
  readonly sliceMs?: number;
  /** Monotonic milliseconds (default performance.now). */
  readonly now?: () => number;
  /** Lets other work run between slices (default: a turn of setImmediate). */
  readonly pause?: () => Promise<void>;
  /** Measures templates from the beginning; else it begins when `profile()` is asked. */
  readonly profile?: Profile;
  /** Ends a slice that does not come back, in ms (default 1000). */
  readonly watchdogMs?: number;
  /** The processor's time that this thread has had, in ms (default: the system's). */
  readonly processorMs?: () => number;
  /** Makes tokens of planRegistry unguessable (default: random). It is never part of the output. */
  readonly nonce?: string;
}

/** Far above a slice, so that a machine that is busy with other things does not end templates. */
const WATCHDOG_MS = 1000;
/** Beginnings of a render on a machine that has no time for it, each with more patience than the one before: 1 s, 4 s, 16 s. */
const ATTEMPTS = 3;
/**
 * Work of one run (DEFAULT_FUEL of the engine is for whoever waits at a keyboard). A run of one object is short; while it lasts, other
 * objects' changes wait. A root walks over all objects: for 10,000 of them and 5 MB of text it takes less than a hundredth of this.
 */
const ROOT_FUEL = 50_000_000;
const INSTANCE_FUEL = 5_000_000;
/** Instances of a render that begins without the watchdog: less than a slice of work. */
const LIGHT = 64;

/** How long templates are measured after the profile was asked for last, in ms. */
const PROFILE_MS = 60_000;

/** Compiles a configuration's templates. `service` can be used only when there are no problems. */
export function createRenderService(options: RenderServiceOptions): CreatedRenderService {
  const outline = outlineOf(options);
  let set = createEngine(outline.engine([...outline.incremental.keys()]));
  const used = mountedIn(set, outline);
  if (used.length !== outline.incremental.size) set = createEngine(outline.engine(used));
  const service = new Service(options, outline, set, used);
  return { service, problems: service.problems, provenance: service.provenance };
}

/** Like createRenderService, in slices: a configuration of 10,000 lines takes some 100 ms to compile. */
export async function createRenderServiceInSlices(options: RenderServiceOptions): Promise<CreatedRenderService> {
  const outline = outlineOf(options);
  const slices = new Slices(sliceOptions(options), new AbortController().signal);
  const turns = { due: slices.due, pause: () => slices.turn() };
  let set = await createEngineInSlices(outline.engine([...outline.incremental.keys()]), turns);
  const used = mountedIn(set, outline);
  if (used.length !== outline.incremental.size) set = await createEngineInSlices(outline.engine(used), turns);
  const service = new Service(options, outline, set, used);
  return { service, problems: service.problems, provenance: service.provenance };
}

export interface CreatedRenderService {
  readonly service: RenderService;
  readonly problems: readonly TemplateProblem[];
  /** Reads the marks, where they were asked for. */
  readonly provenance: Provenance | undefined;
}

function sliceOptions(options: RenderServiceOptions): SliceOptions {
  return {
    sliceMs: options.sliceMs ?? 6,
    now: options.now ?? systemMilliseconds,
    pause: options.pause ?? (() => new Promise((resolve) => setImmediate(resolve))),
    watchdogMs: options.watchdogMs ?? WATCHDOG_MS,
    processorMs: options.processorMs,
  };
}

class Service implements RenderService {
  readonly problems: readonly TemplateProblem[];
  readonly provenance: Provenance | undefined;
  readonly #set: CompiledSet;
  readonly #roots: readonly Root[];
  readonly #reads = new ReadIndex();
  readonly #graph: Graph;
  readonly #host: Host;
  readonly #assembly: Assembly;
  readonly #stores: ReadonlyMap<string, ViewHolder>;
  readonly #pods: ViewHolder = { view: undefined, keys: 2 };
  readonly #slices: SliceOptions;
  readonly #wallClock: () => number;
  readonly #notices = new Notices();
  /** The instant of the present render. */
  #instant = 0;
  /** Units that ran since assembly took units over. */
  #ranInstances = new Set<Instance>();
  #ranRoots = new Set<Root>();
  #eventful = new Set<Instance>();
  /** Of the present results; undefined when they have to be gathered anew. */
  #events: readonly TemplateEvent[] | undefined;
  #profile: Profile | undefined;
  /** Given by the caller, who wants all of it. */
  readonly #profileStays: boolean;
  #profileAsked = 0;
  #profileBegan = 0;
  #last: RenderResult | undefined;
  #rendered = false;

  constructor(options: RenderServiceOptions, outline: Outline, set: CompiledSet, used: readonly string[]) {
    const { spec } = options;
    const { paths, incremental, types } = outline;
    this.#slices = sliceOptions(options);
    this.#profile = options.profile;
    this.#profileStays = options.profile !== undefined;
    this.#wallClock = options.wallClock ?? Date.now;
    this.#roots = outline.roots;
    this.#set = set;
    this.provenance = options.provenance === true ? new Provenance(set.pieces) : undefined;
    const aliases = [...types.keys()];
    const processing = processings(spec, this.#roots, options.sources);
    this.problems = [...this.#set.problems, ...[...processing.values()].flatMap((each) => each.problems)];
    this.#stores = new Map(
      aliases.map((alias) => [alias, { view: undefined, keys: spec.watchedResources?.[alias]?.indexBy?.length ?? 1 }]),
    );
    this.#graph = new Graph(
      used.map((name) => incremental.get(name) as IncrementalSource),
      this.#roots,
      this.#reads,
    );
    this.#assembly = new Assembly(
      this.#roots,
      outline.paths,
      new ConfigurationSource(spec, options.sources),
      processing,
    );
    const snippets = Object.keys(spec.templateSnippets ?? {}).sort();
    const extraContext = spec.templatingSettings?.extraContext ?? {};
    const nonce = options.nonce ?? randomBytes(9).toString("base64url");
    this.#host = new Host(
      {
        paths,
        dataplane: options.dataplane,
        extraContext,
        snippets,
        nonce,
        typed: new Set(aliases.filter((alias) => types.get(alias) !== undefined)),
        groups: publishingGroups(spec),
      },
      this.#stores,
      this.#pods,
      this.#reads,
    );
  }

  async render(context: RenderContext, signal: AbortSignal): Promise<RenderOutcome> {
    const { now } = this.#slices;
    const started = now();
    this.#instant = this.#wallClock();
    signal.throwIfAborted();
    if (!this.#profileStays && started - this.#profileAsked > PROFILE_MS) this.#profile = undefined;
    for (const [alias, holder] of this.#stores) holder.view = context.snapshot.alias(alias);
    this.#pods.view = context.haproxyPods;
    this.#host.begin(context.capabilities, context.renderMode);
    this.#graph.advance(context);
    const idle =
      this.#graph.pending.size === 0 && this.#graph.gone.length === 0 && this.#roots.every((root) => root.clean);
    if (idle && this.#last !== undefined && this.#ranInstances.size === 0 && this.#ranRoots.size === 0) {
      const stats = { ...this.#last.stats, executed: 0, durationMs: now() - started, longestSliceMs: now() - started };
      return this.#outcome({ ...this.#last, cacheState: "replay", stats }, []);
    }

    const slices = new Slices(this.#slices, signal);
    const executed = await this.#runAll(slices);
    const failed = this.#roots.flatMap((root) => (root.problem === undefined ? [] : [root.problem]));
    // A root that failed has no new output; what the others made waits until it is mended.
    if (failed.length > 0) return this.#outcome(undefined, failed);

    await this.#assembly.update(
      this.#ranInstances,
      this.#graph.gone,
      [...this.#ranRoots],
      (snippet) => this.#graph.instances(snippet),
      slices,
    );
    for (const root of this.#ranRoots) root.causes.clear();
    for (const instance of this.#graph.gone) {
      if (this.#eventful.delete(instance)) this.#events = undefined;
      this.#notices.instanceChanged(instance, true);
    }
    this.#graph.gone = [];
    this.#ranInstances = new Set();
    this.#ranRoots = new Set();
    const problems = [
      ...this.#assembly.processingProblems(),
      ...this.#assembly.problems().map(({ template, message, hint }) => assemblyProblem(template, message, hint)),
    ];
    if (problems.length > 0) {
      this.#last = undefined;
      return this.#outcome(undefined, problems);
    }
    const plan = this.#assembly.plan();
    slices.end();
    const result: RenderResult = {
      plan,
      events: (this.#events ??= this.#gatherEvents()),
      notCarriedOut: this.#notices.all(this.#roots),
      cacheState: this.#rendered ? "warm" : "cold",
      stats: { components: this.#graph.size, executed, durationMs: now() - started, longestSliceMs: slices.longestMs },
    };
    this.#rendered = true;
    this.#last = result;
    signal.throwIfAborted();
    return this.#outcome(result, []);
  }

  profile(): RenderProfile {
    const now = this.#slices.now();
    this.#profileAsked = now;
    if (this.#profile === undefined) {
      this.#profile = new Profile(this.#slices.now);
      this.#profileBegan = now;
    }
    return { forMs: now - this.#profileBegan, rows: this.#profile.rows() };
  }

  /** Runs steps in slices under the watchdog, which kills them where they are; the first slice without it when `light`. */
  async #drive(steps: Generator<void, void, void>, slices: Slices, light = false): Promise<void> {
    try {
      let step = light ? steps.next() : slices.watch(() => steps.next());
      while (step.done !== true) {
        await slices.turn();
        step = slices.watch(() => steps.next());
      }
    } catch (error) {
      // Steps that were killed cannot even be ended; the others may be in a run, which is given up.
      if (!isWatchdogTimeout(error) && !(error instanceof StarvedError)) steps.return();
      throw error;
    }
  }

  /** What is killed because others had the processor is begun anew; what was done until then stays. */
  async #runAll(slices: Slices): Promise<number> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#runInstances(slices)) + (await this.#runRoots(slices));
      } catch (error) {
        if (!(error instanceof StarvedError) || attempt === ATTEMPTS) throw error;
        slices.waitLonger();
        await slices.turn();
      }
    }
  }

  async #runInstances(slices: Slices): Promise<number> {
    if (this.#graph.pending.size === 0) return 0;
    const progress: { executed: number; current: Instance | undefined } = { executed: 0, current: undefined };
    for (;;) {
      try {
        // Arming takes as long as a few instances do. Their work is charged before it is done, and a slice that is used up
        // ends them; what the watchdog is for would have shown in the render before.
        const light = this.#rendered && this.#graph.pending.size <= LIGHT;
        await this.#drive(this.#instanceSteps(slices, progress), slices, light);
        return progress.executed;
      } catch (error) {
        const { current } = progress;
        if (!isWatchdogTimeout(error) || current === undefined) throw error;
        current.fault = stoppedProblem(current.snippet, this.#slices.watchdogMs);
        this.#graph.faulty.add(current);
        this.#reads.commit(current);
        this.#graph.pending.delete(current);
        progress.executed++;
        await slices.turn();
      }
    }
  }

  *#instanceSteps(slices: Slices, progress: { executed: number; current: Instance | undefined }): Generator<void> {
    for (const instance of this.#graph.pending) {
      progress.current = instance;
      const host = this.#host.component(instance, this.#graph.effects(instance.snippet));
      const before = instance.result;
      try {
        const { namespace = "", name } = instance.item.metadata;
        this.provenance?.begin({ alias: instance.source, namespace, name });
        instance.result = yield* this.#run(instance.snippet, host, slices);
        instance.fault = undefined;
        this.#graph.faulty.delete(instance);
      } catch (error) {
        instance.fault = problemOf(error, instance.snippet, slices);
        this.#graph.faulty.add(instance);
      }
      this.#reads.commit(instance);
      this.#graph.pending.delete(instance);
      progress.current = undefined;
      if (instance.result !== before) {
        this.#ranInstances.add(instance);
        if (before.events.length > 0 || instance.result.events.length > 0) this.#events = undefined;
        this.#notices.instanceChanged(instance);
        for (const root of this.#roots) {
          if (!root.inlined.has(instance.snippet)) continue;
          root.clean = false;
          root.causes.add(instance.name);
        }
        if (instance.result.events.length > 0) this.#eventful.add(instance);
        else this.#eventful.delete(instance);
      }
      progress.executed++;
      if (slices.due()) yield;
    }
  }

  /** Runs roots that are not clean; roots that share values run together, all or none. */
  async #runRoots(slices: Slices): Promise<number> {
    let executed = 0;
    let wanted = new Set(this.#roots.filter((root) => !root.clean));
    if (wanted.size === 0) return 0;
    const sharing = (): Root[] => this.#roots.filter((root) => root.usesShared);
    if ([...wanted].some((root) => root.usesShared)) for (const root of sharing()) wanted.add(root);
    for (let round = 0; ; round++) {
      // Values shared by a run that is given up must not be shared on.
      for (const root of wanted) root.clean = false;
      const shared = new SharedValues();
      for (const root of this.#roots) {
        if (!wanted.has(root)) continue;
        await this.#runRoot(root, shared, slices);
        executed++;
      }
      const left = sharing().filter((root) => !wanted.has(root));
      if (left.length === 0 || ![...wanted].some((root) => root.usesShared) || round === 2) return executed;
      wanted = new Set(round === 1 ? this.#roots : sharing());
    }
  }

  async #runRoot(root: Root, shared: SharedValues, slices: Slices): Promise<void> {
    let used = false;
    shared.onUse = () => {
      used = true;
    };
    const host = this.#host.root(root, shared);
    root.inlined = new Set();
    const inline = (snippet: string): string => {
      root.inlined.add(snippet);
      return inlineText(this.#graph.instances(snippet), host.recorder.tokens);
    };
    const steps = function* (this: Service): Generator<void> {
      this.provenance?.begin(undefined);
      root.result = yield* this.#run(root.spec.template, host, slices, inline);
    };
    try {
      await this.#drive(steps.call(this), slices);
      root.problem = undefined;
      const mounts = root.result.segments.flatMap((segment) =>
        typeof segment === "object" && segment.kind === "mount" ? [segment.snippet] : [],
      );
      root.mounted = new Set([...mounts, ...root.inlined]);
      this.#ranRoots.add(root);
      this.#events = undefined;
      this.#notices.rootRan();
    } catch (error) {
      if (error instanceof StarvedError) throw error;
      root.problem = isWatchdogTimeout(error)
        ? stoppedProblem(root.spec.template, this.#slices.watchdogMs)
        : problemOf(error, root.spec.template, slices);
    }
    this.#reads.commit(root);
    root.usesShared = used;
    root.clean = true;
  }

  /** One run; yields between slices. Ended before its time, what it read is forgotten. */
  *#run(
    template: string,
    host: RunHost,
    slices: Slices,
    renderIncremental?: (snippet: string) => string,
  ): Generator<void, RunResult, void> {
    this.#reads.begin();
    const sink = new OutputSink(host.recorder.tokens);
    const run = this.#set.start(template, {
      globals: host.globals,
      sink,
      due: slices.due,
      renderIncremental: renderIncremental ?? (() => ""),
      limits: { fuel: renderIncremental === undefined ? INSTANCE_FUEL : ROOT_FUEL },
      // What an instance gives is kept, so it sees the clock only where the answer is kept on purpose.
      ...(renderIncremental === undefined ? { instant: this.#instant } : { now: this.#instant }),
      ...(this.#profile !== undefined && { profile: this.#profile }),
      ...(this.provenance !== undefined && { provenance: this.provenance }),
    });
    let over = false;
    try {
      for (let step = run.next(); step.done !== true; step = run.next()) yield;
      over = true;
    } catch (error) {
      over = true;
      throw error;
    } finally {
      if (!over) this.#reads.abandon();
    }
    return host.recorder.result(sink.segments());
  }

  #outcome(result: RenderResult | undefined, problems: readonly TemplateProblem[]): RenderOutcome {
    const isolated = [...this.#graph.faulty]
      .sort(byOrder)
      .map(({ source, id, item, fault }) => ({ source, id, object: item, problem: fault as TemplateProblem }));
    return { result, problems, isolated };
  }

  /** Events of roots, then of instances in order; equal ones once. */
  #gatherEvents(): readonly TemplateEvent[] {
    const instances = [...this.#eventful].sort(byOrder);
    const events = new Map<string, TemplateEvent>();
    for (const unit of [...this.#roots, ...instances])
      for (const event of unit.result.events) events.set(JSON.stringify(event), event);
    return [...events.values()];
  }
}

/** All instances' output as text, for a root that wants it as a string; declarations keep their places. */
function inlineText(instances: Iterable<Instance>, tokens: Tokens): string {
  const ordered = [...instances].sort((a, b) => (a.key < b.key ? -1 : 1));
  return ordered
    .map((instance) =>
      instance.result.segments
        .map((segment) => (typeof segment === "string" ? segment : tokens.make(segment)))
        .join(""),
    )
    .join("");
}

/** A defect of ours is told like a template's own error, so that one object cannot keep all others from being rendered. */
function problemOf(error: unknown, template: string, slices: Slices): TemplateProblem {
  if (error instanceof TemplateError) return error.problem;
  if (slices.aborted) throw error;
  const message = `internal error: ${error instanceof Error ? error.message : String(error)}`;
  return assemblyProblem(template, message, "this is a defect of HAPTIC; please report it with the template");
}

/** Work that the limits of a run do not see was ended by the watchdog. */
function stoppedProblem(template: string, ms: number | undefined): TemplateProblem {
  const message = `stopped after ${ms} ms without a pause`;
  const hint = "it does work that the limits of templates do not see; please report it with the template";
  return { ...assemblyProblem(template, message, hint), code: "HAPTIC_E_TEMPLATE_LIMIT" };
}

function assemblyProblem(template: string, message: string, hint: string): TemplateProblem {
  return {
    code: "HAPTIC_E_TEMPLATE_RUN",
    template,
    line: 1,
    column: 1,
    message,
    hint,
    chain: [],
    text: `${template}: ${message}\nhint: ${hint}`,
  };
}
