/** A run with its columns read, and what is looked up in them. */
import { grouped, unpacked, unpackedSmall } from "./columns.js";

/**
 * @typedef {object} Spans  Who held what, when; times in fs.
 * @property {number} count
 * @property {Int32Array} resource
 * @property {Float64Array} arrival
 * @property {Float64Array} grant
 * @property {Float64Array} release
 * @property {Int32Array} operation  -1 where a span is no one message
 * @property {Int32Array} tint  -1 for none
 * @property {Float32Array | null} share  part of the time for which it is in use; null where that is all
 */

/**
 * @typedef {object} Model
 * @property {object} raw  the run as the page was given it
 * @property {number} end  fs until everything has ended
 * @property {{names: string[], link: Int32Array, latency: Float64Array}} resources
 * @property {object[]} views
 * @property {Spans} spans
 * @property {{offset: Int32Array, order: Int32Array}} bySpan  spans of each resource, in the order of grants
 * @property {Float64Array} longest  longest hold of each resource, fs
 * @property {{transfer: Int32Array, bytes: Float64Array} | null} operations
 * @property {object[]} schedules
 * @property {object | null} path
 * @property {object | null} tasks
 * @property {Int32Array} ofLink  resource of each link of the topology that is held by any, else -1
 */

/**
 * @param {object} raw
 * @returns {Model}
 */
export function readRun(raw) {
  const chart = raw.timeline;
  const resources = {
    names: chart.resources.names,
    link: unpackedSmall(chart.resources.link),
    latency: unpacked(chart.resources.latency),
  };
  const schedules = readSchedules(chart.schedules);
  const model = { raw, end: chart.end, resources, schedules, operations: null, tasks: null };
  if (chart.operations) {
    model.operations = {
      transfer: unpackedSmall(chart.operations.transfer),
      bytes: unpacked(chart.operations.bytes),
    };
  }
  if (chart.tasks) model.tasks = readTasks(chart.tasks);
  model.spans = chart.use ? readUse(chart.use, chart.end) : readSpans(chart, model);
  const count = resources.names.length;
  model.bySpan = grouped(model.spans.resource, count, model.spans.grant);
  model.longest = new Float64Array(count);
  for (let i = 0; i < model.spans.count; i++) {
    const resource = model.spans.resource[i];
    model.longest[resource] = Math.max(model.longest[resource], model.spans.release[i] - model.spans.arrival[i]);
  }
  model.views = chart.views.map((view) => readView(view));
  model.path = chart.path ? readPath(chart.path) : null;
  model.ofLink = new Int32Array(Math.max(0, ...resources.link) + 1).fill(-1);
  resources.link.forEach((link, resource) => { if (link >= 0) model.ofLink[link] = resource; });
  return model;
}

function readSchedules(charts) {
  let first = 0;
  return charts.map((chart) => {
    const schedule = { ...chart, row: first };
    for (const name of ["place", "step", "channel", "src", "dst", "first", "count", "mode"]) {
      schedule[name] = unpackedSmall(chart[name]);
    }
    for (const name of ["index", "source", "target"]) {
      schedule[name] = chart[name] === null ? null : unpackedSmall(chart[name]);
    }
    schedule.transfers = schedule.step.length;
    first += schedule.transfers;
    return schedule;
  });
}

function readTasks(chart) {
  return {
    names: chart.names,
    name: unpackedSmall(chart.name),
    tint: unpackedSmall(chart.tint),
    number: unpackedSmall(chart.number),
    bytes: unpacked(chart.bytes),
  };
}

/** @returns {Spans} */
function readSpans(chart, model) {
  const resource = unpackedSmall(chart.spans.resource);
  const arrival = unpacked(chart.spans.arrival);
  const grant = unpacked(chart.spans.wait);
  const release = unpacked(chart.spans.hold);
  const count = resource.length;
  const operation = new Int32Array(count);
  const tint = new Int32Array(count).fill(-1);
  for (let i = 0; i < count; i++) {
    grant[i] += arrival[i];
    release[i] += grant[i];
  }
  if (model.tasks) {
    for (let i = 0; i < count; i++) operation[i] = i;
    tint.set(model.tasks.tint);
  } else {
    const hops = unpackedSmall(chart.operations.hops);
    for (let op = 0, span = 0; op < hops.length; op++) {
      const of = tintOf(model, op);
      for (let hop = 0; hop < hops[op]; hop++, span++) {
        operation[span] = op;
        tint[span] = of;
      }
    }
  }
  return { count, resource, arrival, grant, release, operation, tint, share: null };
}

/** Step of an operation or, of several schedules, which of them it is of. */
function tintOf(model, operation) {
  const found = transferOf(model, operation);
  if (!found) return -1;
  return model.schedules.length > 1 ? found.number : found.schedule.step[found.row];
}

/**
 * Schedule and row of an operation's transfer; null where it has none.
 * @param {Model} model
 * @param {number} operation
 */
export function transferOf(model, operation) {
  const transfer = model.operations ? model.operations.transfer[operation] : -1;
  if (transfer < 0 || !model.schedules.length) return null;
  let low = 0;
  let high = model.schedules.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (model.schedules[middle].row <= transfer) low = middle;
    else high = middle - 1;
  }
  return { schedule: model.schedules[low], number: low, row: transfer - model.schedules[low].row };
}

/**
 * Chunks of a transfer, or of very many the first ones.
 * @returns {number[]}
 */
export function chunksOf(schedule, row, most = 4096) {
  const first = schedule.first[row];
  const count = Math.min(schedule.count[row], most);
  if (!schedule.shown) return [];
  if (schedule.index) return Array.from(schedule.index.subarray(first, first + count));
  return Array.from({ length: count }, (_, i) => first + i);
}

/**
 * Node of the topology that plays a rank, or a switch, of a schedule.
 * @returns {number}
 */
export function nodeOf(schedule, rank) {
  return rank < schedule.place.length ? schedule.place[rank] : rank;
}

/** @returns {Spans} */
function readUse(use, end) {
  const resource = unpackedSmall(use.resource);
  const cell = unpacked(use.cell);
  const share = Float32Array.from(unpacked(use.share), (part) => part / 1000);
  const wide = end / use.cells;
  const grant = cell.map((place) => place * wide);
  const release = cell.map((place) => (place + 1) * wide);
  const none = new Int32Array(resource.length).fill(-1);
  return { count: resource.length, resource, arrival: grant, grant, release, operation: none, tint: none, share };
}

function readView(chart) {
  const view = { ...chart };
  for (const name of ["group", "resource", "lane", "low", "high"]) view[name] = unpackedSmall(chart[name]);
  view.byLane = grouped(view.lane, view.lanes.length, null);
  view.byGroup = grouped(view.lane.map((lane) => view.group[lane]), view.groups.length, null);
  view.entryOf = new Map();
  view.resource.forEach((resource, entry) => {
    if (!view.entryOf.has(resource)) view.entryOf.set(resource, entry);
  });
  return view;
}

function readPath(chart) {
  const begin = unpacked(chart.begin);
  const length = unpacked(chart.length);
  return {
    operation: unpackedSmall(chart.operation),
    resource: unpackedSmall(chart.resource),
    part: unpackedSmall(chart.part),
    begin,
    end: length.map((long, i) => begin[i] + long),
    count: begin.length,
  };
}
