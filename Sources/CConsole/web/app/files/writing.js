/** Writes the documents of a file: those with a revision as that revision, all others as edits. */
import { ask, path } from '../api.js';
import { t } from '../words.js';

const MOST = 500; // documents in a request
const SIZE = 4_000_000; // characters in a request
const TOO_MUCH = [400, 413];

/** Writes documents, and returns the refused ones, each with its reason; what is too much for one request is sent in halves. */
async function send(db, items, isEdit, signal) {
  if (items.length === 0) return [];
  const text = `{"new_edits":${isEdit},"docs":[${items.map(item => item.text).join(',')}]}`;
  try {
    const rows = (await ask(path`${db}/_bulk_docs`, { method: 'POST', text, signal, quiet: true })).json;
    // Without edits the answer has the refused ones alone, and so no place.
    return rows.map((row, index) => ({ ...row, line: isEdit ? items[index].line : items.find(({ doc }) => doc.get('_id') === row.id)?.line }))
      .filter(row => row.error);
  } catch (error) {
    if (!TOO_MUCH.includes(error.status)) throw error;
    if (items.length === 1) return [{ id: items[0].doc.get('_id') ?? '', line: items[0].line, error: error.error, reason: error.reason }];
    const half = items.length >> 1;
    return [...await send(db, items.slice(0, half), isEdit, signal), ...await send(db, items.slice(half), isEdit, signal)];
  }
}

/**
 * Writes all documents of a reader until a signal; what was written by then stays.
 *
 * @param onProgress is called with how many were sent, and which were refused
 */
export async function writeAll(db, documents, onProgress, signal) {
  let [items, size] = [[], 0];
  const flush = async () => {
    const [sent, edits] = [items, items.filter(({ doc }) => !doc.has('_rev') || String(doc.get('_id')).startsWith('_local/'))];
    [items, size] = [[], 0];
    const revisions = sent.filter(item => !edits.includes(item));
    const refused = [...await send(db, revisions, false, signal), ...await send(db, edits, true, signal)];
    onProgress({ written: sent.length - refused.length, refused });
  };
  for await (const item of documents) {
    signal.throwIfAborted();
    if (item.problem) { onProgress({ written: 0, refused: [{ id: '', line: item.line, error: t.files.notRead, reason: item.problem }] }); continue; }
    if (!item.doc) continue;
    items.push(item);
    size += item.text.length;
    if (items.length >= MOST || size >= SIZE) await flush();
  }
  await flush();
}
