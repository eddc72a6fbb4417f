// What n8n-workflow itself makes of parameters: a line of JSON in, a line out.
'use strict';
const path = require('node:path');
const modules = process.argv[2];
const { NodeHelpers } = require(path.join(modules, 'n8n-workflow'));
const types = require(path.join(modules, 'n8n-nodes-base/dist/types/nodes.json'));

const described = (name, version) =>
  types.find((type) => type.name === name && [].concat(type.version).includes(version));

require('node:readline')
  .createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { name, version, values } = JSON.parse(line);
    const description = described(name, version);
    const node = { typeVersion: version, type: name, name, parameters: values };
    const resolved = NodeHelpers.getNodeParameters(
      description.properties, values, true, false, node, description);
    const issues = NodeHelpers.getNodeParametersIssues(
      description.properties, { ...node, parameters: resolved }, description);
    console.log(JSON.stringify({
      names: Object.keys(resolved), resolved,
      missing: Object.keys(issues?.parameters ?? {}),
    }));
  });
