// n8n's own reading of parameters, and rewritings of code that keep its meaning: a line of JSON in,
// a line out. The first argument is the folder with n8n's packages.
'use strict';
const path = require('node:path');
const modules = process.argv[2];
const { NodeHelpers } = require(path.join(modules, 'n8n-workflow'));
const acorn = require(path.join(modules, 'acorn'));
const { full } = require(path.join(modules, 'acorn-walk'));
const types = require(path.join(modules, 'n8n-nodes-base/dist/types/nodes.json'));

const described = (name, version) =>
  types.find((type) => type.name === name && [].concat(type.version).includes(version));

/** The parameters that n8n reads for a node: those it shows, with its defaults. */
function readParameters({ type, version, parameters }) {
  const name = type.replace('n8n-nodes-base.', '');
  const description = described(name, version);
  if (description === undefined) return null;
  const node = { typeVersion: version, type: name, name, parameters };
  return NodeHelpers.getNodeParameters(description.properties, parameters, true, false, node, description);
}

const FLIPPED = { '<': '>', '>': '<', '<=': '>=', '>=': '<=', '===': '===', '!==': '!==', '==': '==', '!=': '!=' };
const NAME = /^[A-Za-z_]\w*$/;

/** Whether an operand only reads, so that its order does not matter. */
function onlyReads(node) {
  if (node.type === 'Literal' || node.type === 'Identifier') return true;
  if (node.type === 'UnaryExpression') return node.argument.type === 'Literal';
  return node.type === 'MemberExpression' && !node.computed && node.object.type !== 'Super' && onlyReads(node.object);
}

/** Every place at which a rewriting of a kind applies: [start, end, text]. */
const PLACES = {
  flip(node, text) {
    if (node.type !== 'BinaryExpression' || !(node.operator in FLIPPED)) return [];
    if (!onlyReads(node.left) || !onlyReads(node.right)) return [];
    return [[[node.start, node.end, `(${text(node.right)} ${FLIPPED[node.operator]} ${text(node.left)})`]]];
  },
  keys(node, text) {
    if (node.type !== 'Property' || node.shorthand || node.method || node.computed || node.kind !== 'init') return [];
    const { key } = node;
    if (key.type === 'Identifier' && key.name !== '__proto__') return [[[key.start, key.end, JSON.stringify(key.name)]]];
    if (typeof key.value === 'string' && NAME.test(key.value) && key.value !== '__proto__') return [[[key.start, key.end, key.value]]];
    return [];
  },
  members(node, text) {
    if (node.type !== 'MemberExpression' || node.computed || node.optional) return [];
    if (node.property.type !== 'Identifier') return [];
    return [[[node.start, node.end, `${text(node.object)}["${node.property.name}"]`]]];
  },
  brackets(node, text) {
    if (node.type !== 'ConditionalExpression' && node.type !== 'LogicalExpression') return [];
    return [[[node.start, node.end, `(${text(node)})`]]];
  },
  quotes(node, text) {
    if (node.type !== 'Literal' || typeof node.value !== 'string' || node.isKey) return [];
    if (!/^"[^'"\\]*"$/.test(text(node))) return [];
    return [[[node.start, node.end, `'${node.value}'`]]];
  },
  branches(node, text) {
    if (node.type !== 'ConditionalExpression') return [];
    const { test, consequent, alternate } = node;
    return [[[node.start, node.end, `(!(${text(test)}) ? (${text(alternate)}) : (${text(consequent)}))`]]];
  },
  declarations(node) {
    if (node.type !== 'VariableDeclaration' || node.kind !== 'const') return [];
    return [[[node.start, node.start + 5, 'let']]];
  },
  numbers(node, text) {
    if (node.type !== 'Literal' || typeof node.value !== 'number' || !/^\d+$/.test(text(node)) || node.isKey) return [];
    return [[[node.start, node.end, `${text(node)}.0`]]];
  },
};

/** Local names that are declared once, with every place that reads them. */
function renamings(tree) {
  const declared = new Map();
  const read = new Map();
  const declare = (pattern) => {
    if (pattern?.type === 'Identifier') declared.set(pattern.name, (declared.get(pattern.name) ?? 0) + 1);
    else if (pattern?.type === 'AssignmentPattern') declare(pattern.left);
    else if (pattern) declared.set(null, 1);
  };
  const skipped = new Set();
  full(tree, (node) => {
    if (node.type === 'VariableDeclarator') declare(node.id);
    if (node.params) node.params.forEach(declare);
    if (node.type === 'FunctionDeclaration') declare(node.id);
    if (node.type === 'MemberExpression' && !node.computed) skipped.add(node.property);
    if (node.type === 'Property' && node.shorthand) declared.set(node.value.name ?? node.key.name, 9);
    else if (node.type === 'Property' && !node.computed) skipped.add(node.key);
  });
  const walk = (node) => {
    if (node === null || typeof node !== 'object') return;
    if (Array.isArray(node)) return node.forEach(walk);
    if (node.type === 'Identifier' && !skipped.has(node)) {
      read.set(node.name, [...(read.get(node.name) ?? []), [node.start, node.end]]);
    }
    for (const [key, value] of Object.entries(node)) if (key !== 'type') walk(value);
  };
  walk(tree);
  return [...declared].filter(([name, count]) => name !== null && count === 1)
    .map(([name]) => (read.get(name) ?? []).map(([start, end]) => [start, end, `${name}Renamed`]))
    .filter((places) => places.length > 0);
}

/** Code with one rewriting of a kind; null if it has no place for one. */
function rewrite({ code, kind, pick, expression }) {
  if (expression) {
    const whole = `(${code}\n)`;
    const now = rewriteProgram(whole, kind, pick);
    return typeof now === 'string' ? now.slice(1, -2) : now;
  }
  return rewriteProgram(code, kind, pick);
}

/** A program with one rewriting of a kind; of `operands`, those of the only statement. */
function rewriteProgram(code, kind, pick) {
  const options = { ecmaVersion: 'latest', allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true };
  let tree;
  try {
    tree = acorn.parse(code, options);
  } catch {
    return null;
  }
  if (kind === 'operands') {
    tree = tree.body[0]?.expression ?? tree;
    if (tree.type !== 'LogicalExpression' || tree.operator !== '&&') return null;
    return [tree.left, tree.right].map((node) => code.slice(node.start, node.end));
  }
  const text = (node) => code.slice(node.start, node.end);
  let places = [];
  if (kind === 'rename') places = renamings(tree);
  else {
    full(tree, (node) => {
      if (node.type === 'Property') node.key.isKey = true;
    });
    full(tree, (node) => places.push(...PLACES[kind](node, text)));
  }
  if (places.length === 0) return null;
  const chosen = places[pick % places.length].toSorted((a, b) => b[0] - a[0]);
  return chosen.reduce((text_, [start, end, put]) => text_.slice(0, start) + put + text_.slice(end), code);
}

/** The versions of a type of node. */
function listVersions({ type }) {
  const name = type.replace('n8n-nodes-base.', '');
  return [...new Set(types.filter((known) => known.name === name).flatMap((known) => known.version))];
}

const COMMANDS = {
  versions: listVersions,
  parameters: ({ nodes }) => nodes.map(readParameters),
  rewrite,
};

require('node:readline')
  .createInterface({ input: process.stdin })
  .on('line', (line) => {
    const request = JSON.parse(line);
    console.log(JSON.stringify(COMMANDS[request.command](request)));
  });
