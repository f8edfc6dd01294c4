/** Draws the component map and lights what an event passes. */
import { flash, leaves, makeSvg } from "./dom.js";
import { edges, nodes } from "./map-data.js";

/** @typedef {import("./map-data.js").MapNode} MapNode */
/** @typedef {{ name: string, machine: string, parent: string, states: string[], passed: string[], edges: string[], steps: number, heard: string[] }} Actor */

const WIDE = { width: 132, height: 54, left: 8, top: 8, stepX: 162, stepY: 88 };
const TALL = { width: 158, height: 50, left: 13, top: 6, stepX: 190, stepY: 74 };

export class ComponentMap {
  /** @param {HTMLElement} place @param {(machine: string) => void} onChoose */
  constructor(place, onChoose) {
    this.place = place;
    this.onChoose = onChoose;
    /** @type {Map<string, { box: SVGElement, state: SVGElement }>} */
    this.boxes = new Map();
    /** @type {Map<string, SVGElement[]>} */
    this.lines = new Map();
    /** @type {readonly Actor[]} */
    this.actors = [];
    this.podCount = 0;
    const narrow = matchMedia("(max-width: 760px)");
    narrow.addEventListener("change", () => this.draw(narrow.matches));
    this.draw(narrow.matches);
  }

  /** @param {boolean} tall */
  draw(tall) {
    const size = tall ? TALL : WIDE;
    /** @param {MapNode} node */
    const at = (node) => {
      const [column, row] = tall ? node.tall : node.wide;
      return { x: size.left + column * size.stepX, y: size.top + row * size.stepY };
    };
    const columns = Math.max(...nodes.map((node) => (tall ? node.tall : node.wide)[0]));
    const rows = Math.max(...nodes.map((node) => (tall ? node.tall : node.wide)[1]));
    const width = size.left * 2 + columns * size.stepX + size.width;
    const height = size.top * 2 + rows * size.stepY + size.height + (tall ? 0 : 14);
    const svg = makeSvg("svg", {
      viewBox: `0 0 ${width} ${height}`,
      role: "group",
      "aria-label": "Components and the events between them",
    });
    svg.append(
      makeSvg(
        "defs",
        {},
        makeSvg(
          "marker",
          {
            id: "tip",
            viewBox: "0 0 8 8",
            refX: 7,
            refY: 4,
            markerUnits: "userSpaceOnUse",
            markerWidth: 12,
            markerHeight: 12,
            orient: "auto",
          },
          makeSvg("path", { d: "M0 0L8 4L0 8z", class: "tip" }),
        ),
      ),
    );
    const byId = new Map(nodes.map((node) => [node.id, node]));
    this.lines.clear();
    /** Edges of each component: brought out while it is pointed at. @type {Map<string, SVGElement[]>} */
    const near = new Map();
    for (const edge of [...edges].sort((a, b) => Number(a.main ?? false) - Number(b.main ?? false))) {
      const from = byId.get(edge.from);
      const to = byId.get(edge.to);
      if (from === undefined || to === undefined) continue;
      const line = makeSvg("path", {
        d: curve(at(from), at(to), size),
        class: edge.main === true ? "flow main" : "flow",
        ...(edge.main === true && { "marker-end": "url(#tip)" }),
      });
      line.append(makeSvg("title", {}, `${edge.from} → ${edge.to}: ${edge.types.join(", ")}`));
      svg.append(line);
      for (const end of [edge.from, edge.to]) near.set(end, [...(near.get(end) ?? []), line]);
      for (const type of edge.types) {
        const key = `${edge.source ?? edge.from} ${type}`;
        this.lines.set(key, [...(this.lines.get(key) ?? []), line]);
      }
    }
    this.boxes.clear();
    for (const node of nodes) {
      const { x, y } = at(node);
      const state = makeSvg("text", { x: x + size.width / 2, y: y + 38, class: "what" }, node.outside ?? "");
      const box = makeSvg(
        "g",
        { class: node.outside === undefined ? "component" : "component outside", "data-component": node.id },
        makeSvg("rect", { x, y, width: size.width, height: size.height, rx: 9 }),
        makeSvg("text", { x: x + size.width / 2, y: y + 21, class: "name" }, node.label),
        state,
      );
      if (node.outside === undefined) {
        box.setAttribute("tabindex", "0");
        box.setAttribute("role", "button");
        box.setAttribute("aria-label", `${node.label}: show its chart`);
        const choose = () => this.onChoose(node.id);
        box.addEventListener("click", choose);
        box.addEventListener("keydown", (event) => {
          if (!(event instanceof KeyboardEvent)) return;
          const { key } = event;
          if (key !== "Enter" && key !== " ") return;
          event.preventDefault();
          choose();
        });
      }
      const show = (/** @type {boolean} */ on) => {
        for (const line of near.get(node.id) ?? []) line.classList.toggle("near", on);
      };
      for (const event of ["pointerenter", "focus"]) box.addEventListener(event, () => show(true));
      for (const event of ["pointerleave", "blur"]) box.addEventListener(event, () => show(false));
      svg.append(box);
      this.boxes.set(node.id, { box, state });
    }
    this.place.replaceChildren(svg);
    this.show(this.actors, this.podCount);
  }

  /** Present states. @param {readonly Actor[]} actors @param {number} pods */
  show(actors, pods) {
    this.actors = actors;
    this.podCount = pods;
    for (const { id, outside } of nodes) {
      const drawn = this.boxes.get(id);
      if (drawn === undefined) continue;
      if (id === "pods") drawn.state.textContent = pods === 1 ? "1 pod" : `${pods} pods`;
      if (outside !== undefined) continue;
      const running = actors.filter((actor) => actor.machine === id);
      drawn.box.classList.toggle("absent", running.length === 0);
      drawn.box.dataset["states"] = running.flatMap((actor) => leaves(actor.states)).join(" ");
      drawn.state.textContent = summary(running);
    }
  }

  /** What was said since the last frame: `SOURCE TYPE` → how often. @param {Record<string, number>} flows */
  light(flows) {
    for (const key of Object.keys(flows)) {
      const space = key.indexOf(" ");
      const machine = key.slice(0, space).replace(/:.*/, "");
      for (const line of this.lines.get(machine + key.slice(space)) ?? []) flash(line, "lit");
      const said = this.boxes.get(machine);
      if (said !== undefined) flash(said.box, "lit");
      if (machine === "deployer" && key.includes(" POD.")) {
        for (const id of ["podApply", "pods"]) {
          const box = this.boxes.get(id)?.box;
          if (box !== undefined) flash(box, "lit");
        }
      }
    }
  }
}

/** The state of one actor, the first region's states of several with their numbers. @param {readonly Actor[]} running */
function summary(running) {
  if (running.length === 0) return "not running";
  const states = running.map((actor) => leaves(actor.states).map((leaf) => leaf.split(".").at(-1) ?? ""));
  const [only = []] = states;
  if (running.length === 1) {
    const telling = only.filter((state) => state !== "running");
    return cut((telling.length > 2 ? telling.slice(0, 2) : telling).join(" · ") || "running");
  }
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const [first = ""] of states) counts.set(first, (counts.get(first) ?? 0) + 1);
  return cut([...counts].map(([state, count]) => `${count} ${state}`).join(", "));
}

/** @param {string} text */
const cut = (text) => (text.length > 23 ? `${text.slice(0, 22)}…` : text);

/**
 * @param {{ x: number, y: number }} from @param {{ x: number, y: number }} to @param {{ width: number, height: number }} size
 */
function curve(from, to, { width, height }) {
  const middle = { x1: from.x + width / 2, x2: to.x + width / 2, y1: from.y + height / 2, y2: to.y + height / 2 };
  const { x1, x2, y1, y2 } = middle;
  if (x1 === x2) {
    const down = y2 > y1;
    const start = down ? from.y + height : from.y;
    const end = down ? to.y : to.y + height;
    const far = Math.abs(end - start) > height * 1.2;
    if (!far) return `M${x1} ${start}L${x2} ${end}`;
    const side = from.x - 14;
    return `M${from.x} ${y1}C${side} ${y1} ${side} ${y2} ${to.x} ${y2}`;
  }
  if (to.x > from.x) {
    const start = from.x + width;
    const bend = Math.max(18, (to.x - start) / 2);
    return `M${start} ${y1}C${start + bend} ${y1} ${to.x - bend} ${y2} ${to.x - 1} ${y2}`;
  }
  // Backwards: below both.
  const low = Math.max(from.y, to.y) + height + 16;
  return `M${x1} ${from.y + height}C${x1} ${low} ${x2} ${low} ${x2} ${to.y + height}`;
}
