/** Brings back what was deleted or settled: the content of an earlier revision, with its attachments, becomes a new edit. */
import { ask, path } from '../api.js';
import { parse, stringify } from '../value/json.js';

const PORTION = 20; // documents at once, since their attachments come along

/**
 * Writes earlier contents again. Returns a row for each in their order: `id` and `rev`, or `error` and `reason`.
 *
 * @param list the `id`, the revision `rev` whose content is written, and `on`, the one that it follows; none of a document that is deleted
 */
export async function restore(db, list) {
  const rows = [];
  for (let start = 0; start < list.length; start += PORTION) rows.push(...await restorePart(db, list.slice(start, start + PORTION)));
  return rows;
}

async function restorePart(db, list) {
  const text = stringify({ docs: list.map(({ id, rev }) => ({ id, rev })) });
  const answer = parse((await ask(path`${db}/_bulk_get`, { method: 'POST', query: { attachments: true }, text })).text);
  const found = answer.get('results').map(result => result.get('docs')[0]);
  const docs = list.map(({ on }, index) => {
    const doc = found[index].get('ok');
    if (doc) doc.delete('_rev');
    return doc && (on ? doc.set('_rev', on) : doc);
  });
  const written = docs.some(Boolean) ? (await ask(path`${db}/_bulk_docs`, { method: 'POST', text: stringify({ docs: docs.filter(Boolean) }) })).json : [];
  return list.map(({ id }, index) => {
    const problem = found[index].get('error');
    return docs[index] ? { id, ...written.shift() } : { id, error: problem?.get('error'), reason: problem?.get('reason') };
  });
}

/** Writes one earlier content again, and returns its revision; fails where the server refuses it. */
export async function restoreOne(db, one) {
  const [row] = await restore(db, [one]);
  if (row.error) throw Object.assign(new Error(row.reason), row, { status: 0 });
  return row.rev;
}
