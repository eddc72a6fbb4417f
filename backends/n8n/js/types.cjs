// Node types of n8n-nodes-base, loaded when first used, and the stubs that stand in for a node's body.
'use strict';
const path = require('node:path');

const PREFIX = 'n8n-nodes-base.';
const STUB = 'orgflow.stub/';

/**
 * The node types of one installation.
 *
 * A type name `orgflow.stub/TYPE` is TYPE with its inputs and outputs but with the body of a stub.
 */
class NodeTypes {
  constructor(modules, workflowLibrary) {
    this.modules = modules;
    this.library = workflowLibrary;
    this.known = require(path.join(modules, 'n8n-nodes-base/dist/known/nodes.json'));
    this.loaded = new Map();
    this.stubs = new Map();
  }

  getKnownTypes() {
    return this.known;
  }

  load(type) {
    const name = type.startsWith(PREFIX) ? type.slice(PREFIX.length) : '';
    if (!Object.hasOwn(this.known, name)) throw new Error(`unknown node type ${type}`);
    if (!this.loaded.has(name)) {
      const { className, sourcePath } = this.known[name];
      const module = require(path.join(this.modules, 'n8n-nodes-base', sourcePath));
      const instance = new module[className]();
      if (name === 'wait') shortenWait(instance);
      this.loaded.set(name, instance);
    }
    return this.loaded.get(name);
  }

  getByName(type) {
    return this.load(type);
  }

  getByNameAndVersion(type, version) {
    if (type.startsWith(STUB)) return this.stub(type.slice(STUB.length), version);
    return this.library.NodeHelpers.getVersionedNodeType(this.load(type), version);
  }

  /** Says what is wrong with a node's type or version, or null. */
  fault(node) {
    const where = `node ${JSON.stringify(node.name)}`;
    if (typeof node.type !== 'string') return `${where} has no type`;
    const name = node.type.startsWith(PREFIX) ? node.type.slice(PREFIX.length) : '';
    if (!Object.hasOwn(this.known, name)) {
      return `${where}: unknown node type ${JSON.stringify(node.type)}; this engine has the types of n8n-nodes-base only`;
    }
    const known = this.load(node.type);
    const versions = known.nodeVersions
      ? Object.keys(known.nodeVersions).map(Number)
      : [].concat(known.description.version);
    if (versions.includes(node.typeVersion)) return null;
    return `${where}: ${node.type} has no version ${node.typeVersion}, only ${versions.join(', ')}`;
  }

  stub(type, version) {
    const key = `${type}@${version}`;
    if (!this.stubs.has(key)) {
      // What this engine does not know (a community node) is taken to have one input and one output.
      const known = type.startsWith(PREFIX) && Object.hasOwn(this.known, type.slice(PREFIX.length));
      const real = known ? this.getByNameAndVersion(type, version) : undefined;
      const plain = { displayName: type, name: type, group: [], inputs: ['main'], outputs: ['main'], defaults: {} };
      const { displayName, name, group, inputs, outputs, requiredInputs, defaults } = real?.description ?? plain;
      this.stubs.set(key, {
        description: { displayName, name, group, inputs, outputs, requiredInputs, defaults, version, description: '', properties: [] },
        execute: executeStub,
      });
    }
    return this.stubs.get(key);
  }
}

/** The body of every stub; `this` is n8n's execute context. */
async function executeStub() {
  const node = this.getNode();
  const { values, failure, replace, single } = this.additionalData.orgflow.visit(node.name);
  const items = this.getInputData();
  if (failure !== null) {
    // As nodes do: what is thrown leaves by output 0 even where there is an error output.
    if (!this.continueOnFail()) throw new Error(failure);
    return [items.map((_, item) => ({ json: { error: failure }, pairedItem: { item } }))];
  }
  if (replace && single) return [[{ json: { ...values }, pairedItem: items.map((_, item) => ({ item })) }]];
  return [
    items.map((input, item) => {
      // A fresh copy a token: items of parallel branches must not share objects.
      const own = structuredClone(values);
      return replace
        ? { json: own, pairedItem: { item } }
        : { ...input, json: { ...input.json, ...own }, pairedItem: { item } };
    }),
  ];
}

/**
 * Lets a Wait under 65 s end at once. n8n sleeps through these in process instead of storing the
 * execution; the sleep's timer is set before the node's first await, so the swap is not seen by
 * anything else.
 */
function shortenWait(instance) {
  const execute = instance.execute;
  instance.execute = function executeAtOnce(context) {
    const real = globalThis.setTimeout;
    globalThis.setTimeout = (callback, delay, ...rest) => {
      context.additionalData.orgflow.slept(delay);
      return setImmediate(callback, ...rest);
    };
    try {
      return execute.call(this, context);
    } finally {
      globalThis.setTimeout = real;
    }
  };
}

module.exports = { NodeTypes, STUB };
