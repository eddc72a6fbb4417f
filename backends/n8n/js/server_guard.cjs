// Loaded into n8n's server before anything else: it ends with the process that started it, however
// that ended, and takes along what it started and its temporary folder. A server in the background
// ends so only until it is released, when the process that started it writes something.
'use strict';

const { rmSync } = require('node:fs');
const { isMainThread } = require('node:worker_threads');

const GRACE_MS = 8000;

// A data folder that goes with the server; nobody else is left to remove it.
const temporary = process.env.ORGFLOW_TEMPORARY;
delete process.env.ORGFLOW_TEMPORARY;

const finish = () => {
  if (temporary) rmSync(temporary, { recursive: true, force: true, maxRetries: 3 });
  process.kill(process.platform === 'win32' ? process.pid : -process.pid, 'SIGKILL');
};

let ending = false;
let released = false;
const end = () => {
  if (ending || released) return;
  ending = true;
  if (process.listenerCount('SIGTERM') === 0) finish();
  process.on('exit', finish);
  setTimeout(finish, GRACE_MS);
  process.kill(process.pid, 'SIGTERM');
};

// The parent holds the other end of stdin and writes nothing to it but to release. Worker threads load this file
// too and have a stdin that ends at once.
if (isMainThread) {
  process.stdin.on('end', end);
  process.stdin.on('error', end);
  process.stdin.on('data', () => {
    released = true;
  });
  process.stdin.resume();
}
