/** Several runs beside each other. */
import { stackCard } from "./stacks.js";
import { el } from "./words.js";

/**
 * Lines of all runs, those in which they differ marked, and bars of what their times are made of.
 * @param {object[]} runs  as the page was given them
 * @param {(run: number) => void} choose
 * @returns {HTMLElement}
 */
export function compareCards(runs, choose) {
  return el("section", { class: "compare", "aria-label": "comparison" },
    el("h1", {}, `${runs.length} runs beside each other`), barsOfRuns(runs), tableOfRuns(runs, choose));
}

function barsOfRuns(runs) {
  const parts = [...new Set(runs.flatMap((run) => run.stacks[0].parts))];
  const bars = runs.map((run) => {
    const { parts: own, bars: [[, times]] } = run.stacks[0];
    return [run.name, parts.map((part) => (own.includes(part) ? times[own.indexOf(part)] : 0))];
  });
  return stackCard({ title: "time, and what it is made of", parts, bars });
}

function tableOfRuns(runs, choose) {
  const labels = [...new Set(runs.flatMap((run) => run.facts.map((fact) => fact.label)))];
  const text = (run, label) => run.facts.find((fact) => fact.label === label)?.text ?? "-";
  const differs = (label) => runs.some((run) => text(run, label) !== text(runs[0], label));
  const only = el("input", { type: "checkbox", id: "only" });
  const rows = labels.map((label) => {
    const other = differs(label);
    return el("tr", other ? { class: "differs" } : {},
      el("th", { scope: "row" }, label, other ? el("span", { class: "mark", title: "differs" }, " \u2260") : null),
      ...runs.map((run) => el("td", {}, text(run, label))));
  });
  const body = el("tbody", {}, ...rows);
  only.addEventListener("change", () => body.classList.toggle("only", only.checked));
  const head = el("tr", {}, el("td", {}), ...runs.map((run, i) => el("th", { scope: "col" },
    el("button", { type: "button", onclick: () => choose(i) }, run.name))));
  return el("section", { class: "card" },
    el("h2", {}, "in figures"),
    el("label", { class: "only" }, only, " only what differs"),
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "comparison table" },
      el("table", { class: "runs" }, el("thead", {}, head), body)));
}
