/** Finding spans by what they are: "rank 3", "step 2", "link 0->1", "chunk 5", or several of these. */
import { chunksOf, nodeOf, transferOf } from "./model.js";

const KINDS = ["rank", "step", "link", "chunk", "channel", "stage", "batch"];

/**
 * @typedef {object} Found
 * @property {Uint8Array} match  1 for each span that is meant
 * @property {Int32Array} spans  these, in the order of time
 */

/**
 * Read what is looked for; a name without a kind is looked for in the names of lanes and tasks.
 * @param {string} text
 * @returns {{kind: string, value: string}[] | null}  null for what is no search
 */
export function readSearch(text) {
  const words = text.toLowerCase().replaceAll("\u2192", "->").split(/[\s,]+/).filter(Boolean);
  const asked = [];
  for (let i = 0; i < words.length; i++) {
    if (!KINDS.includes(words[i])) asked.push({ kind: "name", value: words[i] });
    else if (i + 1 < words.length) asked.push({ kind: words[i], value: words[++i] });
    else return null;
  }
  return asked.length ? asked : null;
}

/**
 * @param {import("./model.js").Model} model
 * @param {string} text
 * @returns {Found | null}
 */
export function findSpans(model, text) {
  const asked = readSearch(text);
  if (!asked) return null;
  const match = new Uint8Array(model.spans.count);
  const some = [];
  let last = -1;
  let fits = false;
  for (let span = 0; span < match.length; span++) {
    const operation = model.spans.operation[span];
    const name = model.resources.names[model.spans.resource[span]].toLowerCase();
    const here = asked.filter(({ kind }) => kind === "link" || kind === "name" || kind === "stage");
    // the hops of an operation stand side by side
    if (operation < 0 || operation !== last) {
      fits = asked.every((one) => here.includes(one) || fitsOperation(model, operation, one));
      last = operation;
    }
    if (!fits || !here.every((one) => fitsPlace(model, span, name, one))) continue;
    match[span] = 1;
    some.push(span);
  }
  some.sort((a, b) => model.spans.grant[a] - model.spans.grant[b] || a - b);
  return { match, spans: Int32Array.from(some) };
}

function fitsPlace(model, span, name, { kind, value }) {
  if (kind === "link") return name === value || name.startsWith(`${value}#`);
  if (kind === "stage") return name.startsWith(`stage ${value} `);
  const task = model.tasks ? model.tasks.names[model.tasks.name[span]].toLowerCase() : "";
  return name.includes(value) || task.includes(value);
}

function fitsOperation(model, operation, { kind, value }) {
  if (kind === "batch") return model.tasks !== null && `${model.tasks.number[operation]}` === value;
  const found = transferOf(model, operation);
  if (!found) return false;
  const { schedule, row } = found;
  const number = Number(value);
  if (kind === "step") return schedule.step[row] === number;
  if (kind === "channel") return schedule.channel[row] === number;
  if (kind === "rank") return [schedule.src[row], schedule.dst[row]].some((rank) => nodeOf(schedule, rank) === number);
  if (!schedule.shown) return false;
  if (schedule.index) return chunksOf(schedule, row, Infinity).includes(number);
  return number >= schedule.first[row] && number < schedule.first[row] + schedule.count[row];
}
