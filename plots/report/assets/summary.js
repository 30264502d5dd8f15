/** What a run is and what came of it, in words and figures. */
import { el } from "./words.js";

/**
 * @param {object} run  as the page was given it
 * @returns {HTMLElement}
 */
export function summaryCard(run) {
  const headlines = run.facts.filter((fact) => fact.headline);
  return el("section", { class: "summary", "aria-label": "summary" },
    el("h1", {}, run.name),
    el("p", { class: "sentence" }, run.sentence),
    ...run.warnings.map((text) => el("p", { class: "warning" }, text)),
    el("dl", { class: "figures" }, ...headlines.map((fact) =>
      el("div", {}, el("dt", {}, fact.label), el("dd", {}, fact.text)))));
}

/**
 * @param {object} run
 * @returns {HTMLElement}
 */
export function factsCard(run) {
  const facts = run.facts.filter((fact) => !fact.headline);
  return el("section", { class: "card" }, el("h2", {}, "in figures"),
    el("dl", { class: "facts" }, ...facts.flatMap((fact) => [el("dt", {}, fact.label), el("dd", {}, fact.text)])));
}
