/** The rows of a stored view: what is asked for stands in the address, by CouchDB's names; a plot of reduced numbers above them. */
import { ask, path } from '../api.js';
import { link, setQuery } from '../router.js';
import { h, bdi, button, field, head, replace, visible } from '../parts/dom.js';
import { errorBox } from '../parts/panel.js';
import { keyList } from '../parts/key-list.js';
import { plot } from '../parts/plot.js';
import { JNumber, parse, stringify } from '../value/json.js';
import { ASKED, DEFAULTS, requestOf, rowsBehind, viewPath, viewRows } from '../documents/view-rows.js';
import { number, t } from '../words.js';

const LONGEST = 300; // characters of a cell
const KEYS = ['startkey', 'endkey', 'key', 'keys'];

export default function page({ db, id: design, query, signal, setTitle, setSame, setKeys }) {
  const { view = '' } = query;
  setTitle(`${db}: ${design}/${view}`);
  let asked = Object.fromEntries(ASKED.filter(name => ![undefined, DEFAULTS[name]].includes(query[name])).map(name => [name, query[name]]));
  let [list, source, reading, timer] = [null, null, null, 0];
  let kept; // the place in the address
  const [problems, facts, drawing, outlet] = [h('div'), h('div', { role: 'status' }), h('div'), h('div')];

  // The form.

  const inputs = {};
  const wrongs = {};
  const labels = { startkey: t.view.fromKey, endkey: t.view.toKey, key: t.view.key, keys: t.view.keys };
  for (const name of KEYS) {
    inputs[name] = h('input', {
      class: 'mono', value: asked[name] ?? '', autocapitalize: 'off', autocomplete: 'off', spellcheck: 'false', placeholder: '["2026", 11]',
    });
    wrongs[name] = h('small', { class: 'bad', role: 'alert', id: `wrong-${name}` });
  }
  const box = checked => h('input', { type: 'checkbox', checked, on: { change: draw } });
  const inclusive = box(asked.inclusive_end !== 'false');
  const [descending, reduce, docs] = ['descending', 'reduce', 'include_docs'].map(name => box(asked[name] === 'true'));
  const chooser = (chosen, pairs) => h('select', {}, pairs.map(([value, label = value]) => h('option', { value, selected: value === chosen }, label)));
  const level = asked.group === 'true' ? 'exact' : asked.group_level ?? '';
  const levels = [...new Set(['1', '2', '3', '4', '5', '6', level].filter(Number))];
  const group = chooser(level, [['', t.common.none], ...levels.map(value => [value]), ['exact', t.view.exact]]);
  const update = chooser(asked.update ?? '', [['', t.view.updateFirst], ['false', t.view.asTheyAre], ['lazy', t.view.updateAfterwards]]);

  function draw() {
    group.disabled = !reduce.checked;
    docs.disabled = reduce.checked; // the server has none for reduced rows
  }

  const labelled = (input, label) => h('label', {}, input, ` ${label}`);
  const form = h('form', { class: 'toolbar', on: { submit: event => { event.preventDefault(); run(); } } },
    KEYS.map(name => h('div', {}, field(labels[name], inputs[name]), wrongs[name])),
    labelled(inclusive, t.view.includeTheEndKey), labelled(descending, t.view.descending), labelled(reduce, t.view.reduce),
    field(t.view.groupLevel, group), labelled(docs, t.view.includeDocuments), field(t.view.staleRows, update),
    h('button', { class: 'button primary', title: t.common.ctrlEnter }, t.query.run));

  /** What is wrong with the text of a field of keys; nothing is empty. */
  function wrongOf(name, text) {
    try {
      return text && !Array.isArray(parse(text)) && name === 'keys' ? t.view.keysAreAnArray : '';
    } catch (error) { return t.view.isNoJSON(error.message); }
  }

  /** What the form asks; `null` if a key is no JSON, which is told at its place. */
  function formed() {
    const found = {};
    for (const name of KEYS) {
      const text = inputs[name].value.trim();
      wrongs[name].textContent = wrongOf(name, text);
      inputs[name].setAttribute('aria-invalid', String(wrongs[name].textContent !== ''));
      inputs[name].setAttribute('aria-describedby', wrongs[name].id);
      if (text) found[name] = text;
    }
    const wrong = KEYS.find(name => wrongs[name].textContent);
    if (wrong) { inputs[wrong].focus(); return null; }
    if (!inclusive.checked) found.inclusive_end = 'false';
    if (descending.checked) found.descending = 'true';
    if (reduce.checked) Object.assign(found, { reduce: 'true' }, group.value === 'exact' ? { group: 'true' } : group.value && { group_level: group.value });
    else if (docs.checked) found.include_docs = 'true';
    if (update.value) found.update = update.value;
    return found;
  }

  function run() {
    const found = formed();
    if (!found) return;
    asked = found;
    setQuery({ ...Object.fromEntries(ASKED.map(name => [name, asked[name]])), from: undefined, from_id: undefined, skip: undefined });
    make();
  }

  // The rows.

  function placeOf({ from, from_id: id, skip = 0 }) {
    if (from !== undefined) { try { return { key: parse(from), id, skip: Number(skip) }; } catch { /* Somebody has typed it. */ } }
    return Number(skip) ? { skip: Number(skip) } : undefined;
  }

  const isGrouped = () => asked.reduce === 'true';

  function make(from) {
    list?.leave();
    clearTimeout(timer);
    replace(problems);
    replace(drawing);
    replace(facts);
    showSame();
    reading?.abort();
    reading = new AbortController();
    source = viewRows({ db, design, view, asked, from, signal: AbortSignal.any([signal, reading.signal]), onRead });
    list = keyList({
      ...source, row, label: t.view.rows, empty: t.view.noRows,
      columns: [t.trial.key, t.trial.value, ...(isGrouped() ? [t.view.behind] : [t.common.id]), ...(asked.include_docs ? [t.common.document] : [])],
      onSight: rows => { clearTimeout(timer); if (rows.length > 0) timer = setTimeout(keepPlace, 300); },
    });
    replace(outlet, list.element);
    if (asked.update === 'false') tellStale();
  }

  function keepPlace() {
    const place = list.first()?.place;
    if (place === kept) return;
    kept = place;
    setQuery({ from: place && 'key' in place ? stringify(place.key) : undefined, from_id: place?.id, skip: place?.skip || undefined });
  }

  function onRead({ rows, total, start, isWhole }) {
    replace(facts, total !== undefined && h('p', { class: 'muted' }, t.view.rowsInAll(number(total))), facts.querySelector('[data-stale]'));
    if (!isGrouped()) return;
    // The server tells what a reduce function could not do as the value of a row.
    const broken = rows.find(row => row.error || row.value instanceof Map && row.value.has('error') && row.value.has('reason'));
    if (broken) {
      const error = broken.error ?? broken.value.get('error');
      replace(problems, errorBox({ status: 0, error, reason: broken.value?.get?.('reason') ?? '' }));
    }
    if (asked.group || asked.group_level) drawPlot(rows, isWhole ? null : start);
  }

  /** What the server says of the index: changes that are not in the rows. */
  async function tellStale() {
    const mine = source;
    try {
      const info = (await ask(`${path`${db}/${`_design/${design}`}`}/_info`, { signal, quiet: true })).json.view_index;
      if (mine !== source) return;
      const { total } = info.updates_pending;
      const words = total ? t.view.changesAreMissing(t.view.changesCount(total)) : t.view.upToDate;
      const others = [...facts.childNodes].filter(one => !one.dataset.stale);
      replace(facts, others, h('p', { 'data-stale': 'true', class: total ? 'warn' : 'muted' }, words));
    } catch (error) { if (error.name !== 'AbortError') replace(problems, errorBox(error)); }
  }

  /** The names of numbers that each value has: one without a name, or those of an object or an array. */
  function numbersIn(rows) {
    const inside = value => value instanceof Map ? [...value] : Array.isArray(value) ? [...value.entries()] : [['', value]];
    const names = rows.map(row => inside(row.value).filter(([, one]) => one instanceof JNumber).map(([name]) => name));
    return (names[0] ?? []).filter(name => names.every(others => others.includes(name)));
  }

  function drawPlot(rows, start) {
    const names = numbersIn(rows);
    if (names.length === 0) { replace(drawing); return; }
    const choices = names.map(name => h('option', { value: name }, visible(name)));
    const choice = h('select', { 'aria-label': t.view.drawnNumber, on: { change: show } }, choices);
    const place = h('div');
    const value = (item, name) => (name === '' ? item : item instanceof Map ? item.get(name) : item[name]).toNumber();
    function show() {
      const name = names[choice.selectedIndex];
      const points = rows.map(row => ({ name: shortKey(row.key), value: value(row.value, name), row }));
      replace(place, plot({ label: `${view} ${name}`, points, signal, onOpen: point => { location.hash = hashOf(point.row); } }));
    }
    const range = start === null ? t.view.groupsCount(rows.length) : t.view.groupsFrom(number(start + 1), number(start + rows.length));
    replace(drawing, h('figure', { class: 'card' }, h('figcaption', {}, range, ' ', names.length > 1 && choice), place));
    show();
  }

  const shortKey = key => [key].flat().map(part => typeof part === 'string' ? part : stringify(part)).join('-');
  const hashOf = row => link([db, 'view', design], { view, ...rowsBehind(row.key, asked) });

  function cell(value) {
    const text = value === undefined ? '' : stringify(value);
    const title = text.length > 40 ? visible(text.slice(0, 2000)) : null;
    const isNumber = value instanceof JNumber;
    return h('td', { class: isNumber ? 'num mono' : 'mono', title }, bdi(text.slice(0, LONGEST)));
  }

  function row(item) {
    const key = stringify(item.key);
    const name = t.view.rowsOf(visible(key));
    return h('tr', {}, h('th', { scope: 'row', class: 'mono' }, bdi(key.slice(0, LONGEST))), cell(item.value),
      isGrouped() ? h('td', {}, h('a', { href: hashOf(item), 'aria-label': name }, t.view.rows))
        : h('td', {}, item.id !== undefined ? h('a', { href: link([db, 'doc', item.id]) }, bdi(item.id)) : bdi(item.error ?? '')),
      asked.include_docs && cell(item.doc ?? undefined));
  }

  function showSame() {
    const { query: sent, text } = requestOf(asked, { limit: 200 });
    const option = (name, value) => `--${name.replace('_', '-')}${value === 'true' ? '' : `=${value}`}`;
    const named = Object.entries(asked).map(([name, value]) => name === 'inclusive_end' ? '--exclude-end' : option(name, value));
    const options = ['--limit', '200', ...named, ...(isGrouped() ? [] : ['--no-reduce'])];
    setSame({ url: viewPath(db, design, view), query: sent, text, settle: ['query', [{ db }, `${design}/${view}`], options] });
  }

  function reload() {
    source.forget();
    list.reload();
    if (asked.update === 'false') tellStale();
  }

  draw();
  make(placeOf(query));
  setKeys([{ key: 'Enter', ctrl: true, text: t.view.run, run }, { key: 'm', text: t.docs.moreRows, run: () => list.more() },
    { key: 'r', text: t.common.readAgain, run: reload }]);
  return {
    element: h('div', {}, head(bdi(`${design}/${view}`), button(t.view.readAgain, reload),
      h('a', { class: 'button', href: link([db, 'design', design]) }, t.view.editTheView)), form, problems, facts, drawing, outlet),
    leave() {
      clearTimeout(timer);
      list.leave();
    },
  };
}
