// One request: a workflow run to its end by n8n's WorkflowExecute, with stubs, waits and sub-workflows.
'use strict';
const { RequestError, checkRequest, checkWorkflow } = require('./check.cjs');
const { deliver, kindOf } = require('./waits.cjs');
const { STUB } = require('./types.cjs');

const MAX_DEPTH = 100;
// The nodes that give one item whatever came in; others that replace the item do so per item.
const ONE_ITEM = new Set(['n8n-nodes-base.wait', 'n8n-nodes-base.form', 'n8n-nodes-base.webhook']);

/** Ends a run whose limit is reached; every later node of the run throws it again. */
class LimitError extends Error {}

const quote = (text) => JSON.stringify(text);
const jsonOf = (main) => (main ?? []).map((output) => (output ?? []).map((item) => item.json));

/**
 * What a called workflow hands back, as on the server: its last node's runs together, or the last run
 * where its trigger is an old one; once it was stored, the last run's first output.
 */
function returned(runs, trigger, stored) {
  const last = runs.at(-1)?.data?.main ?? [];
  if (stored) return [last[0] ?? []];
  if (trigger.typeVersion < 1.2 && trigger.parameters?.returnOutput !== 'allRuns') return last;
  const outputs = Math.max(0, ...runs.map((run) => run.data?.main?.length ?? 0));
  const sorted = runs.toSorted((a, b) => (a.executionIndex ?? 0) - (b.executionIndex ?? 0));
  return Array.from({ length: outputs }, (_, output) => sorted.flatMap((run) => run.data?.main?.[output] ?? []));
}

/**
 * What writing an execution to the database and reading it back does to its stack: the entries of one
 * node share a copy of it, which is no longer the node that later entries get. The node that is
 * resumed is marked as disabled, and with it the entries that share it: a fault of n8n's.
 */
function storeAndLoad(runExecutionData) {
  const stack = runExecutionData.executionData.nodeExecutionStack;
  stack.splice(0, stack.length, ...structuredClone(stack));
}

/** Items are the server's to keep: what an expression writes into one is gone there, and refused here. */
function freeze(value) {
  if (value === null || typeof value !== 'object' || Object.isFrozen(value)) return;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

class Run {
  constructor(host, request) {
    checkRequest(host.types, request);
    this.host = host;
    this.workflows = request.workflows ?? {};
    this.main = request.workflow;
    this.trigger = request.trigger;
    this.items = request.items ?? [{ json: {} }];
    this.stubs = request.stubs ?? {};
    this.answers = request.answers ?? {};
    this.withData = request.data === true;
    this.nodesLimit = request.limits?.nodes ?? 20000;
    this.timeLimit = request.limits?.ms ?? 30000;
    this.visits = new Map();
    this.tried = new WeakMap();
    this.order = [];
    this.waits = [];
    this.detached = [];
    this.queue = [];
    this.started = 0;
    this.executions = 0;
    this.active = new Set();
    this.children = new Map();
    this.staticData = new Map();
    this.limit = null;
    this.fatal = null;
  }

  /** The entry for a node in `table`: by name in the main workflow, by "id/name" anywhere. */
  lookup(table, execution, name) {
    const id = execution.key ?? this.main.id;
    const place = `${id}/${name}`;
    if (Object.hasOwn(table, place)) return { place, value: table[place] };
    if (execution.key === null && Object.hasOwn(table, name)) return { place: name, value: table[name] };
    return null;
  }

  count(kind, place) {
    const visit = this.visits.get(kind + place) ?? 0;
    this.visits.set(kind + place, visit + 1);
    return visit;
  }

  /** What a stub does at its next visit; asked by the body of the stub, each time it is tried. */
  visit(execution, name) {
    const { place, value } = this.lookup(this.stubs, execution, name);
    const again = value.tries === 'one visit' ? this.tried.get(execution.entry) : undefined;
    const visit = again ?? this.count('stub ', place);
    this.tried.set(execution.entry, visit);
    return {
      values: value.visits?.[visit] ?? {},
      failure: value.errors?.[visit] ?? null,
      replace: value.mode === 'replace',
      single: ONE_ITEM.has(execution.realTypes.get(name)),
    };
  }

  opened(execution, name, kind, waitTill, inProcess) {
    const event = {
      node: name, workflow: execution.key, kind, opened_at: execution.entry.index,
      wait_till: waitTill && waitTill.getUTCFullYear() < 2999 ? waitTill.toISOString() : null,
      in_process: inProcess, resumed: null,
    };
    this.waits.push(event);
    return event;
  }

  slept(execution, delay) {
    const event = this.opened(execution, execution.entry.node, 'time', new Date(Date.now() + delay), true);
    event.resumed = 'timer';
  }

  before(execution, name) {
    if (this.limit !== null) throw new LimitError(this.limit);
    if (this.started >= this.nodesLimit) {
      this.limit = `more than ${this.nodesLimit} nodes ran`;
      throw new LimitError(this.limit);
    }
    this.started += 1;
    // A parked node is run a second time on resume; that is the same visit.
    if (execution.parked) {
      execution.parked = false;
      return;
    }
    execution.entry = {
      node: name, workflow: execution.key, run: null, outputs: [], status: null, error: null,
      caller: execution.caller, index: this.order.length,
    };
    this.order.push(execution.entry);
  }

  after(execution, name, data, runExecutionData) {
    const { entry } = execution;
    const main = data.data?.main;
    entry.run = runExecutionData.resultData.runData[name].length - 1;
    entry.outputs = (main ?? []).map((output) => output?.length ?? 0);
    entry.status = data.executionStatus ?? 'success';
    entry.error = data.error?.message ?? null;
    for (const item of (main ?? []).flat()) freeze(item?.json);
    if (data.source?.length > 0 && !data.source[0]) entry.unfed = true;
    if (this.withData) entry.items = structuredClone(jsonOf(main));
    execution.last = entry;
  }

  additionalData(execution) {
    const base = 'http://localhost';
    const { core } = this.host;
    const hooks = new core.ExecutionLifecycleHooks(execution.mode, execution.id, execution.definition);
    hooks.addHandler('nodeExecuteBefore', (name) => this.before(execution, name));
    hooks.addHandler('nodeExecuteAfter', (name, data, all) => this.after(execution, name, data, all));
    return {
      hooks,
      executionId: execution.id,
      currentNodeExecutionIndex: 0,
      currentNodeParameters: undefined,
      executionTimeoutTimestamp: this.deadline,
      restApiUrl: `${base}/rest`, instanceBaseUrl: base, webhookBaseUrl: `${base}/webhook`,
      webhookWaitingBaseUrl: `${base}/webhook-waiting`, webhookTestBaseUrl: `${base}/webhook-test`,
      formWaitingBaseUrl: `${base}/form-waiting`,
      variables: {},
      credentialsHelper: this.host.credentials,
      setExecutionStatus() {},
      sendDataToUI() {},
      logAiEvent() {},
      getRunExecutionData: async (id) => {
        const data = this.children.get(id);
        this.children.delete(id);
        return data;
      },
      executeWorkflow: async (info, _data, options) => await this.call(execution, info, options),
      startRunnerTask: this.host.startRunnerTask,
      orgflow: {
        visit: (name) => this.visit(execution, name),
        slept: (delay) => this.slept(execution, delay),
      },
    };
  }

  /** What an Execute Workflow node calls. */
  async call(parent, info, options) {
    const definition = info.code ?? (Object.hasOwn(this.workflows, info.id) ? this.workflows[info.id] : null);
    const key = info.id ?? info.code?.id ?? 'inline';
    if (!definition) {
      this.fatal ??= new RequestError(`sub-workflow ${quote(info.id)} is called but was not given`);
      throw this.fatal;
    }
    if (info.code) checkWorkflow(this.host.types, definition, 'the inline sub-workflow', () => false);
    const trigger = definition.nodes.find((node) => node.type === 'n8n-nodes-base.executeWorkflowTrigger' && !node.disabled);
    if (!trigger) throw new Error('Missing node to start execution');
    if (parent.depth >= MAX_DEPTH) {
      this.limit = `sub-workflows are called more than ${MAX_DEPTH} deep`;
      throw new LimitError(this.limit);
    }
    const child = this.execution(definition, key, trigger.name, {
      items: options.inputData ?? [{ json: {} }], mode: options.executionMode ?? 'integrated',
      caller: parent.entry.index, depth: parent.depth + 1,
    });
    if (options.doNotWaitToFinish) {
      // The server starts it and goes on; here it runs when the caller parks or ends.
      this.queue.push({ ...child, items: structuredClone(child.items) });
      return { executionId: child.id, data: [null] };
    }
    const result = await this.execute(child);
    if (this.limit !== null) throw new LimitError(this.limit);
    const { error, runData, lastNodeExecuted } = result.data.resultData;
    if (error) throw Object.assign(new Error(error.message), error);
    this.children.set(child.id, result.data);
    if (child.stored) this.storedWith(parent, options.node);
    const data = returned(runData[lastNodeExecuted] ?? [], trigger, child.stored);
    return { executionId: child.id, data, waitTill: result.waitTill ?? null };
  }

  /**
   * The server stores a caller with what it called, and marks its calling node as disabled when it
   * goes on, so that runs of that node that are still on its stack hand on what they got.
   */
  storedWith(parent, node) {
    parent.stored = true;
    for (const entry of parent.data.executionData.nodeExecutionStack) {
      if (entry.node === node) entry.node = { ...entry.node, disabled: true };
    }
    storeAndLoad(parent.data);
  }

  execution(definition, key, trigger, rest) {
    this.executions += 1;
    return { definition: structuredClone(definition), key, trigger, id: String(this.executions), realTypes: new Map(), parked: false, stored: false, data: null, entry: null, last: null, ...rest };
  }

  /** The n8n Workflow of an execution, with the type of every stubbed node exchanged. */
  build(execution) {
    const { definition, key } = execution;
    const kept = new Map();
    for (const node of definition.nodes) {
      node.parameters ??= {};
      if (this.lookup(this.stubs, execution, node.name) === null) continue;
      execution.realTypes.set(node.name, node.type);
      kept.set(node.name, node.parameters);
      node.type = STUB + node.type;
    }
    const id = key ?? definition.id ?? 'main';
    if (!this.staticData.has(id)) this.staticData.set(id, {});
    const workflow = new this.host.library.Workflow({
      id, name: definition.name ?? id, nodes: definition.nodes, connections: definition.connections ?? {},
      active: false, nodeTypes: this.host.types, settings: definition.settings ?? {}, staticData: this.staticData.get(id),
    });
    // Building drops parameters the type does not declare; `$('X').params` shall still see them.
    for (const [name, parameters] of kept) workflow.nodes[name].parameters = parameters;
    return workflow;
  }

  /** Runs one execution to its end, through all its waits. */
  async execute(execution) {
    const workflow = this.build(execution);
    const additionalData = this.additionalData(execution);
    const { mode } = execution;
    let runExecutionData = this.host.library.createRunExecutionData({
      executionData: {
        nodeExecutionStack: [{ node: workflow.getNode(execution.trigger), data: { main: [execution.items] }, source: null }],
      },
    });
    for (;;) {
      execution.data = runExecutionData;
      const engine = new this.host.Execute(additionalData, mode, runExecutionData);
      const running = engine.processRunExecutionData(workflow);
      this.active.add(running);
      const result = await running.finally(() => this.active.delete(running));
      if (!result.waitTill || this.limit !== null) return result;
      runExecutionData = result.data;
      const parked = { workflow, additionalData, mode, runExecutionData };
      if (!(await this.resume(execution, parked, result.waitTill))) return result;
    }
  }

  /** Ends the wait an execution is parked in; false where nobody ever answers. */
  async resume(execution, parked, waitTill) {
    const { runExecutionData, workflow } = parked;
    storeAndLoad(runExecutionData);
    const [top] = runExecutionData.executionData.nodeExecutionStack;
    if (waitTill.getTime() === this.host.library.WAIT_FOR_SUB_EXECUTION.getTime()) {
      await this.drain();
      return false;
    }
    const kind = kindOf(workflow.getNode(top.node.name));
    const event = this.opened(execution, top.node.name, kind, waitTill, false);
    await this.drain();
    let answer = {};
    if (kind !== 'time') {
      const found = this.lookup(this.answers, execution, top.node.name);
      const listed = found?.value?.[this.count('answer ', `${execution.key ?? ''}/${top.node.name}`)];
      answer = listed === undefined ? {} : listed;
    }
    if (answer === null && event.wait_till === null) return false;
    execution.parked = true;
    execution.stored = true;
    if (kind === 'time' || answer === null) {
      event.resumed = kind === 'time' ? 'timer' : 'timeout';
      return true;
    }
    event.resumed = 'answer';
    // The same three steps as on the server when the URL is called.
    top.node.disabled = true;
    runExecutionData.waitTill = undefined;
    runExecutionData.resultData.runData[runExecutionData.resultData.lastNodeExecuted].pop();
    try {
      top.data.main = await deliver(this.host, { ...parked, kind }, answer);
    } catch (error) {
      throw new RequestError(error.message);
    }
    return true;
  }

  async drain() {
    while (this.queue.length > 0 && this.limit === null) {
      const child = this.queue.shift();
      const result = await this.execute(child);
      const error = result.data.resultData.error?.message ?? null;
      this.detached.push({ workflow: child.key, caller: child.caller, status: result.status, error });
    }
  }

  async all() {
    const main = this.execution(this.main, null, this.trigger, { items: this.items, mode: 'webhook', caller: null, depth: 0 });
    this.mainExecution = main;
    let result;
    try {
      result = await this.execute(main);
    } catch (error) {
      if (error.name !== 'WorkflowHasIssuesError') throw error;
      return { status: 'error', error: { message: error.message, node: null }, output: [] };
    }
    await this.drain();
    if (this.limit !== null) return this.limited();
    const { error, runData, lastNodeExecuted } = result.data.resultData;
    if (error && Date.now() >= this.deadline) {
      this.limit = `ran longer than ${this.timeLimit} ms`;
      return this.limited();
    }
    const output = jsonOf(runData[lastNodeExecuted]?.at(-1)?.data?.main);
    if (error) return { status: 'error', error: { message: error.message, node: main.last?.node ?? null }, output };
    return { status: result.waitTill ? 'waiting' : 'success', error: null, output };
  }

  limited() {
    return { status: 'limit', error: { message: this.limit, node: this.mainExecution?.entry?.node ?? null }, output: [] };
  }

  stop() {
    this.limit ??= `ran longer than ${this.timeLimit} ms`;
    for (const running of this.active) running.cancel();
  }

  /** Runs the request and returns the body of its response. */
  async respond() {
    const begun = Date.now();
    this.deadline = begun + this.timeLimit;
    let timer;
    // n8n looks at its deadline between nodes only; a node that never ends is left behind.
    const late = new Promise((resolve) => {
      timer = setTimeout(() => {
        this.stop();
        resolve(this.limited());
      }, this.timeLimit + 50);
    });
    const work = this.all();
    work.catch(() => {});
    const outcome = await Promise.race([work, late]).finally(() => clearTimeout(timer));
    if (this.fatal) throw this.fatal;
    return { ...outcome, ...this.report(), ms: Date.now() - begun };
  }

  /** Node runs that n8n keeps, renumbered; a node that returns nothing leaves no trace in n8n either. */
  report() {
    const kept = this.order.filter((entry) => entry.status !== null);
    const place = new Map(kept.map((entry, index) => [entry.index, index]));
    const at = (index) => (index === null ? null : place.get(index) ?? null);
    return {
      order: kept.map(({ index, ...entry }) => ({ ...entry, caller: at(entry.caller) })),
      waits: this.waits.map((event) => ({ ...event, opened_at: at(event.opened_at) })),
      detached: this.detached.map((child) => ({ ...child, caller: at(child.caller) })),
    };
  }
}

module.exports = { Run };
