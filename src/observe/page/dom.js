/** Making and finding elements; text goes in as text only. */

/** @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`no element #${id}`);
  return found;
}

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {{ class?: string, text?: string, title?: string, data?: Record<string, string> }} [how]
 * @param {...(Node | string)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, how = {}, ...children) {
  const element = document.createElement(tag);
  if (how.class !== undefined) element.className = how.class;
  if (how.text !== undefined) element.textContent = how.text;
  if (how.title !== undefined) element.title = how.title;
  for (const [key, value] of Object.entries(how.data ?? {})) element.dataset[key] = value;
  element.append(...children);
  return element;
}

/** @param {string} tag @param {Record<string, string | number>} attributes @param {...(Node | string)} children */
export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/** Lights an element up and lets it fade: two classes of the same look, so that a second time begins anew.
 * @param {Element} element @param {string} name */
export function flash(element, name) {
  const second = element.classList.contains(`${name}-a`);
  element.classList.remove(`${name}-a`, `${name}-b`);
  element.classList.add(second ? `${name}-b` : `${name}-a`);
}

/** Milliseconds for people. @param {number | undefined | null} value */
export function ms(value) {
  if (value === undefined || value === null) return "";
  if (value < 10) return `${value.toFixed(1)} ms`;
  if (value < 1000) return `${Math.round(value)} ms`;
  return value < 60_000 ? `${(value / 1000).toFixed(1)} s` : `${Math.round(value / 60_000)} min`;
}

/** @param {string} plan */
export const short = (plan) => (plan === "" ? "none" : plan.slice(0, 8));

/** @param {number} at */
export const clock = (at) =>
  new Date(at).toTimeString().slice(0, 8) +
  `.${String(at % 1000)
    .padStart(3, "0")
    .slice(0, 3)}`;

/** Leaves of the states an actor is in, without the chart's name: `open.idle`.
 * @param {readonly string[]} states */
export function leaves(states) {
  return states
    .filter((id) => id.includes(".") && !states.some((other) => other.startsWith(`${id}.`)))
    .map((id) => id.slice(id.indexOf(".") + 1));
}
