/** What is done with many documents: deleted, one field set in all, exported. Portions are written one after the other. */
import { ask, path } from '../api.js';
import { download } from '../files/download.js';
import { h, field } from '../parts/dom.js';
import { dialog } from '../parts/panel.js';
import { JNumber, equal, parse, stringify } from '../value/json.js';
import { at, namesOf, pointerOf, put } from '../value/compare.js';
import { restore } from './restoring.js';
import { t } from '../words.js';

const PORTION = 200;

function portions(list) {
  return Array.from({ length: Math.ceil(list.length / PORTION) }, (_, index) => list.slice(index * PORTION, (index + 1) * PORTION));
}

/** Writes documents; returns a row for each in their order, with `error` and `reason` of one that is refused. */
async function write(db, docs) {
  if (docs.length === 0) return [];
  const rows = (await ask(path`${db}/_bulk_docs`, { method: 'POST', text: stringify({ docs }) })).json;
  return rows.map((row, index) => ({ ...row, id: row.id ?? (docs[index]._id ?? docs[index].get('_id')) }));
}

/** Reads documents by ids: `id`, and `doc` where it is there. */
async function read(db, ids, signal) {
  const answer = await ask(path`${db}/_all_docs`, { method: 'POST', query: { include_docs: true }, json: { keys: ids }, signal, quiet: true });
  return parse(answer.text).get('rows').map((row, index) => ({ id: ids[index], doc: row.get('doc') ?? null }));
}

/** Asks, and works through portions of ids; `undefined` if it was left before a portion was written, else what `result` has then. */
async function working({ title, body, label, kind, ids, begin = () => {}, work, result }) {
  const bar = h('progress', { max: ids().length, hidden: true, 'aria-label': t.common.progress });
  let isWritten = false;
  const isDone = await dialog({
    title, body: h('div', { class: 'stack' }, body, bar),
    actions: [{ label, kind, run: async stopped => {
      begin();
      bar.hidden = false;
      for (const part of portions(ids())) {
        if (stopped.aborted) break;
        await work(part);
        isWritten = true;
        bar.value += part.length;
      }
      return true;
    } }],
  });
  return isDone || isWritten ? { ...result, isWritten: true } : undefined;
}

/**
 * Asks, and deletes the revisions that were selected. What is deleted leaves the selection, so that an attempt after a lost connection
 * goes on.
 */
export async function deleteMany(db, chosen, signal) {
  const ids = [...chosen.keys()];
  let conflicts = 0;
  const staying = new Set(); // ids of documents that another leaf keeps
  for (const keys of portions(ids)) {
    const { rows } = (await ask(path`${db}/_conflicts`, { method: 'POST', json: { keys }, signal, quiet: true })).json;
    conflicts += rows.filter(row => row.value).length;
    for (const row of rows) if (row.value?.kind === 'branches') staying.add(row.id);
  }
  const designs = ids.filter(id => id.startsWith('_design/')).length;
  const label = t.bulk.delete(ids.length);
  const warn = words => h('p', { class: 'warn' }, words);
  const result = { done: 0, refused: [], deleted: [], stayed: 0 };
  return working({
    title: t.bulk.question(label), label, kind: 'danger', ids: () => ids.filter(id => chosen.has(id)), result, begin: () => { result.refused = []; },
    body: [h('p', {}, t.bulk.deletionsReplicate), conflicts > 0 && warn(t.bulk.inConflict(conflicts, staying.size)),
      designs > 0 && warn(t.bulk.areDesignDocuments(designs))],
    async work(part) {
      for (const row of await write(db, part.map(_id => ({ _id, _rev: chosen.get(_id), _deleted: true })))) {
        if (row.error) { result.refused.push(row); continue; }
        if (staying.has(row.id)) result.stayed += 1; else result.deleted.push({ id: row.id, rev: chosen.get(row.id) });
        chosen.delete(row.id);
        result.done += 1;
      }
    },
  });
}

/** Brings back what `deleteMany` has deleted, and no other leaf has kept. */
export async function restoreMany(db, deleted) {
  const rows = await restore(db, deleted);
  return { done: rows.filter(row => !row.error).length, refused: rows.filter(row => row.error) };
}

/** Whether a field can be set without losing what stands where its objects would be. */
function hasRoom(doc, pointer) {
  const names = pointer.split('/').slice(1, -1);
  return names.every((_, index) => {
    const inner = at(doc, `/${names.slice(0, index + 1).join('/')}`);
    return inner === undefined || inner instanceof Map;
  });
}

/** Asks for a field and its value, and writes it into all selected documents. Other fields stay as they are stored now. */
export async function setField(db, chosen) {
  const input = more => h('input', { required: true, class: 'mono', autocapitalize: 'off', spellcheck: 'false', ...more });
  const [name, value] = [input({ placeholder: t.bulk.fieldHint }), input()];
  const left = new Set(chosen.keys());
  const result = { done: 0, same: 0, refused: [] };
  let pointer;
  let wanted;
  return working({
    title: t.bulk.setAField, label: t.bulk.setIn(chosen.size), kind: 'primary', ids: () => [...left], result,
    body: [h('p', {}, t.bulk.aRevisionOfEach(chosen.size)), field(t.bulk.field, name, t.bulk.nameOrPointer), field(t.bulk.value, value, t.bulk.asJSON)],
    begin() {
      pointer = pointerOf(name.value.trim());
      if (namesOf(pointer)[0].startsWith('_')) throw new Error(t.bulk.namesOfTheServer);
      try { wanted = parse(value.value); } catch (error) { throw new Error(t.view.isNoJSON(error.message)); }
    },
    async work(part) {
      const docs = [];
      for (const { id, doc } of await read(db, part)) {
        if (!doc) result.refused.push({ id, error: t.bulk.isGone });
        else if (!hasRoom(doc, pointer)) result.refused.push({ id, error: t.bulk.noRoom(pointer) });
        else if (at(doc, pointer) !== undefined && equal(at(doc, pointer), wanted)) result.same += 1;
        else { put(doc, pointer, wanted); docs.push(doc); }
      }
      for (const row of await write(db, docs)) if (row.error) result.refused.push(row); else { chosen.set(row.id, row.rev); result.done += 1; }
      part.forEach(id => left.delete(id));
    },
  });
}

/** A value in CSV: texts as they are, all else as JSON. */
function csvCell(value) {
  const text = value === undefined ? '' : typeof value === 'string' ? value : value instanceof JNumber ? value.text : stringify(value);
  return ['"', ',', '\r', '\n'].some(sign => text.includes(sign)) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Reads the selected documents, and hands them to the browser as a file: JSON lines, or CSV of `columns`, of all fields if there are
 * none. Returns the number of documents and those that are gone.
 */
export async function exportMany({ db, chosen, format, columns, signal }) {
  const [docs, refused] = [[], []];
  for (const ids of portions([...chosen.keys()])) {
    for (const { id, doc } of await read(db, ids, signal)) if (doc) docs.push(doc); else refused.push({ id, error: t.bulk.isGone });
  }
  const parts = [];
  if (format === 'csv') {
    const names = columns.length ? ['_id', ...columns.filter(name => name !== '_id')] : [...new Set(docs.flatMap(doc => [...doc.keys()]))];
    parts.push(names.map(csvCell).join(','), '\r\n');
    for (const doc of docs) parts.push(names.map(name => csvCell(doc.has(name) ? doc.get(name) : at(doc, pointerOf(name)))).join(','), '\r\n');
  } else for (const doc of docs) parts.push(stringify(doc), '\n');
  download(`${db.replace(/[^\w.$()+-]/g, '_')}.${format}`, format === 'csv' ? 'text/csv' : 'application/x-ndjson', parts);
  return { done: docs.length, refused };
}
