/** What every rank holds of every chunk, step by step. */
import { chunksOf } from "./model.js";

/**
 * Contributions that each cell holds after some steps, and what the last of them did.
 * @typedef {object} Holdings
 * @property {Uint32Array} count  nodes * chunks
 * @property {Uint8Array} written  0, 1 where the last step copied into it, 2 where it reduced into it
 * @property {number[]} rows  transfers of the last step
 */

export class Holder {
  /** @param {object} schedule */
  constructor(schedule) {
    this.schedule = schedule;
    this.full = Array.from(schedule.source, (source) => (source < 0 ? schedule.ranks : 1));
    this.ofStep = Array.from({ length: schedule.steps }, () => []);
    schedule.step.forEach((step, row) => this.ofStep[step].push(row));
    this.restart();
  }

  restart() {
    const { schedule } = this;
    this.done = 0;
    this.count = new Uint32Array(schedule.nodes * schedule.chunks);
    this.written = new Uint8Array(this.count.length);
    schedule.source.forEach((source, chunk) => {
      if (source >= 0) this.count[source * schedule.chunks + chunk] = 1;
      else for (let rank = 0; rank < schedule.ranks; rank++) this.count[rank * schedule.chunks + chunk] = 1;
    });
  }

  /**
   * After so many steps.
   * @param {number} steps
   * @returns {Holdings}
   */
  after(steps) {
    if (steps < this.done || steps === 0) this.restart();
    while (this.done < steps) this.next();
    return { count: this.count, written: this.written, rows: steps ? this.ofStep[steps - 1] : [] };
  }

  /** Every transfer of a step reads what the steps before left. */
  next() {
    const { schedule, count, written } = this;
    const cells = [];
    const values = [];
    const rows = this.ofStep[this.done++];
    for (const row of rows) {
      for (const chunk of chunksOf(schedule, row, Infinity)) {
        cells.push(schedule.dst[row] * schedule.chunks + chunk, schedule.mode[row]);
        values.push(count[schedule.src[row] * schedule.chunks + chunk]);
      }
    }
    written.fill(0);
    values.forEach((value, i) => {
      const [cell, reduces] = [cells[2 * i], cells[2 * i + 1]];
      count[cell] = reduces ? count[cell] + value : value;
      written[cell] = reduces ? 2 : 1;
    });
  }

  /** How many cells hold all contributions, and how many must at the end. */
  complete() {
    const { schedule, count, full } = this;
    let [held, wanted] = [0, 0];
    for (let chunk = 0; chunk < schedule.chunks; chunk++) {
      const target = schedule.target[chunk];
      const [from, to] = target < 0 ? [0, schedule.ranks] : [target, target + 1];
      wanted += to - from;
      for (let rank = from; rank < to; rank++) if (count[rank * schedule.chunks + chunk] >= full[chunk]) held++;
    }
    return { held, wanted };
  }
}
