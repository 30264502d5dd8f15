/** Drawing the timeline: only what is in sight. */
import { paintFolded, paintLane } from "./bars.js";
import { GROUP_WIDE, roundMoments } from "./rows.js";
import { AXIS, boxOf, xOf, yOf } from "./sight.js";
import { timeText } from "./words.js";

const FONT = "11px system-ui, sans-serif";
const QUEUEING = 3;
const MANY_TURNS = 60;

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {import("./sight.js").Sight} sight
 */
export function paintTimeline(pen, sight) {
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.clearRect(0, 0, sight.width, sight.height);
  const shown = sight.layout.rows.filter((row) =>
    row.y + row.height > sight.top && row.y < sight.top + sight.height - AXIS);
  paintGrid(pen, sight, shown);
  pen.save();
  pen.beginPath();
  pen.rect(sight.left, AXIS, sight.width - sight.left, sight.height - AXIS);
  pen.clip();
  for (const row of shown) {
    if (row.lane < 0) paintFolded(pen, sight, row);
    else paintLane(pen, sight, row);
  }
  if (sight.path && sight.model.path) paintPath(pen, sight);
  for (const span of [sight.hovered, sight.span]) if (span >= 0) paintFrame(pen, sight, span);
  pen.restore();
  paintNames(pen, sight, shown);
  paintAxis(pen, sight);
}

function paintGrid(pen, sight, shown) {
  const { colours } = sight;
  for (const row of shown) {
    const y = yOf(sight, row);
    const marked = sight.link >= 0 && holdsLink(sight, row);
    if (marked || row.lane % 2 === 1) {
      pen.fillStyle = marked ? colours.mark : colours.zebra;
      pen.fillRect(marked ? 0 : sight.left, y, sight.width, row.height);
    }
  }
  pen.fillStyle = colours.rule;
  for (const moment of moments(sight)) pen.fillRect(Math.round(xOf(sight, moment)), AXIS, 1, sight.height);
}

function holdsLink(sight, row) {
  const { view, model } = sight;
  const resource = model.ofLink[sight.link] ?? -1;
  if (resource < 0) return false;
  const { offset, order } = row.lane < 0 ? view.byGroup : view.byLane;
  const part = row.lane < 0 ? row.group : row.lane;
  for (let i = offset[part]; i < offset[part + 1]; i++) if (view.resource[order[i]] === resource) return true;
  return false;
}

function moments(sight) {
  return roundMoments(sight.from, sight.to, (sight.width - sight.left) / 110);
}

/** The critical path: what it holds is framed, where it waits is dashed, turns are thin lines. */
function paintPath(pen, sight) {
  const { path } = sight.model;
  let low = 0;
  let high = path.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (path.end[middle] < sight.from) low = middle + 1;
    else high = middle;
  }
  pen.strokeStyle = sight.colours.path;
  pen.lineWidth = 1.8;
  const turns = [];
  let before = null;
  let until = -Infinity;
  for (let i = low; i < path.count && path.begin[i] <= sight.to; i++) {
    const x = xOf(sight, path.begin[i]);
    const end = xOf(sight, path.end[i]);
    if (end < until + 0.4) continue;
    until = end;
    const place = placeOf(sight, path.resource[i]);
    if (!place) continue;
    const [y, height] = place;
    pen.setLineDash(path.part[i] === QUEUEING ? [4, 3] : []);
    const middle = y + height / 2;
    pen.beginPath();
    if (end - x > 5 && path.part[i] !== QUEUEING) pen.rect(x + 0.9, y + 0.4, end - x - 1.8, height - 0.8);
    else line(pen, x, middle, end, middle);
    pen.stroke();
    if (before !== null && Math.abs(before - middle) > 1) turns.push([x, before, middle]);
    before = middle;
  }
  pen.setLineDash([]);
  // where they are many they would hide what is below them
  pen.globalAlpha = turns.length > MANY_TURNS ? 0.35 : 0.9;
  pen.lineWidth = 0.9;
  pen.beginPath();
  for (const [x, y, end] of turns) line(pen, x, y, x, end);
  pen.stroke();
  pen.globalAlpha = 1;
}

function line(pen, x0, y0, x1, y1) {
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
}

/** Top and height of a resource in the view, or null where it has no row. */
function placeOf(sight, resource) {
  const entry = sight.view.entryOf.get(resource);
  if (entry === undefined) return null;
  const row = sight.layout.lanes[sight.view.lane[entry]];
  return row.lane < 0 ? [yOf(sight, row), row.height] : boxOf(sight, row, entry);
}

/** A frame around a span that is pointed at or selected. */
function paintFrame(pen, sight, span) {
  const { spans } = sight.model;
  sight.view.resource.forEach((resource, entry) => {
    if (resource !== spans.resource[span]) return;
    const row = sight.layout.lanes[sight.view.lane[entry]];
    if (row.lane < 0) return;
    const [y, height] = boxOf(sight, row, entry);
    const x = xOf(sight, spans.grant[span]);
    const wide = Math.max(3, xOf(sight, spans.release[span]) - x);
    pen.lineWidth = 3;
    pen.strokeStyle = sight.colours.card;
    pen.strokeRect(x, y, wide, height);
    pen.lineWidth = 1.6;
    pen.strokeStyle = sight.colours.ink;
    pen.strokeRect(x, y, wide, height);
  });
}

/** Names of groups and lanes, as many as there is room for. */
function paintNames(pen, sight, shown) {
  const { view, colours, left } = sight;
  let free = 0;
  let group = -1;
  pen.save();
  pen.beginPath();
  pen.rect(0, AXIS, left - 2, sight.height);
  pen.clip();
  for (const row of shown) {
    const y = yOf(sight, row);
    if (row.group !== group) {
      if (group >= 0 || row.y < sight.top) {
        pen.fillStyle = colours.rule;
        if (group >= 0) pen.fillRect(0, Math.round(y), left, 1);
      }
      group = row.group;
      const at = Math.max(y, AXIS) + 9;
      if (at > free) {
        pen.fillStyle = colours.faint;
        pen.textAlign = "left";
        pen.fillText(`${row.lane < 0 ? "\u25b8" : "\u25be"} ${view.groups[group]}`, 4, at, GROUP_WIDE - 8);
        free = at + 12;
      }
    }
    if (row.lane >= 0 && (row.height >= 11 || row.lane % Math.ceil(11 / row.height) === 0)) {
      pen.fillStyle = colours.ink;
      pen.textAlign = "right";
      pen.fillText(view.lanes[row.lane], left - 8, Math.max(y + row.height / 2, AXIS + 6), left - GROUP_WIDE - 6);
    }
  }
  pen.restore();
}

function paintAxis(pen, sight) {
  const { colours } = sight;
  pen.fillStyle = colours.card;
  pen.fillRect(0, 0, sight.width, AXIS);
  pen.fillStyle = colours.rule;
  pen.fillRect(0, AXIS - 1, sight.width, 1);
  pen.fillStyle = colours.faint;
  pen.textAlign = "center";
  const wide = sight.to - sight.from;
  for (const moment of moments(sight)) {
    const digits = Math.max(3, Math.ceil(Math.log10(Math.max(1, moment) / wide)) + 4);
    const x = xOf(sight, moment);
    if (x > sight.left + 8) pen.fillText(timeText(moment, Math.min(15, digits)), Math.min(x, sight.width - 30), AXIS / 2);
  }
}
