/** The running actors, and their charts with the present states lit. */
import { flash, leaves, make } from "./dom.js";

/** @typedef {import("./map.js").Actor} Actor */

/** @type {Map<string, Promise<Element | undefined>>} */
const loaded = new Map();

/** The committed SVG of a chart, fetched once. @param {string} machine */
function load(machine) {
  const known = loaded.get(machine);
  if (known !== undefined) return known;
  const loading = fetch(`charts/${machine}.svg`).then(async (answer) => {
    if (!answer.ok) return undefined;
    const parsed = new DOMParser().parseFromString(await answer.text(), "image/svg+xml");
    return parsed.documentElement;
  });
  loaded.set(machine, loading);
  return loading;
}

/** One actor's chart on the page. */
class Chart {
  /** @param {Actor} actor */
  constructor(actor) {
    this.actor = actor;
    this.title = make("figcaption");
    this.canvas = make("div", { class: "drawing" });
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "region");
    this.canvas.setAttribute("aria-label", `Chart of ${actor.name}`);
    this.heard = make("p", { class: "heard" });
    this.figure = make("figure", { data: { actor: actor.name } }, this.title, this.canvas, this.heard);
    /** @type {Map<string, Element[]>} */
    this.parts = new Map();
    this.revealed = "";
    void this.draw();
  }

  async draw() {
    const svg = await load(this.actor.machine);
    if (svg === undefined) {
      this.canvas.replaceChildren(make("p", { class: "empty", text: "This chart is not drawn." }));
      return;
    }
    const copy = document.importNode(svg, true);
    copy.setAttribute("aria-hidden", "true");
    // A wide chart is scrolled rather than made too small to be read.
    if (copy instanceof SVGElement) copy.style.minWidth = `${Number(copy.getAttribute("width")) * SMALLEST}px`;
    this.canvas.replaceChildren(copy);
    for (const part of copy.querySelectorAll("[data-id], [data-edge]")) {
      const key = part.getAttribute("data-id") ?? part.getAttribute("data-edge") ?? "";
      this.parts.set(key, [...(this.parts.get(key) ?? []), part]);
    }
    this.paint(this.actor);
  }

  /** Brings the present state into view when it is another one, without moving the page. @param {string} now */
  reveal(now) {
    if (now === this.revealed || this.parts.size === 0) return;
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = this.canvas;
    if (clientWidth === 0) return;
    this.revealed = now;
    if (scrollWidth <= clientWidth && scrollHeight <= clientHeight) return;
    const leaf = [...this.canvas.querySelectorAll(".atomic.on, .final.on")][0];
    if (leaf === undefined) return;
    const box = leaf.getBoundingClientRect();
    const view = this.canvas.getBoundingClientRect();
    if (box.left >= view.left && box.right <= view.right && box.top >= view.top && box.bottom <= view.bottom) return;
    this.canvas.scrollBy({
      left: box.left + box.width / 2 - view.left - view.width / 2,
      top: box.top + box.height / 2 - view.top - view.height / 2,
    });
  }

  /** @param {Actor} actor */
  paint(actor) {
    this.actor = actor;
    const now = leaves(actor.states).join(" · ");
    this.title.replaceChildren(make("b", { text: actor.name }), " ", make("span", { class: "now", text: now }));
    this.heard.textContent = actor.heard.length === 0 ? "" : `heard last: ${actor.heard.slice(0, 6).join(", ")}`;
    const on = new Set(actor.states);
    for (const [key, parts] of this.parts) for (const part of parts) part.classList.toggle("on", on.has(key));
    this.reveal(now);
    for (const key of actor.passed) for (const part of this.parts.get(key) ?? []) flash(part, "passed");
    for (const key of actor.edges) for (const part of this.parts.get(key) ?? []) flash(part, "taken");
  }
}

/** A chart is drawn at no less than this share of its size. */
const SMALLEST = 0.62;

export class Charts {
  /** @param {HTMLElement} list @param {HTMLElement} place */
  constructor(list, place) {
    this.list = list;
    this.place = place;
    /** @type {Map<string, Actor>} */
    this.actors = new Map();
    /** @type {Map<string, Chart>} */
    this.shown = new Map();
    /** @type {Map<string, { button: HTMLButtonElement, state: HTMLElement }>} */
    this.buttons = new Map();
    this.chosen = "coordinator";
    this.all = false;
    /** Shown instead of a pod's id. @type {ReadonlyMap<string, string>} */
    this.names = new Map();
  }

  /** @param {readonly Actor[]} actors */
  reset(actors) {
    this.actors = new Map(actors.map((actor) => [actor.name, actor]));
    this.arrange();
  }

  /** @param {readonly Actor[]} changed @param {readonly string[]} gone */
  update(changed, gone) {
    const news = changed.some((actor) => !this.actors.has(actor.name)) || gone.length > 0;
    for (const name of gone) this.actors.delete(name);
    for (const actor of changed) this.actors.set(actor.name, actor);
    if (news) return this.arrange();
    for (const actor of changed) {
      this.paintButton(actor);
      this.shown.get(actor.name)?.paint(actor);
    }
  }

  /** @param {string} name */
  choose(name) {
    this.chosen = name;
    this.all = false;
    this.arrange();
  }

  /** The first actor of a chart. @param {string} machine */
  chooseMachine(machine) {
    const actor = [...this.actors.values()].find((one) => one.machine === machine);
    if (actor === undefined) return false;
    this.choose(actor.name);
    return true;
  }

  /** Rebuilds list and canvas: actors came or went, or another one was chosen. */
  arrange() {
    const sorted = [...this.actors.values()].sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
    if (!this.actors.has(this.chosen))
      this.chosen = sorted.find((one) => one.machine === "coordinator")?.name ?? sorted[0]?.name ?? "";
    const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["name"] : undefined;
    this.buttons.clear();
    this.list.replaceChildren(
      ...sorted.map((actor) => {
        const state = make("span", { class: "now" });
        const button = make(
          "button",
          { class: "actor", data: { name: actor.name } },
          make("span", { class: "who", text: this.label(actor.name) }),
          state,
        );
        button.type = "button";
        button.setAttribute("aria-pressed", String(!this.all && actor.name === this.chosen));
        button.addEventListener("click", () => this.choose(actor.name));
        this.buttons.set(actor.name, { button, state });
        this.paintButton(actor);
        return button;
      }),
    );
    if (focused !== undefined) this.buttons.get(focused)?.button.focus();
    const wanted = this.all ? sorted : sorted.filter((actor) => actor.name === this.chosen);
    const kept = new Map(this.shown);
    this.shown.clear();
    for (const actor of wanted) {
      const chart = kept.get(actor.name) ?? new Chart(actor);
      this.shown.set(actor.name, chart);
      chart.paint(actor);
    }
    this.place.classList.toggle("many", this.all);
    this.place.replaceChildren(...[...this.shown.values()].map((chart) => chart.figure));
  }

  /** @param {Actor} actor */
  paintButton(actor) {
    const drawn = this.buttons.get(actor.name);
    if (drawn === undefined) return;
    const now = leaves(actor.states).join(" · ");
    if (drawn.state.textContent !== now) drawn.state.textContent = now;
    if (actor.edges.length > 0) flash(drawn.button, "stepped");
  }

  /** @param {string} name */
  label(name) {
    const colon = name.indexOf(":");
    if (colon < 0) return name;
    const of = name.slice(colon + 1);
    return `${name.slice(0, colon)} ${this.names.get(of) ?? (of.length > 24 ? of.slice(0, 8) : of)}`;
  }
}

/** Roots first, groups last. @param {Actor} actor */
const rank = (actor) => (actor.machine === "controller" ? 0 : actor.name.includes(":") ? 2 : 1);
