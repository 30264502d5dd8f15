/** The page: its parts, put together for the run that is chosen. */
import { compareCards } from "./compare.js";
import { findSpans } from "./find.js";
import { fold } from "./gestures.js";
import { readRun } from "./model.js";
import { Place } from "./place.js";
import { stackCard } from "./stacks.js";
import { Steps } from "./steps.js";
import { Store, say, themeSwitch } from "./store.js";
import { factsCard, summaryCard } from "./summary.js";
import { Timeline } from "./timeline.js";
import { countText, el, tableOf } from "./words.js";

/** A control with its name. */
function labelled(text, control) {
  return el("label", {}, `${text} `, control);
}

function choiceOf(names, told) {
  const select = el("select", { onchange: () => told(select.selectedIndex) },
    ...names.map((name) => el("option", {}, name)));
  return select;
}

/** The box to find spans with: Enter goes from one to the next. */
function finderOf(model, store, timeline) {
  const told = el("span", { class: "told" });
  const box = el("input", { type: "search", id: "find", placeholder: "rank 3, step 2, link 0->1, chunk 5", size: "26" });
  let at = -1;
  const look = (text) => {
    box.value = text;
    const found = text.trim() ? findSpans(model, text) : null;
    at = -1;
    store.set("found", found);
    told.textContent = found ? countText(found.spans.length, "span") : text.trim() ? "rank, step, link, chunk: and which?" : "";
  };
  box.addEventListener("input", () => look(box.value));
  box.addEventListener("keydown", (event) => {
    const found = store.get("found");
    if (event.key === "Escape") look("");
    if (event.key !== "Enter" || !found || !found.spans.length) return;
    at = (at + (event.shiftKey ? found.spans.length - 1 : 1)) % found.spans.length;
    store.set("span", found.spans[at]);
    told.textContent = `${at + 1} of ${countText(found.spans.length, "span")}`;
  });
  store.watch("found", (found) => {
    if (!found && box.value && document.activeElement !== box) look("");
    if (found) say(told.textContent);
  });
  return { box, told, look: (text) => { look(text); timeline.canvas.scrollIntoView({ block: "nearest" }); } };
}

function timelineTools(model, store, timeline, finder) {
  const views = model.views.map((view) => view.name);
  const path = el("input", { type: "checkbox", id: "path", checked: true, onchange: () => store.set("path", path.checked) });
  store.watch("path", (on) => { path.checked = on; });
  const button = (text, name, act) => el("button", { type: "button", "aria-label": name, title: name, onclick: act }, text);
  return el("div", { class: "tools" },
    views.length > 1 ? labelled("lanes", choiceOf(views, (view) => {
      store.set("folded", new Set());
      store.set("view", view);
    })) : null,
    model.path ? labelled("critical path", path) : null,
    button("\u2212", "zoom out", () => timeline.zoom(1 / 0.7)),
    button("+", "zoom in", () => timeline.zoom(0.7)),
    button("all", "show everything", () => timeline.fit()),
    button("fold", "fold all groups", () => store.set("folded", new Set(timeline.view.groups.keys()))),
    button("unfold", "unfold all groups", () => store.set("folded", new Set())),
    labelled("find", finder.box), finder.told);
}

/** What the colours of the bars mean. */
function tintLegend(model) {
  const { tints } = model.raw.timeline;
  const colour = (i) => (tints.colours ? tints.colours[i % tints.colours.length] : `var(--c${i % 6})`);
  const key = (i, text) => el("li", {}, el("i", { style: { background: colour(i) } }), text);
  if (model.spans.share) return el("ul", { class: "legend" }, key(0, "the stronger, the busier"));
  const steps = Math.max(-1, ...model.schedules.map((schedule) => schedule.steps - 1)) + 1;
  const names = tints.names ?? Array.from({ length: steps }, (_, i) => `step ${i}`);
  const own = tints.colours?.length ?? 6;
  const shown = names.slice(0, own).map((name, i) => key(i, name));
  if (names.length > own) shown.push(el("li", {}, "then the first colour again"));
  shown.push(el("li", {}, el("i", { class: "key queue" }), "queueing"));
  if (model.path) shown.push(el("li", {}, el("i", { class: "key path" }), "critical path"));
  return el("ul", { class: "legend" }, ...shown);
}

function timelineNotes(model) {
  const { timeline } = model.raw;
  const notes = [];
  if (model.spans.share) {
    notes.push(`There are ${timeline.hops.toLocaleString("en")} spans, too many to draw one by one: `
      + `the page shows how busy each lane is in ${timeline.use.cells} equal parts of the time.`);
  }
  if (timeline.left_out) notes.push(`${countText(timeline.left_out, "less busy lane")} are left out.`);
  notes.push("Wheel, pinch or + and \u2212 zoom; drag or arrows move; Shift with the wheel or [ and ] are for the lanes. "
    + "Click a group's name to fold it; Enter, then Shift with arrows, go from span to span.");
  return el("p", { class: "note" }, notes.join(" "));
}

function timelineCard(model, store, timeline, finder) {
  const groups = () => el("div", { class: "scroll groups" }, ...timeline.view.groups.map((name, group) =>
    el("button", { type: "button", "aria-pressed": `${store.get("folded").has(group)}`, onclick: () => fold(timeline, group) }, name)));
  const list = el("details", {}, el("summary", {}, "groups of lanes, to fold"), groups());
  const renew = () => list.lastChild.replaceWith(groups());
  store.watch("view", renew);
  store.watch("folded", renew);
  return el("section", { class: "card wide" }, el("h2", {}, "timeline"), timelineTools(model, store, timeline, finder),
    tintLegend(model), timeline.frame, timelineNotes(model), list);
}

function placeCard(shown, store) {
  const { place } = shown;
  const shades = ["busy", "bytes", "level"];
  const cut = el("input", { type: "checkbox", id: "cut", onchange: () => store.set("cut", cut.checked) });
  const some = place.links - place.link.length;
  const levels = el("ul", { class: "legend" }, ...place.levels.map((name, i) => el("li", {}, el("i", { style: { background: `var(--c${i % 6})` } }), name)));
  levels.hidden = true;
  store.watch("shade", (how) => { levels.hidden = how !== "level"; });
  return el("section", { class: "card" }, el("h2", {}, "topology"),
    el("div", { class: "tools" }, labelled("links by", choiceOf(shades, (i) => store.set("shade", shades[i]))),
      place.cut ? labelled("the bottleneck cut", cut) : null), levels,
    shown.frame,
    place.cut ? el("p", { class: "note" }, `The cut that sets the bound: ${place.cut.text}.`) : null,
    some ? el("p", { class: "note" }, `${countText(some, "link")} with less to do are left out.`) : null,
    shown.table());
}

/** Why no steps are shown; empty where there are none. */
function whyNoSteps(model) {
  if (model.tasks || !model.raw.timeline.hops) return "";
  if (!model.schedules.length) return "There are too many transfers to show them step by step.";
  if (!model.schedules[0].whole) return "Rank 0 was run for all, so that who holds what is known of rank 0 alone.";
  return "There are too many ranks and chunks to show who holds what after each step.";
}

function stepsCard(model, shown, finder) {
  const animated = model.schedules.filter((schedule) => schedule.animated && schedule.steps);
  const card = el("section", { class: "card" }, el("h2", {}, "steps: who holds what"));
  if (!animated.length) {
    const why = whyNoSteps(model);
    if (why) card.append(el("p", { class: "note" }, why));
    return why ? { card, redraw: () => {} } : null;
  }
  let steps = null;
  const body = el("div", {});
  const choose = (number) => {
    steps?.stop();
    steps = new Steps(animated[number], shown, finder.look);
    body.replaceChildren(steps.controls, steps.legend, steps.matrix.frame, steps.note);
    requestAnimationFrame(() => steps.go(0));
  };
  if (animated.length > 1) card.append(el("div", { class: "tools" }, labelled("of", choiceOf(animated.map((one) => one.name), choose))));
  choose(0);
  card.append(body);
  return { card, redraw: () => steps.matrix.draw() };
}

/** Everything of a run. */
function showRun(raw) {
  const model = readRun(raw);
  const store = new Store({ view: 0, path: true, link: -1, span: -1, found: null, folded: new Set(), shade: "busy", cut: false });
  const timeline = new Timeline(model, store);
  const finder = finderOf(model, store, timeline);
  const shown = raw.place ? new Place(raw.place, model, store) : null;
  if (shown) shown.timeline = timeline;
  const steps = stepsCard(model, shown, finder);
  const stacks = el("div", {}, ...raw.stacks.map((stack) => stackCard(stack)));
  document.getElementById("run").replaceChildren(summaryCard(raw), timelineCard(model, store, timeline, finder),
    el("div", { class: "pair" },
      el("div", {}, shown && placeCard(shown, store), steps ? stacks : null),
      el("div", {}, steps ? steps.card : stacks, factsCard(raw))),
    ...raw.tables.map((table) => tableOf(table)));
  timeline.fit();
  return () => {
    timeline.resize();
    steps?.redraw();
  };
}

function start() {
  const { runs } = JSON.parse(document.getElementById("data").textContent);
  let redraw = () => {};
  const tabs = runs.map((run, number) => el("button", { type: "button", onclick: () => choose(number) }, run.name));
  const choose = (number) => {
    tabs.forEach((tab, i) => tab.setAttribute("aria-pressed", `${i === number}`));
    redraw = showRun(runs[number]);
  };
  if (runs.length > 1) {
    document.getElementById("compare").append(compareCards(runs, (number) => {
      choose(number);
      document.getElementById("run").scrollIntoView();
    }));
    document.getElementById("switch").append(el("div", { class: "tabs", role: "group", "aria-label": "runs" }, ...tabs));
  }
  themeSwitch(document.getElementById("theme"), () => redraw());
  choose(0);
}

start();
