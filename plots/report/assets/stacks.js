/** Bars of parts that lie one behind the other, with a table that tells the same. */
import { el, percentText, tableOf, timeText } from "./words.js";

/** Colour of each part, by its name; others have those of the palette in turn. */
const PART_COLOURS = {
  serialization: "var(--c0)", compute: "var(--c0)", queueing: "var(--c1)", "exposed communication": "var(--c1)",
  latency: "var(--c5)", reduction: "var(--c2)", overhead: "var(--c4)", waiting: "var(--grey)", idle: "var(--grey)",
  update: "var(--c3)",
};

/**
 * @param {string} part
 * @param {number} place
 */
function partColour(part, place) {
  return PART_COLOURS[part] ?? `var(--c${place % 6})`;
}

/**
 * @typedef {object} StackChart
 * @property {string} title
 * @property {string[]} parts
 * @property {[string, number[]][]} bars
 */

/**
 * @param {StackChart} chart
 * @param {string} [note]
 */
export function stackCard(chart, note = "") {
  const sums = chart.bars.map(([, times]) => times.reduce((a, b) => a + b, 0));
  const most = Math.max(...sums, 1);
  const used = chart.parts.map((_, part) => chart.bars.some(([, times]) => times[part] > 0));
  const bars = chart.bars.map(([name, times], bar) => el("div", { class: "stack" },
    el("span", { class: "stack-name" }, name),
    el("span", { class: "stack-bar", role: "img", "aria-label": barText(chart.parts, times, name) },
      ...times.map((time, part) => time > 0 ? el("i", {
        style: { width: `${(100 * time) / most}%`, background: partColour(chart.parts[part], part) },
        title: `${chart.parts[part]}: ${timeText(time)}, ${percentText(time / sums[bar])}`,
      }) : null)),
    el("span", { class: "stack-sum" }, timeText(sums[bar], 4))));
  const legend = el("ul", { class: "legend" }, ...chart.parts.map((part, place) => used[place] ? el("li", {},
    el("i", { style: { background: partColour(part, place) } }), part) : null));
  return el("section", { class: "card stacks" }, el("h2", {}, chart.title), legend, ...bars,
    note ? el("p", { class: "note" }, note) : null, tableOf(stackTable(chart, sums), true));
}

function barText(parts, times, name) {
  const sum = times.reduce((a, b) => a + b, 0);
  const told = parts.map((part, i) => (times[i] ? `${part} ${percentText(times[i] / sum)}` : null));
  return `${name}: ${timeText(sum)}; ${told.filter(Boolean).join(", ")}`;
}

function stackTable(chart, sums) {
  const used = chart.parts.map((part, i) => [part, i]).filter(([, i]) => chart.bars.some(([, times]) => times[i]));
  return {
    title: "the same as a table",
    headers: ["", ...used.map(([part]) => part), "sum"],
    rows: chart.bars.map(([name, times], bar) =>
      [name, ...used.map(([, i]) => (times[i] ? timeText(times[i]) : "-")), timeText(sums[bar])]),
  };
}
