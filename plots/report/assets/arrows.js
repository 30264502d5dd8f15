/** The transfers of a step, as arrows over the topology. */
import { chunksOf, nodeOf } from "./model.js";
import { rangesText, svg } from "./words.js";

const MOST_ARROWS = 600;
const MANY_ARROWS = 150;
const MOST_TOLD = 40;
const MOST_MOVING = 256;

/**
 * Draw a step's transfers, or as many as can be told apart; how many.
 * @param {import("./place.js").Place} shown
 * @param {object} schedule
 * @param {number[]} rows
 */
export function drawArrows(shown, schedule, rows) {
  const { place, above } = shown;
  const each = Math.ceil(rows.length / MOST_ARROWS);
  const drawn = rows.filter((_, i) => i % each === 0);
  above.replaceChildren();
  above.classList.toggle("many", drawn.length > MANY_ARROWS);
  shown.moving = [];
  for (const row of drawn) {
    const [from, to] = [schedule.src[row], schedule.dst[row]].map((rank) => nodeOf(schedule, rank));
    const curve = curveOf(place, from, to);
    const kind = schedule.mode[row] ? "reduces" : "copies";
    above.append(svg("path", { d: `${curve.path}${curve.head}`, class: `arrow ${kind}` }));
    if (drawn.length <= MOST_TOLD && place.size > 5) above.append(chunkLabel(schedule, row, curve));
    if (drawn.length <= MOST_MOVING) {
      const dot = svg("circle", { r: Math.max(2, Math.min(4.5, 0.4 * place.size)), class: `dot ${kind}` });
      shown.moving.push({ dot, curve });
    }
  }
  return drawn.length;
}

function chunkLabel(schedule, row, curve) {
  const chunks = chunksOf(schedule, row);
  const text = chunks.length > 6 ? `${schedule.count[row]} chunks` : rangesText(chunks, 3);
  const [x, y] = curve.at(0.5);
  return svg("text", { x: x + 7 * curve.across[0], y: y + 7 * curve.across[1] + 3, class: "chunk" }, text);
}

/** A curve from node to node that is bent to its left, so that an answer is beside it. */
function curveOf(place, from, to) {
  const [x0, y0, x1, y1] = [place.x[from], place.y[from], place.x[to], place.y[to]];
  const long = Math.hypot(x1 - x0, y1 - y0) || 1;
  const across = [(y1 - y0) / long, -(x1 - x0) / long];
  const bend = 0.16 * long + 4;
  const [mx, my] = [(x0 + x1) / 2 + across[0] * bend, (y0 + y1) / 2 + across[1] * bend];
  const at = (t) => [
    (1 - t) ** 2 * x0 + 2 * t * (1 - t) * mx + t * t * x1,
    (1 - t) ** 2 * y0 + 2 * t * (1 - t) * my + t * t * y1,
  ];
  const near = Math.min(0.4, (place.size + 2) / long);
  const [bx, by] = at(near);
  const [ex, ey] = at(1 - near);
  // the middle of what is left of the curve
  const [cx, cy] = at(0.5).map((middle, i) => 2 * middle - ([bx, by][i] + [ex, ey][i]) / 2);
  const text = (...points) => points.map((one) => one.toFixed(1)).join(" ");
  return { path: `M${text(bx, by)}Q${text(cx, cy)} ${text(ex, ey)}`, head: headOf(ex, ey, ex - cx, ey - cy, place.size, text), at, across };
}

function headOf(x, y, dx, dy, size, text) {
  const long = Math.hypot(dx, dy) || 1;
  const [ux, uy] = [dx / long, dy / long];
  const tip = Math.max(2.5, Math.min(7, 0.6 * size));
  return `M${text(x - tip * ux + 0.6 * tip * uy, y - tip * uy - 0.6 * tip * ux)}L${text(x, y)}`
    + `L${text(x - tip * ux - 0.6 * tip * uy, y - tip * uy + 0.6 * tip * ux)}`;
}

/**
 * Let the chunks of the step that is drawn travel along its arrows.
 * @param {import("./place.js").Place} shown
 * @param {number} part  of the way, 0 to 1; past 1 they have arrived
 */
export function moveChunks(shown, part) {
  for (const { dot, curve } of shown.moving ?? []) {
    if (part >= 1) {
      dot.remove();
      continue;
    }
    const [x, y] = curve.at(part);
    dot.setAttribute("cx", x.toFixed(1));
    dot.setAttribute("cy", y.toFixed(1));
    if (!dot.isConnected) shown.above.append(dot);
  }
}
