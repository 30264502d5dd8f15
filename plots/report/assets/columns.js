/** Columns of integers, read back from text. */

/**
 * Read what `plots.report.columns.packed` has written.
 *
 * The sign is the lowest bit of the first byte, so that it is right however large the number.
 * @param {string} text
 * @returns {Float64Array}
 */
export function unpacked(text) {
  const bytes = atob(text);
  let count = 0;
  for (let i = 0; i < bytes.length; i++) if (bytes.charCodeAt(i) < 128) count++;
  const column = new Float64Array(count);
  let value = 0;
  for (let i = 0, at = 0; i < count; i++) {
    let byte = bytes.charCodeAt(at++);
    const negative = byte & 1;
    let size = (byte & 127) >> 1;
    for (let scale = 64; byte > 127; scale *= 128) {
      byte = bytes.charCodeAt(at++);
      size += (byte & 127) * scale;
    }
    value += negative ? -size - 1 : size;
    column[i] = value;
  }
  return column;
}

/**
 * The same, of numbers that fit 32 bits.
 * @param {string} text
 * @returns {Int32Array}
 */
export function unpackedSmall(text) {
  return Int32Array.from(unpacked(text));
}

/**
 * Members of each group, one group behind the other, those of a group in order.
 * @param {Int32Array} group  group of each member; negative ones are left out
 * @param {number} groups
 * @param {Float64Array | null} key  by which the members of a group are sorted
 * @returns {{offset: Int32Array, order: Int32Array}}
 */
export function grouped(group, groups, key) {
  const offset = new Int32Array(groups + 1);
  for (const g of group) if (g >= 0) offset[g + 1]++;
  for (let g = 0; g < groups; g++) offset[g + 1] += offset[g];
  const order = new Int32Array(offset[groups]);
  const place = offset.slice(0, groups);
  for (let i = 0; i < group.length; i++) if (group[i] >= 0) order[place[group[i]]++] = i;
  if (key) {
    for (let g = 0; g < groups; g++) {
      const part = order.subarray(offset[g], offset[g + 1]);
      let sorted = true;
      for (let i = 1; i < part.length && sorted; i++) sorted = key[part[i - 1]] <= key[part[i]];
      if (!sorted) part.sort((a, b) => key[a] - key[b] || a - b);
    }
  }
  return { offset, order };
}

/**
 * First place in order[low..high] whose key is not below a value.
 * @param {Int32Array} order
 * @param {Float64Array} key
 * @param {number} value
 * @param {number} low
 * @param {number} high
 * @returns {number}
 */
export function firstFrom(order, key, value, low, high) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key[order[middle]] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
