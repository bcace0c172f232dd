/** The place of a document in the list of conflicts, as the server tells it. */
import { ask, path } from '../api.js';

const PORTION = 1000; // ids that the server tells at once
const MOST = 10; // portions that are read until a place is found

const reading = (db, kind, signal) => async query =>
  (await ask(path`${db}/_conflicts`, { query: { kind, values: false, ...query }, signal, quiet: true })).json;

/** The conflict after a document, and the number of all of the kind. */
async function after(read, id) {
  const { rows, total_rows: total } = await read({ startkey: JSON.stringify(id), limit: 2 });
  return { next: rows.find(row => row.id !== id)?.id ?? null, total };
}

/** The id of the conflict that follows a document, `null` after the last one. */
export async function nextConflict(db, id, { kind, signal }) { return (await after(reading(db, kind, signal), id)).next; }

/**
 * The neighbours of a conflict: `previous` and `next`, its `place` from 1 on, and the `total`. Without a `place` the document is no
 * longer in the list, or stands farther on than is read; then the `previous` one may be missing, too.
 */
export async function neighbours(db, id, { kind, signal }) {
  const read = reading(db, kind, signal);
  const told = await after(read, id);
  const found = { ...told, place: null, previous: null };
  let [before, from] = [0, null];
  for (let portion = 0; portion < MOST; portion += 1) {
    const { rows } = await read({ endkey: JSON.stringify(id), limit: PORTION, startkey: from === null ? undefined : JSON.stringify(from) });
    const ids = rows.map(row => row.id).filter(one => one !== from);
    const isHere = ids.at(-1) === id;
    const others = isHere ? ids.slice(0, -1) : ids;
    if (rows.length < PORTION || isHere) return { ...found, place: isHere ? before + others.length + 1 : null, previous: others.at(-1) ?? from };
    [before, from] = [before + ids.length, ids.at(-1)];
  }
  return found;
}
