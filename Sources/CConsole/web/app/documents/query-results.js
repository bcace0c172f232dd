/** What a query has found: a table of chosen columns, sorted by the server, or JSON. */
import { link } from '../router.js';
import { h, bdi, button, pre, replace, visible } from '../parts/dom.js';
import { parse, stringify } from '../value/json.js';
import { at, namesOf, pointerOf } from '../value/compare.js';
import { t } from '../words.js';

const FIRST = 6; // columns before the user chooses any
const LONGEST = 200; // characters of a cell

/** The name of a column's field in a selector. */
function fieldOf(column) { return namesOf(pointerOf(column)).map(name => name.replaceAll('.', '\\.')).join('.'); }

/** The fields by which a query is sorted, with their directions. */
export function sortOf(query) {
  const list = [query.get('sort') ?? []].flat();
  return list.map(entry => entry instanceof Map ? [...entry][0] : [entry, 'asc']);
}

/**
 * The results of a query.
 *
 * @param columns those that were chosen, `null` if none were
 * @param onSort is called with the sort that the user asks for, or `undefined`
 * @param onView is called with what the address keeps: `columns` and `as`
 */
export function queryResults({ db, query, columns, as, onSort, onView }) {
  const docs = [];
  const body = h('div');
  let isJSON = as === 'json';
  const names = () => [...new Set([...(query.get('fields') ?? []).map(name => name.replaceAll('.', '/')), ...docs.flatMap(doc => [...doc.keys()])])];
  const proposed = () => query.has('fields') ? names() : ['_id', ...names().filter(name => !name.startsWith('_')).slice(0, FIRST)];
  const shown = () => columns ?? proposed();
  const sorted = sortOf(query);

  const choice = (label, value) => button(label, () => { isJSON = value; onView({ as: value ? 'json' : undefined }); draw(); });
  const views = [choice(t.queryResults.table, false), choice(t.queryResults.json, true)];
  const own = h('input', { class: 'mono', 'aria-label': t.queryResults.anotherField, placeholder: t.queryResults.fieldHint });
  const boxes = h('div', { class: 'toolbar' });
  const chooser = h('details', {}, h('summary', {}, t.queryResults.columns), boxes,
    h('form', { class: 'toolbar', on: { submit: addOwn } }, own, h('button', { class: 'button small' }, t.designDocument.add), button(t.queryResults.reset, () => choose(null), { class: 'button small' })));

  function choose(next) {
    columns = next && [...new Set(next)];
    onView({ columns: columns?.join(',') });
    draw();
  }

  function addOwn(event) {
    event.preventDefault();
    const name = own.value.trim();
    own.value = '';
    if (name) choose([...shown(), name]);
  }

  function drawChooser() {
    const all = [...new Set([...shown(), ...names()])];
    const focused = [...boxes.querySelectorAll('input')].indexOf(document.activeElement);
    replace(boxes, all.map(name => {
      const change = () => choose(box.checked ? [...shown(), name] : shown().filter(one => one !== name));
      const box = h('input', { type: 'checkbox', checked: shown().includes(name), on: { change } });
      return h('label', {}, box, ' ', bdi(name));
    }));
    boxes.querySelectorAll('input')[focused]?.focus();
  }

  function head(column) {
    const field = fieldOf(column);
    const direction = sorted[0]?.[0] === field ? sorted[0][1] : null;
    const next = direction === null ? [{ [field]: 'asc' }] : direction === 'asc' ? [{ [field]: 'desc' }] : undefined;
    const sign = { asc: ' ▲', desc: ' ▼' }[direction];
    return h('th', { scope: 'col', 'aria-sort': direction && { asc: 'ascending', desc: 'descending' }[direction] },
      button([bdi(column), sign && h('span', { 'aria-hidden': 'true' }, sign)], () => onSort(next, column), { class: 'sort', title: t.queryResults.sort }));
  }

  function cell(doc, column) {
    const value = doc.has(column) ? doc.get(column) : at(doc, pointerOf(column));
    if (value === undefined) return h('td', { class: 'muted' }, '—');
    const text = typeof value === 'string' ? value : stringify(value);
    const isNumber = typeof value?.toNumber === 'function';
    const inside = bdi(text.slice(0, LONGEST));
    return h('td', { class: isNumber ? 'num' : 'long', title: text.length > 60 ? visible(text.slice(0, 2000)) : null },
      column === '_id' ? h('a', { href: link([db, 'doc', text]) }, inside) : inside);
  }

  function table() {
    const list = shown();
    return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t.queryResults.results },
      h('table', {}, h('thead', {}, h('tr', {}, list.map(head))), h('tbody', {}, docs.map(doc => h('tr', {}, list.map(column => cell(doc, column)))))));
  }

  /** One document. Whole documents are laid out when they are opened; fields that were asked for are few. */
  function line(doc) {
    const id = doc.get('_id');
    const text = h('div');
    const open = () => { if (!text.firstChild) replace(text, pre(stringify(doc, 2), id ?? t.query.withoutItsId)); };
    const details = h('details', { open: query.has('fields'), on: { toggle: open } },
      h('summary', {}, id === undefined ? t.query.withoutItsId : bdi(id)), text,
      id !== undefined && h('a', { href: link([db, 'doc', id]) }, t.common.toTheDocument));
    return h('li', {}, details);
  }

  function draw() {
    views.forEach((view, index) => view.setAttribute('aria-pressed', String(isJSON === Boolean(index))));
    chooser.hidden = isJSON;
    if (!isJSON) drawChooser();
    const column = [...body.querySelectorAll('.sort')].indexOf(document.activeElement);
    replace(body, docs.length > 0 && (isJSON ? h('ol', {}, docs.map(line)) : table()));
    body.querySelectorAll('.sort')[column]?.focus();
  }

  return {
    element: h('div', {}, h('div', { class: 'toolbar' }, h('div', { role: 'group', 'aria-label': t.queryResults.results }, views), chooser), body),
    add(found) {
      docs.push(...found);
      draw();
    },
  };
}

/** A query with another sort, from its text. */
export function withSort(text, sort) {
  const query = parse(text);
  if (sort) query.set('sort', sort); else query.delete('sort');
  query.delete('bookmark');
  return stringify(query, 2);
}
