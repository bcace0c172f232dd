/** Reads documents as the server spells them, and their trees. */
import { ask, isExact, path } from '../api.js';
import { parse, stringify } from '../value/json.js';
import { laidOut } from '../value/json-text.js';

/**
 * Reads a document, or one revision of it: its text in lines, `rev` and `attachments`. Without a text it is `deleted`, or there
 * is none.
 *
 * @param onSize hears the size before the body is read
 */
export async function readDocument(db, id, { rev, signal, onSize, quiet } = {}) {
  if (!isExact(path`${db}/${id}`)) return readByName(db, id, { rev, signal, quiet });
  let response;
  try {
    response = await ask(path`${db}/${id}`, { query: { rev }, signal, quiet, raw: true });
  } catch (error) {
    if (error.status !== 404 || !['deleted', 'missing'].includes(error.reason)) throw error;
    return { text: null, rev: null, isDeleted: error.reason === 'deleted', attachments: {} };
  }
  onSize?.(Number(response.headers.get('Content-Length')));
  const sent = await response.text();
  // Of these members nothing is saved, so the browser's own reading is exact enough, and faster.
  const plain = JSON.parse(sent);
  return { text: await laidOut(sent.trim()), rev: plain._rev, isDeleted: false, attachments: plain._attachments ?? {} };
}

/** Reads a document whose id can't be in a path. */
async function readByName(db, id, { rev, signal, quiet }) {
  const answer = await ask(path`${db}/_bulk_get`, { method: 'POST', json: { docs: [{ id, rev: rev ?? undefined }] }, signal, quiet });
  const found = parse(answer.text).get('results')[0].get('docs')[0].get('ok');
  const isDeleted = found?.get('_deleted') === true;
  if (!found || isDeleted && !rev) return { text: null, rev: null, isDeleted, attachments: {} };
  const text = stringify(found);
  return { text: await laidOut(text), rev: found.get('_rev'), isDeleted: false, attachments: JSON.parse(text)._attachments ?? {} };
}

/** A revision, `now`, and the one `before` it, without their histories, each `null` if its body is gone; `isFirst` if none was before it. */
export async function readChange(db, id, rev, signal) {
  const read = async one => {
    const answer = await ask(path`${db}/_bulk_get`, { method: 'POST', query: { revs: true }, json: { docs: [{ id, rev: one }] }, signal, quiet: true });
    return parse(answer.text).get('results')[0].get('docs')[0].get('ok') ?? null;
  };
  const now = await read(rev);
  const [, parent] = now?.get('_revisions').get('ids') ?? [];
  const generation = Number(rev.split('-')[0]);
  const before = parent === undefined ? null : await read(`${generation - 1}-${parent}`);
  for (const body of [now, before]) body?.delete('_revisions');
  return { now, before, isFirst: generation === 1 };
}

/** The live leaf that a revision is or has become, by a tree; `undefined` if there is none. */
export function leafOf(tree, rev) {
  const parents = new Map((tree?.revisions ?? []).map(row => [row.rev ?? row.to, row.parent]));
  const isOf = leaf => {
    let one = leaf;
    while (one && one !== rev) one = parents.get(one);
    return Boolean(one);
  };
  return tree?.revisions.find(row => row.leaf && !row.deleted && isOf(row.rev))?.rev;
}

/** The revision that wins, the kind of a conflict, all leaves, and all revisions of a document; `null` where there is none. */
export async function readTree(db, id, signal) {
  if (id.startsWith('_local/') || !isExact(path`${db}/_conflicts/${id}`)) return null;
  try {
    const answer = (await ask(path`${db}/_conflicts/${id}`, { query: { docs: false, tree: 'full' }, signal, quiet: true })).json;
    return { rev: answer.rev, isConflict: answer.conflict, kind: answer.kind, leaves: answer.leaves ?? [], revisions: answer.tree?.revisions ?? [] };
  } catch (error) {
    if (error.status === 404) return null;
    throw error;
  }
}
