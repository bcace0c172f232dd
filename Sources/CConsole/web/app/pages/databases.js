/** The databases of the server. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { session } from '../session.js';
import { h, bdi, tableHead, button, field } from '../parts/dom.js';
import { panel } from '../parts/panel.js';
import { dialog, confirmByTyping } from '../parts/dialog.js';
import { number, bytes } from '../words.js';

const PAGE = 50;

export default function page({ query, signal, setTitle, setSame, setKeys }) {
  setTitle('Databases');
  setSame({ url: '_all_dbs', settle: 'settle dbs URL' });
  let prefix = query.prefix ?? '';
  let limit = PAGE;
  const search = h('input', {
    type: 'search', value: prefix, placeholder: 'prefix…', 'aria-label': 'Names that begin with',
    on: { input: () => { prefix = search.value; limit = PAGE; list.reload(); } },
  });
  const list = panel(load, show, { label: 'Reading the names' });

  async function load() {
    const bounds = prefix ? { startkey: JSON.stringify(prefix), endkey: JSON.stringify(`${prefix}\u{10ffff}`) } : {};
    let names;
    try {
      names = (await ask('_all_dbs', { query: { ...bounds, limit: limit + 1 }, signal })).json;
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
    if (isHidden) return h('p', { class: 'muted' }, 'The list of databases is for administrators: open one by its name.');
    if (rows.length === 0) return h('p', { class: 'muted' }, prefix ? 'No database begins so.' : 'There is no database yet.');
    return [
      h('div', { class: 'scroll' }, h('table', { class: 'cards' },
        tableHead(['Name', 'Documents', 'Conflicts', 'Deleted', 'Size', ''], index => index > 0 && index < 5),
        h('tbody', {}, rows.map(row)))),
      hasMore && button('More', () => { limit += PAGE; list.reload(); }),
    ];
  }

  function row({ key, info }) {
    const open = info && info.conflicts.branches + info.conflicts.deletions;
    if (!info) return h('tr', {}, h('th', { scope: 'row' }, bdi(key)), h('td', { colspan: 5, class: 'muted' }, 'is not there any more'));
    return h('tr', {},
      h('th', { scope: 'row' }, h('a', { href: link([key, 'docs']) }, bdi(key))),
      h('td', { class: 'num', 'data-label': 'documents' }, number(info.doc_count)),
      h('td', { class: 'num', 'data-label': 'conflicts' }, open ? h('a', { href: link([key, 'conflicts']), class: 'warn' }, `${number(open)} ▲`) : '0'),
      h('td', { class: 'num', 'data-label': 'deleted' }, number(info.doc_del_count)),
      h('td', { class: 'num', 'data-label': 'size' }, bytes(info.sizes.file)),
      h('td', {}, info.compact_running && h('span', { class: 'chip' }, 'compacting'), ' ',
        session.isAdmin && button('Delete…', () => remove(key, info), { class: 'button small', 'aria-label': `Delete ${key}…` })));
  }

  async function create() {
    const name = h('input', { required: true, autocapitalize: 'off', spellcheck: 'false' });
    const made = await dialog({
      title: 'A new database', body: field('Name', name, 'small letters, digits and _$()+-/, a letter first'),
      actions: [{ label: 'Create', kind: 'primary', run: async () => { await ask(path`${name.value}`, { method: 'PUT' }); return name.value; } }],
    });
    if (made) location.hash = link([made, 'docs']);
  }

  async function remove(key, info) {
    const gone = await confirmByTyping({
      title: `Delete ${key}`, text: `${number(info.doc_count)} documents are deleted here, with all their revisions. Copies elsewhere stay.`,
      word: key, action: 'Delete', run: () => ask(path`${key}`, { method: 'DELETE', whole: true }),
    });
    if (gone) list.reload();
  }

  const open = h('input', { 'aria-label': 'Open a database by its name', placeholder: 'open by name' });
  const form = h('form', { class: 'toolbar', on: { submit: event => { event.preventDefault(); if (open.value) location.hash = link([open.value, 'docs']); } } }, open, h('button', { class: 'button' }, 'Open'));
  setKeys([{ key: '/', text: 'search', run: () => search.focus() }, { key: 'r', text: 'read again', run: list.reload }]);
  list.reload();
  const timer = setInterval(() => { if (!document.hidden) list.reload(); }, 10_000);
  return {
    element: h('div', {}, h('h1', {}, 'Databases'),
      h('div', { class: 'toolbar' }, search, session.isAdmin && button('+ New', create), form), list.element),
    leave: () => clearInterval(timer),
  };
}

