/** A render's life as a row: what asked for it, a bar of where its time went, what each pod made of it. */
import { make, ms, short } from "./dom.js";

/**
 * @typedef {{ pod: string, mode: string, ok: boolean, tookMs?: number, atMs: number, reasons: string[] }} PodOutcome
 * @typedef {{ id: string, at: number, state: string, reasons: string[], changes: Record<string, number>, merged: number,
 *   renderBeganMs: number, renderedMs?: number, releasedMs?: number, judgedMs?: number, passed?: boolean, scheduledMs?: number,
 *   completedMs?: number, seq: number, planId: string, deployment: number,
 *   figures?: { cacheState: string, components: number, executed: number }, pods: PodOutcome[] }} Life
 */

const WORDS = /** @type {Record<string, string>} */ ({
  configuration: "new configuration",
  resource_change: "",
  resync: "resync",
  pods_changed: "pods changed",
  became_leader: "became leader",
  drift_prevention: "drift check",
});

/** What asked for it, in words: `services ×2, drift check`. @param {Life} life */
export function cause(life) {
  const changes = Object.entries(life.changes).map(([alias, count]) => (count === 1 ? alias : `${alias} ×${count}`));
  const reasons = life.reasons.map((reason) => WORDS[reason] ?? reason).filter((word) => word !== "");
  const all = [...reasons, ...changes];
  return all.length === 0 ? "a change" : all.join(", ");
}

/** @param {Life} life */
const tone = ({ state, pods }) =>
  state === "in force" || state === "nothing to deploy"
    ? "good"
    : state === "failed" || state === "refused by HAProxy" || pods.some((pod) => !pod.ok)
      ? "bad"
      : state === "replaced by a newer one"
        ? "quiet"
        : "busy";

/** @param {Life} life */
function segments(life) {
  const { renderBeganMs, renderedMs, releasedMs, scheduledMs, completedMs } = life;
  /** @type {[string, number, number | undefined][]} */
  const spans = [
    ["wait", 0, renderBeganMs],
    ["render", renderBeganMs, renderedMs],
    ["hold", renderedMs ?? 0, releasedMs],
    ["queue", releasedMs ?? 0, scheduledMs],
    ["deploy", scheduledMs ?? 0, completedMs],
  ];
  return spans.flatMap(([name, from, to]) => (to === undefined || to < from ? [] : [{ name, took: to - from }]));
}

/** @param {Life} life @param {(pod: string) => string} nameOf @param {(id: string) => void} onFollow */
export function row(life, nameOf, onFollow) {
  const parts = segments(life);
  const bar = make("div", { class: "spans" });
  for (const { name, took } of parts) {
    const part = make("span", { class: name, title: `${name} ${ms(took)}` });
    part.style.flexGrow = String(Math.max(took, 0.01));
    bar.append(part);
  }
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", parts.map(({ name, took }) => `${name} ${ms(took)}`).join(", "));
  const head = make(
    "button",
    { class: "head", title: "Follow this change through the page" },
    make("span", { class: `state ${tone(life)}`, text: life.state }),
    make("span", { class: "cause", text: cause(life) }),
    make("span", {
      class: "total",
      text: ms(life.completedMs ?? (life.state === "nothing to deploy" ? life.releasedMs : undefined)),
    }),
  );
  head.type = "button";
  head.addEventListener("click", () => onFollow(life.id));
  const details = [
    life.planId === "" ? "" : `plan ${short(life.planId)}`,
    life.figures === undefined
      ? ""
      : `${life.figures.cacheState}: ${life.figures.executed} of ${life.figures.components} components ran`,
    life.judgedMs === undefined
      ? ""
      : `HAProxy ${life.passed === true ? "accepts" : "refuses"} after ${ms(life.judgedMs)}`,
    life.merged === 0 ? "" : `answers ${life.merged + 1} triggers`,
  ].filter((text) => text !== "");
  const pods = life.pods.map((pod) =>
    make(
      "li",
      { class: pod.ok ? `mode ${pod.mode}` : "mode bad", title: pod.reasons.join("\n") },
      make("b", { text: nameOf(pod.pod) }),
      ` ${pod.mode}${pod.tookMs === undefined ? "" : ` ${ms(pod.tookMs)}`}`,
    ),
  );
  // Why it reloads, once, however many pods do.
  const why = [...new Set(life.pods.flatMap(({ reasons }) => reasons))].map((text) => make("small", { text }));
  return make(
    "li",
    { data: { id: life.id, state: life.state } },
    head,
    bar,
    make(
      "div",
      { class: "details" },
      make("code", { text: life.id }),
      make("span", { text: details.join(" · ") }),
      make("ul", { class: "modes" }, ...pods),
      ...why,
    ),
  );
}
