'use strict';

// Runs in the main process of Camunda Modeler, the only part of a plugin that may start programs.

const fs = require('fs');
const os = require('os');
const path = require('path');

const { startBridge } = require('./bridge');

/** What `config.json` beside this file says, if it is there: `command` and `project`. */
function settings() {
  const file = path.join(__dirname, 'config.json');
  const given = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : {};
  return { command: ['orgflowc', 'lsp'], project: os.homedir(), ...given };
}

module.exports = function(electronApp, menuState) {
  let bridge = null;

  function send(action, options) {
    electronApp.emit('menu:action', action, options);
  }

  async function check() {
    try {
      bridge = bridge || startBridge(settings());
      const { address } = await bridge;
      send('orgflowCheck', { address });
    } catch (error) {
      bridge = null;
      send('orgflowFailed', { message: error.message });
    }
  }

  electronApp.on('will-quit', () => bridge && bridge.then(b => b.stop(), () => {}));

  return [
    {
      label: 'Check with orgflow',
      accelerator: 'CommandOrControl+Shift+K',
      enabled: () => menuState.bpmn,
      action: check
    },
    {
      label: 'Hide findings of orgflow',
      enabled: () => menuState.bpmn,
      action: () => send('orgflowHide', {})
    }
  ];
};
