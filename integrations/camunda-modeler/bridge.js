'use strict';

// Between a page, which can only fetch, and `orgflowc lsp`, which speaks on its standard streams:
// a server on this machine only, whose address holds a random token.

const { spawn } = require('child_process');
const crypto = require('crypto');
const http = require('http');
const path = require('path');
const { pathToFileURL } = require('url');

const SEVERITIES = ['', 'error', 'warning', 'info', 'info'];
const MOST_BYTES = 64 * 1024 * 1024;

/** A language server and its answers. */
class LanguageClient {
  constructor(command, folder) {
    this._waiting = new Map();
    this._listeners = new Set();
    this._next = 1;
    this._data = Buffer.alloc(0);
    this._lastWords = '';
    this._child = spawn(command[0], command.slice(1), { cwd: folder });
    this._child.stdout.on('data', chunk => this._receive(chunk));
    this._child.stderr.on('data', chunk => {
      this._lastWords = (this._lastWords + chunk).slice(-2000);
    });
    this._child.stdin.on('error', () => {});  // 'exit' tells the same
    this._child.on('error', error => this._end(
      error.code === 'ENOENT'
        ? `${command[0]} is not installed, or not on the PATH: set "command" in config.json`
        : error.message
    ));
    this._child.on('exit', () => this._end(
      this._lastWords.trim().split('\n').pop() || 'the language server ended'
    ));
  }

  get alive() {
    return this._fault === undefined;
  }

  request(method, params) {
    return new Promise((resolve, reject) => {
      if (!this.alive) {
        return reject(new Error(this._fault));
      }
      const id = this._next++;
      this._waiting.set(id, { resolve, reject });
      this._write({ id, method, params });
    });
  }

  notify(method, params) {
    this._write({ method, params });
  }

  /** The parameters of the next notification that fits. */
  next(method, fits) {
    return new Promise((resolve, reject) => {
      if (!this.alive) {
        return reject(new Error(this._fault));
      }
      const listener = { method, fits, resolve, reject };
      this._listeners.add(listener);
    });
  }

  stop() {
    this._child.stdin.end();
    this._child.kill();
  }

  _write(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
    this._child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
    this._child.stdin.write(body);
  }

  _receive(chunk) {
    this._data = Buffer.concat([this._data, chunk]);
    for (;;) {
      const head = this._data.indexOf('\r\n\r\n');
      if (head < 0) {
        return;
      }
      const length = Number(/Content-Length: (\d+)/i.exec(this._data.subarray(0, head))[1]);
      if (this._data.length < head + 4 + length) {
        return;
      }
      const body = this._data.subarray(head + 4, head + 4 + length);
      this._data = this._data.subarray(head + 4 + length);
      this._take(JSON.parse(body.toString()));
    }
  }

  _take(message) {
    const waiting = message.method === undefined && this._waiting.get(message.id);
    if (waiting) {
      this._waiting.delete(message.id);
      if (message.error) {
        waiting.reject(new Error(message.error.message));
      } else {
        waiting.resolve(message.result);
      }
      return;
    }
    for (const listener of this._listeners) {
      if (listener.method === message.method && listener.fits(message.params)) {
        this._listeners.delete(listener);
        listener.resolve(message.params);
      }
    }
  }

  _end(fault) {
    if (!this.alive) {
      return;
    }
    this._fault = fault;
    for (const { reject } of [...this._waiting.values(), ...this._listeners]) {
      reject(new Error(fault));
    }
    this._waiting.clear();
    this._listeners.clear();
  }
}

/** A text with the edits of the protocol: lines, and columns in the units of JavaScript's strings. */
function applyEdits(text, edits) {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n|\r/g)) {
    starts.push(match.index + match[0].length);
  }
  const offset = ({ line, character }) => line < starts.length ? starts[line] + character : text.length;
  const placed = edits.map(e => ({ start: offset(e.range.start), end: offset(e.range.end), text: e.newText }));
  placed.sort((a, b) => b.start - a.start);
  return placed.reduce((all, e) => all.slice(0, e.start) + e.text + all.slice(e.end), text);
}

/** Checks diagrams one after the other, all in documents of one language server. */
class Checker {
  constructor({ command, project }) {
    this._command = command;
    this._project = project;
    this._versions = new Map();
    this._last = Promise.resolve();
  }

  async start() {
    this._client = new LanguageClient(this._command, this._project);
    this._versions.clear();
    await this._client.request('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(this._project).href,
      capabilities: {}
    });
    this._client.notify('initialized', {});
  }

  /** Findings of a diagram: `{ code, name, severity, message, element, fixes: [{ title, safe, xml }] }`. */
  check(name, xml) {
    const result = this._last.then(() => this._check(name, xml));
    this._last = result.catch(() => {});
    return result;
  }

  stop() {
    this._client.stop();
  }

  async _check(name, xml) {
    if (!this._client.alive) {
      await this.start();
    }
    const uri = pathToFileURL(path.join(this._project, name)).href;
    const version = (this._versions.get(uri) || 0) + 1;
    const published = this._client.next(
      'textDocument/publishDiagnostics', p => p.uri === uri && p.version === version
    );
    if (version === 1) {
      this._client.notify('textDocument/didOpen', {
        textDocument: { uri, languageId: 'bpmn', version, text: xml }
      });
    } else {
      this._client.notify('textDocument/didChange', {
        textDocument: { uri, version }, contentChanges: [{ text: xml }]
      });
    }
    this._versions.set(uri, version);
    const { diagnostics } = await published;
    const everywhere = {
      start: { line: 0, character: 0 },
      end: { line: xml.split(/\r\n|\n|\r/).length, character: 0 }
    };
    const actions = await this._client.request('textDocument/codeAction', {
      textDocument: { uri },
      range: everywhere,
      context: { diagnostics: [], only: ['quickfix'], triggerKind: 1 }
    });
    return diagnostics.map(d => this._finding(d, uri, xml, actions));
  }

  _finding(d, uri, xml, actions) {
    const same = a => JSON.stringify([a.code, a.range, a.message]) === JSON.stringify([d.code, d.range, d.message]);
    const fixes = actions
      .filter(a => a.diagnostics.some(same) && !a.title.startsWith('Suppress '))
      .map(a => ({
        title: a.title,
        safe: Boolean(a.isPreferred),
        xml: applyEdits(xml, a.edit.changes[uri])
      }));
    return {
      code: d.code,
      name: d.data && d.data.name,
      severity: SEVERITIES[d.severity],
      message: d.message,
      element: d.data && d.data.element,
      fixes
    };
  }
}

/**
 * Starts the language server and the bridge: `{ address, stop }`. A page posts
 * `{ name, xml }` to the address and gets `{ findings }`, or `{ fault }`.
 */
async function startBridge(settings) {
  const checker = new Checker(settings);
  await checker.start();
  const token = crypto.randomBytes(16).toString('hex');
  const server = http.createServer((request, response) => {
    const answer = (status, value) => {
      response.writeHead(status, {
        'Access-Control-Allow-Origin': '*',
        'Content-Type': 'application/json'
      });
      response.end(JSON.stringify(value));
    };
    if (request.method !== 'POST' || request.url !== `/${token}`) {
      return answer(404, { fault: 'there is nothing here' });
    }
    const parts = [];
    let size = 0;
    request.on('data', part => {
      size += part.length;
      parts.push(part);
      if (size > MOST_BYTES) {
        request.destroy();
      }
    });
    request.on('end', async () => {
      try {
        const { name, xml } = JSON.parse(Buffer.concat(parts).toString());
        answer(200, { findings: await checker.check(path.basename(String(name)), String(xml)) });
      } catch (error) {
        answer(200, { fault: error.message });
      }
    });
  });
  await new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    address: `http://127.0.0.1:${server.address().port}/${token}`,
    stop() {
      server.close();
      server.closeAllConnections();
      checker.stop();
    }
  };
}

module.exports = { startBridge };
