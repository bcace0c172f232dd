/** The documents of a database, by their ids or by a condition. */
import { ask, path } from '../api.js';
import { link, setQuery } from '../router.js';
import { h, bdi, button, replace } from '../parts/dom.js';
import { errorBox } from '../parts/panel.js';
import { parse, stringify } from '../value/json.js';
import { at } from '../value/compare.js';
import { short, count } from '../words.js';

const PAGE = 200;
const KEPT = 1000;

export default function page({ db, query, signal, setTitle, setSame, setKeys }) {
  setTitle(`${db}: documents`);
  let words = query.q ?? '';
  let fields = (query.fields ?? '').split(',').filter(Boolean);
  let rows = [];
  let next = null;
  const body = h('tbody');
  const head = h('tr');
  const notes = h('div', { role: 'status' });
  const search = h('input', { type: 'search', value: words, class: 'grow', 'aria-label': 'Search', placeholder: 'id, mi*, count > 1, or {"selector": …}' });
  const columns = h('input', { value: fields.join(','), 'aria-label': 'Members shown as columns', placeholder: 'columns: name,count' });
  const more = button('More', () => read(false));
  const form = h('form', {
    class: 'toolbar', role: 'search',
    on: {
      submit: event => {
        event.preventDefault();
        words = search.value.trim();
        fields = columns.value.split(',').map(name => name.trim()).filter(Boolean);
        setQuery({ q: words, fields: fields.join(',') });
        read(true);
      },
    },
  }, search, columns, h('button', { class: 'button' }, 'Show'), h('a', { class: 'button', href: link([db, 'doc']) }, '+ New'));

  /** What the search line asks for: a range of ids, or a selector. */
  async function wish() {
    if (words.startsWith('{')) return { selector: parse(words) };
    if (words.endsWith('*')) return { low: words.slice(0, -1), high: `${words.slice(0, -1)}\u{10ffff}` };
    if (/[<>=!]|\b(begins|contains|exists|in|matches)\b/.test(words)) {
      return { selector: parse((await ask('_condition', { method: 'POST', json: { text: words }, signal })).text).get('selector') };
    }
    return words ? { low: words } : {};
  }

  async function read(isNew) {
    replace(notes);
    if (isNew) { rows = []; next = null; draw(); }
    more.disabled = true;
    try {
      const asked = await wish();
      const page = asked.selector ? await find(asked.selector) : await list(asked);
      rows = [...rows, ...page].slice(-KEPT);
      draw();
    } catch (error) {
      if (error.name !== 'AbortError') notes.append(errorBox(error, () => read(isNew)));
    }
    more.disabled = next === null;
  }

  async function list({ low, high }) {
    const start = next ?? low;
    const answer = (await ask(path`${db}/_all_docs`, {
      signal, query: { limit: PAGE + 1, ...(start !== undefined && { startkey: JSON.stringify(start) }), ...(high !== undefined && { endkey: JSON.stringify(high) }) },
    })).json.rows;
    next = answer.length > PAGE ? answer[PAGE].id : null;
    const page = answer.slice(0, PAGE).map(row => ({ id: row.id, rev: row.value.rev }));
    setSame({ url: `${encodeURIComponent(db)}/_all_docs?limit=${PAGE}`, settle: `settle docs URL/${db}` });
    return fields.length ? await bodies(page) : page;
  }

  async function bodies(page) {
    const answer = await ask(path`${db}/_all_docs`, { method: 'POST', query: { include_docs: true }, json: { keys: page.map(row => row.id) }, signal, quiet: true });
    const found = parse(answer.text).get('rows');
    return page.map((row, index) => ({ ...row, doc: found[index]?.get('doc') ?? null }));
  }

  async function find(selector) {
    const text = `{"selector":${stringify(selector)},"limit":${PAGE}${next ? `,"bookmark":${JSON.stringify(next)}` : ''}}`;
    const answer = parse((await ask(path`${db}/_find`, { method: 'POST', text, signal })).text);
    const docs = answer.get('docs');
    next = docs.length === PAGE ? answer.get('bookmark') : null;
    const warning = answer.get('warning');
    if (warning) replace(notes, h('p', { class: 'warn' }, `⚠ ${warning} `, h('a', { href: link([db, 'query'], { selector: stringify(selector) }) }, 'look at the plan, or make an index')));
    return docs.map(doc => ({ id: doc.get('_id'), rev: doc.get('_rev'), doc }));
  }

  function draw() {
    replace(head, ['Id', 'Revision', ...fields].map(name => h('th', {}, name)));
    replace(body, rows.map(({ id, rev, doc }) => h('tr', {},
      h('th', { scope: 'row' }, h('a', { href: link([db, 'doc', id]) }, bdi(id))),
      h('td', { class: 'rev', 'data-label': 'revision', title: rev }, short(rev)),
      fields.map(name => h('td', { class: 'long', 'data-label': name }, doc ? shown(at(doc, name.startsWith('/') ? name : `/${name}`)) : '')))));
    if (rows.length === 0 && !more.disabled) replace(notes, h('p', { class: 'muted' }, words ? 'Nothing is found.' : 'There is no document yet.'));
    else if (rows.length) replace(info, `${count(rows.length, 'row')}${rows.length === KEPT ? `, the last ${KEPT}` : ''}`);
  }

  function shown(value) {
    if (value === undefined) return h('span', { class: 'muted' }, '—');
    const text = typeof value === 'string' ? value : stringify(value);
    return bdi(text.length > 200 ? `${text.slice(0, 200)}…` : text);
  }

  const info = h('span', { class: 'muted' });
  const jump = h('input', { 'aria-label': 'Jump to an id', placeholder: 'jump to id' });
  const jumper = h('form', { class: 'toolbar', on: { submit: event => { event.preventDefault(); if (jump.value) location.hash = link([db, 'doc', jump.value]); } } }, jump, h('button', { class: 'button' }, 'Open'));
  setKeys([{ key: '/', text: 'search', run: () => search.focus() }, { key: 'm', text: 'more rows', run: () => more.click() }]);
  read(true);
  return {
    element: h('div', {}, h('h1', {}, 'Documents'), form, notes,
      h('div', { class: 'scroll' }, h('table', { class: 'cards' }, h('thead', {}, head), body)),
      h('div', { class: 'toolbar' }, info, more, jumper)),
  };
}
