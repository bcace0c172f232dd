/** Writes documents, also those whose ids can't be in a path. */
import { ask, isExact, path } from '../api.js';
import { parse, stringify } from '../value/json.js';

/** Stores a document's text under an id, whatever id the text has, and returns its new revision. */
export async function saveDocument(db, id, text) {
  const where = path`${db}/${id}`;
  if (isExact(where)) return (await ask(where, { method: 'PUT', text })).json.rev;
  return post(db, new Map([...parse(text), ['_id', id]]));
}

/** An id that the server has made. */
export async function newID() { return (await ask('_uuids', { quiet: true })).json.uuids[0]; }

/** Copies a revision, with its attachments, to another id, and returns the copy's revision. */
export async function copyDocument(db, id, name, rev) {
  return (await ask(path`${db}/${id}`, { method: 'COPY', query: { rev }, headers: { Destination: encodeURIComponent(name) } })).json.rev;
}

/** Deletes a revision of a document; fails without one. */
export async function deleteDocument(db, id, rev) {
  const where = path`${db}/${id}`;
  if (isExact(where) || !rev) return ask(where, { method: 'DELETE', query: { rev } });
  return post(db, new Map([['_id', id], ['_rev', rev], ['_deleted', true]]));
}

async function post(db, members) {
  return (await ask(path`${db}`, { method: 'POST', text: stringify(members) })).json.rev;
}
