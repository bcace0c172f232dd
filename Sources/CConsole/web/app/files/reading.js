/** The documents of a file, read in pieces: JSON, answers of CouchDB, and dumps of couchbackup and PouchDB. */
import { parse, stringify } from '../value/json.js';
import { splitter } from './pieces.js';
import { t } from '../words.js';

const BACKUP = '@cloudant/couchbackup';
const BEGINNING = 262_144; // characters by which a file is recognized

/** The message for a file of another kind, which the command line reads. */
export class OtherKind extends Error {}

/** The text of a file in pieces; `onBytes` is called with the number of bytes read. A file that is not text is refused. */
async function* textOf(file, onBytes) {
  const first = new Uint8Array(await file.slice(0, 4096).arrayBuffer());
  const isGzip = first[0] === 0x1f && first[1] === 0x8b;
  if (!isGzip && first.includes(0)) throw new OtherKind(t.files.isNoText);
  let read = 0;
  const counted = new TransformStream({ transform(piece, control) { onBytes?.(read += piece.length); control.enqueue(piece); } });
  let stream = file.stream().pipeThrough(counted);
  if (isGzip) stream = stream.pipeThrough(new DecompressionStream('gzip'));
  const reader = stream.pipeThrough(new TextDecoderStream('utf-8', { fatal: true })).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw error instanceof TypeError ? new OtherKind(t.files.isNoText) : error;
  } finally { reader.cancel().catch(() => {}); }
}

const valueOf = text => { try { return parse(text); } catch { return null; } };

/** The kind of a file by its beginning: its name, whether its values stand in lines, and how a value becomes documents. */
function recognize(text) {
  const first = text.trimStart()[0];
  if (first === undefined) throw new OtherKind(t.files.isEmpty);
  if (first !== '{' && first !== '[') throw new OtherKind(t.files.isNoJson);
  const line = text.trimStart().split('\n', 1)[0];
  const value = line.length < text.trimStart().length ? valueOf(line) : null;
  const has = (...names) => value instanceof Map && names.every(name => value.has(name));
  if (text.includes('"__collections__"') || /"\$(?:oid|date|numberLong|numberDecimal)"\s*:/.test(text)) throw new OtherKind(t.files.isOfAnotherProduct);
  if (has('name') && value.get('name') === BACKUP) return { kind: t.files.couchbackup, isLines: true };
  if (has('version', 'db_type')) return { kind: t.files.pouchdb, isLines: true };
  if (has('seq', 'changes', 'id')) return { kind: t.files.changes, isLines: true };
  const list = /^\{[^[]*"(docs|rows|results)"\s*:\s*\[/.exec(text.trimStart())?.[1];
  if (list && !has('_id')) return { kind: { docs: t.files.bulk, rows: t.files.rows, results: t.files.changes }[list] };
  return { kind: first === '[' ? t.files.array : t.files.documents, isLines: first === '{' && value !== null };
}

/** The documents of one value: none of a header, several of a line of a backup. */
function documentsOf(value, list, notes) {
  if (Array.isArray(value) && list !== 'rows') return value;
  if (!(value instanceof Map)) throw new Error(t.doc.aDocumentIsAnObject);
  if (value.has('_id')) return [value];
  if (value.get('name') === BACKUP || value.has('marker') || value.has('db_type')) return [];
  if (list === null && value.get('docs') instanceof Array) return value.get('docs');
  const isRow = list === 'rows' || list === 'results' || value.has('seq') && value.has('changes');
  if (isRow) {
    const doc = value.get('doc');
    if (doc instanceof Map) return [doc];
    if (value.has('error') || value.get('value') instanceof Map && value.get('value').get('deleted') === true) { notes.empty += 1; return []; }
    throw new Error(t.files.withoutDocuments);
  }
  // The ends of a dump and of a feed have a position alone.
  if (list === null && value.size <= 2 && (value.has('seq') || value.has('last_seq'))) return [];
  return [value];
}

const isLog = doc => String(doc.get('_id')).startsWith('_local/') && doc.has('history') && (doc.has('session_id') || doc.has('source_last_seq'));

/**
 * Reads a file: first `{ kind }`, then each document as `{ doc, text, line }`, or `{ problem, line }`.
 *
 * @param notes counts what is passed over: `empty` rows, `logs` of replications, `broken` lines of a backup that was resumed
 */
export async function* documentsIn(file, { onBytes, notes = { empty: 0, logs: 0, broken: 0 } } = {}) {
  const pieces = textOf(file, onBytes);
  let [beginning, isEnd] = ['', false];
  while (!isEnd && beginning.length < BEGINNING) {
    const { done, value = '' } = await pieces.next();
    [beginning, isEnd] = [beginning + value, done];
  }
  const { kind, isLines = false } = recognize(beginning);
  yield { kind };
  const split = splitter({ isLines });

  function* documents(values) {
    for (const { text, line, list } of values) {
      try {
        for (const doc of documentsOf(parse(text), list, notes)) {
          if (!(doc instanceof Map)) throw new Error(t.doc.aDocumentIsAnObject);
          if (isLog(doc)) notes.logs += 1; else yield { doc, text: stringify(doc), line };
        }
      } catch (error) {
        // A line that was cut is in the backup again, after the mark.
        if (isLines && text.endsWith(`{"marker":"${BACKUP}:resume"}`)) notes.broken += 1; else yield { problem: error.message, line };
      }
    }
  }

  yield* documents(split.push(beginning));
  for await (const piece of pieces) yield* documents(split.push(piece));
  yield* documents(split.end());
}
