"use strict";
// Executes BPMN files on bpmn-engine. One JSON request a line on stdin, one JSON answer a line on
// stdout. Started as `node bpmn_engine_referee.cjs FOLDER`, FOLDER having bpmn-engine installed.
//
// Request
//   source   a BPMN file with one executable process; a condition's language is "script"
//   flows    splitting element -> per visit, the sequence flows whose condition is true
//   endings  activity with boundary events -> per visit, what happens to it: ids of its boundary
//            events that fire, in order, then its own id if it is done by itself
//   hosts    boundary event -> its activity
//   races    target of an event-based gateway -> [gateway, per visit of it, whether this one comes]
//   order    elements to be done or fired, in this order; without it, any that can be is taken
//   seed     which, where there is no order
// Answer
//   trace    [what, element]: "start", "end" (completed or fired), "take" (a sequence flow)
//   ended    whether the process completed
//   waiting  elements that wait for something that the request does not let happen
//   error    what went wrong in the engine, or null

const path = require("node:path");
const readline = require("node:readline");
const { createRequire } = require("node:module");
const { EventEmitter } = require("node:events");

const { Engine } = createRequire(path.resolve(process.argv[2], "package.json"))("bpmn-engine");

const STEPS = 2000; // no test needs a tenth of it

/** Numbers from 0 to below `limit`, the same for the same seed. */
function generator(seed) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * limit);
  };
}

/** Timers that go off when they are told to. */
class Clock {
  constructor(onSet, onClear) {
    this.executing = [];
    this.onSet = onSet;
    this.onClear = onClear;
  }
  register(owner) {
    return {
      setTimeout: (callback, delay, ...args) => {
        const timer = { owner, callback: () => callback(...args) };
        this.executing.push(timer);
        this.onSet(timer);
        return timer;
      },
      clearTimeout: (timer) => this.clearTimeout(timer),
    };
  }
  setTimeout() {
    throw new Error("a timer without an owner");
  }
  clearTimeout(timer) {
    this.executing = this.executing.filter((other) => other !== timer);
    this.onClear(timer);
  }
}

class Referee {
  constructor(request) {
    this.request = request;
    this.random = generator(request.seed ?? 0);
    this.trace = [];
    this.waiting = []; // {id, go}, oldest first
    this.visits = new Map(); // element -> how often it was started
    this.evaluations = new Map(); // execution id of a splitting element -> its visit
    this.splits = new Map(); // splitting element -> how often it chose
    this.endings = new Map(); // activity -> what is still to happen to it in this visit
    this.ended = false;
    this.error = null;
  }

  /** The engine asks whether a flow's condition holds. */
  holds(flow, executionId) {
    let visit = this.evaluations.get(executionId);
    if (visit === undefined) {
      visit = this.splits.get(flow.sourceId) ?? 0;
      this.evaluations.set(executionId, visit);
      this.splits.set(flow.sourceId, visit + 1);
    }
    const wanted = this.request.flows[flow.sourceId]?.[visit];
    if (!wanted) throw new Error(`no choice for visit ${visit} of ${flow.sourceId}`);
    return wanted.includes(flow.id);
  }

  listener() {
    const listener = new EventEmitter();
    listener.on("flow.take", (flow) => this.trace.push(["take", flow.id]));
    listener.on("activity.start", ({ id }) => {
      this.trace.push(["start", id]);
      const visit = this.visits.get(id) ?? 0;
      this.visits.set(id, visit + 1);
      if (id in this.request.endings) {
        this.endings.set(id, [...(this.request.endings[id][visit] ?? [])]);
      }
    });
    listener.on("activity.end", ({ id }) => this.trace.push(["end", id]));
    listener.on("activity.leave", ({ id }) => this.withdraw(id));
    listener.on("activity.wait", (api) => {
      this.waiting.push({ id: api.id, go: () => api.signal() });
    });
    return listener;
  }

  clock() {
    return new Clock(
      (timer) => this.waiting.push({ id: timer.owner.id, timer, go: timer.callback }),
      (timer) => (this.waiting = this.waiting.filter((item) => item.timer !== timer)),
    );
  }

  withdraw(id) {
    this.waiting = this.waiting.filter((item) => item.id !== id);
    this.endings.delete(id);
  }

  /** Whether the request lets this happen now. */
  allowed({ id }) {
    for (const left of this.endings.values()) if (left.includes(id)) return left[0] === id;
    if (id in this.request.hosts) return false;
    if (this.endings.has(id)) return false;
    if (id in this.request.races) {
      const [gateway, comes] = this.request.races[id];
      return comes[this.visits.get(gateway) - 1] === true;
    }
    return true;
  }

  next() {
    const { order } = this.request;
    if (order) {
      const at = this.waiting.findIndex((item) => item.id === order[0]);
      if (at >= 0) order.shift();
      return at;
    }
    const able = this.waiting.flatMap((item, at) => (this.allowed(item) ? [at] : []));
    return able.length ? able[this.random(able.length)] : -1;
  }

  async run() {
    const clock = this.clock();
    const engine = new Engine({
      name: "referee",
      source: this.request.source,
      timers: clock,
      scripts: {
        register() {},
        getScript: (language, flow) =>
          language === "script" && {
            execute: ({ content }, callback) => callback(null, this.holds(flow, content.executionId)),
          },
      },
    });
    engine.on("end", () => (this.ended = true));
    engine.on("error", (error) => (this.error = String(error?.message ?? error)));
    await engine.execute({ listener: this.listener() });
    for (let step = 0; step < STEPS && !this.ended && !this.error; step++) {
      const at = this.next();
      if (at < 0) break;
      const [item] = this.waiting.splice(at, 1);
      for (const left of this.endings.values()) if (left[0] === item.id) left.shift();
      item.go();
    }
    const waiting = this.waiting.map(({ id }) => id).sort();
    if (!this.ended && !this.error) engine.stop();
    return { trace: this.trace, ended: this.ended, waiting, error: this.error };
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const request = JSON.parse(line);
    let answer;
    try {
      answer = await new Referee(request).run();
    } catch (error) {
      answer = { trace: [], ended: false, waiting: [], error: String(error?.stack ?? error) };
    }
    process.stdout.write(`${JSON.stringify(answer)}\n`);
  }
}

main();
