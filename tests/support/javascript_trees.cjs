// A second reading of JavaScript: the tree of acorn without places and spellings, and the text that
// astring writes of it. Reads a list of programs from standard input, writes [tree, text] of each, or
// null where acorn refuses one.
const acorn = require('acorn');
const { generate } = require('astring');

const SPELLING = new Set(['start', 'end', 'raw', 'loc', 'range', 'directive']);

const named = (node) =>
  node && node.type === 'Literal' && typeof node.value === 'string' &&
  /^[A-Za-z_$][\w$]*$/.test(node.value);

const plain = (node) => {
  if (Array.isArray(node)) return node.filter((part) => part?.type !== 'EmptyStatement').map(plain);
  if (node === null || typeof node !== 'object') return node;
  if (node instanceof RegExp) return String(node);
  if (node.type === 'TaggedTemplateExpression')
    return { type: node.type, tag: plain(node.tag), raw: node.quasi.quasis.map((q) => q.value.raw),
      expressions: plain(node.quasi.expressions) };
  if (node.type === 'TemplateLiteral' && node.expressions.length === 0)
    return { type: 'Literal', value: node.quasis[0].value.cooked };
  const copy = {};
  for (const [key, value] of Object.entries(node)) {
    if (SPELLING.has(key)) continue;
    if (typeof value === 'bigint') { copy[key] = `${value}n`; continue; }
    if (node.type === 'TemplateElement' && key === 'value') { copy.value = value.cooked; continue; }
    copy[key] = plain(value);
  }
  if (node.type === 'Property' && !node.computed && node.key.type === 'Literal')
    copy.key = { type: 'Identifier', name: String(node.key.value) };
  if (node.type === 'Property' && !(node.shorthand && node.key.name === '__proto__'))
    delete copy.shorthand;
  if (node.type === 'MemberExpression' && node.computed && named(node.property)) {
    copy.computed = false;
    copy.property = { type: 'Identifier', name: node.property.value };
  }
  return copy;
};

const options = {
  ecmaVersion: 'latest', allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true,
};
let text = '';
process.stdin.on('data', (part) => { text += part; }).on('end', () => {
  const results = JSON.parse(text).map((program) => {
    let tree;
    try { tree = acorn.parse(program, options); } catch { return null; }
    return [JSON.stringify(plain(tree)), generate(tree)];
  });
  process.stdout.write(JSON.stringify(results));
});
