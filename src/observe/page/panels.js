/** What is not an event: leadership, the gate, what is held and why, pods, stores. */
import { byId, flash, make, ms, short } from "./dom.js";

/**
 * @typedef {{ id: string, name: string, address: string, haproxy: string, applied: string, running: string, lastGood: string,
 *   last: { mode: string, ok: boolean, tookMs: number, at: number } | null }} Pod
 * @typedef {{ term: { leading: boolean, epoch: number, render: number, leader: string }, gate: string, published: string, serving: { generation: number } | null,
 *   held: { object: string, reason: string, since: string }[], stores: { alias: string, objects: number, revision: number }[],
 *   pods: Pod[], counters: Record<string, number> }} Panels
 */

const GATE = /** @type {Record<string, string>} */ ({
  "": "Not leading: this replica keeps warm and deploys nothing.",
  closed: "HAProxy judges the first plan before it is deployed.",
  open: "Plans are deployed at once; HAProxy judges each beside its deployment.",
  holding: "HAProxy refused a plan: renders are held until one passes.",
  pinned: "HAProxy refuses one plan after the other: the last good one stays in force.",
});

const PUBLISHED = /** @type {Record<string, [text: string, tone: string]>} */ ({
  nothing: ["nothing published", "quiet"],
  waiting: ["publishing", ""],
  published: ["published", "good"],
});

/** @type {Map<string, number>} */
const revisions = new Map();

/** @param {Panels} panels */
export function showPanels(panels) {
  const { term, gate, published, serving, held, stores, pods, counters } = panels;
  chips([
    term.leading
      ? ["leading", "good"]
      : [term.leader === "" ? "following, nobody leads" : `following ${term.leader}`, "quiet"],
    [`epoch ${term.epoch}`, ""],
    serving === null ? ["no configuration serves", "bad"] : [`generation ${serving.generation}`, ""],
    [counted(counters["renders"], "render"), ""],
    [counted(counters["reloads"], "reload"), ""],
    ...(term.leading ? [PUBLISHED[published] ?? [`not published: ${published}`, "bad"]] : []),
  ]);
  const place = byId("gate");
  place.textContent = GATE[gate] ?? gate;
  place.dataset["gate"] = gate;
  showHeld(held);
  showPods(pods);
  showStores(stores);
}

/** @param {number | undefined} count @param {string} thing */
const counted = (count = 0, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** @param {[text: string, tone: string][]} texts */
function chips(texts) {
  byId("chips").replaceChildren(...texts.map(([text, tone]) => make("li", { class: `chip ${tone}`, text })));
}

/** @param {Panels["held"]} held */
function showHeld(held) {
  const list = byId("held");
  const key = JSON.stringify(held);
  if (list.dataset["key"] === key) return;
  list.dataset["key"] = key;
  const button = byId("messages");
  button.hidden = held.length === 0;
  list.replaceChildren(
    ...(held.length === 0
      ? [make("li", { class: "fine", text: "Nothing is held, nothing is at fault." })]
      : held.map(({ object, reason, since }) =>
          make(
            "li",
            { class: "fault", data: { object, reason } },
            make("b", { text: reason }),
            make("span", { text: object }),
            make("time", { text: `since ${new Date(since).toLocaleTimeString()}` }),
          ),
        )),
  );
}

/** Messages may quote what a template wrote: they are fetched when somebody asks for them. */
export async function showMessages() {
  const answer = await fetch("../debug/vars/faults");
  if (!answer.ok) return;
  const faults = /** @type {{ object: string, reason: string, message: string }[]} */ (await answer.json());
  for (const item of byId("held").querySelectorAll("li")) {
    const fault = faults.find(
      ({ object, reason }) => object === item.dataset["object"] && reason === item.dataset["reason"],
    );
    item.querySelector("pre")?.remove();
    if (fault !== undefined) item.append(make("pre", { text: fault.message }));
  }
}

/** @param {readonly Pod[]} pods */
function showPods(pods) {
  const newest = mostCommon(pods.map((pod) => pod.applied));
  byId("pods").replaceChildren(
    ...(pods.length === 0
      ? [make("li", { class: "empty", text: "No pod is known that can be deployed to." })]
      : pods
          .toSorted((a, b) => (a.name < b.name ? -1 : 1))
          .map((pod) => {
            const { last } = pod;
            const same = pod.applied !== "" && pod.applied === newest;
            return make(
              "li",
              { data: { pod: pod.name, applied: pod.applied, mode: last?.mode ?? "" } },
              make("span", { class: `dot ${last?.ok === false ? "bad" : same ? "good" : "busy"}` }),
              make("b", { text: pod.name }),
              make("span", {
                class: "muted",
                text: pod.haproxy === "" ? "HAProxy is not up" : `HAProxy ${pod.haproxy}`,
              }),
              make(
                "span",
                { class: "plan" },
                "plan ",
                make("code", { text: short(pod.applied), title: pod.applied }),
                pod.running === pod.applied ? "" : " · loaded ",
                pod.running === pod.applied ? "" : make("code", { text: short(pod.running) }),
                pod.lastGood === pod.applied ? " · proven" : " · last good ",
                pod.lastGood === pod.applied ? "" : make("code", { text: short(pod.lastGood) }),
              ),
              last === null
                ? ""
                : make("span", {
                    class: `mode ${last.ok ? last.mode : "bad"}`,
                    text: `${last.mode} ${ms(last.tookMs)}`,
                  }),
            );
          })),
  );
}

/** @param {readonly string[]} words */
function mostCommon(words) {
  return words.toSorted(
    (a, b) => words.filter((word) => word === b).length - words.filter((word) => word === a).length,
  )[0];
}

/** @param {Panels["stores"]} stores */
function showStores(stores) {
  byId("stores").replaceChildren(
    ...(stores.length === 0
      ? [make("li", { class: "empty", text: "No configuration serves yet." })]
      : stores.map(({ alias, objects, revision }) => {
          const item = make(
            "li",
            { data: { alias, objects: String(objects) }, title: `revision ${revision}` },
            make("span", { text: alias }),
            make("b", { text: objects.toLocaleString("en") }),
          );
          if (revisions.has(alias) && revisions.get(alias) !== revision) flash(item, "stepped");
          revisions.set(alias, revision);
          return item;
        })),
  );
}
