/** Another database: its name by any part, those that were open lately first. */
import { readNames } from '../names.js';
import { link } from '../router.js';
import { h, bdi, icon, replace, searchBox } from './dom.js';
import { bones } from './panel.js';
import { t } from '../words.js';

const SHOWN = 50;

const recent = () => JSON.parse(localStorage.getItem('recent') ?? '[]');

/** Asks for a database over the page, and goes there. */
export function chooseDatabase() {
  const before = document.activeElement;
  const list = h('div', { class: 'menu', role: 'listbox', 'aria-label': t.common.databases, id: 'database-list' });
  const input = h('input', {
    type: 'search', role: 'combobox', 'aria-expanded': 'true', 'aria-controls': 'database-list', 'aria-label': t.databases.search, placeholder: t.databases.anyPartOfAName,
    autocapitalize: 'off', spellcheck: 'false', on: { input: draw, keydown: press },
  });
  const element = h('dialog', { class: 'palette', 'aria-label': t.databases.search, on: { click: event => { if (event.target === element) element.close(); } } }, searchBox(input), list);
  let names = null; // all there are, `null` while they are read or where they may not be
  let hasMore = false;
  let at = 0;

  function found() {
    const part = input.value.trim().toLowerCase();
    const all = [...new Set([...recent().filter(name => !names || hasMore || names.includes(name)), ...(names ?? []).toSorted((one, other) => Number(one.startsWith('_')) - Number(other.startsWith('_')))])];
    const rows = all.filter(name => name.toLowerCase().includes(part)).slice(0, SHOWN);
    // Who may not list databases opens one by its whole name.
    return input.value && (!names || hasMore) && !rows.includes(input.value) ? [...rows, input.value] : rows;
  }

  function draw() {
    at = 0;
    show();
    if (hasMore && input.value) read(input.value);
  }

  function show() {
    const rows = found();
    replace(list, rows.length === 0 && h('p', { class: 'muted' }, t.databaseSwitch.noneMatches(input.value)),
      rows.map((name, index) => h('a', { role: 'option', id: `database-${index}`, tabindex: '-1', href: link([name, 'docs']), 'aria-selected': String(index === at), on: { click: () => element.close() } },
        icon('database'), bdi(name, { class: 'grow' }), recent().includes(name) && h('span', { class: 'end' }, t.databaseSwitch.recent))));
    if (rows.length) input.setAttribute('aria-activedescendant', `database-${at}`); else input.removeAttribute('aria-activedescendant');
    list.children[at]?.scrollIntoView({ block: 'nearest' });
  }

  function press(event) {
    const { length } = found();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && length) {
      event.preventDefault();
      at = (at + step + length) % length;
      show();
    } else if (event.key === 'Enter' && length) {
      event.preventDefault();
      location.hash = link([found()[at], 'docs']);
      element.close();
    }
  }

  async function read(prefix) {
    try {
      const found = await readNames({ prefix, quiet: true, isLogin: true });
      if (!prefix) hasMore = found.hasMore;
      names = found.names;
    } catch { /* Who may not list them types a name. */ }
    if (element.isConnected) show();
  }

  replace(list, bones());
  element.addEventListener('close', () => { element.remove(); if (before?.isConnected) before.focus(); });
  document.body.append(element);
  element.showModal();
  read();
}
