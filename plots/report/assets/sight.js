/** What of the timeline is in sight, and where it is on the canvas. */
import { firstFrom } from "./columns.js";

export const AXIS = 22;

/**
 * Colours of the page as it is now.
 * @returns {Record<string, string>}
 */
export function pageColours() {
  const style = getComputedStyle(document.documentElement);
  const names = ["ink", "faint", "rule", "card", "zebra", "mark", "path", "wait", "grey", "focus", "full"];
  const colours = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
  colours.palette = [0, 1, 2, 3, 4, 5].map((i) => style.getPropertyValue(`--c${i}`).trim());
  return colours;
}

/** Black or white, whichever is read more easily on a colour. */
export function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255);
  const linear = (part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const light = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return light > 0.18 ? "#000000" : "#ffffff";
}

/**
 * What the painter is told.
 * @typedef {object} Sight
 * @property {import("./model.js").Model} model
 * @property {object} view
 * @property {{rows: import("./rows.js").Row[], lanes: import("./rows.js").Row[], height: number}} layout
 * @property {number} from  fs at the left edge
 * @property {number} to
 * @property {number} top  of the rows, pixels that are scrolled away
 * @property {number} width
 * @property {number} height
 * @property {number} left  where the chart begins
 * @property {Record<string, any>} colours
 * @property {string[]} tints
 * @property {boolean} path
 * @property {Uint8Array | null} found  spans that are looked for
 * @property {number} span  selected
 * @property {number} hovered
 * @property {number} link  of the topology, marked
 */

/** @param {Sight} sight */
export function xOf(sight, time) {
  return sight.left + ((time - sight.from) / (sight.to - sight.from)) * (sight.width - sight.left);
}

/** Height at which a row begins. */
export function yOf(sight, row) {
  return AXIS + row.y - sight.top;
}

/** Spans of a resource that may be in sight: places in `bySpan.order`. */
export function inSight(model, resource, from, to) {
  const { offset, order } = model.bySpan;
  const { grant } = model.spans;
  const [longest, end] = [model.longest[resource], offset[resource + 1]];
  const low = firstFrom(order, grant, from - longest, offset[resource], end);
  return [low, firstFrom(order, grant, to + longest, low, end)];
}

/** Top and height of what a resource has of its row. */
export function boxOf(sight, row, entry) {
  const inset = row.height > 12 ? 2 : row.height > 7 ? 1 : 0.5;
  const low = sight.view.low[entry] / 1000;
  const high = sight.view.high[entry] / 1000;
  const room = row.height - 2 * inset;
  return [yOf(sight, row) + inset + low * room, Math.max(1, (high - low) * room)];
}
