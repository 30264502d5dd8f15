/** How the timeline is moved: by wheel, by pointers, and by keys. */
import { GROUP_WIDE } from "./rows.js";
import { inSight } from "./sight.js";
import { say } from "./store.js";

const STEP = 80;

/** @param {import("./timeline.js").Timeline} timeline */
export function attachGestures(timeline) {
  const { canvas } = timeline;
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.shiftKey) timeline.move(0, event.deltaY || event.deltaX);
    else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) timeline.move(event.deltaX, 0);
    else timeline.zoom(Math.exp(event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), Math.max(event.offsetX, timeline.left));
  }, { passive: false });
  canvas.addEventListener("dblclick", (event) => timeline.zoom(0.4, event.offsetX));
  canvas.addEventListener("keydown", (event) => {
    if (keyOf(timeline, event)) event.preventDefault();
  });
  attachPointers(timeline);
  attachStrip(timeline);
}

/** One pointer moves, two zoom, none of them pressed points. */
function attachPointers(timeline) {
  const { canvas } = timeline;
  const down = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    down.set(event.pointerId, [event.offsetX, event.offsetY]);
    canvas.setPointerCapture(event.pointerId);
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = [event.offsetX, event.offsetY];
    const last = down.get(event.pointerId);
    if (!last) {
      timeline.point(x, y);
      return;
    }
    moved += Math.abs(x - last[0]) + Math.abs(y - last[1]);
    down.set(event.pointerId, [x, y]);
    if (down.size === 1) timeline.move(last[0] - x, last[1] - y);
    else pinch(timeline, down, event.pointerId, last);
  });
  const up = (event) => {
    if (down.delete(event.pointerId) && event.type === "pointerup" && moved < 5) press(timeline, event);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => timeline.leave());
}

function pinch(timeline, down, moving, before) {
  const other = [...down].find(([id]) => id !== moving)[1];
  const now = down.get(moving);
  const apart = (point) => Math.max(10, Math.hypot(point[0] - other[0], point[1] - other[1]));
  timeline.zoom(apart(before) / apart(now), (now[0] + other[0]) / 2);
}

/** Select a span, or fold a group. */
function press(timeline, event) {
  const { row, span } = timeline.at(event.offsetX, event.offsetY);
  if (row && event.offsetX < GROUP_WIDE) fold(timeline, row.group);
  else timeline.store.set("span", span);
}

/** Fold a group, or unfold it. */
export function fold(timeline, group) {
  const folded = new Set(timeline.store.get("folded"));
  if (!folded.delete(group)) folded.add(group);
  timeline.store.set("folded", folded);
  say(`${timeline.view.groups[group]} ${folded.has(group) ? "folded" : "unfolded"}`);
}

function attachStrip(timeline) {
  const { strip } = timeline;
  const go = (event) => {
    if (!event.buttons) return;
    const at = ((event.offsetX - timeline.left) / (timeline.width - timeline.left)) * timeline.model.end;
    const wide = timeline.to - timeline.from;
    [timeline.from, timeline.to] = [at - wide / 2, at + wide / 2];
    timeline.move(0, 0);
  };
  strip.addEventListener("pointerdown", (event) => {
    strip.setPointerCapture(event.pointerId);
    go(event);
  });
  strip.addEventListener("pointermove", go);
}

/** Do what a key says; whether it says anything. */
function keyOf(timeline, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.shiftKey && event.key.startsWith("Arrow")) {
    walk(timeline, event.key);
    return true;
  }
  const keys = {
    ArrowLeft: () => timeline.move(-STEP, 0),
    ArrowRight: () => timeline.move(STEP, 0),
    ArrowUp: () => timeline.move(0, -STEP / 2),
    ArrowDown: () => timeline.move(0, STEP / 2),
    "+": () => timeline.zoom(0.7),
    "=": () => timeline.zoom(0.7),
    "-": () => timeline.zoom(1 / 0.7),
    0: () => timeline.fit(),
    Home: () => timeline.fit(),
    "[": () => timeline.stretch(1 / 1.25),
    "]": () => timeline.stretch(1.25),
    Enter: () => walk(timeline, "Enter"),
    p: () => timeline.store.set("path", !timeline.store.get("path")),
    Escape: () => letGo(timeline),
  };
  const found = keys[event.key] ?? keys[event.key.toLowerCase()];
  if (found) found();
  return Boolean(found);
}

function letGo(timeline) {
  timeline.leave();
  timeline.store.set("span", -1);
  timeline.store.set("link", -1);
  timeline.store.set("found", null);
}

/** Go from the selected span to the one before, after, above or below; to the first in sight where none is. */
function walk(timeline, key) {
  const { model, store } = timeline;
  const span = store.get("span");
  if (span < 0 || key === "Enter") {
    store.set("span", firstInSight(timeline));
    return;
  }
  const { offset, order } = model.bySpan;
  const resource = model.spans.resource[span];
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const place = order.subarray(offset[resource], offset[resource + 1]).indexOf(span);
    const next = offset[resource] + place + (key === "ArrowRight" ? 1 : -1);
    if (next >= offset[resource] && next < offset[resource + 1]) store.set("span", order[next]);
    return;
  }
  const { view } = timeline;
  const way = key === "ArrowDown" ? 1 : -1;
  for (let lane = view.lane[view.entryOf.get(resource)] + way; lane >= 0 && lane < view.lanes.length; lane += way) {
    const found = nearest(model, view.resource[view.byLane.order[view.byLane.offset[lane]]], model.spans.grant[span]);
    if (found < 0) continue;
    store.set("span", found);
    return;
  }
}

/** Span of a resource that is granted nearest to a moment. */
function nearest(model, resource, moment) {
  const { offset, order } = model.bySpan;
  let best = -1;
  for (let i = offset[resource]; i < offset[resource + 1]; i++) {
    const far = Math.abs(model.spans.grant[order[i]] - moment);
    if (best < 0 || far < Math.abs(model.spans.grant[best] - moment)) best = order[i];
  }
  return best;
}

function firstInSight(timeline) {
  const { layout, view, model } = timeline;
  for (const row of layout.rows) {
    if (row.lane < 0 || row.y + row.height <= timeline.top) continue;
    const resource = view.resource[view.byLane.order[view.byLane.offset[row.lane]]];
    const [first, last] = inSight(model, resource, timeline.from, timeline.to);
    if (first < last) return model.bySpan.order[first];
  }
  return -1;
}
