// A stand-in for n8n's JavaScript task runner: what a Code node's text is evaluated by.
// Like the real one it runs in a VM context of its own and hands its result over as JSON.
'use strict';
const vm = require('node:vm');

const PROXY_NAMES = [
  '$input', '$json', '$binary', '$node', '$', '$items', '$execution', '$workflow', '$now', '$today',
  '$itemIndex', '$prevNode', '$runIndex', '$vars', '$env', '$parameter', '$jmespath', '$if', '$ifEmpty',
];

const copyOf = (value) => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));
const copyItems = (items) => items?.map((item) => item && { ...item, json: copyOf(item.json) });
const copyPorts = (ports) => ports?.map(copyItems);

/**
 * What code gets to see of a run: as in the real runner's process a copy, which it may change and
 * nobody else sees. Runs of a node are copied when code asks for them.
 */
function apart(functions) {
  const { runExecutionData, inputData, connectionInputData } = functions;
  const copies = new Map();
  const copyRuns = (runs) => runs.map((run) => ({ ...run, data: { ...run.data, main: copyPorts(run.data?.main) } }));
  const runData = new Proxy(runExecutionData.resultData.runData, {
    get(all, name) {
      if (!Object.hasOwn(all, name)) return all[name];
      if (!copies.has(name)) copies.set(name, copyRuns(all[name]));
      return copies.get(name);
    },
  });
  const own = (value) => ({ value, writable: true, enumerable: true, configurable: true });
  const main = copyPorts(inputData.main);
  return Object.create(functions, {
    runExecutionData: own({ ...runExecutionData, resultData: { ...runExecutionData.resultData, runData } }),
    inputData: own({ ...inputData, main }),
    connectionInputData: own(main?.[0] ?? copyItems(connectionInputData)),
  });
}

/** Builds startRunnerTask for n8n's additional data. `luxon` is n8n's own copy. */
function makeTaskRunner(luxon) {
  function contextFor(functions, itemIndex, extra) {
    const proxy = functions.getWorkflowDataProxy(itemIndex);
    const scope = {
      ...extra,
      console: { log: console.error, warn: console.error, error: console.error, info: console.error },
      helpers: { getBinaryDataBuffer: (index, name) => functions.helpers.getBinaryDataBuffer(index, name) },
      setTimeout, clearTimeout, setImmediate, Buffer, URL, URLSearchParams, TextEncoder, TextDecoder,
      DateTime: luxon.DateTime, Duration: luxon.Duration, Interval: luxon.Interval,
      $getWorkflowStaticData: (type) => functions.getWorkflowStaticData(type),
    };
    for (const name of PROXY_NAMES) {
      // Getters, as `$json` and others throw when there is no item to read.
      Object.defineProperty(scope, name, { configurable: true, enumerable: true, get: () => proxy[name] });
    }
    if (functions.getNode().executeOnce) {
      // The real runner gets the one item; n8n's proxy alone still shows all that came.
      const items = functions.getInputData();
      const own = { all: () => items, last: () => items.at(-1) };
      const $input = new Proxy({}, { get: (_, name) => own[name] ?? proxy.$input[name] });
      Object.defineProperty(scope, '$input', { enumerable: true, value: $input });
    }
    return vm.createContext(scope);
  }

  async function evaluate(code, context, timeout) {
    const script = new vm.Script(`(async function VmCodeWrapper() {${code}\n})()`);
    const result = await script.runInContext(context, { timeout });
    return result === undefined ? undefined : JSON.parse(JSON.stringify(result));
  }

  /** With onError set, the real runner hands out an item that names the error and goes on. */
  async function evaluateOr(settings, context, timeout) {
    try {
      return await evaluate(settings.code, context, timeout);
    } catch (error) {
      if (!settings.continueOnFail) throw error;
      return { json: { error: String(error?.message ?? error) } };
    }
  }

  async function runCode(settings, node, timeout) {
    const functions = apart(node);
    const items = functions.getInputData();
    if (settings.nodeMode !== 'runOnceForEachItem') {
      const extra = { items, ...settings.additionalProperties };
      return await evaluateOr(settings, contextFor(functions, 0, extra), timeout);
    }
    const { startIndex, count } = settings.chunk ?? { startIndex: 0, count: items.length };
    const results = [];
    for (let index = startIndex; index < startIndex + count; index++) {
      const extra = { item: items[index], ...settings.additionalProperties };
      const value = await evaluateOr(settings, contextFor(functions, index, extra), timeout);
      const plain = value && typeof value === 'object' && !Array.isArray(value);
      results.push(plain && value.pairedItem === undefined ? { ...value, pairedItem: { item: index } } : value);
    }
    return results;
  }

  return async function startRunnerTask(additionalData, jobType, settings, functions) {
    if (jobType !== 'javascript') {
      throw new Error(`the local engine runs no ${jobType} code: that needs n8n's external runner`);
    }
    try {
      const timeout = Math.max(1, additionalData.executionTimeoutTimestamp - Date.now());
      return { ok: true, result: await runCode(settings, functions, timeout) };
    } catch (error) {
      // Errors of the VM context are not instances of this realm's Error.
      return { ok: false, error: { message: String(error?.message ?? error), stack: String(error?.stack ?? '') } };
    }
  };
}

module.exports = { makeTaskRunner };
