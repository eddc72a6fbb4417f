// What n8n-workflow itself makes of values of parameters: a list of texts on standard input, a list of
// [type, value as text] on standard output, or [error].
'use strict';
const path = require('node:path');
const { Workflow } = require(path.join(process.argv[2], 'n8n-workflow'));

const node = {
  name: 'Node', type: 'none', typeVersion: 1, position: [0, 0], parameters: {}, id: 'node',
};
const workflow = new Workflow({
  nodes: [node], connections: {}, active: false,
  nodeTypes: { getByNameAndVersion: () => undefined },
});
let text = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (part) => { text += part; }).on('end', () => {
  const results = JSON.parse(text).map((value) => {
    try {
      const result = workflow.expression.getSimpleParameterValue(node, value, 'manual', {});
      return [result === null ? 'null' : typeof result, JSON.stringify(result) ?? ''];
    } catch (error) {
      return [String(error.message)];
    }
  });
  process.stdout.write(JSON.stringify(results));
});
