// What this process may not do: talk to the network, print on stdout, or start programs.
// (Writing to the disk and starting programs are also refused by Node's permission model, with
// which the Python side starts this process.)
'use strict';
const net = require('node:net');
const dgram = require('node:dgram');
const dns = require('node:dns');
const childProcess = require('node:child_process');

const OFF = 'the network is off in the local engine: stub this node, or run on a server';

function refusal(code) {
  return Object.assign(new Error(OFF), { code });
}

/** Close the network and the process table; returns the function that writes a response line. */
function close() {
  const write = process.stdout.write.bind(process.stdout);
  // n8n and its nodes log to stdout; that stream carries the protocol.
  process.stdout.write = process.stderr.write.bind(process.stderr);

  // Addresses that tests listen at, as HOST:PORT with a number for a host.
  const reach = new Set((process.env.ORGFLOW_N8N_REACH ?? '').split(',').filter((one) => one));
  const connect = net.Socket.prototype.connect;
  net.Socket.prototype.connect = function (...given) {
    const [to] = Array.isArray(given[0]) ? given[0] : given;
    if (to !== null && typeof to === 'object' && reach.has(`${to.host}:${to.port}`))
      return connect.apply(this, given);
    process.nextTick(() => this.destroy(refusal('ENETUNREACH')));
    return this;
  };
  net.Server.prototype.listen = function listen() {
    throw refusal('EACCES');
  };
  dgram.createSocket = () => {
    throw refusal('EACCES');
  };
  for (const name of Object.keys(dns).filter((key) => /^(lookup|resolve|reverse)/.test(key))) {
    dns[name] = (...args) => process.nextTick(args.at(-1), refusal('ENOTFOUND'));
    if (name in dns.promises) {
      dns.promises[name] = async () => {
        throw refusal('ENOTFOUND');
      };
    }
  }
  for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']) {
    childProcess[name] = () => {
      throw new Error('the local engine starts no programs');
    };
  }
  return (message) => write(JSON.stringify(message) + '\n');
}

module.exports = { close };
