/** Writes a database as JSON lines: each leaf with its history, as `settle export` does. */
import { ask, path } from '../api.js';
import { parse, stringify } from '../value/json.js';
import { download } from './download.js';

const [FIRST_PAGE, LARGEST_PAGE] = [20, 640]; // documents
const PAGE_SIZE = 2_000_000; // characters of a page, above which the next one has fewer documents

/** A place for text: a file of the person's choice, written while it comes, or where the browser has none a download at the end. */
async function place(name) {
  if ('showSaveFilePicker' in window) {
    const file = await (await window.showSaveFilePicker({ suggestedName: name })).createWritable();
    return { write: text => file.write(text), end: () => file.close(), drop: () => file.abort() };
  }
  const parts = [];
  return {
    write: text => { parts.push(new Blob([text])); },
    end() {
      download(name, 'application/x-ndjson', parts);
    },
    drop() {},
  };
}

/**
 * Exports a database until a signal, and returns the revisions that could not be read.
 *
 * @param onProgress is called with how many revisions are written, and how many changes are read and left
 */
export async function exportLines(db, { withFiles, withDeleted }, onProgress, signal) {
  const out = await place(`${db.replaceAll('/', '-')}.jsonl`);
  const failed = [];
  let [since, revisions, read, limit] = ['0', 0, 0, FIRST_PAGE];
  try {
    for (;;) {
      const query = { style: 'all_docs', limit, since };
      const { results, last_seq: end, pending } = (await ask(path`${db}/_changes`, { query, signal, quiet: true })).json;
      if (results.length === 0) break;
      const docs = results.flatMap(({ id, changes }) => changes.map(({ rev }) => ({ id, rev })));
      const asked = { revs: true, ...(withFiles && { attachments: true }) };
      const { text } = await ask(path`${db}/_bulk_get`, { method: 'POST', query: asked, json: { docs }, signal, quiet: true });
      let lines = '';
      for (const row of parse(text).get('results')) {
        for (const one of row.get('docs')) {
          const doc = one.get('ok');
          if (!doc) failed.push(row.get('id'));
          else if (withDeleted || doc.get('_deleted') !== true) { lines += `${stringify(doc)}\n`; revisions += 1; }
        }
      }
      await out.write(lines);
      [since, read] = [end, read + results.length];
      limit = Math.max(1, Math.min(LARGEST_PAGE, text.length > PAGE_SIZE ? limit >> 1 : limit * 2));
      onProgress({ revisions, read, left: pending });
      if (pending === 0) break;
    }
    await out.end();
  } catch (error) {
    await out.drop();
    throw error;
  }
  return failed;
}
