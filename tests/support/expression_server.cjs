// Evaluates JavaScript of expressions and Code nodes for tests: one request and one answer a line.
'use strict';
const readline = require('node:readline');

// Moments are compared as texts: which length or date an expression names, not when it is now.
const moment = (text) => ({
  plus: (length) => moment(`${text}+${JSON.stringify(length)}`),
  toUTC: () => moment(text),
  toISO: () => `later ${text}`,
});
const DateTime = { fromISO: (text) => moment(String(text)), now: () => moment('now') };

function evaluate({ code, json, nodes, execution, script }) {
  const node = (name) => {
    if (!(name in nodes)) throw new Error(`no node ${name}`);
    const outputs = nodes[name];
    const first = (output = 0) => {
      if (outputs === null) throw new Error(`${name} has not run`);
      const item = outputs[output];
      return item === undefined ? undefined : { json: item };
    };
    return { first, last: first, get item() { return first(); }, isExecuted: outputs !== null,
      all: (output = 0) => (outputs?.[output] === undefined ? [] : [{ json: outputs[output] }]) };
  };
  const $input = { first: () => ({ json }), last: () => ({ json }), all: () => [{ json }], item: { json } };
  const body = script ? code : `return (${code})`;
  const run = new Function('$json', '$', '$execution', '$workflow', '$now', 'DateTime', '$input', 'items', body);
  return run(json, node, { id: execution }, { id: 'p' }, moment('now'), DateTime, $input, [{ json }]);
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let answer;
  try {
    answer = { value: evaluate(JSON.parse(line)) };
  } catch (error) {
    answer = { error: String(error?.message ?? error) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
});
