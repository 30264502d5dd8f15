/** Rows of the timeline: lanes one below the other, and groups that are folded into one row each. */

export const GROUP_WIDE = 96;
const LOW = 5;
const TALL = 24;
const FOLDED = 22;

/**
 * @typedef {object} Row
 * @property {number} group
 * @property {number} lane  -1 for a folded group
 * @property {number} y
 * @property {number} height
 */

/**
 * @param {object} view
 * @param {Set<number>} folded  groups
 * @param {number} room  height of the page's part, to be filled where the lanes are few
 * @param {number} scale  of a lane's height, 1 as it fits
 * @returns {{rows: Row[], height: number, lanes: Row[]}}
 */
export function layRows(view, folded, room, scale) {
  const open = view.lanes.filter((_, lane) => !folded.has(view.group[lane])).length;
  const tall = Math.max(LOW, Math.min(TALL, Math.floor(room / Math.max(open, 1)))) * scale;
  const rows = [];
  const lanes = new Array(view.lanes.length).fill(null);
  let y = 0;
  let last = -1;
  for (let lane = 0; lane < view.lanes.length; lane++) {
    const group = view.group[lane];
    const first = group !== last;
    last = group;
    if (folded.has(group)) {
      if (first) {
        rows.push({ group, lane: -1, y, height: FOLDED });
        y += FOLDED;
      }
      lanes[lane] = rows[rows.length - 1];
      continue;
    }
    lanes[lane] = { group, lane, y, height: tall };
    rows.push(lanes[lane]);
    y += tall;
  }
  return { rows, height: y, lanes };
}

/**
 * Number of the row at a height, -1 above the first and below the last.
 * @param {Row[]} rows
 * @param {number} y
 */
export function rowAt(rows, y) {
  let low = 0;
  let high = rows.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (y < rows[middle].y) high = middle - 1;
    else if (y >= rows[middle].y + rows[middle].height) low = middle + 1;
    else return middle;
  }
  return -1;
}

/**
 * Round moments between two times, so that there are about so many.
 * @param {number} from
 * @param {number} to
 * @param {number} count
 * @returns {number[]}
 */
export function roundMoments(from, to, count) {
  const rough = Math.max(to - from, 1) / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((times) => times * power).find((one) => one >= rough));
  const moments = [];
  for (let moment = Math.ceil(from / step) * step; moment <= to; moment += step) moments.push(moment);
  return moments;
}
