/** The documents of a database: ids and revisions, by an id, its beginning, a condition or a selector. */
import { path } from '../api.js';
import { link, setQuery } from '../router.js';
import { h, bdi, head, icon, replace, searchBox } from '../parts/dom.js';
import { bones, errorBox } from '../parts/panel.js';
import { keyList } from '../parts/key-list.js';
import { stringify } from '../value/json.js';
import { deleteMany, exportMany, restoreMany, setField as setFieldOfMany } from '../documents/bulk.js';
import { understand, listed, selected } from '../documents/search.js';
import { sight } from '../documents/sight.js';
import { outcome, selection } from '../documents/selection.js';
import { short, t } from '../words.js';

export default function page({ db, query, signal, setTitle, setSame, setKeys }) {
  setTitle(t.docs.documentsTitle(db));
  let words = query.q ?? '';
  let fields = namesIn(query.fields ?? '');
  let from = query.from;
  let [list, eyes, searching, timer] = [null, null, null, 0];
  const outlet = h('div');
  const notes = h('div', { role: 'status' });
  const search = h('input', { type: 'search', value: words, class: 'mono', 'aria-label': t.docs.search, placeholder: t.docs.searchHint });
  const columns = h('input', { value: fields.join(','), 'aria-label': t.docs.membersShownAsColumns, placeholder: t.docs.columnsNameCount });
  const form = h('form', { class: 'toolbar', role: 'search', on: { submit: event => { event.preventDefault(); show(search.value.trim()); } } },
    searchBox(search), columns, h('button', { class: 'button' }, t.common.show));

  const told = h('div');
  const chosen = selection({
    rows: () => list?.rows() ?? [], redraw: () => list?.refresh(), onChange: size => { if (list) list.pager.hidden = size > 0; },
    acts: [{ label: t.selection.exportLines, run: () => exportAs('jsonl') }, { label: t.selection.exportCSV, run: () => exportAs('csv') },
      { label: t.selection.setAField, run: setField }, { label: t.common.delete, run: remove, kind: 'danger' }],
  });

  function show(asked) {
    if (asked !== words) chosen.clear();
    replace(told);
    words = asked;
    fields = namesIn(columns.value);
    from = undefined;
    setQuery({ q: words, fields: fields.join(','), from });
    read();
  }

  async function read() {
    searching?.abort();
    searching = new AbortController();
    const mine = AbortSignal.any([signal, searching.signal]);
    replace(notes);
    outlet.setAttribute('aria-busy', 'true');
    if (!list) replace(outlet, bones());
    try {
      const asked = await understand(db, words, mine);
      if (mine.aborted) return;
      showSame(asked);
      if (asked.missing) replace(notes, h('p', {}, t.docs.noDocumentHasTheId, bdi(words), t.docs.theseAreTheIds));
      if (asked.words) {
        replace(notes, h('p', {}, t.docs.noDocumentHasTheId, bdi(words), t.docs.theseHaveTheWords, h('a', { href: link([db, 'docs'], { q: `${words}*`, fields: fields.join(',') }) }, t.docs.idsThatBeginSo)));
      }
      if (asked.found?.isDeleted) replace(notes, h('p', {}, t.docs.theDocument, bdi(words), t.docs.isDeletedTheIds));
      make(mine, asked.selector ? selected(db, asked, mine, facts => { if (!asked.words) tell(asked.selector, facts); }) : listed(db, asked, from, mine), Boolean(asked.selector));
    } catch (error) {
      if (mine.aborted) return;
      if (!list) replace(outlet);
      notes.append(errorBox(error, read));
    } finally { if (!mine.aborted) outlet.removeAttribute('aria-busy'); }
  }

  function showSame({ selector, index, low, high }) {
    const limit = ['--limit', '200'];
    if (selector) {
      const text = stringify({ selector, fields: ['_id', '_rev'], limit: 200, use_index: index });
      setSame({ url: path`${db}/_find`, text, settle: ['find', [{ db }, stringify(selector)], [...limit, ...(index ? ['--use-index', index.join('/').replace('_design/', '')] : [])]] });
      return;
    }
    const first = from ?? low;
    const range = { limit: 200, startkey: first && JSON.stringify(first), endkey: high && JSON.stringify(high) };
    const isPrefix = high !== undefined && from === undefined;
    setSame({ url: path`${db}/_all_docs`, query: range, settle: ['docs', [{ db }], [...limit, ...(first ? [isPrefix ? '--prefix' : '--from', first] : [])]] });
  }

  function make(mine, source, isSelected) {
    list?.leave();
    eyes?.leave();
    eyes = sight({ db, columns: fields, onChange: () => list.refresh(), onError: error => replace(notes, errorBox(error)) });
    list = keyList({
      ...source, row, key: item => item.id, label: t.common.documents, columns: [chosen.all, t.common.id, t.common.revision, ...fields],
      empty: words ? t.docs.nothingIsFound : from ? t.docs.thereIsNoDocument : t.docs.thereIsNoDocumentYet,
      onSight: rows => {
        eyes.see(rows);
        chosen.tell();
        // The place stands in the address, so that coming back from a document leads to it.
        clearTimeout(timer);
        if (!isSelected && rows.length > 0) timer = setTimeout(() => { if (!mine.aborted) keepPlace(); }, 300);
      },
    });
    list.element.append(chosen.bar);
    list.element.addEventListener('keydown', chosen.onKey);
    replace(outlet, list.element);
  }

  function keepPlace() {
    const place = list.first()?.id;
    if (place === from) return;
    from = place;
    setQuery({ from });
  }

  function tell(selector, { looked, warning }) {
    replace(notes, warning && h('p', { class: 'warn' }, `⚠ ${/no matching index/i.test(warning) ? t.docs.noIndexFitsLooked(t.common.documentsCount(looked)) : warning} `,
      h('a', { href: link([db, 'query'], { selector: stringify(selector) }) }, t.docs.lookAtThePlan)));
  }

  function row(item) {
    const named = text => ({ title: text, 'aria-label': text });
    return h('tr', { class: chosen.chosen.has(item.id) ? 'on' : null }, chosen.cell(item),
      h('th', { scope: 'row' }, h('a', { href: link([db, 'doc', item.id]) }, bdi(item.id)), ' ',
        item.conflicts > 0 && h('a', { class: 'pill warn', href: link([db, 'conflict', item.id]), ...named(t.docs.inConflict(t.common.othersCount(item.conflicts))) }, icon('conflict'), item.conflicts + 1),
        item.isDeleted && h('span', { class: 'bad', role: 'img', ...named(t.common.deleted) }, '✕')),
      h('td', { class: 'rev', title: item.rev }, short(item.rev)),
      fields.map(name => {
        const text = item.cells?.get(name);
        return h('td', { class: text ? null : 'muted' }, text === undefined ? '…' : text === null ? '—' : bdi(text));
      }));
  }

  // What is done with the selected ones.

  let isAsking = false; // or doing what was asked: a second press asks nothing

  async function done(work, sentence) {
    if (isAsking) return;
    isAsking = true;
    try {
      const result = await work().finally(() => { isAsking = false; });
      if (!result) return;
      const undo = { label: t.common.undo, run: () => bringBack(result.deleted) };
      outcome(told, sentence(result), result, result.deleted?.length > 0 ? undo : undefined);
      if (result.isWritten && !signal.aborted) await list.reload();
      chosen.tell();
    } catch (error) { if (error.name !== 'AbortError') replace(told, errorBox(error)); }
  }

  async function bringBack(deleted) {
    const result = await restoreMany(db, deleted);
    outcome(told, t.bulk.restored(result.done), result);
    if (!signal.aborted) await list.reload();
    else if (result.refused.length > 0) throw Object.assign(new Error(), result.refused[0], { status: 0 });
  }

  function exportAs(format) {
    done(() => exportMany({ db, chosen: chosen.chosen, format, columns: fields, signal }), result => t.bulk.exported(result.done));
  }

  function setField() {
    done(() => setFieldOfMany(db, chosen.chosen), result => t.bulk.written(result.done) + (result.same ? t.bulk.hadIt(result.same) : ''));
  }

  function remove() {
    done(() => deleteMany(db, chosen.chosen, signal), result => t.bulk.deleted(result.deleted.length, result.stayed));
  }

  const jump = h('input', { 'aria-label': t.docs.jumpToAnId, placeholder: t.docs.jumpToId });
  const jumper = h('form', { class: 'toolbar', on: { submit: event => { event.preventDefault(); if (jump.value) location.hash = link([db, 'doc', jump.value]); } } }, jump, h('button', { class: 'button' }, t.common.open));
  setKeys([{ key: '/', text: t.common.search, run: () => search.focus() }, { key: 'm', text: t.docs.moreRows, run: () => list?.more() }, { key: 'r', text: t.common.readAgain, run: () => list?.reload() },
    { key: 'c', text: t.docs.newDocument, run: () => { location.hash = link([db, 'doc']); } }]);
  read();
  return {
    element: h('div', {}, head(t.common.documents, h('a', { class: 'button primary', href: link([db, 'doc']) }, icon('plus'), t.docs.new)), form, notes, told, outlet, jumper),
    leave() {
      clearTimeout(timer);
      list?.leave();
      eyes?.leave();
    },
  };
}

const namesIn = text => text.split(',').map(name => name.trim()).filter(Boolean);
