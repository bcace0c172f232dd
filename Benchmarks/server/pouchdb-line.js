#!/usr/bin/env node
// A PouchDB in memory that pulls one database and pushes what it got to another one, for slow_line.py.
//
//     Benchmarks/server/pouchdb-line.js FOLDER SOURCE TARGET      FOLDER has PouchDB's own builds, as for pouchdb-rounds.js
//
// It prints a line when it is ready, after the pull, and after the push, with the number of documents that were written.
'use strict';
const [folder, source, target] = process.argv.slice(2);
const PouchDB = require('../../Scripts/live/pouchdb.js')(folder);

(async () => {
  const database = new PouchDB('line', {adapter: 'memory'});
  await database.info();
  console.log(0);
  console.log((await database.replicate.from(source)).docs_written);
  console.log((await database.replicate.to(target)).docs_written);
})();
