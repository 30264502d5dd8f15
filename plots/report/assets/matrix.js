/** Ranks and chunks as a picture: how much of each chunk every rank holds. */
import { inkOn, pageColours } from "./sight.js";
import { Tip } from "./tips.js";
import { el } from "./words.js";

const MOST_TALL = 440;
const CELL = 32;
const EDGE = 44;
const HEAD = 18;

export class Matrix {
  /** @param {import("./holdings.js").Holder} holder */
  constructor(holder) {
    this.holder = holder;
    this.canvas = el("canvas", { class: "matrix", role: "img" });
    this.frame = el("div", { class: "square" }, this.canvas);
    this.tip = new Tip(this.frame);
    this.canvas.addEventListener("pointermove", (event) => this.point(event.offsetX, event.offsetY));
    this.canvas.addEventListener("pointerleave", () => this.tip.hide());
    new ResizeObserver(() => this.draw()).observe(this.frame);
  }

  /** Whether a pixel stands for several cells. */
  get reduced() {
    return this.wide < 1 || this.tall < 1;
  }

  /** @param {import("./holdings.js").Holdings} state */
  show(state) {
    this.state = state;
    this.draw();
  }

  measure() {
    const { nodes, chunks } = this.holder.schedule;
    const room = Math.max(this.frame.clientWidth - EDGE - 2, 40);
    this.wide = Math.min(CELL, room / chunks);
    this.tall = Math.min(CELL, MOST_TALL / nodes, this.wide > 3 ? this.wide : CELL);
    if (this.wide >= 2) this.wide = Math.floor(this.wide);
    if (this.tall >= 2) this.tall = Math.floor(this.tall);
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [EDGE + this.wide * chunks + 2, HEAD + this.tall * nodes + 2];
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    return pen;
  }

  draw() {
    if (!this.state || !this.frame.clientWidth) return;
    const pen = this.measure();
    const colours = pageColours();
    if (this.reduced) this.drawReduced(pen, colours);
    else this.drawCells(pen, colours);
    this.drawNames(pen, colours);
  }

  drawCells(pen, colours) {
    const { wide, tall, holder, state } = this;
    const { nodes, chunks } = holder.schedule;
    const gap = wide > 4 && tall > 4 ? 1 : 0;
    pen.font = "10px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    for (let node = 0; node < nodes; node++) {
      for (let chunk = 0; chunk < chunks; chunk++) {
        const cell = node * chunks + chunk;
        const [x, y] = [EDGE + chunk * wide, HEAD + node * tall];
        const [held, full] = [state.count[cell], holder.full[chunk]];
        this.fill(pen, colours, x, y, wide - gap, tall - gap, held / full);
        if (state.written[cell] && wide > 4) {
          pen.strokeStyle = state.written[cell] === 2 ? colours.palette[1] : colours.palette[0];
          pen.lineWidth = wide > 12 ? 2.5 : 1.5;
          pen.strokeRect(x + 1, y + 1, wide - gap - 2, tall - gap - 2);
        }
        if (held && full > 1 && wide >= 18 && tall >= 14) {
          pen.fillStyle = held >= full ? inkOn(colours.full) : colours.ink;
          pen.fillText(`${held}`, x + wide / 2, y + tall / 2);
        }
      }
    }
  }

  /** One pixel for several cells: how much of them is held, on average. */
  drawReduced(pen, colours) {
    const { holder, state, wide, tall } = this;
    const { nodes, chunks } = holder.schedule;
    const [columns, rows] = [Math.min(chunks, Math.ceil(chunks * wide)), Math.min(nodes, Math.ceil(nodes * tall))];
    const sum = new Float64Array(columns * rows);
    const number = new Float64Array(columns * rows);
    for (let node = 0; node < nodes; node++) {
      const row = Math.floor((node * rows) / nodes) * columns;
      for (let chunk = 0; chunk < chunks; chunk++) {
        const at = row + Math.floor((chunk * columns) / chunks);
        sum[at] += state.count[node * chunks + chunk] / holder.full[chunk];
        number[at]++;
      }
    }
    const [across, down] = [(chunks * wide) / columns, (nodes * tall) / rows];
    // whole pixels, or seams would be seen
    const [xs, ys] = [across, down].map((size, i) => Array.from({ length: [columns, rows][i] + 1 }, (_, at) => Math.round(at * size)));
    sum.forEach((held, at) => {
      const [column, row] = [at % columns, Math.floor(at / columns)];
      this.fill(pen, colours, EDGE + xs[column], HEAD + ys[row], Math.max(1, xs[column + 1] - xs[column]),
        Math.max(1, ys[row + 1] - ys[row]), held / number[at]);
    });
  }

  fill(pen, colours, x, y, wide, tall, share) {
    pen.fillStyle = colours.zebra;
    pen.fillRect(x, y, wide, tall);
    if (!share) return;
    pen.globalAlpha = share >= 1 ? 1 : 0.2 + 0.5 * share;
    pen.fillStyle = share >= 1 ? colours.full : colours.palette[5];
    pen.fillRect(x, y, wide, tall);
    pen.globalAlpha = 1;
  }

  drawNames(pen, colours) {
    const { wide, tall, holder } = this;
    const { nodes, chunks, ranks } = holder.schedule;
    pen.font = "10px system-ui, sans-serif";
    pen.fillStyle = colours.faint;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const down = Math.ceil(12 / tall);
    for (let node = 0; node < nodes; node += down) {
      pen.fillText(node < ranks ? `rank ${node}` : `sw ${node - ranks}`, EDGE - 5, HEAD + (node + 0.5) * tall);
    }
    pen.textAlign = "center";
    const across = Math.ceil((14 + 6 * `${chunks}`.length) / wide);
    for (let chunk = 0; chunk < chunks; chunk += across) {
      pen.fillText(`${chunk}`, EDGE + (chunk + 0.5) * wide, HEAD / 2);
    }
  }

  point(x, y) {
    const { schedule, full } = this.holder;
    const [chunk, node] = [Math.floor((x - EDGE) / this.wide), Math.floor((y - HEAD) / this.tall)];
    if (chunk < 0 || node < 0 || chunk >= schedule.chunks || node >= schedule.nodes) {
      this.tip.hide();
      return;
    }
    const who = node < schedule.ranks ? `rank ${node}` : `switch ${node - schedule.ranks}`;
    const held = this.state.count[node * schedule.chunks + chunk];
    const target = schedule.target[chunk];
    const wanted = node < schedule.ranks && (target < 0 || target === node);
    this.tip.show([["holder", who], ["chunk", `${chunk}`], ["holds", `${held} of ${full[chunk]} contributions`],
      ["must end with it", wanted ? "yes" : "no"]], x, y);
  }
}
