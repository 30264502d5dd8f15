/** The topology: nodes and links where they stand, each link by how much it had to do. */
import { unpacked, unpackedSmall } from "./columns.js";
import { say } from "./store.js";
import { Tip, linesText } from "./tips.js";
import { bytesText, el, percentText, svg, tableOf, timeText } from "./words.js";

const SIDE = 480;
const PAD = 26;
const MOST_NAMED = 200;
const SHADES = 5;
const FINE = 3;
const MOST_IN_TABLE = 100;

/**
 * Read a topology's chart, and put its nodes on a square.
 * @param {object} chart
 */
export function readPlace(chart) {
  const place = { ...chart };
  for (const name of ["link", "src", "dst", "twin", "level"]) place[name] = unpackedSmall(chart[name]);
  for (const name of ["bytes", "busy"]) place[name] = unpacked(chart[name]);
  for (const name of ["queue", "longest"]) place[name] = chart[name] === null ? null : unpacked(chart[name]);
  const [x, y, tips] = [unpacked(chart.x), unpacked(chart.y), unpacked(chart.tips)];
  const tall = Math.max(...y, 0);
  const scale = (SIDE - 2 * PAD) / chart.finest;
  place.x = x.map((at) => PAD + at * scale);
  place.y = y.map((at) => PAD + (tall - at) * scale);
  place.tips = tips.map((at, i) => (i % 2 ? PAD + (tall - at) * scale : PAD + at * scale));
  place.groups = chart.groups.map(([level, gx, gy, ...size]) =>
    [level, PAD + gx * scale, PAD + (tall - gy) * scale, ...size.map((side) => side * scale)]);
  place.height = 2 * PAD + tall * scale;
  place.width = 2 * PAD + Math.max(...x, 0) * scale;
  place.size = nodeSize(place);
  place.of = new Map(Array.from(place.link, (link, i) => [link, i]));
  return place;
}

/** Radius of a node: what keeps the nearest ones apart. */
function nodeSize(place) {
  const order = Array.from(place.x.keys()).sort((a, b) => place.x[a] - place.x[b]);
  let least = SIDE / 6;
  order.forEach((one, at) => {
    for (let i = at + 1; i < order.length && place.x[order[i]] - place.x[one] < least; i++) {
      const apart = Math.hypot(place.x[order[i]] - place.x[one], place.y[order[i]] - place.y[one]);
      if (apart > 0.5) least = Math.min(least, apart);
    }
  });
  return Math.max(0.6, Math.min(14, 0.3 * least));
}

/** Name of a link of the chart, as the lanes have it. */
export function linkName(place, i) {
  return `${place.nodes[place.src[i]]}->${place.nodes[place.dst[i]]}${place.twin[i] ? `#${place.twin[i]}` : ""}`;
}

export class Place {
  /**
   * @param {object} chart
   * @param {import("./model.js").Model} model
   * @param {import("./store.js").Store} store  of `link`, `shade`, `cut`
   */
  constructor(chart, model, store) {
    Object.assign(this, { model, store, place: readPlace(chart) });
    const { place } = this;
    this.byWork = Array.from(place.link.keys()).sort((a, b) => place.busy[b] - place.busy[a] || place.bytes[b] - place.bytes[a] || a - b);
    this.links = svg("g", { class: "links" });
    this.above = svg("g", { class: "arrows" });
    this.nodes = svg("g", { class: "nodes" });
    this.svg = svg("svg", {
      viewBox: boxAround(place), tabindex: "0", role: "application", id: "topology", class: place.size < FINE ? "topology fine" : "topology",
      "aria-label": `topology: ${place.ranks} ranks, ${place.links} links; arrows go from link to link, the busiest first; `
        + "Enter shows a link's lane, Escape lets go",
    }, groupsOf(place), this.links, this.above, this.nodes);
    this.frame = el("div", { class: "square" }, this.svg);
    this.tip = new Tip(this.frame);
    this.drawLinks();
    this.drawNodes();
    store.watch("link", (link) => this.mark(link));
    store.watch("shade", () => this.shade());
    store.watch("cut", () => this.shade());
    this.shade();
    this.listen();
  }

  drawLinks() {
    const { place } = this;
    this.paths = Array.from(place.link, (link, i) => svg("path", { d: linkPath(place, i), "data-link": i, class: "link" }));
    this.links.append(...this.paths);
    // a wide line that cannot be seen is easier to point at
    this.links.append(...Array.from(place.link, (link, i) => svg("path", { d: linkPath(place, i), "data-link": i, class: "reach" })));
  }

  drawNodes() {
    const { place } = this;
    const named = place.nodes.length <= MOST_NAMED;
    place.nodes.forEach((name, node) => {
      const [x, y, size] = [place.x[node], place.y[node], place.size];
      const rank = node < place.ranks;
      this.nodes.append(rank
        ? svg("circle", { cx: x, cy: y, r: size, class: "rank", "data-node": node })
        : svg("rect", { x: x - 0.85 * size, y: y - 0.85 * size, width: 1.7 * size, height: 1.7 * size, class: "switch", "data-node": node }));
      if (named && rank && size > 5) {
        this.nodes.append(svg("text", { x, y: y + 0.36 * size, "font-size": Math.min(11, 1.1 * size) }, name));
      }
    });
  }

  /** Colour of each link by what it had to do, or by its level; the cut's own stand out. */
  shade() {
    const { place, store } = this;
    const how = store.get("shade");
    const work = how === "bytes" ? place.bytes : place.busy;
    const most = Math.max(...work, 1);
    const cut = place.cut && store.get("cut") ? new Set(unpackedSmall(place.cut.links)) : new Set();
    this.paths.forEach((path, i) => {
      const shade = how === "level" ? `level${place.level[i] % 6}` : `shade${work[i] ? Math.ceil((SHADES * work[i]) / most) : 0}`;
      path.setAttribute("class", `link ${shade}${cut.has(place.link[i]) ? " cut" : ""}`);
    });
    const inside = place.cut && store.get("cut") ? new Set(unpackedSmall(place.cut.nodes)) : new Set();
    for (const node of this.nodes.querySelectorAll("[data-node]")) {
      node.classList.toggle("inside", inside.has(Number(node.dataset.node)));
    }
    this.mark(store.get("link"));
  }

  /** Mark a link of the topology, and no other. */
  mark(link) {
    const i = this.place.of.get(link) ?? -1;
    this.marked?.classList.remove("marked");
    this.marked = i < 0 ? null : this.paths[i];
    this.marked?.classList.add("marked");
  }

  listen() {
    this.svg.addEventListener("pointermove", (event) => {
      const i = event.target.dataset?.link;
      if (i === undefined) {
        this.tip.hide();
        if (event.target === this.svg) this.store.set("link", -1);
        return;
      }
      const box = this.frame.getBoundingClientRect();
      this.show(Number(i), event.clientX - box.left, event.clientY - box.top);
    });
    this.svg.addEventListener("pointerleave", () => this.tip.hide());
    this.svg.addEventListener("click", (event) => {
      if (event.target.dataset?.link !== undefined) this.reveal(this.place.link[event.target.dataset.link]);
    });
    this.svg.addEventListener("keydown", (event) => this.key(event));
  }

  show(i, x, y) {
    this.store.set("link", this.place.link[i]);
    this.tip.show(linkLines(this.place, i), x, y);
  }

  key(event) {
    const ways = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (event.key in ways && this.byWork.length) {
      const now = this.byWork.indexOf(this.place.of.get(this.store.get("link")) ?? -1);
      const next = Math.max(0, Math.min(this.byWork.length - 1, now + ways[event.key]));
      const i = this.byWork[next];
      this.store.set("link", this.place.link[i]);
      say(linesText(linkLines(this.place, i)));
    } else if (event.key === "Enter") this.reveal(this.store.get("link"));
    else if (event.key === "Escape") {
      this.store.set("link", -1);
      this.tip.hide();
    } else return;
    event.preventDefault();
  }

  /** Show the lane of a link. */
  reveal(link) {
    const resource = this.model.ofLink[link] ?? -1;
    if (resource >= 0) this.timeline?.revealResource(resource);
  }

  /** The busiest links as a table. */
  table() {
    const { place } = this;
    const rows = this.byWork.slice(0, MOST_IN_TABLE).filter((i) => place.bytes[i]).map((i) => {
      const told = new Map(linkLines(place, i));
      return ["link", "level", "bytes", "busy"].map((name) => told.get(name));
    });
    return tableOf({ title: "the busiest links as a table", headers: ["link", "level", "bytes", "busy"], rows }, true);
  }
}

function linkLines(place, i) {
  const share = place.time ? ` (${percentText(place.busy[i] / place.time)})` : "";
  const lines = [["link", linkName(place, i)], ["level", place.levels[place.level[i]]],
    ["bytes", bytesText(place.bytes[i])], ["busy", timeText(place.busy[i]) + share]];
  if (place.queue) lines.push(["longest queue", `${place.queue[i]}`], ["longest wait", timeText(place.longest[i])]);
  return lines;
}

function boxAround(place) {
  let [left, top, right, bottom] = [0, 0, place.width, place.height];
  for (const [, x, y, wide, tall] of place.groups) {
    left = Math.min(left, tall === undefined ? x - wide - 4 : x - 4);
    right = Math.max(right, x + wide + 4);
    top = Math.min(top, tall === undefined ? y - wide - 4 : y - tall - 4);
    bottom = Math.max(bottom, tall === undefined ? y + wide + 4 : y + 4);
  }
  return [left, top, right - left, bottom - top].map((side) => Math.round(side)).join(" ");
}

function groupsOf(place) {
  return svg("g", { class: "groups" }, ...place.groups.map(([level, x, y, wide, tall]) => tall === undefined
    ? svg("circle", { cx: x, cy: y, r: wide, class: `level${level % 6}` })
    : svg("rect", { x, y: y - tall, width: wide, height: tall, class: `level${level % 6}` })));
}

/** A link's line: beside the one that goes back, with its point where it arrives. */
function linkPath(place, i) {
  const [x0, y0] = [place.x[place.src[i]], place.y[place.src[i]]];
  const [x1, y1] = [place.x[place.dst[i]], place.y[place.dst[i]]];
  const [tx0, ty0, tx1, ty1] = place.tips.subarray(4 * i, 4 * i + 4);
  const side = Math.min(0.32 * place.size, 3) + place.twin[i] * Math.min(0.3 * place.size, 3);
  if (Math.hypot(tx0 - x0, ty0 - y0) > 0.5) {
    // it leads round: a stub at both ends
    return beside(x0, y0, tx0, ty0, side, place.size, false) + beside(tx1, ty1, x1, y1, side, place.size, true);
  }
  return beside(x0, y0, x1, y1, side, place.size, true);
}

function beside(x0, y0, x1, y1, side, size, pointed) {
  const long = Math.hypot(x1 - x0, y1 - y0) || 1;
  const [dx, dy] = [(x1 - x0) / long, (y1 - y0) / long];
  const at = (along, across) => `${(x0 + dx * along - dy * across).toFixed(1)} ${(y0 + dy * along + dx * across).toFixed(1)}`;
  const end = pointed ? Math.max(0.5 * long, long - size) : long;
  let path = `M${at(0, side)}L${at(end, side)}`;
  const tip = Math.min(0.45 * size, 5);
  if (pointed && size > 3) path += `L${at(end - tip, side + 0.7 * tip)}`;
  return path;
}
