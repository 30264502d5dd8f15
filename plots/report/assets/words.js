/** Quantities in words, as `topologies.text` writes them, and elements of the page. */

const TIMES = [["s", 1], ["ms", 1e-3], ["us", 1e-6], ["ns", 1e-9], ["ps", 1e-12], ["fs", 1e-15]];
const DECIMAL = [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3], ["B", 1]];
const BINARY = [["TiB", 2 ** 40], ["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10], ["B", 1]];

/**
 * @param {number} value
 * @param {(string | number)[][]} units
 * @param {number} digits
 */
function scaled(value, units, digits) {
  const rounded = Number(value.toPrecision(digits));
  const found = units.find((unit) => Math.abs(rounded) >= unit[1] * (1 - 1e-12)) ?? units[units.length - 1];
  return `${Number((rounded / found[1]).toPrecision(digits))} ${found[0]}`;
}

/**
 * A time for people.
 * @param {number} femtoseconds
 * @param {number} [digits]
 */
export function timeText(femtoseconds, digits = 6) {
  return femtoseconds ? scaled(femtoseconds / 1e15, TIMES, digits) : "0 s";
}

/**
 * A size for people: exact in binary units where that is short.
 * @param {number} count
 */
export function bytesText(count) {
  if (!count) return "0 B";
  const decimal = scaled(count, DECIMAL, 6);
  const unit = BINARY.find((one) => count % one[1] === 0);
  const exact = `${count / unit[1]} ${unit[0]}`;
  return exact.length <= decimal.length ? exact : decimal;
}

/**
 * @param {number} share
 * @param {number} [places]
 */
export function percentText(share, places = 1) {
  return `${(100 * share).toFixed(places)} %`;
}

/**
 * @param {number} count
 * @param {string} what
 */
export function countText(count, what) {
  return `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
}

/**
 * Numbers for people, runs as first-last; of many runs the first ones.
 * @param {number[]} numbers
 * @param {number} [most]
 */
export function rangesText(numbers, most = 8) {
  const runs = [];
  for (let i = 0; i < numbers.length; i++) {
    const first = numbers[i];
    while (i + 1 < numbers.length && numbers[i + 1] === numbers[i] + 1) i++;
    runs.push(first === numbers[i] ? `${first}` : `${first}-${numbers[i]}`);
  }
  return runs.length > most ? `${runs.slice(0, most).join(" ")} ... (${numbers.length})` : runs.join(" ");
}

/**
 * An element with attributes and children; what is text stays text.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]  `on...` are listeners; null and false are left out
 * @param {...(Node | string | null)} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * The same in SVG.
 * @param {string} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") Object.entries(value).forEach(([key, one]) => node.style.setProperty(key, one));
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null));
  return node;
}

/**
 * A table, as a section that is opened where it only tells what a chart shows.
 * @param {{title: string, headers: string[], rows: string[][]}} table
 * @param {boolean} [closed]
 */
export function tableOf(table, closed = false) {
  const numbers = table.headers.map((_, column) =>
    table.rows.every((row) => /^(-|-?[\d.,]+ ?([a-zA-Z%/]+)?)$/.test(row[column])));
  const cell = (tag, column, text) => el(tag, numbers[column] ? { class: "number" } : {}, text);
  const body = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.title },
    el("table", {},
      el("thead", {}, el("tr", {}, ...table.headers.map((text, column) => {
        const head = cell("th", column, text);
        head.setAttribute("scope", "col");
        return head;
      }))),
      el("tbody", {}, ...table.rows.map((row) =>
        el("tr", {}, ...row.map((text, column) => cell("td", column, text)))))));
  if (!closed) return el("section", { class: "card" }, el("h2", {}, table.title), body);
  return el("details", {}, el("summary", {}, table.title), body);
}
