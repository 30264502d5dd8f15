/** What is told of a span, of a link, of a part of the critical path. */
import { chunksOf, nodeOf, transferOf } from "./model.js";
import { bytesText, el, percentText, rangesText, timeText } from "./words.js";

/**
 * Lines that tell of a span.
 * @param {import("./model.js").Model} model
 * @param {number} span
 * @returns {[string, string][]}
 */
export function spanLines(model, span) {
  const { spans, resources } = model;
  const on = resources.names[spans.resource[span]];
  const [arrival, grant, release] = [spans.arrival[span], spans.grant[span], spans.release[span]];
  if (spans.share) {
    return [["on", on], ["from", timeText(grant)], ["to", timeText(release)],
      ["in use", percentText(spans.share[span])]];
  }
  if (model.tasks) return taskLines(model, span, on);
  const lines = [["operation", `${spans.operation[span]}`], ...transferLines(model, spans.operation[span])];
  lines.push(["on", on], ["arrival", timeText(arrival)], ["grant", timeText(grant)], ["release", timeText(release)]);
  lines.push(["queued", timeText(grant - arrival)], ["held", timeText(release - grant)]);
  const latency = resources.latency[spans.resource[span]];
  if (latency) lines.push(["past the link", timeText(release + latency)]);
  return lines;
}

function taskLines(model, span, on) {
  const { tasks, spans } = model;
  const lines = [["task", tasks.names[tasks.name[span]]], ["on", on]];
  if (tasks.number[span] >= 0) lines.push(["micro-batch", `${tasks.number[span]}`]);
  if (tasks.bytes[span]) lines.push(["bytes", bytesText(tasks.bytes[span])]);
  lines.push(["begin", timeText(spans.grant[span])], ["end", timeText(spans.release[span])]);
  lines.push(["takes", timeText(spans.release[span] - spans.grant[span])]);
  return lines;
}

/** Lines that tell of an operation's transfer. */
function transferLines(model, operation) {
  const found = transferOf(model, operation);
  if (!found) return [];
  const { schedule, row } = found;
  const lines = [];
  if (model.schedules.length > 1) lines.push(["collective", schedule.name]);
  lines.push(["step", `${schedule.step[row]}`], ["channel", `${schedule.channel[row]}`]);
  lines.push(["transfer", `${endText(schedule, schedule.src[row])} \u2192 ${endText(schedule, schedule.dst[row])}`]);
  lines.push(["at the end", schedule.mode[row] ? "REDUCE" : "COPY"]);
  const chunks = chunksOf(schedule, row);
  lines.push([schedule.count[row] === 1 ? "chunk" : "chunks",
    chunks.length ? rangesText(chunks) : `${schedule.count[row]} of them`]);
  lines.push(["bytes", bytesText(model.operations.bytes[operation])]);
  return lines;
}

/** A rank of a schedule, and which of the topology's it is where that is another. */
function endText(schedule, rank) {
  if (rank >= schedule.ranks) return `switch ${rank - schedule.ranks}`;
  const node = nodeOf(schedule, rank);
  return node === rank ? `rank ${rank}` : `rank ${rank} (at ${node})`;
}

/**
 * A box of lines at a place of an element, kept inside it.
 */
export class Tip {
  /** @param {HTMLElement} parent  positioned */
  constructor(parent) {
    this.parent = parent;
    this.box = el("div", { class: "tip", role: "tooltip", hidden: true });
    parent.append(this.box);
  }

  /**
   * @param {[string, string][]} lines
   * @param {number} x
   * @param {number} y
   */
  show(lines, x, y) {
    this.box.replaceChildren(el("dl", {}, ...lines.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])));
    this.box.hidden = false;
    const { width, height } = this.box.getBoundingClientRect();
    const left = x + 14 + width > this.parent.clientWidth ? x - 14 - width : x + 14;
    const top = Math.min(y + 12, this.parent.clientHeight - height - 4);
    this.box.style.left = `${Math.max(2, left)}px`;
    this.box.style.top = `${Math.max(2, top)}px`;
  }

  hide() {
    this.box.hidden = true;
  }
}

/** The same lines in one sentence. */
export function linesText(lines) {
  return lines.map(([name, text]) => `${name} ${text}`).join(", ");
}
