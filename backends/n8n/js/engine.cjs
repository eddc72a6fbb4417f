// n8n's own engine in one long-lived process: JSON lines in on stdin, JSON lines out on stdout.
//
// Requests   {"id", "cmd": "ping" | "run" | "shutdown", ...}; the fields of "run" are read in run.cjs.
// Responses  {"id", "ok": true, ...} or {"id", "ok": false, "error": text}, in the order of the requests.
// ORGFLOW_N8N_REACH lists addresses that runs may connect to, ORGFLOW_N8N_CREDENTIALS has the content
// of credentials by their type. ORGFLOW_N8N_MODULES names the node_modules folder that holds n8n-core, n8n-workflow and
// n8n-nodes-base; N8N_USER_FOLDER names a folder n8n may write to. The process ends with its stdin.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');
const send = require('./sandbox.cjs').close();

process.on('uncaughtException', (error) => console.error('uncaught', error));
process.on('unhandledRejection', (error) => console.error('unhandled', error));

const modules = process.env.ORGFLOW_N8N_MODULES;
if (!modules || !process.env.N8N_USER_FOLDER) {
  console.error('ORGFLOW_N8N_MODULES and N8N_USER_FOLDER must be set');
  process.exit(2);
}
process.env.N8N_BLOCK_ENV_ACCESS_IN_NODE = 'true';
process.env.N8N_ENCRYPTION_KEY ??= 'local';
const fromModules = (name) => require(require.resolve(name, { paths: [modules] }));

/** n8n's libraries and what this process stands in for; built when the first run comes. */
function makeHost() {
  fromModules('reflect-metadata');
  const library = fromModules('n8n-workflow');
  const core = fromModules('n8n-core');
  const { NodeTypes } = require('./types.cjs');
  const { makeTaskRunner } = require('./code.cjs');
  const luxon = require(require.resolve('luxon', { paths: [path.join(modules, 'n8n-workflow'), modules] }));

  /** Retries at once: the pause between two tries is time like any other. */
  class Execute extends core.WorkflowExecute {
    getRetryParams(executionData) {
      return [super.getRetryParams(executionData)[0], 0];
    }
  }

  const given = JSON.parse(process.env.ORGFLOW_N8N_CREDENTIALS ?? '{}');
  const credentials = {
    getParentTypes: () => [],
    isCredentialUsableByNode: () => true,
    getDecrypted: async (_data, _node, type) => (given[type] ?? {}),
    preAuthentication: async () => undefined,
    // A credential may say where requests go instead (`instead`, by the beginning of a URL): to a
    // server that tests listen at.
    authenticate: async (_credentials, type, options) => {
      const key = options.uri === undefined ? 'url' : 'uri';
      const address = String(options[key] ?? '');
      const from = Object.keys(given[type]?.instead ?? {}).find((one) => address.startsWith(one));
      if (from === undefined) return options;
      return { ...options, [key]: given[type].instead[from] + address.slice(from.length) };
    },
    runPreAuthentication: async () => undefined,
    getCredentials: async () => ({}),
    getCredentialsProperties: () => [],
    updateCredentials: async () => {},
  };
  const types = new NodeTypes(modules, library);
  return { library, core, types, Execute, credentials, startRunnerTask: makeTaskRunner(luxon) };
}

let host = null;
let runs = 0;

// Newer Nodes let contexts of Code nodes pile up to a gigabyte before a full collection.
require('node:v8').setFlagsFromString('--expose-gc');
const collect = require('node:vm').runInNewContext('gc');
const RUNS_PER_COLLECTION = 200;

async function answer(request) {
  if (request === null || typeof request !== 'object') throw new Error('a request is a JSON object');
  switch (request.cmd) {
    case 'ping':
      return { node: process.version, pid: process.pid, rss: process.memoryUsage().rss };
    case 'run': {
      host ??= makeHost();
      const { Run } = require('./run.cjs');
      runs += 1;
      if (runs % RUNS_PER_COLLECTION === 0) collect();
      return await new Run(host, request).respond();
    }
    case 'shutdown':
      return {};
    default:
      throw new Error(`unknown command ${JSON.stringify(request.cmd)}`);
  }
}

async function handle(line) {
  let request = null;
  try {
    request = JSON.parse(line);
    send({ id: request?.id ?? null, ok: true, ...(await answer(request)) });
  } catch (error) {
    if (!(error instanceof SyntaxError)) console.error(error);
    send({ id: request?.id ?? null, ok: false, error: String(error?.message ?? error) });
  }
  if (request?.cmd === 'shutdown') process.exit(0);
}

// One request at a time: runs share n8n's global state and its order must not depend on timing.
let tail = Promise.resolve();
const lines = readline.createInterface({ input: process.stdin, crlfDelay: Infinity });
lines.on('line', (line) => {
  if (line.trim() !== '') tail = tail.then(() => handle(line));
});
lines.on('close', () => {
  // The caller ended, perhaps without tidying up.
  fs.rmSync(process.env.N8N_USER_FOLDER, { recursive: true, force: true });
  process.exit(0);
});
