/**
 * The publisher's book and its two jobs: read what is published, and bring it to what is in force. Says whether there is anything to do; when
 * it is done is the chart's affair.
 */
import type { HAProxyCfgStatus } from "../config/index.ts";
import type { PublicationReport } from "../../machines/publisher.ts";
import { PublishError } from "../errors.ts";
import type { KubeClient } from "../kube/types.ts";
import type { Pause, PlanFile, RenderPlan } from "../plan/index.ts";
import { PlanBook, type PlanNews, remember } from "./plans.ts";
import { PodBook, type PodApply, type PodNews, type PodPlans } from "./pods.ts";
import { Checksums, describeSet, factsOf, mainFile, type PublishedSet } from "./published-set.ts";
import { type FileStatus, lackingStatuses } from "./file-status.ts";
import { sameStatus, statusOf, type PublishTrouble } from "./status.ts";
import { troubleOf } from "./trouble.ts";
import { type Found, type Owner, PublishedObjects } from "./writes.ts";

export type PublishNews = PlanNews | PodNews | { readonly type: "TERM.BEGAN" | "TERM.ENDED" };

export interface PublishDeskDeps {
  readonly kube: KubeClient;
  readonly namespace: string;
  readonly configName: string;
  /** The live configuration object: what is published belongs to it. */
  readonly configUid: () => string | undefined;
  /** Bytes above which content is compressed. */
  readonly threshold: () => number;
  readonly plan: (planId: string) => RenderPlan | undefined;
  /** What the pod of this id said of itself last. */
  readonly podPlans: (pod: string) => PodPlans;
  /** Wall-clock milliseconds. */
  readonly wallClock: () => number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly pause: Pause;
}

export class PublishDesk {
  readonly #deps: PublishDeskDeps;
  readonly #objects: PublishedObjects;
  readonly #pods: PodBook;
  readonly #plans: PlanBook;
  readonly #checksums = new Checksums();
  /** Of haproxy.cfg, by plan. */
  readonly #checksumOf = new Map<string, string>();
  #found: Found | undefined;
  /** The plan whose set is published; "" = none. */
  #published = "";
  /** The plan that cannot be published, and why. */
  #unpublishable = "";
  #trouble: PublishTrouble | undefined;

  constructor(deps: PublishDeskDeps) {
    this.#deps = deps;
    this.#objects = new PublishedObjects(deps.kube, deps.namespace, deps.configName);
    this.#pods = new PodBook(() => this.#now());
    this.#plans = new PlanBook(deps.now, () => this.#now());
  }

  /** Hears whatever is on the bus; what is not for it makes no difference. */
  note(event: PublishNews): void {
    switch (event.type) {
      case "TERM.BEGAN":
      case "TERM.ENDED":
        this.#pods.begin();
        this.#plans.begin();
        this.#found = undefined;
        this.#published = "";
        this.#unpublishable = "";
        this.#trouble = undefined;
        return;
      case "PODS.CHANGED":
        return this.#pods.admit(event.pods);
      case "PODS.LISTED":
        return this.#pods.list(event.candidates);
      case "POD.APPLIED":
        return this.#pods.applied(event.pod, event.planId, event.mode);
      case "POD.FAILED":
        return this.#pods.failed(event.pod, event.message);
      case "POD.REVERTED":
        return;
      default:
        this.#plans.note(event);
    }
  }

  noteApply(apply: PodApply): void {
    this.#pods.answered(apply);
  }

  /** The accepted plan while it waits to be published, else "". */
  get waiting(): string {
    const { planId } = this.#plans.accepted;
    return planId === this.#published || planId === this.#unpublishable ? "" : planId;
  }

  /** How long the accepted plan has not been published, in ms. */
  get lagMs(): number {
    const { planId, since } = this.#plans.accepted;
    return planId === this.#published ? 0 : this.#deps.now() - since;
  }

  /** Whether what is published is not what should be. While HAProxy judges a render, what pods say of it is not told yet. */
  differs(): boolean {
    if (this.#found === undefined) return false;
    if (this.waiting !== "") return true;
    const { cfg } = this.#found;
    if (cfg === undefined || this.#plans.isJudging) return false;
    return !sameStatus(cfg.status, this.#status(undefined)) || this.#lacking(this.#found).size > 0;
  }

  /** Looks at what is published: at the begin of a term, after a failure, and now and then. */
  async read(signal: AbortSignal): Promise<void> {
    const before = this.#found;
    this.#found = undefined;
    const found = await this.#objects.find(signal, before);
    this.#found = found;
    const uid = this.#deps.configUid() ?? "";
    this.#published = uid === "" ? "" : this.#objects.planOf(found, { name: this.#deps.configName, uid });
  }

  /** Writes what differs. Rejects with what the API server refused, after it was written into the status if that can be. */
  async publish(signal: AbortSignal): Promise<PublicationReport> {
    const found = this.#found;
    if (found === undefined) throw new PublishError("Outdated", "what is published was not read");
    const started = this.#deps.now();
    const planId = this.waiting;
    let writes = 0;
    let failure: Error | undefined;
    let set: PublishedSet | undefined;
    let setStatus: Pick<HAProxyCfgStatus, "auxiliaryFiles" | "metadata"> | undefined;
    try {
      await this.#learnChecksums();
      if (planId !== "") {
        const before = found.cfg?.status?.auxiliaryFiles?.setID;
        const done = await this.#write(found, await this.#describe(found, planId, signal), signal);
        set = done.set;
        writes += done.writes;
        if (done.wroteCfg || before !== set.setId) setStatus = factsOf(set, this.#deps.namespace, this.#plans);
      }
      this.#trouble = this.#unpublishable === "" ? undefined : this.#trouble;
    } catch (error) {
      signal.throwIfAborted();
      failure = error instanceof Error ? error : new Error(String(error));
      this.#trouble = troubleOf(error);
      if (error instanceof PublishError && (error.reason === "TooLarge" || error.reason === "Invalid")) {
        this.#unpublishable = planId;
        failure = undefined;
      }
      set = undefined;
    }
    if (set !== undefined) {
      this.#published = planId;
      this.#unpublishable = "";
      this.#trouble = undefined;
    }
    try {
      if (failure === undefined) {
        writes += await this.#objects.writeFileStatuses(found, this.#lacking(found), signal);
      }
    } catch (error) {
      signal.throwIfAborted();
      failure = error instanceof Error ? error : new Error(String(error));
      this.#trouble = troubleOf(error);
    }
    if (found.cfg !== undefined) {
      const status = this.#status(setStatus);
      if (!sameStatus(found.cfg.status, status)) {
        await this.#objects.writeStatus(found, status, signal);
        writes += 1;
      }
    }
    if (set !== undefined) writes += await this.#objects.prune(found, set, signal);
    if (failure !== undefined) throw failure;
    return { planId: this.#published, writes, tookMs: this.#deps.now() - started, trouble: this.#trouble ?? null };
  }

  async #describe(found: Found, planId: string, signal: AbortSignal): Promise<PublishedSet> {
    const plan = this.#deps.plan(planId);
    if (plan === undefined) throw new PublishError("Outdated", `plan ${planId.slice(0, 12)} is not held any more`);
    const parent = { name: this.#objects.name, uid: found.cfg?.metadata.uid ?? "" };
    this.#checksums.turn();
    const set = await describeSet(plan, parent, this.#checksums, this.#deps.pause);
    remember(this.#checksumOf, planId, set.checksum);
    signal.throwIfAborted();
    return set;
  }

  /** The files come first, so that a HAProxyCfg never names what is not there; but the first one must be there to own them. */
  async #write(
    found: Found,
    described: PublishedSet,
    signal: AbortSignal,
  ): Promise<{ readonly set: PublishedSet; readonly writes: number; readonly wroteCfg: boolean }> {
    const owner = this.#owner();
    const threshold = this.#deps.threshold();
    let set = described;
    let wroteCfg = false;
    if (found.cfg === undefined) {
      await this.#objects.writeCfg(found, set, owner, threshold, signal);
      wroteCfg = true;
      set = await this.#describe(found, set.planId, signal);
    }
    const created = await this.#objects.createFiles(found, set, threshold, signal);
    if (!wroteCfg && !this.#objects.holds(found, set, owner)) {
      await this.#objects.writeCfg(found, set, owner, threshold, signal);
      wroteCfg = true;
    }
    return { set, writes: created + (wroteCfg ? 1 : 0), wroteCfg };
  }

  /** Of plans that pods have, so that their entries can say which configuration that is. */
  async #learnChecksums(): Promise<void> {
    for (const planId of new Set(this.#entries().map(({ appliedPlanID = "" }) => appliedPlanID))) {
      if (planId === "" || this.#checksumOf.has(planId)) continue;
      const plan = this.#deps.plan(planId);
      const file = plan === undefined ? undefined : mainFile(plan);
      // A plan that was read back from a pod has no contents.
      if (file === undefined || file.blocks.some(({ bytes, size }) => bytes.length !== size)) continue;
      remember(this.#checksumOf, planId, await this.#checksums.of(file, this.#deps.pause));
    }
  }

  #entries() {
    return this.#pods.entries(this.#found?.cfg?.status?.deployedToPods ?? [], this.#deps.podPlans, (planId) =>
      this.#checksumOf.get(planId),
    );
  }

  #lacking({ files }: Found): ReadonlyMap<string, FileStatus> {
    if (this.#published === "") return new Map();
    const news = {
      pods: this.#entries(),
      planId: this.#published,
      plan: this.#deps.plan,
      checksum: (file: PlanFile) => this.#checksums.known(file),
    };
    return lackingStatuses(files, news, this.#now());
  }

  #status(set: Pick<HAProxyCfgStatus, "auxiliaryFiles" | "metadata"> | undefined): HAProxyCfgStatus {
    const cfg = this.#found?.cfg;
    if (cfg === undefined) throw new PublishError("Outdated", "nothing is published");
    return statusOf(
      cfg,
      {
        gate: this.#plans.gate,
        trouble: this.#trouble,
        planId: this.#published,
        pods: this.#entries(),
        set,
      },
      this.#now(),
    );
  }

  #owner(): Owner {
    const uid = this.#deps.configUid();
    if (uid === undefined || uid === "")
      throw new PublishError("Outdated", `HAProxyTemplateConfig ${this.#deps.configName} is not there`);
    return { name: this.#deps.configName, uid };
  }

  #now(): string {
    return new Date(this.#deps.wallClock()).toISOString();
  }

  /** For people: names, ids and counts. */
  view(): object {
    const cfg = this.#found?.cfg;
    return {
      name: this.#objects.name,
      planId: this.#published,
      acceptedPlanId: this.#plans.accepted.planId,
      lagMs: Math.round(this.lagMs),
      trouble: this.#trouble ?? null,
      checksum: cfg?.spec.checksum ?? null,
      compressed: cfg?.spec.compressed ?? null,
      files: cfg?.status?.auxiliaryFiles ?? null,
      metadata: cfg?.status?.metadata ?? null,
      conditions: cfg?.status?.conditions ?? [],
      deployedToPods: cfg?.status?.deployedToPods ?? [],
    };
  }

  /** `nothing`, `waiting`, `published`, or one word for what keeps it from being published. */
  get state(): string {
    if (this.#trouble !== undefined) return this.#trouble.reason;
    if (this.waiting !== "") return "waiting";
    return this.#published === "" ? "nothing" : "published";
  }

  /** Objects that are published. */
  get objects(): number {
    return this.#found?.cfg === undefined ? 0 : this.#found.files.size + 1;
  }
}
