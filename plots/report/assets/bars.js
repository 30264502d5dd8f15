/** Bars of the timeline: of what shares a pixel only one, and what is folded as how busy it is. */
import { boxOf, inSight, inkOn, yOf } from "./sight.js";

export function paintLane(pen, sight, row) {
  const { view } = sight;
  const { offset, order } = view.byLane;
  for (let i = offset[row.lane]; i < offset[row.lane + 1]; i++) {
    const [y, height] = boxOf(sight, row, order[i]);
    paintSpans(pen, sight, view.resource[order[i]], y, height);
  }
}

function paintSpans(pen, sight, resource, y, height) {
  const { model, colours, tints, found } = sight;
  const { spans } = model;
  const [first, last] = inSight(model, resource, sight.from, sight.to);
  const scale = (sight.width - sight.left) / (sight.to - sight.from);
  let until = -Infinity;
  for (let i = first; i < last; i++) {
    const span = model.bySpan.order[i];
    const x = sight.left + (spans.grant[span] - sight.from) * scale;
    const end = sight.left + (spans.release[span] - sight.from) * scale;
    const wanted = !found || found[span];
    // one of those that share a pixel stands for all, unless it is one that is looked for
    if (end < until + 0.6 && !(found && wanted)) continue;
    const tint = spans.tint[span];
    pen.globalAlpha = (wanted ? 1 : 0.13) * (spans.share ? 0.12 + 0.88 * spans.share[span] : 1);
    const before = (spans.grant[span] - spans.arrival[span]) * scale;
    if (before > 1.5) {
      pen.fillStyle = colours.wait;
      pen.fillRect(x - before, y + height - Math.min(2, height), before, Math.min(2, height));
    }
    pen.fillStyle = tint < 0 ? (spans.share ? tints[0] : colours.grey) : tints[tint % tints.length];
    const left = Math.max(x, sight.left - 2);
    const wide = Math.max(0.8, Math.min(end, sight.width + 2) - left);
    pen.fillRect(left, y, wide, height);
    if (wide > 4 && !spans.share) {
      pen.fillStyle = colours.card;
      pen.fillRect(left + wide - 1, y, 1, height);
      paintNumber(pen, sight, span, left, y, wide, height);
    }
    until = end;
  }
  pen.globalAlpha = 1;
}

/** Number of the step or the micro-batch, or name of the task, where there is room. */
function paintNumber(pen, sight, span, x, y, wide, height) {
  const { model, tints } = sight;
  const tint = model.spans.tint[span];
  if (height < 10 || tint < 0 || wide < 12) return;
  let text = `${tint}`;
  if (model.tasks) text = model.tasks.number[span] >= 0 ? `${model.tasks.number[span]}` : "";
  else if (model.schedules.length > 1) text = model.schedules[tint].name;
  if (!text || pen.measureText(text).width > wide - 5) return;
  pen.fillStyle = inkOn(tints[tint % tints.length]);
  pen.textAlign = "center";
  pen.fillText(text, x + wide / 2, y + height / 2 + 0.5);
}

/** How busy the lanes of a folded group are, on average. */
export function paintFolded(pen, sight, row) {
  const { view, model } = sight;
  const cells = Math.max(1, Math.floor((sight.width - sight.left) / 2));
  const use = new Float32Array(cells);
  const { offset, order } = view.byGroup;
  const [first, last] = [offset[row.group], offset[row.group + 1]];
  for (let i = first; i < last; i++) addUse(use, model, view.resource[order[i]], sight.from, sight.to);
  pen.fillStyle = sight.colours.palette[0];
  const room = row.height - 4;
  for (let cell = 0; cell < cells; cell++) {
    const tall = room * Math.min(1, use[cell] / (last - first));
    if (tall > 0) pen.fillRect(sight.left + 2 * cell, yOf(sight, row) + 2 + room - tall, 2, tall);
  }
}

/**
 * Add the part of each cell of a stretch of time for which a resource is in use.
 * @param {Float32Array} use
 */
export function addUse(use, model, resource, from, to) {
  const { spans } = model;
  const [first, last] = inSight(model, resource, from, to);
  const scale = use.length / (to - from);
  for (let i = first; i < last; i++) {
    const span = model.bySpan.order[i];
    const share = spans.share ? spans.share[span] : 1;
    const begin = Math.max(0, (spans.grant[span] - from) * scale);
    const end = Math.min(use.length, (spans.release[span] - from) * scale);
    for (let cell = Math.floor(begin); cell < end; cell++) {
      use[cell] += share * (Math.min(end, cell + 1) - Math.max(begin, cell));
    }
  }
}
