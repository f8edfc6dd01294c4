/**
 * Puts results of runs together: backends and their winners, text of mounted snippets, files, and the plan's trees. Keeps
 * all of it between renders and touches only what changed.
 */
import { TemplateError } from "../errors.ts";
import {
  assemblePlan,
  backendDigest,
  cutBytes,
  emptyTrees,
  isSettingsMap,
  planFile,
  POST_PROCESSING,
  type PlanMap,
  type PlanTrees,
  profileDigest,
  structureKey,
  treeDifferences,
} from "../plan/index.ts";
import { bytesOfText } from "../templating/index.ts";
import type { Block, Digest, PlanBackend, PlanConfiguration, PlanFile, RenderPlan } from "../plan/types.ts";
import { BackendContest } from "./backends.ts";
import { updateInSlices } from "./batches.ts";
import { Causes } from "./causes.ts";
import { endsLine, wholeLines } from "./lines.ts";
import { emptyMount, type MountBlocks, mountBlocks, type MountTree } from "./mount.ts";
import { OriginBook } from "./origins.ts";
import { type Place, resolveText } from "./output.ts";
import type { PathResolver } from "./paths.ts";
import { type BackendDeclaration, NOTHING_DECLARED } from "./plan-registry.ts";
import type { PostProcessing } from "./post-processing.ts";
import { Profiles } from "./profiles.ts";
import { RegisteredSet } from "./registered-set.ts";
import type { TemplateProblem } from "../templating/types.ts";
import type { Slices } from "./slices.ts";
import { SettingsMaps } from "./settings-maps.ts";
import { ConfigStructure } from "./structure.ts";
import { Instance, Root, type RunResult } from "./unit.ts";

/** A root's text as blocks, with places for mounts and profiles. */
type RootPart = readonly Block[] | { readonly mount: string } | "profiles";

interface RootText {
  readonly parts: readonly RootPart[];
  /** Blocks of texts, mounts and profiles that the file was made from last. */
  readonly inputs: readonly unknown[];
}

/** Bound of the agent's contract. */
const MAX_FILES = 4096;

/** A mistake that shows only when everything is put together. */
export interface AssemblyProblem {
  readonly template: string;
  readonly message: string;
  readonly hint: string;
}

export class Assembly {
  readonly #contest = new BackendContest<Instance | Root>();
  readonly #profiles = new Profiles();
  readonly #mounts = new Map<string, MountTree>();
  readonly #mountBlocks = new Map<string, MountBlocks>();
  readonly #structure = new ConfigStructure();
  readonly #registered = new RegisteredSet();
  readonly #roots: readonly Root[];
  /** Declarations taken over from each owner; an instance's only count while haproxy.cfg mounts its snippet. */
  readonly #declared = new Map<Instance | Root, RunResult["declared"]>();
  readonly #texts = new Map<Root, RootText>();
  #mainMounted: ReadonlySet<string> = new Set();
  #mapOrder = new Map<string, boolean>();
  #trees: PlanTrees = emptyTrees();
  /** Something was put together before. */
  #warm = false;
  readonly #settings: SettingsMaps;
  readonly #origins: OriginBook;
  readonly #processing: ReadonlyMap<Root, PostProcessing>;
  readonly #mainProcessing: PostProcessing | undefined;
  /** Roots whose text could not be processed. */
  readonly #unprocessed = new Map<Root, TemplateProblem>();

  /** `processing` = what is done to a root's text when it is whole. */
  constructor(
    roots: readonly Root[],
    paths: PathResolver,
    configuration: PlanConfiguration,
    processing: ReadonlyMap<Root, PostProcessing> = new Map(),
  ) {
    this.#roots = roots;
    this.#origins = new OriginBook(configuration);
    this.#settings = new SettingsMaps(paths);
    this.#processing = processing;
    const main = roots.find((root) => root.main);
    this.#mainProcessing = main === undefined ? undefined : processing.get(main);
    if (this.#mainProcessing !== undefined && !this.#mainProcessing.neutral) {
      // The rest of the structure is that of the text before it was processed.
      const own = new Map([[structureKey(POST_PROCESSING, ""), this.#mainProcessing.identity]]);
      this.#trees = { ...this.#trees, structure: this.#trees.structure.update(own) };
    }
  }

  /**
   * Takes over what ran: `instances` ran or changed, `gone` left, `roots` ran (with success). `all` gives every instance of
   * a snippet, for the rare case that haproxy.cfg begins or ends to mount it.
   */
  async update(
    instances: ReadonlySet<Instance>,
    gone: readonly Instance[],
    roots: readonly Root[],
    all: (snippet: string) => Iterable<Instance>,
    slices: Slices,
  ): Promise<void> {
    this.#origins.begin(Causes.tell(roots.map((root) => root.causes)));
    const left = new Set(gone);
    const retext = new Set(instances);
    for (const root of roots) {
      if (!root.main) continue;
      const declared = root.result.declared;
      this.#declare(root, "", { ...declared, backends: firstOfEachName(declared.backends) });
      for (const snippet of symmetricDifference(this.#mainMounted, root.mounted))
        for (const instance of all(snippet)) retext.add(instance);
      this.#mainMounted = root.mounted;
    }
    for (const instance of gone) {
      retext.delete(instance);
      this.#declare(instance, instance.order, NOTHING_DECLARED);
    }
    for (const instance of retext) {
      this.#declare(
        instance,
        instance.order,
        this.#mainMounted.has(instance.snippet) ? instance.result.declared : NOTHING_DECLARED,
      );
      if (slices.due()) await slices.breathe();
    }
    await this.#settleBackends(retext, left, slices);
    await this.#retext(retext, gone, slices);
    // What another instance declares can take a place away from an instance whose text a root took as a string.
    for (const root of this.#roots.filter((each) => roots.includes(each) || each.inlined.size > 0)) {
      this.#rootParts(root);
      if (root.main) {
        const changes = this.#structure.setMain(root.result.segments);
        for (const [key, digest] of changes) if (this.#trees.structure.get(key) !== digest) this.#origins.note(key);
        this.#trees = { ...this.#trees, structure: this.#trees.structure.update(changes) };
      }
      if (slices.due()) await slices.breathe();
    }
    if (roots.length > 0) {
      this.#orderMaps();
      this.#setFiles(this.#registered.update(this.#roots));
    }
    this.#setFiles(await this.#settings.settle(slices));
    await this.#files(slices);
    this.#warm = true;
  }

  /** What stands in the way of a plan; empty = `plan()` can be used. */
  problems(): readonly AssemblyProblem[] {
    const problems = [...this.#registered.problems];
    const main = this.#roots.find((root) => root.main);
    const groups = main?.result.declared.groups ?? 0;
    const template = main?.spec.template ?? "haproxy.cfg";
    if (groups > 1)
      problems.push({
        template,
        message: `planRegistry.ProfileGroup() stands ${groups} times`,
        hint: "it may stand once",
      });
    if (groups === 0 && this.#profiles.grouped > 0) {
      problems.push({
        template,
        message: "profiles are declared but planRegistry.ProfileGroup() stands nowhere",
        hint: "show it once, before the first backend",
      });
    }
    for (const name of [...this.#profiles.undeclared].sort()) {
      problems.push({
        template,
        message: `a backend uses the profile ${name}, which nothing declares`,
        hint: "use the name that planRegistry.Profile returned",
      });
    }
    if (this.#trees.files.size > MAX_FILES) {
      problems.push({
        template,
        message: `${this.#trees.files.size} files are more than the ${MAX_FILES} that an agent takes`,
        hint: "register fewer files, e.g. one crt-list entry with several names instead of a certificate for each",
      });
    }
    return problems;
  }

  /** What processors of rendered text could not do; empty = `plan()` can be used. */
  processingProblems(): readonly TemplateProblem[] {
    return [...this.#unprocessed.values()];
  }

  plan(): RenderPlan {
    return { ...assemblePlan(this.#trees), origins: this.#origins.origins };
  }

  #declare(owner: Instance | Root, order: string, declared: RunResult["declared"]): void {
    const before = this.#declared.get(owner) ?? NOTHING_DECLARED;
    if (before === declared) return;
    this.#contest.declare(owner, order, before.backends, declared.backends);
    this.#profiles.declare(before, declared);
    this.#settings.declare(before, declared);
    if (declared === NOTHING_DECLARED) this.#declared.delete(owner);
    else this.#declared.set(owner, declared);
  }

  /** Settles the winners; an instance that won or lost a name needs its text anew. */
  async #settleBackends(retext: Set<Instance>, gone: ReadonlySet<Instance>, slices: Slices): Promise<void> {
    const changes = new Map<string, PlanBackend | undefined>();
    for (const { name, before, after } of this.#contest.settle()) {
      const plan = after === undefined ? undefined : await this.#planOf(after.backend, slices);
      const origin = after?.owner instanceof Instance ? after.owner.name : undefined;
      if (this.#origins.knows && (after ?? before)?.owner instanceof Root) this.#noteBackend(name, plan);
      changes.set(name, plan === undefined || origin === undefined ? plan : { ...plan, origin });
      this.#settings.turn(name, before?.backend, after?.backend);
      this.#profiles.use(before?.backend.plan.record.profile, after?.backend.plan.record.profile);
      for (const candidate of [before, after]) {
        if (candidate?.owner instanceof Instance && !gone.has(candidate.owner)) retext.add(candidate.owner);
      }
    }
    const former = this.#profiles.tree;
    this.#profiles.settle();
    if (this.#origins.knows)
      for (const { key } of treeDifferences(former, this.#profiles.tree, profileDigest))
        this.#origins.note(`profile ${key}`);
    const backends = await updateInSlices(this.#trees.backends, changes, slices);
    this.#trees = { ...this.#trees, backends, profiles: this.#profiles.tree };
  }

  /** A root declares all its backends anew when it runs. */
  #noteBackend(name: string, now: PlanBackend | undefined): void {
    const was = this.#trees.backends.get(name);
    const isSame = was !== undefined && now !== undefined && backendDigest(was) === backendDigest(now);
    if (!isSame) this.#origins.note(`backend ${name}`);
  }

  #planOf(backend: BackendDeclaration, slices: Slices): PlanBackend | Promise<PlanBackend> {
    return this.#mainProcessing?.planOf(backend, slices) ?? backend.plan;
  }

  readonly #placeText = (place: Place): string => {
    if (place.kind === "backend") return this.#contest.wins(place.backend) ? place.backend.text : "";
    return place.kind === "section" ? place.text : "";
  };

  async #retext(instances: ReadonlySet<Instance>, gone: readonly Instance[], slices: Slices): Promise<void> {
    const changes = new Map<string, Map<string, string | undefined>>();
    const structure = new Map<string, Digest | undefined>();
    const set = (instance: Instance, text: string, residue: string): void => {
      const { snippet, key } = instance;
      let perSnippet = changes.get(snippet);
      if (perSnippet === undefined) changes.set(snippet, (perSnippet = new Map()));
      // What says nothing is not in the tree: a file stays as it is when such an instance comes or goes.
      perSnippet.set(key, text === "" ? undefined : text);
      const parts = this.#structure.setResidue(snippet, key, residue, structure);
      if (this.#warm) for (const part of parts) this.#origins.note(part, instance.name);
    };
    for (const instance of gone) set(instance, "", "");
    for (const instance of instances) {
      const { segments } = instance.result;
      const residue = segments.length === 1 && typeof segments[0] === "object" ? "" : resolveText(segments, () => "");
      set(instance, resolveText(segments, this.#placeText), residue);
      if (slices.due()) await slices.breathe();
    }
    for (const [snippet, perSnippet] of changes) {
      this.#mounts.set(snippet, await updateInSlices(this.#mounted(snippet), perSnippet, slices));
      if (slices.due()) await slices.breathe();
    }
    this.#trees = { ...this.#trees, structure: await updateInSlices(this.#trees.structure, structure, slices) };
  }

  #mounted(snippet: string): MountTree {
    let tree = this.#mounts.get(snippet);
    if (tree === undefined) this.#mounts.set(snippet, (tree = emptyMount()));
    return tree;
  }

  async #blocksOf(snippet: string, slices: Slices): Promise<MountBlocks> {
    const tree = this.#mounted(snippet);
    const known = this.#mountBlocks.get(snippet);
    if (known?.tree === tree) return known;
    const blocks = await mountBlocks(tree, known, slices);
    this.#mountBlocks.set(snippet, blocks);
    return blocks;
  }

  /** A root's text as blocks; done when it ran. */
  #rootParts(root: Root): void {
    const parts: RootPart[] = [];
    let run: (string | Place)[] = [];
    const flush = (): void => {
      const blocks = cutBytes(bytesOfText(resolveText(run, this.#placeText)));
      if (blocks.length > 0) parts.push(blocks);
      run = [];
    };
    let afterGroup = false;
    for (const segment of root.result.segments) {
      if (typeof segment === "object" && (segment.kind === "mount" || segment.kind === "profiles")) {
        flush();
        parts.push(segment.kind === "mount" ? { mount: segment.snippet } : "profiles");
      } else {
        // The group ends its own line: the line end after its token would leave an empty one.
        run.push(afterGroup && typeof segment === "string" && segment.startsWith("\n") ? segment.slice(1) : segment);
      }
      afterGroup = typeof segment === "object" && segment.kind === "profiles";
    }
    flush();
    this.#texts.set(root, { parts, inputs: [] });
  }

  /** Files of roots whose text, mounts or profiles changed. */
  async #files(slices: Slices): Promise<void> {
    const changes = new Map<string, PlanFile | undefined>();
    for (const root of this.#roots) {
      const text = this.#texts.get(root);
      if (text === undefined) continue;
      const inputs: (readonly Block[] | MountBlocks)[] = [];
      for (const part of text.parts) {
        if (part === "profiles") inputs.push(this.#profiles.groupBlocks());
        else inputs.push("mount" in part ? await this.#blocksOf(part.mount, slices) : part);
      }
      if (
        inputs.length === text.inputs.length &&
        inputs.length > 0 &&
        inputs.every((input, i) => input === text.inputs[i])
      )
        continue;
      const blocks = inputs.flatMap((input) => ("blocks" in input ? input.blocks : input));
      const whole = inputs.every((input) => ("blocks" in input ? input.whole : input.every(endsLine)));
      const done = await this.#processed(root, whole && blocks.length > 0 ? blocks : wholeLines(blocks), slices);
      if (done === undefined) continue;
      const before = this.#trees.files.get(root.spec.path);
      const file = planFile(root.spec.path, root.spec.kind, done, {
        reloadOnChange: root.spec.reloadOnPush,
        ...(before !== undefined && { before }),
      });
      this.#texts.set(root, { parts: text.parts, inputs });
      changes.set(root.spec.path, file);
    }
    this.#setFiles(changes);
  }

  /** Undefined when a processor failed: the file is tried again at the next render. */
  async #processed(root: Root, blocks: readonly Block[], slices: Slices): Promise<readonly Block[] | undefined> {
    const processing = this.#processing.get(root);
    if (processing === undefined) return blocks;
    try {
      const done = await processing.apply(blocks, slices);
      this.#unprocessed.delete(root);
      return done;
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      this.#unprocessed.set(root, error.problem);
      return undefined;
    }
  }

  #setFiles(changes: ReadonlyMap<string, PlanFile | undefined>): void {
    const maps = new Map<string, PlanMap | undefined>();
    for (const [path, file] of changes) {
      const was = this.#trees.files.get(path);
      if (isTold(file ?? was) && was?.digest !== file?.digest) this.#origins.note(`file ${path}`);
      const map = file?.kind === "map" ? { ordered: this.#isOrdered(path), fileDigest: file.digest } : undefined;
      if (map !== undefined || this.#trees.maps.get(path) !== undefined) maps.set(path, map);
    }
    this.#trees = { ...this.#trees, files: this.#trees.files.update(changes), maps: this.#trees.maps.update(maps) };
  }

  /** Whether order matters, by path of map: what the map's entry says, then what MapMeta says. */
  #orderMaps(): void {
    this.#mapOrder = new Map(
      this.#roots.filter((root) => root.spec.kind === "map").map((root) => [root.spec.path, root.spec.ordered]),
    );
    for (const root of this.#roots)
      for (const [path, ordered] of root.result.declared.mapOrder) this.#mapOrder.set(path, ordered);
    const changes = new Map<string, PlanMap>();
    for (const [path, map] of this.#trees.maps.entries()) changes.set(path, { ...map, ordered: this.#isOrdered(path) });
    this.#trees = { ...this.#trees, maps: this.#trees.maps.update(changes) };
  }

  #isOrdered(path: string): boolean {
    return this.#mapOrder.get(path) ?? !isSettingsMap(path);
  }
}

/** Changes of maps and of haproxy.cfg are told by what stands in them. */
const isTold = (file: PlanFile | undefined): boolean => file?.kind !== "map" && file?.kind !== "config";

function firstOfEachName(backends: readonly BackendDeclaration[]): readonly BackendDeclaration[] {
  const seen = new Set<string>();
  return backends.filter((backend) => !seen.has(backend.name) && seen.add(backend.name));
}

function symmetricDifference(a: ReadonlySet<string>, b: ReadonlySet<string>): string[] {
  return [...[...a].filter((each) => !b.has(each)), ...[...b].filter((each) => !a.has(each))];
}
