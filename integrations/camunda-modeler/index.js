'use strict';

module.exports = {
  name: 'orgflow',
  script: './client.js',
  style: './style.css',
  menu: './menu.js'
};
