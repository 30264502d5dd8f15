/** The steps of a schedule: a slider, the arrows of each step, and who holds what after it. */
import { drawArrows, moveChunks } from "./arrows.js";
import { Holder } from "./holdings.js";
import { Matrix } from "./matrix.js";
import { say, still } from "./store.js";
import { countText, el } from "./words.js";

const TRAVEL = 700;
const PAUSE = 450;

export class Steps {
  /**
   * @param {object} schedule
   * @param {import("./place.js").Place | null} shown
   * @param {(text: string) => void} find
   */
  constructor(schedule, shown, find) {
    Object.assign(this, { schedule, shown, step: 0, playing: false });
    this.holder = new Holder(schedule);
    this.matrix = new Matrix(this.holder);
    this.slider = el("input", {
      type: "range", min: "0", max: `${schedule.steps}`, value: "0", id: "step", "aria-label": "steps done",
      oninput: () => { this.stop(); this.go(Number(this.slider.value)); },
    });
    this.button = el("button", { type: "button", id: "play", onclick: () => (this.playing ? this.stop() : this.play()) }, "play");
    this.text = el("output", { for: "step", class: "step-text" });
    this.finder = el("button", { type: "button", onclick: () => find(`step ${this.step - 1}`) }, "find it in the timeline");
    this.controls = el("div", { class: "tools" }, this.button,
      el("button", { type: "button", "aria-label": "a step back", onclick: () => this.by(-1) }, "\u2039"),
      el("button", { type: "button", "aria-label": "a step on", onclick: () => this.by(1) }, "\u203a"),
      this.slider, this.text, this.finder);
    this.legend = el("ul", { class: "legend" },
      el("li", {}, el("i", { class: "key copies" }), "COPY"), el("li", {}, el("i", { class: "key reduces" }), "REDUCE"),
      el("li", {}, el("i", { class: "key partly" }), "held in part"), el("li", {}, el("i", { class: "key wholly" }), "complete"));
    this.note = el("p", { class: "note" });
    this.go(0);
  }

  /** Show who holds what after so many steps. */
  go(step) {
    this.step = step;
    this.slider.value = `${step}`;
    const state = this.holder.after(step);
    this.matrix.show(state);
    const drawn = this.shown ? drawArrows(this.shown, this.schedule, state.rows) : state.rows.length;
    if (this.shown) {
      moveChunks(this.shown, 1);
      this.shown.svg.classList.toggle("stepping", step > 0);
    }
    const { held, wanted } = this.holder.complete();
    const reduced = state.rows.filter((row) => this.schedule.mode[row]).length;
    this.text.textContent = step ? `step ${step - 1} done, ${this.schedule.steps - step} to go` : "before the first step";
    this.finder.disabled = !step;
    const what = step ? `${countText(state.rows.length, "transfer")}, ${reduced} of them REDUCE; ` : "";
    this.told = `${what}${held} of ${wanted} wanted chunks are complete where they must be`;
    this.matrix.canvas.setAttribute("aria-label", `${this.text.textContent}: ${this.told}`);
    this.describe(drawn < state.rows.length ? `; ${drawn} of the arrows are drawn` : "");
  }

  describe(more) {
    const form = this.matrix.reduced ? " (in a reduced form: a pixel stands for several chunks or ranks)" : "";
    this.note.textContent = `${this.told}${more}. Rows are ranks, columns chunks${form}.`;
  }

  by(steps) {
    this.stop();
    this.go(Math.max(0, Math.min(this.schedule.steps, this.step + steps)));
    say(`${this.text.textContent}: ${this.told}`);
  }

  stop() {
    this.playing = false;
    this.button.textContent = "play";
    clearTimeout(this.timer);
    cancelAnimationFrame(this.frame);
    if (this.shown) moveChunks(this.shown, 1);
  }

  play() {
    this.playing = true;
    this.button.textContent = "pause";
    if (this.step >= this.schedule.steps) this.go(0);
    this.travel();
  }

  /** One step on, its chunks on their way first where things may move. */
  travel() {
    if (!this.playing) return;
    if (this.step >= this.schedule.steps) {
      this.stop();
      return;
    }
    if (!this.shown || still()) {
      this.timer = setTimeout(() => this.arrive(), TRAVEL + PAUSE);
      return;
    }
    drawArrows(this.shown, this.schedule, this.holder.ofStep[this.step]);
    const began = performance.now();
    const tick = (now) => {
      const part = Math.max(0, (now - began) / TRAVEL);
      moveChunks(this.shown, part);
      if (part < 1 && this.playing) this.frame = requestAnimationFrame(tick);
      else if (this.playing) this.arrive();
    };
    this.frame = requestAnimationFrame(tick);
  }

  arrive() {
    this.go(this.step + 1);
    this.timer = setTimeout(() => this.travel(), still() ? 0 : PAUSE);
  }
}
