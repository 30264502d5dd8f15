/** The timeline: a canvas that is zoomed and moved, with a strip that shows where one is. */
import { addUse } from "./bars.js";
import { attachGestures } from "./gestures.js";
import { paintTimeline } from "./paint.js";
import { GROUP_WIDE, layRows, rowAt } from "./rows.js";
import { AXIS, boxOf, inSight, pageColours } from "./sight.js";
import { Tip, linesText, spanLines } from "./tips.js";
import { say } from "./store.js";
import { el, percentText, timeText } from "./words.js";

const ROOM = 430;
const STRIP = 34;
const NEAR = 4;

export class Timeline {
  /**
   * @param {import("./model.js").Model} model
   * @param {import("./store.js").Store} store  of `view`, `path`, `link`, `span`, `found`, `folded`
   */
  constructor(model, store) {
    Object.assign(this, { model, store, from: 0, to: Math.max(model.end, 1), top: 0, scale: 1, hovered: -1 });
    this.canvas = el("canvas", {
      class: "lanes", tabindex: "0", role: "application", id: "timeline",
      "aria-label": `timeline, ${timeText(model.end)}: plus and minus zoom, arrows move, Enter and Shift with arrows `
        + "go from span to span, P shows the critical path, 0 shows everything, Escape lets go",
    });
    this.strip = el("canvas", { class: "strip", "aria-hidden": "true" });
    this.frame = el("div", { class: "viewer" }, this.canvas, this.strip);
    this.tip = new Tip(this.frame);
    for (const name of ["view", "path", "link", "span", "found", "folded"]) {
      store.watch(name, () => this.refresh(name));
    }
    attachGestures(this);
    new ResizeObserver(() => this.resize()).observe(this.frame);
  }

  get view() {
    return this.model.views[this.store.get("view")];
  }

  /** Measure the page, and draw anew. */
  resize() {
    if (!this.frame.clientWidth) return;
    this.colours = pageColours();
    const chosen = this.model.raw.timeline.tints.colours;
    this.tints = chosen ?? this.colours.palette;
    this.width = this.frame.clientWidth;
    const pen = this.canvas.getContext("2d");
    pen.font = "11px system-ui, sans-serif";
    let widest = 0;
    const { lanes } = this.view;
    const skip = Math.ceil(lanes.length / 300);
    for (let lane = 0; lane < lanes.length; lane += skip) widest = Math.max(widest, pen.measureText(lanes[lane]).width);
    this.left = Math.min(GROUP_WIDE + Math.min(widest, 150) + 14, 0.4 * this.width);
    this.layout = layRows(this.view, this.store.get("folded"), ROOM, this.scale);
    this.height = AXIS + Math.min(Math.max(this.layout.height, 60), Math.round(1.3 * ROOM));
    this.size(this.canvas, this.height);
    this.size(this.strip, STRIP);
    this.move(0, 0);
    this.drawStrip();
  }

  size(canvas, height) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(this.width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = `${height}px`;
    canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  refresh(name) {
    if (name === "view") this.top = 0;
    if (name === "view" || name === "folded") this.resize();
    if (name === "span") this.told();
    this.draw();
  }

  draw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      if (!this.layout) return;
      paintTimeline(this.canvas.getContext("2d"), this.sight());
      this.drawStrip();
    });
  }

  /** @returns {import("./sight.js").Sight} */
  sight() {
    const { model, view, layout, from, to, top, width, height, left, colours, tints, hovered, store } = this;
    const [path, link, span, find] = ["path", "link", "span", "found"].map((name) => store.get(name));
    return { model, view, layout, from, to, top, width, height, left, colours, tints, hovered, path, link, span,
      found: find ? find.match : null };
  }

  /** Zoom so that the time at x stays where it is. */
  zoom(factor, x = (this.left + this.width) / 2) {
    const at = this.timeAt(x);
    const wide = Math.min(Math.max((this.to - this.from) * factor, 20), Math.max(this.model.end, 1) * 1.02);
    this.from = at - ((x - this.left) / (this.width - this.left)) * wide;
    this.to = this.from + wide;
    this.move(0, 0);
  }

  /** Move by so many pixels, no further than there is something. */
  move(x, y) {
    const wide = this.to - this.from;
    const per = wide / (this.width - this.left);
    const spare = 0.02 * wide;
    const most = Math.max(this.model.end, 1) + spare - wide;
    this.from = Math.max(Math.min(this.from + x * per, most), Math.min(-spare, most));
    this.to = this.from + wide;
    this.top = Math.max(0, Math.min(this.top + y, this.layout.height - (this.height - AXIS)));
    this.draw();
  }

  /** Show everything. */
  fit() {
    [this.from, this.to] = [-0.01 * this.model.end, Math.max(1.01 * this.model.end, 1)];
    this.scale = 1;
    this.resize();
  }

  /** Make lanes taller, or lower. */
  stretch(factor) {
    this.scale = Math.min(Math.max(this.scale * factor, 1), 8);
    this.resize();
  }

  timeAt(x) {
    return this.from + ((x - this.left) / (this.width - this.left)) * (this.to - this.from);
  }

  /** What is at a point: a span, or -1; and the row, or null. */
  at(x, y) {
    const number = y < AXIS ? -1 : rowAt(this.layout.rows, y - AXIS + this.top);
    const row = number < 0 ? null : this.layout.rows[number];
    return { row, span: row && row.lane >= 0 && x >= this.left ? this.spanAt(row, x, y) : -1 };
  }

  spanAt(row, x, y) {
    const { view, model } = this;
    const { offset, order } = view.byLane;
    const [low, high] = [this.timeAt(x - NEAR), this.timeAt(x + NEAR)];
    const time = this.timeAt(x);
    let best = -1;
    let least = Infinity;
    for (let i = offset[row.lane]; i < offset[row.lane + 1]; i++) {
      const [top, tall] = boxOf(this.sight(), row, order[i]);
      if (y < top - 1 || y > top + tall + 1) continue;
      const [first, last] = inSight(model, view.resource[order[i]], low, high);
      for (let place = first; place < last; place++) {
        const span = model.bySpan.order[place];
        const { grant, release, arrival } = model.spans;
        const held = Math.max(grant[span] - time, time - release[span], 0);
        const far = held && time >= arrival[span] && time < grant[span] ? (high - time) / 2 : held;
        if (far < least && far <= high - time) [best, least] = [span, far];
      }
    }
    return best;
  }

  /** Point at a place of the canvas: tell what is there, and mark its link. */
  point(x, y) {
    const { row, span } = this.at(x, y);
    if (span !== this.hovered) {
      this.hovered = span;
      this.draw();
    }
    if (span >= 0) {
      this.tip.show(spanLines(this.model, span), x, y);
      this.store.set("link", this.model.resources.link[this.model.spans.resource[span]]);
    } else if (row && row.lane < 0 && x >= this.left) {
      this.tip.show(this.foldedLines(row, x), x, y);
    } else {
      this.tip.hide();
      if (!row) this.store.set("link", -1);
    }
  }

  foldedLines(row, x) {
    const { view, model } = this;
    const { offset, order } = view.byGroup;
    const entries = order.subarray(offset[row.group], offset[row.group + 1]);
    const use = new Float32Array(1);
    for (const entry of entries) addUse(use, model, view.resource[entry], this.timeAt(x - 1), this.timeAt(x + 1));
    return [["group", view.groups[row.group]], ["lanes", `${entries.length}`], ["at", timeText(this.timeAt(x))],
      ["in use", percentText(use[0] / entries.length)]];
  }

  /** Let go of what is pointed at. */
  leave() {
    this.hovered = -1;
    this.tip.hide();
    this.draw();
  }

  /** Tell of the selected span, where it is and to who does not see it. */
  told() {
    const span = this.store.get("span");
    if (span < 0) {
      this.tip.hide();
      return;
    }
    const lines = spanLines(this.model, span);
    say(linesText(lines));
    this.reveal(span);
    const resource = this.model.spans.resource[span];
    this.store.set("link", this.model.resources.link[resource]);
    const row = this.layout.lanes[this.view.lane[this.view.entryOf.get(resource)]];
    const x = this.left + ((this.model.spans.grant[span] - this.from) / (this.to - this.from)) * (this.width - this.left);
    this.tip.show(lines, Math.max(this.left, Math.min(x, this.width)), AXIS + row.y - this.top + row.height / 2);
  }

  /** Move so that a span is in sight. */
  reveal(span) {
    const { spans } = this.model;
    const wide = this.to - this.from;
    if (spans.grant[span] > this.to || spans.release[span] < this.from) {
      this.from = spans.grant[span] - wide / 3;
      this.to = this.from + wide;
    }
    this.revealResource(spans.resource[span]);
  }

  /** Move so that a resource's row is in sight. */
  revealResource(resource) {
    const entry = this.view.entryOf.get(resource);
    if (entry === undefined) return;
    const row = this.layout.lanes[this.view.lane[entry]];
    const room = this.height - AXIS;
    if (row.y < this.top || row.y + row.height > this.top + room) this.top = row.y - room / 2;
    this.move(0, 0);
  }

  /** How busy everything is over the whole time, and which part of it is in sight. */
  drawStrip() {
    const pen = this.strip.getContext("2d");
    const room = this.width - this.left;
    const cells = Math.max(1, Math.floor(room / 2));
    if (!this.whole || this.whole.length !== cells) {
      this.whole = new Float32Array(cells);
      const count = this.model.resources.names.length;
      for (let resource = 0; resource < count; resource++) addUse(this.whole, this.model, resource, 0, Math.max(this.model.end, 1));
      this.whole = this.whole.map((use) => use / count);
    }
    const most = Math.max(...this.whole, 1e-9);
    pen.clearRect(0, 0, this.width, STRIP);
    pen.fillStyle = this.colours.zebra;
    pen.fillRect(this.left, 0, room, STRIP);
    pen.fillStyle = this.colours.palette[5];
    this.whole.forEach((use, cell) => {
      const tall = (STRIP - 4) * (use / most);
      pen.fillRect(this.left + (cell * room) / cells, STRIP - tall, room / cells + 0.5, tall);
    });
    const [x0, x1] = [this.from, this.to].map((time) =>
      this.left + room * Math.max(0, Math.min(1, time / Math.max(this.model.end, 1))));
    pen.strokeStyle = this.colours.ink;
    pen.lineWidth = 1.5;
    pen.strokeRect(x0 + 0.75, 0.75, Math.max(3, x1 - x0) - 1.5, STRIP - 1.5);
    pen.fillStyle = this.colours.faint;
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    pen.fillText(`in use, at most ${percentText(most, 0)}`, this.left - 8, STRIP / 2, this.left - 12);
  }
}
