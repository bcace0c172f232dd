// Loads PouchDB's own builds for browsers into Node: `require('./pouchdb.js')(FOLDER)`. FOLDER has pouchdb.js and
// pouchdb.memory.js, as in dist of its repository.
'use strict';
const path = require('path');

globalThis.self = globalThis.window = globalThis;
// Globals that browsers have and Node lacks.
globalThis.FileReader = class {
  async #read(blob, convert) {
    this.result = convert(await blob.arrayBuffer());
    const event = {target: this};
    if (this.onloadend) this.onloadend(event);
    if (this.onload) this.onload(event);
  }
  readAsArrayBuffer(blob) { this.#read(blob, (bytes) => bytes); }
  readAsBinaryString(blob) { this.#read(blob, (bytes) => Buffer.from(bytes).toString('latin1')); }
};
// PouchDB logs answers with status 404 that it expects.
console.info = () => {};

module.exports = (folder) => {
  const PouchDB = globalThis.PouchDB = require(path.resolve(folder, 'pouchdb.js'));
  require(path.resolve(folder, 'pouchdb.memory.js'));
  return PouchDB;
};
