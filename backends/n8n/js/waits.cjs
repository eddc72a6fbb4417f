// What happens outside a parked execution: a timer runs out, or somebody calls its URL.
'use strict';

const RESPONSE = new Proxy(function response() {}, {
  // Chainable and without effect: nobody reads the answer of a resume URL here.
  get: (target, name) => (name === 'then' ? undefined : RESPONSE),
  apply: () => RESPONSE,
});

/** The kind of wait a parked node is in: "time", "webhook" or "form". */
function kindOf(node) {
  if (node.type === 'n8n-nodes-base.form') return 'form';
  const resume = node.parameters?.resume;
  if (node.parameters?.operation === 'sendAndWait') {
    return ['customForm', 'freeText'].includes(node.parameters.responseType) ? 'form' : 'webhook';
  }
  if (node.type !== 'n8n-nodes-base.wait') return 'webhook';
  return resume === 'webhook' || resume === 'form' ? resume : 'time';
}

function formBody(context, node, answer) {
  const fields =
    context.getNodeParameter('defineForm', '') === 'json'
      ? context.getNodeParameter('jsonOutput', [])
      : context.getNodeParameter('formFields.values', []);
  const list = typeof fields === 'string' ? JSON.parse(fields) : fields;
  const left = new Set(Object.keys(answer));
  const data = {};
  list.forEach((field, index) => {
    // Which of the two names n8n uses as key depends on the version; an answer may use either.
    const key = [field.fieldName, field.fieldLabel, `field-${index}`].find((name) => name && left.has(name));
    if (key === undefined) {
      // A page sends its hidden fields back as they are.
      if (field.fieldType === 'hiddenField') data[`field-${index}`] = field.fieldValue ?? '';
      return;
    }
    left.delete(key);
    data[`field-${index}`] = answer[key];
  });
  if (left.size === 0) return { data, files: {} };
  const names = list.map((field) => JSON.stringify(field.fieldName || field.fieldLabel)).join(', ');
  throw new Error(
    `the answer for ${JSON.stringify(node.name)} has ${JSON.stringify([...left][0])}, which is no field of its form (${names || 'none'})`,
  );
}

/**
 * Delivers `answer` to the node an execution is parked at, through n8n's own webhook method.
 * Returns the items the node goes on with. A GET wait gets the answer as its query.
 */
async function deliver({ core, library }, parked, answer) {
  const { workflow, additionalData, mode, runExecutionData, kind } = parked;
  const node = workflow.getNode(runExecutionData.executionData.nodeExecutionStack[0].node.name);
  const nodeType = workflow.nodeTypes.getByNameAndVersion(node.type, node.typeVersion);
  if (typeof nodeType.webhook !== 'function') {
    throw new Error(`node ${JSON.stringify(node.name)} cannot be resumed by a call; stub it`);
  }
  const request = { headers: {}, params: {}, query: {}, body: {}, ips: [], ip: '127.0.0.1', cookies: {} };
  const data = { ...additionalData, httpRequest: request, httpResponse: RESPONSE };
  const described = { webhookDescription: { name: 'default' } };
  const context = new core.WebhookContext(workflow, node, data, mode, described, [], runExecutionData);
  request.method = kind === 'form' ? 'POST' : [].concat(context.getNodeParameter('httpMethod', 'POST'))[0];
  request.contentType = kind === 'form' ? 'multipart/form-data' : 'application/json';
  if (kind === 'form') request.body = formBody(context, node, answer);
  else if (request.method === 'GET') request.query = answer;
  else request.body = answer;
  request.rawBody = Buffer.from(JSON.stringify(answer));
  const answered = await callWebhook(library, nodeType, context, workflow);
  if (answered.workflowData === undefined) {
    throw new Error(`node ${JSON.stringify(node.name)} refused its answer (authentication or IP list)`);
  }
  return answered.workflowData;
}

async function callWebhook(library, nodeType, context, workflow) {
  await workflow.expression.acquireIsolate();
  try {
    return library.isNodeClassInstance(nodeType)
      ? await nodeType.webhook(context)
      : await nodeType.webhook.call(context);
  } finally {
    await workflow.expression.releaseIsolate();
  }
}

module.exports = { deliver, kindOf };
