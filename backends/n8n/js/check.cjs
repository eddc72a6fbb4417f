// What is wrong with a request, found before anything runs.
'use strict';

/** Something is wrong with the request or the harness, not with what the workflow does. */
class RequestError extends Error {}

const quote = (text) => JSON.stringify(text);

/** Expressions that this process evaluates and a server does not. */
function vanishing(value) {
  if (typeof value === 'string') return value.startsWith('=') && /\$execution\s*\.\s*customData\b/.test(value);
  return value !== null && typeof value === 'object' && Object.values(value).some(vanishing);
}

/**
 * Throws where n8n would refuse a workflow, or would fail without saying why. Returns the names of
 * its nodes. The type of a node is not looked at where `isStub(name)`.
 */
function checkWorkflow(types, workflow, what, isStub) {
  if (!workflow || !Array.isArray(workflow.nodes)) throw new RequestError(`${what} has no list of nodes`);
  const names = new Set();
  for (const node of workflow.nodes) {
    if (typeof node?.name !== 'string') throw new RequestError(`${what} has a node without a name`);
    if (names.has(node.name)) throw new RequestError(`${what} has two nodes named ${quote(node.name)}`);
    names.add(node.name);
    const fault = isStub(node.name) ? null : types.fault(node);
    if (fault) throw new RequestError(`${what}: ${fault}`);
    if (!isStub(node.name) && !node.disabled && vanishing(node.parameters)) {
      throw new RequestError(`${what}: an expression of ${quote(node.name)} reads $execution.customData, which is undefined in expressions on a server`);
    }
  }
  const missing = (name) => {
    if (!names.has(name)) throw new RequestError(`${what} connects ${quote(name)}, which is no node of it`);
  };
  for (const [source, kinds] of Object.entries(workflow.connections ?? {})) {
    missing(source);
    for (const outputs of Object.values(kinds)) {
      for (const wire of outputs.flatMap((wires) => wires ?? [])) missing(wire.node);
    }
  }
  return names;
}

function checkTables({ stubs, answers }, places) {
  for (const [what, table] of [['stub', stubs], ['answer', answers]]) {
    for (const place of Object.keys(table)) {
      if (!places.has(place)) throw new RequestError(`${what} for ${quote(place)}, which is no node here`);
    }
  }
  for (const [place, stub] of Object.entries(stubs)) {
    if (!['merge', 'replace'].includes(stub?.mode ?? 'merge')) {
      throw new RequestError(`the stub for ${quote(place)} has mode ${quote(stub.mode)}, not "merge" or "replace"`);
    }
    for (const list of [stub?.visits ?? [], stub?.errors ?? []]) {
      if (!Array.isArray(list)) throw new RequestError(`the stub for ${quote(place)} has no list of visits`);
    }
  }
  for (const [place, list] of Object.entries(answers)) {
    if (!Array.isArray(list)) throw new RequestError(`the answers for ${quote(place)} are not a list`);
  }
}

/** Throws a RequestError unless a `run` request is complete and consistent. */
function checkRequest(types, request) {
  const { workflow: main, trigger, items = [], workflows = {}, stubs = {}, answers = {}, limits = {} } = request;
  if (!Array.isArray(items)) throw new RequestError('items is not a list');
  for (const name of Object.keys(limits)) {
    if (name !== 'nodes' && name !== 'ms') throw new RequestError(`there is no limit ${quote(name)}, only nodes and ms`);
  }
  const isStub = (name) => Object.hasOwn(stubs, name) || Object.hasOwn(stubs, `${main.id}/${name}`);
  const names = checkWorkflow(types, main, 'the workflow', isStub);
  const places = new Set(names);
  if (main.id) for (const name of names) places.add(`${main.id}/${name}`);
  for (const [id, workflow] of Object.entries(workflows)) {
    const isSubStub = (name) => Object.hasOwn(stubs, `${id}/${name}`);
    const found = checkWorkflow(types, workflow, `sub-workflow ${quote(id)}`, isSubStub);
    for (const name of found) places.add(`${id}/${name}`);
  }
  const start = main.nodes.find((node) => node.name === trigger);
  if (!start) throw new RequestError(`the workflow has no node ${quote(trigger)} to start at`);
  if (start.disabled) throw new RequestError(`the node ${quote(trigger)} to start at is disabled`);
  checkTables({ stubs, answers }, places);
}

module.exports = { RequestError, checkRequest, checkWorkflow };
