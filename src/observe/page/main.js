/** The live page: takes the stream's frames and shows them. */
import { Charts } from "./charts.js";
import { byId, clock, make } from "./dom.js";
import { cause, row } from "./lives.js";
import { ComponentMap } from "./map.js";
import { showMessages, showPanels } from "./panels.js";

/**
 * @typedef {{ number: number, at: number, type: string, source: string, id: string, fields: Record<string, unknown> }} Told
 * @typedef {import("./map.js").Actor} Actor
 * @typedef {import("./lives.js").Life} Life
 * @typedef {import("./panels.js").Panels} Panels
 * @typedef {{ about: Record<string, string>, count: number, events: Told[], actors: Actor[], lives: Life[], panels: Panels }} Full
 * @typedef {{ count: number, left: number, events: Told[], flows: Record<string, number>, actors: Actor[], gone: string[],
 *   lives: Life[], panels?: Panels }} Tick
 */

const EVENTS_KEPT = 600;
const EVENTS_SHOWN = 200;
const LIVES_KEPT = 40;

const charts = new Charts(byId("actors"), byId("chart"));
const map = new ComponentMap(byId("map"), (machine) => {
  if (charts.chooseMachine(machine)) byId("chartsTitle").scrollIntoView({ block: "start" });
  syncButtons();
});

/** @type {Told[]} */
let events = [];
/** Newest first. @type {Map<string, Life>} */
let lives = new Map();
/** @type {Map<string, string>} */
const podNames = new Map();
let followed = "";
let paused = false;
/** @type {EventSource | undefined} */
let stream;
let count = 0;
let lastCount = 0;
let lastCountAt = performance.now();
let frame = 0;

/** @param {string} pod */
const nameOf = (pod) => podNames.get(pod) ?? pod.slice(0, 8);

/** @param {Panels} panels */
function takePanels(panels) {
  for (const pod of panels.pods) podNames.set(pod.id, pod.name.replace(/^.*\//, ""));
  charts.names = podNames;
  podCount = panels.pods.length;
  showPanels(panels);
}
let podCount = 0;

/** @param {Full} full */
function takeFull(full) {
  const { about } = full;
  byId("who").textContent =
    `${about["identity"]} · ${about["namespace"]}/${about["config"]} · HAProxy ${about["haproxy"]}`;
  events = full.events;
  lives = new Map(full.lives.map((life) => [life.id, life]));
  count = full.count;
  lastCount = count;
  takePanels(full.panels);
  charts.reset(full.actors);
  draw();
}

/** @param {Tick} tick */
function takeTick(tick) {
  count = tick.count;
  events.push(...tick.events);
  if (events.length > EVENTS_KEPT) events.splice(0, events.length - EVENTS_KEPT);
  if (tick.lives.length > 0) {
    const news = new Map(tick.lives.map((life) => [life.id, life]));
    for (const [id, life] of lives) if (!news.has(id)) news.set(id, life);
    lives = new Map([...news].toSorted(([, a], [, b]) => b.at - a.at || b.seq - a.seq).slice(0, LIVES_KEPT));
  }
  if (tick.panels !== undefined) takePanels(tick.panels);
  charts.update(tick.actors, tick.gone);
  map.light(tick.flows);
  draw(tick);
}

/** Draws what changed, once a picture however many frames came.
 * @param {Tick} [tick] */
function draw(tick) {
  pending.events ||= tick === undefined || tick.events.length > 0;
  pending.lives ||= tick === undefined || tick.lives.length > 0 || tick.panels !== undefined;
  if (frame !== 0) return;
  frame = requestAnimationFrame(() => {
    frame = 0;
    map.show([...charts.actors.values()], podCount);
    if (pending.events) drawEvents();
    if (pending.lives) drawLives();
    pending = { events: false, lives: false };
  });
}
let pending = { events: false, lives: false };

function drawLives() {
  const list = byId("lives");
  byId("noLives").hidden = lives.size > 0;
  const focused = document.activeElement?.closest("li")?.dataset["id"];
  const rows = [...lives.values()].map((life) => {
    const drawn = row(life, nameOf, follow);
    drawn.classList.toggle("followed", followed === life.id);
    drawn.classList.toggle("dimmed", followed !== "" && followed !== life.id);
    return drawn;
  });
  list.replaceChildren(...rows);
  if (focused !== undefined)
    rows
      .find((one) => one.dataset["id"] === focused)
      ?.querySelector("button")
      ?.focus();
}

function drawEvents() {
  const words = /** @type {HTMLInputElement} */ (byId("filter")).value.trim().toLowerCase();
  /** @type {HTMLElement[]} */
  const shown = [];
  for (let index = events.length - 1; index >= 0 && shown.length < EVENTS_SHOWN; index -= 1) {
    const event = events[index];
    if (event === undefined || (followed !== "" && event.id !== followed)) continue;
    if (
      words !== "" &&
      !`${event.source} ${event.type} ${event.id} ${JSON.stringify(event.fields)}`.toLowerCase().includes(words)
    )
      continue;
    shown.push(line(event));
  }
  byId("events").replaceChildren(
    ...(shown.length === 0 ? [make("li", { class: "empty", text: "No event matches." })] : shown),
  );
}

/** @param {Told} event */
function line({ at, type, source, id, fields }) {
  const follower = make("button", { class: "id", text: id, title: "Follow this change through the page" });
  follower.type = "button";
  follower.addEventListener("click", () => follow(id));
  const facts = Object.entries(fields).map(([key, value]) => {
    const text =
      key === "planId"
        ? String(value).slice(0, 8)
        : key === "pod"
          ? nameOf(String(value))
          : Array.isArray(value)
            ? value.join(", ")
            : String(value);
    return make("span", { class: "fact" }, make("i", { text: key === "planId" ? "plan" : key }), ` ${text}`);
  });
  return make(
    "li",
    { data: { type, id } },
    make("time", { text: clock(at) }),
    make("span", { class: "source", text: source === "" ? "controller" : source }),
    make("b", { class: family(type), text: type }),
    make("span", { class: "facts" }, ...facts),
    follower,
  );
}

/** @param {string} type */
function family(type) {
  if (/FAILED|FAULTED|REFUSED|INVALID|HELD|PINNED|UNREACHABLE|DEPOSED|MISSING|UNPROVEN|REVERTED/.test(type))
    return "bad";
  if (/APPLIED|PASSED|COMPLETED|RECOVERED|ACCEPTED/.test(type)) return "good";
  return "";
}

/** @param {string} id */
function follow(id) {
  followed = followed === id ? "" : id;
  byId("following").hidden = followed === "";
  byId("followed").textContent = followed;
  const life = lives.get(followed);
  byId("followedWhat").textContent = life === undefined ? "" : `${cause(life)}: ${life.state}`;
  drawEvents();
  drawLives();
}

function connect() {
  stream?.close();
  const source = new EventSource("stream");
  stream = source;
  source.addEventListener("open", () => say("live", "good"));
  source.addEventListener("error", () => say("reconnecting", "bad"));
  source.addEventListener("full", (event) => takeFull(JSON.parse(event.data)));
  source.addEventListener("tick", (event) => takeTick(JSON.parse(event.data)));
}

/** @param {string} text @param {string} tone */
function say(text, tone) {
  const place = byId("connection");
  place.textContent = text;
  place.className = `chip ${tone}`;
  document.body.dataset["connection"] = text;
}

function syncButtons() {
  byId("all").setAttribute("aria-pressed", String(charts.all));
}

function togglePause() {
  paused = !paused;
  byId("pause").setAttribute("aria-pressed", String(paused));
  byId("pause").textContent = paused ? "Go on" : "Pause";
  if (!paused) return connect();
  stream?.close();
  say("paused", "busy");
}

function toggleTheme() {
  const root = document.documentElement;
  const dark =
    root.dataset["theme"] === undefined
      ? matchMedia("(prefers-color-scheme: dark)").matches
      : root.dataset["theme"] === "dark";
  root.dataset["theme"] = dark ? "light" : "dark";
}

function toggleAll() {
  charts.all = !charts.all;
  charts.arrange();
  syncButtons();
}

function toggleFit() {
  const fits = byId("fit").getAttribute("aria-pressed") !== "true";
  byId("fit").setAttribute("aria-pressed", String(fits));
  byId("chart").classList.toggle("actual", !fits);
}

byId("pause").addEventListener("click", togglePause);
byId("theme").addEventListener("click", toggleTheme);
byId("all").addEventListener("click", toggleAll);
byId("fit").addEventListener("click", toggleFit);
byId("unfollow").addEventListener("click", () => follow(followed));
byId("messages").addEventListener("click", () => void showMessages());
byId("filter").addEventListener("input", drawEvents);
byId("actors").addEventListener("click", syncButtons);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target instanceof HTMLInputElement;
  if (event.key === "Escape") {
    if (typing) /** @type {HTMLElement} */ (event.target).blur();
    else if (followed !== "") follow(followed);
    return;
  }
  if (typing) return;
  const action = { "/": () => byId("filter").focus(), a: toggleAll, f: toggleFit, p: togglePause, t: toggleTheme }[
    event.key
  ];
  if (action === undefined) return;
  event.preventDefault();
  action();
});
setInterval(() => {
  const now = performance.now();
  const rate = ((count - lastCount) * 1000) / (now - lastCountAt);
  lastCount = count;
  lastCountAt = now;
  byId("rate").textContent =
    `${count.toLocaleString("en")} events, ${rate < 0.05 ? 0 : rate < 10 ? rate.toFixed(1) : Math.round(rate)} a second`;
  document.body.dataset["rate"] = rate.toFixed(1);
}, 1000);
// A chart that fits a phone's width cannot be read there.
if (matchMedia("(max-width: 760px)").matches) toggleFit();
connect();
