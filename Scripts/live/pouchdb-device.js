#!/usr/bin/env node
// A PouchDB that answers commands on standard input, one JSON object in each line; see mobile-mixed.py.
//
//     Scripts/live/pouchdb-device.js FOLDER URL      FOLDER has PouchDB's own builds, as for pouchdb-rounds.js
'use strict';
const [folder, remote] = process.argv.slice(2);
const PouchDB = require('./pouchdb.js')(folder);
const database = new PouchDB('device', {adapter: 'memory'});

async function found(id) {
  try { return await database.get(id); } catch (error) { return null; }
}

const commands = {
  async edit({id, body}) {
    const known = await found(id);
    await database.put({...body, _id: id, ...(known ? {_rev: known._rev} : {})});
    return true;
  },
  async get({id}) {
    const document = await found(id);
    return document && Object.fromEntries(Object.entries(document).filter(([name]) => !name.startsWith('_')));
  },
  // Replicates, and deletes the losers of conflicts, until there are none.
  async sync() {
    let moved = 0;
    for (;;) {
      const result = await database.sync(remote);
      moved += result.push.docs_written + result.pull.docs_written;
      let deleted = 0;
      for (const row of (await database.allDocs()).rows) {
        const document = await database.get(row.id, {conflicts: true});
        for (const revision of document._conflicts || []) {
          await database.remove(row.id, revision);
          deleted++;
        }
      }
      moved += deleted;
      if (!deleted) return moved;
    }
  },
};

let queue = Promise.resolve();
require('readline').createInterface({input: process.stdin}).on('line', (line) => {
  const message = JSON.parse(line);
  queue = queue.then(() => commands[message.op](message)).then(
    (result) => console.log(JSON.stringify(result)),
    (error) => console.log(JSON.stringify({error: String((error && error.message) || error)})));
});
