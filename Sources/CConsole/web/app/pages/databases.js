/** The databases of the server. */
import { ask, path } from '../api.js';
import { MOST_NAMES, readNames } from '../names.js';
import { link, serverLink, setQuery } from '../router.js';
import { session, onSession } from '../session.js';
import { h, bdi, tableHead, button, field, head, icon, prefixInput, searchBox } from '../parts/dom.js';
import { toast } from '../parts/toast.js';
import { panel, dialog, confirmByTyping, stateBox } from '../parts/panel.js';
import { number, bytes, t } from '../words.js';

const PAGE = 50;
const FEW = 500; // names that are read again whenever their numbers are
const OLD = 60_000; // milliseconds until more are read again

export default function page({ query, signal, setTitle, setSame, setKeys }) {
  setTitle(t.common.databases);
  let prefix = query.prefix ?? '';
  let limit = PAGE;
  let known = null; // all names, and when they were read
  const search = prefixInput(t.databases.anyPartOfAName, prefix, filter, t.databases.search);
  const note = h('p', { class: 'muted', role: 'status' });
  const list = panel(load, show, { label: t.databases.readingTheNames, again: 10_000, signal });
  const made = button([icon('plus'), t.databases.new], create, { class: 'button primary' });

  function filter(begin) {
    [prefix, limit] = [begin, PAGE];
    setQuery({ prefix });
    list.reload();
  }

  /** Reads the names again, too. */
  function reload() {
    known = null;
    list.reload();
  }

  async function load() {
    const text = prefix.toLowerCase();
    let names;
    try {
      if (!known || Date.now() - known.at > (known.names.length > FEW ? OLD : 0)) known = { ...await readNames({ signal }), at: Date.now() };
      const isWhole = !known.hasMore;
      names = isWhole ? known.names.filter(name => name.includes(text)) : (await readNames({ prefix: text, limit: limit + 1, signal })).names;
      note.textContent = isWhole ? text && t.databases.matching(number(names.length), number(known.names.length)) : t.databases.onlyBeginnings(number(MOST_NAMES));
    } catch (error) {
      if (error.status !== 401 && error.status !== 403) throw error;
      return { rows: [], isHidden: true };
    }
    const keys = names.slice(0, limit);
    const infos = [];
    for (let start = 0; start < keys.length; start += PAGE) {
      infos.push(...(await ask('_dbs_info', { method: 'POST', json: { keys: keys.slice(start, start + PAGE), conflicts: true }, signal, quiet: true })).json);
    }
    return { rows: infos, hasMore: names.length > limit };
  }

  function show({ rows, hasMore, isHidden }) {
    if (isHidden) return stateBox({ art: 'locked', title: t.databases.theListOfDatabases });
    // Where there are no databases but the server's own, the demonstration is the first thing to do.
    const isFresh = !prefix && rows.every(({ key }) => key.startsWith('_'));
    if (rows.length === 0 && !isFresh) return stateBox({ title: prefix ? t.databases.noDatabaseBegins(prefix) : t.databases.thereIsNoDatabaseYet });
    return [
      isFresh && stateBox({ title: t.databases.thereIsNoDatabaseYet, actions: [h('a', { class: 'button primary', href: serverLink('play') }, t.play.tryIt)] }),
      rows.length > 0 && h('div', { class: 'scroll' }, h('table', { class: 'cards' },
        tableHead([t.common.name, t.common.documents, t.common.conflicts, t.databases.deleted, t.databases.size, ''], index => index > 0 && index < 5),
        h('tbody', {}, rows.map(row)))),
      hasMore && button(t.common.more, () => { limit += PAGE; list.reload(); }),
    ];
  }

  function row({ key, info }) {
    const open = info && info.conflicts.branches + info.conflicts.deletions;
    if (!info) return h('tr', { 'data-key': key }, h('th', { scope: 'row' }, bdi(key)), h('td', { colspan: 5, class: 'muted' }, t.databases.isNotThereAnyMore));
    return h('tr', { 'data-key': key },
      h('th', { scope: 'row' }, h('a', { href: link([key, 'docs']) }, bdi(key))),
      h('td', { class: 'num', 'data-label': t.databases.documents }, number(info.doc_count)),
      h('td', { class: 'num', 'data-label': t.databases.conflicts }, open ? h('a', { href: link([key, 'conflicts']), class: 'pill warn' }, icon('conflict'), number(open)) : h('span', { class: 'muted' }, '0')),
      h('td', { class: 'num', 'data-label': t.common.deleted }, number(info.doc_del_count)),
      h('td', { class: 'num', 'data-label': t.databases.sizeLabel }, bytes(info.sizes.file)),
      h('td', { class: 'act' }, info.compact_running && h('span', { class: 'chip' }, t.databases.compacting), ' ',
        session.isAdmin && button(t.common.delete, () => remove(key, info), { class: 'button small', 'aria-label': t.databases.delete(key) })));
  }

  async function create() {
    const name = h('input', { required: true, autocapitalize: 'off', spellcheck: 'false' });
    const created = await dialog({
      title: t.databases.aNewDatabase, body: field(t.common.name, name, t.databases.smallLettersDigits),
      actions: [{ label: t.common.create, kind: 'primary', run: async () => { const made = name.value; await ask(path`${made}`, { method: 'PUT' }); return made; } }],
    });
    if (!created) return;
    location.hash = link([created, 'docs']);
    toast(t.databases.isCreated(created));
  }

  async function remove(key, info) {
    const gone = await confirmByTyping({
      title: t.common.deleteOfKey(key), text: t.databases.documentsAreDeletedHere(info.doc_count),
      word: key, action: t.common.deleteAction, run: () => ask(path`${key}`, { method: 'DELETE', whole: true }),
    });
    if (!gone) return;
    toast(t.databases.isDeleted(key));
    reload();
  }

  const open = h('input', { 'aria-label': t.databases.openADatabase, placeholder: t.databases.openByName });
  const form = h('form', { class: 'toolbar', on: { submit: event => { event.preventDefault(); if (open.value) location.hash = link([open.value, 'docs']); } } }, open, h('button', { class: 'button' }, t.common.open));
  setKeys([{ key: '/', text: t.common.search, run: () => search.focus() }, { key: 'c', text: t.databases.new, run: create }, { key: 'r', text: t.common.readAgain, run: reload }]);
  onSession(() => {
    setSame({ url: '_all_dbs', settle: ['databases', [{}], ['--all']] });
    made.hidden = !session.isAdmin;
    reload();
  }, signal);
  return { element: h('div', {}, head(t.common.databases, made), h('div', { class: 'toolbar' }, searchBox(search), form), note, list.element) };
}

