/**
 * Stored replications: a document of `_replicator` each. One that is stopped waits in a local document, as `settle replications
 * pause` keeps it, since the server runs every other one.
 */
import { ask, path } from '../api.js';
import { parse, stringify } from '../value/json.js';

const KEPT = '_local/settle-replications';
const TRIES = 50; // times a tenth of a second until a job has ended

/** The database and the name in the id of a page, such as `_replicator/orders`. */
export function partsOf(id = '') {
  const found = id.indexOf('_replicator/');
  const end = found < 0 ? id.indexOf('/') : found + '_replicator'.length;
  return { database: id.slice(0, end), name: id.slice(end + 1) };
}

async function readOrNull(where, signal) {
  try { return parse((await ask(where, { signal, quiet: true })).text); } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}

async function readKept(database, signal) {
  const body = await readOrNull(path`${database}/${KEPT}`, signal) ?? new Map();
  return { body, documents: body.get('replications') ?? new Map() };
}

/** The stopped replications of a database: documents by their names. */
export async function readStopped(database, signal) {
  return (await readKept(database, signal)).documents;
}

/** Stores the stopped ones; the local document goes with the last of them. */
async function keep(database, { body, documents }) {
  const where = path`${database}/${KEPT}`;
  if (documents.size === 0) {
    if (body.has('_rev')) await ask(where, { method: 'DELETE', query: { rev: body.get('_rev') } });
    return;
  }
  await ask(where, { method: 'PUT', text: stringify(new Map([...body, ['replications', documents]])) });
}

/** A document without what the server has noted in it. */
function plain(document) {
  return new Map([...document].filter(([name]) => !name.startsWith('_replication_') && !['_id', '_rev'].includes(name)));
}

/** A replication's document, whether it is stopped, and its revision if it is not; `null` if there is none. */
export async function readReplication(database, name, signal) {
  const document = await readOrNull(path`${database}/${name}`, signal);
  if (document) return { document: plain(document), rev: document.get('_rev'), isStopped: false };
  const stopped = (await readStopped(database, signal)).get(name);
  return stopped ? { document: plain(stopped), rev: null, isStopped: true } : null;
}

/** Stores a replication where `readReplication` found it; a new one has neither a revision nor is it stopped. */
export async function saveReplication(database, name, document, { rev = null, isStopped = false } = {}) {
  if (!isStopped) {
    await ask(path`${database}/${name}`, { method: 'PUT', text: stringify(new Map([...document, ...(rev ? [['_rev', rev]] : [])])) });
    return;
  }
  const kept = await readKept(database);
  kept.documents.set(name, new Map([...document, ['_replication_state', 'paused']]));
  await keep(database, kept);
}

/** Ends a replication, and keeps its document. */
export async function stop(database, name) {
  const { document, rev } = await readReplication(database, name);
  // It is kept before its document is deleted, so that it is not lost whatever happens in between.
  await saveReplication(database, name, document, { isStopped: true });
  await ask(path`${database}/${name}`, { method: 'DELETE', query: { rev } });
}

/** Begins one that was stopped. */
export async function start(database, name) {
  const kept = await readKept(database);
  await saveReplication(database, name, plain(kept.documents.get(name)));
  kept.documents.delete(name);
  await keep(database, kept);
}

/** Begins one anew, also one that has ended. */
export async function restart(database, name, job) {
  const found = await readReplication(database, name);
  if (!found.isStopped && !job) {
    await saveReplication(database, name, found.document, found);
    return;
  }
  if (!found.isStopped) await stop(database, name);
  for (let attempt = 0; job && attempt < TRIES && await readOrNull(path`_scheduler/jobs/${job}`); attempt += 1) {
    await new Promise(resolve => { setTimeout(resolve, 100); });
  }
  await start(database, name);
}

/** Forgets a replication. */
export async function remove(database, name) {
  const found = await readReplication(database, name);
  if (!found) return;
  if (!found.isStopped) {
    await ask(path`${database}/${name}`, { method: 'DELETE', query: { rev: found.rev } });
    return;
  }
  const kept = await readKept(database);
  kept.documents.delete(name);
  await keep(database, kept);
}

/** Ends one that a request has begun and no document keeps. */
export async function cancel(job) {
  await ask('_replicate', { method: 'POST', json: { cancel: true, replication_id: job } });
}
