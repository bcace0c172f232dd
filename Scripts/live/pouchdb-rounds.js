#!/usr/bin/env node
// Synchronizes two PouchDBs in memory with a Settle database while all three are edited.
//
//     SETTLE_POUCHDB=FOLDER Scripts/live/pouchdb-rounds.js SETTLE [ROUNDS]
//
// FOLDER has PouchDB's own builds pouchdb.js and pouchdb.memory.js, as in dist of its repository; SETTLE is an address with
// an administrator's name and password. After each of the ROUNDS (8) all three must have the same leaves, bodies and
// attachments. The last line says what was done; the status is 1 when anything differed.
'use strict';
const PouchDB = require('./pouchdb.js')(process.env.SETTLE_POUCHDB || '.');

const [address, rounds = '8'] = process.argv.slice(2);
const counts = {rounds: 0, edits: 0, conflicts: 0, attachments: 0, deletions: 0};

// Reproducible choices for every run.
let state = 9001;
function chance(below) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 8) % below;
}

async function edit(db, name) {
  const id = 'doc-' + chance(20);
  const old = await db.get(id).catch((error) => {
    if (error.status === 404) return {_id: id};
    throw error;
  });
  counts.edits += 1;
  switch (old._rev ? chance(5) : 0) {
    case 1:
      counts.deletions += 1;
      return db.remove(old);
    case 2: {
      // Each has a unique name: after one was replaced, PouchDB 9 shows another content than the CouchDB it is from.
      counts.attachments += 1;
      const data = Buffer.from(name.repeat(1 + chance(2000)));
      const type = chance(2) ? 'text/plain' : 'image/png';
      return db.putAttachment(id, 'file-' + counts.attachments, old._rev, data.toString('base64'), type);
    }
    default:
      return db.put({...old, by: name, n: chance(1000), half: chance(1000) + 0.5, text: 'ä😀', list: [1, 2, 255]});
  }
}

// Closes the losing leaves of a document.
async function settle(db) {
  const rows = await db.allDocs({include_docs: true, conflicts: true});
  for (const {doc} of rows.rows.slice(0, 10)) {
    for (const revision of doc._conflicts || []) {
      counts.conflicts += 1;
      await db.remove(doc._id, revision);
    }
  }
}

// The content of a database: all leaves with their bodies, histories and attachments.
async function contents(db) {
  const changes = await db.changes({style: 'all_docs'});
  const all = {};
  for (const {id, changes: leaves} of changes.results) {
    const revisions = leaves.map((leaf) => leaf.rev).sort();
    all[id] = [];
    for (const rev of revisions) {
      const doc = await db.get(id, {rev, revs: true, attachments: true});
      // A server stores some types compressed and digests the compressed bytes, PouchDB digests the content; and
      // PouchDB sets `revpos` differently. Both also differ with a CouchDB.
      for (const attachment of Object.values(doc._attachments || {})) {
        delete attachment.digest;
        delete attachment.revpos;
      }
      all[id].push(doc);
    }
  }
  return all;
}

async function main() {
  const remote = new PouchDB(address + '/settle-pouchdb');
  const locals = [new PouchDB('one', {adapter: 'memory'}), new PouchDB('two', {adapter: 'memory'})];
  const all = [...locals, remote];
  for (; counts.rounds < Number(rounds); counts.rounds += 1) {
    for (let number = 0; number < 30; number += 1) {
      const index = chance(3);
      await edit(all[index], ['one', 'two', 'settle'][index]);
    }
    if (counts.rounds % 2) await settle(all[chance(3)]);
    for (let turn = 0; turn < 2; turn += 1) {
      for (const local of locals) {
        const result = await local.sync(remote);
        const errors = [...result.push.errors, ...result.pull.errors];
        if (errors.length || !result.push.ok || !result.pull.ok) throw new Error(JSON.stringify(errors));
      }
    }
    const [one, two, three] = await Promise.all(all.map(contents));
    require('assert').deepStrictEqual(one, three);
    require('assert').deepStrictEqual(two, three);
  }
  // Nothing is left to replicate: the checkpoints are complete.
  const again = await locals[0].sync(remote);
  if (again.push.docs_read || again.pull.docs_read) throw new Error('a synchronization began anew');
  await remote.destroy();
  console.log(JSON.stringify(counts));
}

main().then(() => process.exit(0), (error) => {
  console.log(error.stack || error);
  process.exit(1);
});
