/** The status of a published file: which pods have it, and whether all of them run it. Pure. */
import type { Condition, DeployedToPod, FileOnPod, HAProxyMapFileStatus } from "../config/index.ts";
import type { PlanFile, RenderPlan } from "../plan/index.ts";

/** Maps, general files and lists of certificates have the same one. */
export type FileStatus = HAProxyMapFileStatus;

/** A file that is published, and what its object says of pods. */
export interface ToldFile {
  readonly path: string;
  readonly checksum: string;
  readonly status: FileStatus | undefined;
}

export interface FileNews {
  /** As the HAProxyCfg tells them, by name. */
  readonly pods: readonly DeployedToPod[];
  /** The plan that is published. */
  readonly planId: string;
  /** Plans that are held. */
  readonly plan: (planId: string) => RenderPlan | undefined;
  /** Checksum of a file's content where it is known. */
  readonly checksum: (file: PlanFile) => string | undefined;
}

/** A published file never changes. */
const GENERATION = 1;
/** Bytes that the entries may have together beside a large content. */
const MAX_ENTRIES_BYTES = 120_000;
const SHORT = 64;
/** Stands for the file's own checksum, so that files of which the same is to be told are told alike. */
const OWN = "=";

const cut = (text: string): string => (text.length <= SHORT ? text : `${text.slice(0, SHORT - 1)}…`);

type Ready = Pick<Condition, "status" | "reason" | "message">;
interface Told {
  readonly pods: readonly FileOnPod[];
  readonly ready: Ready;
  /** The same for equal ones. */
  readonly key: string;
}

const keyOf = (pods: readonly FileOnPod[], ready: Ready | undefined): string =>
  JSON.stringify([
    pods.map(({ podName, checksum = "", lastError = "", consecutiveErrors = 0 }) => [
      podName,
      checksum,
      lastError,
      consecutiveErrors,
    ]),
    [ready?.status, ready?.reason, ready?.message],
  ]);

/** What an object says already, in the words in which it would be told. */
export function toldBy({ checksum, status }: ToldFile): string {
  if (status?.observedGeneration !== GENERATION) return "";
  const pods = (status.deployedToPods ?? [])
    .map((entry) => (entry.checksum === checksum ? { ...entry, checksum: OWN } : entry))
    .sort((a, b) => (a.podName < b.podName ? -1 : 1));
  return keyOf(
    pods,
    status.conditions?.find(({ type }) => type === "Ready"),
  );
}

function readyOf(having: number, running: number, pods: number): Ready {
  if (pods === 0) return { status: "False", reason: "NoPods", message: "no HAProxy pod is known" };
  const message = `${running} of ${pods} HAProxy pods run it`;
  if (running === pods) return { status: "True", reason: "OnEveryPod", message };
  return having === pods
    ? { status: "False", reason: "ReloadDue", message }
    : { status: "False", reason: "NotOnEveryPod", message };
}

/** Compares files of the published set with what pods have; made anew for each look. */
class FilesOnPods {
  readonly #news: FileNews;
  readonly #published: RenderPlan | undefined;
  /** Of each plan that a pod has or runs. */
  readonly #others: ReadonlyMap<string, RenderPlan | undefined>;
  /** What is told of files that the same plans have. */
  readonly #alike = new Map<string, Told>();

  constructor(news: FileNews) {
    this.#news = news;
    this.#published = news.plan(news.planId);
    const ids = new Set(
      news.pods.flatMap(({ appliedPlanID = "", runningPlanID = "" }) => [appliedPlanID, runningPlanID]),
    );
    this.#others = new Map([...ids].map((id) => [id, id === news.planId ? this.#published : news.plan(id)] as const));
  }

  /** The status that the file's object lacks; undefined = it says all of it. */
  lacking(file: ToldFile, told: string, now: string): FileStatus | undefined {
    if (this.#published !== undefined) {
      // Another content of this path: it is about to be deleted.
      const own = this.#published.files.get(file.path);
      const checksum = own === undefined ? "" : this.#news.checksum(own);
      if (checksum !== undefined && checksum !== file.checksum) return undefined;
    }
    const { pods, ready, key } = this.#toldOf(file);
    if (key === told) return undefined;
    const live = file.status?.conditions?.find(({ type }) => type === "Ready");
    return {
      observedGeneration: GENERATION,
      deployedToPods: pods.map((entry) => (entry.checksum === OWN ? { ...entry, checksum: file.checksum } : entry)),
      conditions: [
        {
          type: "Ready",
          ...ready,
          observedGeneration: GENERATION,
          lastTransitionTime: live?.status === ready.status ? live.lastTransitionTime : now,
        },
      ],
    };
  }

  #toldOf(file: ToldFile): Told {
    const own = this.#published?.files.get(file.path);
    const had = new Map<string, string>();
    for (const [id, plan] of this.#others) had.set(id, this.#inPlan(id, plan, own, file.path));
    const pattern = [...had.values()].join("\n");
    // Where nothing is known of a plan each file's own former words count.
    const isAlike = !pattern.split("\n").includes("?");
    const known = isAlike ? this.#alike.get(pattern) : undefined;
    if (known !== undefined) return known;
    const made = this.#make(file, had);
    if (isAlike) this.#alike.set(pattern, made);
    return made;
  }

  /** `=` the plan has this very file, `?` nothing is known of it, else the checksum of what it has there (`""`: none that is known). */
  #inPlan(id: string, plan: RenderPlan | undefined, own: PlanFile | undefined, path: string): string {
    if (id === this.#news.planId) return OWN;
    if (id === "") return "";
    if (plan === undefined || own === undefined) return "?";
    const there = plan.files.get(path);
    if (there === undefined) return "";
    return there.digest === own.digest && there.size === own.size ? OWN : (this.#news.checksum(there) ?? "");
  }

  #make(file: ToldFile, had: ReadonlyMap<string, string>): Told {
    const former = new Map((file.status?.deployedToPods ?? []).map((entry) => [entry.podName, entry]));
    let having = 0;
    let running = 0;
    let pods = this.#news.pods.map((pod): FileOnPod => {
      const { podName, appliedPlanID = "", runningPlanID = "", lastError, consecutiveErrors = 0 } = pod;
      const before = former.get(podName)?.checksum;
      const formerly = before === file.checksum ? OWN : (before ?? "");
      const resolve = (said: string): string => (said === "?" ? formerly : said);
      const checksum = resolve(had.get(appliedPlanID) ?? "");
      const hasIt = checksum === OWN;
      if (hasIt) having += 1;
      if (hasIt && resolve(had.get(runningPlanID) ?? "") === OWN) running += 1;
      // Who has the file is not told of what went wrong with others.
      return {
        podName,
        ...(checksum !== "" && { checksum }),
        ...(!hasIt && lastError !== undefined && { lastError }),
        consecutiveErrors: hasIt ? 0 : consecutiveErrors,
      };
    });
    if (JSON.stringify(pods).length + pods.length * file.checksum.length > MAX_ENTRIES_BYTES)
      pods = pods.map(({ lastError, ...rest }) => ({
        ...rest,
        ...(lastError !== undefined && { lastError: cut(lastError) }),
      }));
    const ready = readyOf(having, running, pods.length);
    return { pods, ready, key: keyOf(pods, ready) };
  }
}

/** Statuses of files whose objects say something else, by the object's key. `key` of a file is what `toldBy` gives of it. */
export function lackingStatuses(
  files: Iterable<readonly [string, { readonly told: (ToldFile & { readonly key: string }) | undefined }]>,
  news: FileNews,
  now: string,
): ReadonlyMap<string, FileStatus> {
  const onPods = new FilesOnPods(news);
  const lacking = new Map<string, FileStatus>();
  for (const [key, { told }] of files) {
    const status = told === undefined ? undefined : onPods.lacking(told, told.key, now);
    if (status !== undefined) lacking.set(key, status);
  }
  return lacking;
}
