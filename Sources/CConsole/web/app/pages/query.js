/** Queries: how they are answered, by which index, and the indexes there are. */
import { ask, path } from '../api.js';
import { link, setQuery } from '../router.js';
import { session, onSession } from '../session.js';
import { h, bdi, tableHead, button, head, icon, replace, pre } from '../parts/dom.js';
import { panel, errorBox, dialog, unsaved } from '../parts/panel.js';
import { codeArea } from '../parts/code-area.js';
import { parse, stringify } from '../value/json.js';
import { newIndex, partOf } from '../documents/indexes.js';
import { planOf, verdict, wanted } from '../documents/plans.js';
import { number, t } from '../words.js';

/** The members of a query that its address has. */
const ADDRESSED = ['selector', 'fields', 'sort', 'limit', 'skip', 'use_index'];

/** The query of an address; one that can't be read has what can be. */
function queryOf(address) {
  const value = new Map([['selector', new Map()], ['limit', 25]]);
  for (const name of ADDRESSED) {
    try { if (address[name]) value.set(name, parse(address[name])); } catch { /* Somebody has typed it. */ }
  }
  return stringify(value, 2);
}

export default function page({ db, query, signal, setTitle, setSame, setKeys }) {
  setTitle(t.query.queryTitle(db));
  const area = codeArea({ text: queryOf(query), label: t.query.theQuery });
  let done = area.text; // the query that was run last, or that is in the address
  const condition = h('input', { class: 'grow', 'aria-label': t.query.aCondition, placeholder: 'count > 1 && name begins "M"' });
  const [result, plan] = [h('div'), h('div')];
  const indexes = panel(async () => (await ask(path`${db}/_index`, { signal })).json.indexes, showIndexes, { label: t.query.readingTheIndexes, isKept: true });
  let explained = null;

  function typed() {
    try { return parse(area.text); } catch (error) { area.showError(error); return null; }
  }

  async function run() {
    const value = typed();
    if (!value) return;
    done = area.text;
    setQuery(Object.fromEntries(ADDRESSED.map(name => [name, value.has(name) ? stringify(value.get(name)) : undefined])));
    showSame(value);
    const list = h('ol', {});
    const facts = h('p', { role: 'status' }, t.query.asking);
    const more = button(t.common.more, () => read(), { hidden: true });
    replace(result, facts, list, more);
    let [found, bookmark] = [0, value.get('bookmark')];
    async function read() {
      more.disabled = true;
      try {
        const text = stringify(new Map([...value, ['execution_stats', true], ...(bookmark ? [['bookmark', bookmark]] : [])]));
        const answer = parse((await ask(path`${db}/_find`, { method: 'POST', text, signal })).text);
        const [docs, cost] = [answer.get('docs'), answer.get('execution_stats')];
        found += docs.length;
        bookmark = answer.get('bookmark');
        list.append(...docs.map(doc => line(doc, value.has('fields'))));
        const of = name => number(cost?.get(name)?.toNumber() ?? 0);
        replace(facts, found === 0 ? t.query.nothingIsFound : t.query.found(t.common.documentsCount(found)),
          t.query.keysAndDocumentsReadMs(of('total_keys_examined'), of('total_docs_examined'), of('execution_time_ms')),
          answer.get('warning') && h('span', { class: 'warn' }, ` ⚠ ${answer.get('warning')}`));
        more.hidden = docs.length === 0 || docs.length < (value.get('limit')?.toNumber?.() ?? 25);
        more.disabled = false;
        return true;
      } catch (error) {
        if (error.name !== 'AbortError') replace(facts, errorBox(error, read));
        return false;
      }
    }
    replace(plan);
    // The same error of a query is shown once.
    if (await read()) explain();
  }

  function showSame(value) {
    const options = ['limit', 'skip'].filter(name => value.has(name)).flatMap(name => [`--${name}`, stringify(value.get(name))]);
    if (value.has('fields')) options.push('--fields', value.get('fields').join(','));
    const sort = (value.get('sort') ?? []).map(entry => entry instanceof Map ? [...entry][0] : [entry, 'asc']).map(([name, order]) => `${order === 'desc' ? '-' : ''}${name}`);
    // A value that begins with a dash follows its option and an equals sign.
    if (sort.length) options.push(`--sort=${sort.join(',')}`);
    if (value.has('use_index')) options.push('--use-index', [value.get('use_index')].flat().join('/').replace('_design/', ''));
    setSame({ url: path`${db}/_find`, text: stringify(value), settle: ['find', [{ db }, stringify(value.get('selector'))], options] });
  }

  /** One document that was found. Whole documents are laid out when they are opened; members that were asked for are few. */
  function line(doc, isShort) {
    const id = doc.get('_id');
    const text = h('div');
    const details = h('details', { open: isShort, on: { toggle: () => { if (!text.firstChild) replace(text, pre(stringify(doc, 2), id ?? t.query.withoutItsId)); } } },
      h('summary', {}, id === undefined ? t.query.withoutItsId : bdi(id)), text, id !== undefined && h('a', { href: link([db, 'doc', id]) }, t.common.toTheDocument));
    return h('li', {}, details);
  }

  async function explain() {
    try {
      explained = parse((await ask(path`${db}/_explain`, { method: 'POST', text: area.text, signal, quiet: true })).text);
      const { text, isWhole } = planOf(explained);
      const names = wanted(explained);
      replace(plan, h('p', { class: isWhole ? 'warn' : null }, isWhole && '⚠ ', text, ' ',
        isWhole && names.length > 0 && session.name && button(t.query.makeAnIndexForThis, () => create(names), { class: 'button small' })),
      h('details', {}, h('summary', {}, t.query.thePlanAsJson), pre(stringify(explained, 2), t.query.thePlanAsJson)));
      indexes.reload();
    } catch (error) { if (error.name !== 'AbortError') replace(plan, errorBox(error)); }
  }

  async function translate(event) {
    event.preventDefault();
    try {
      const answer = parse((await ask('_condition', { method: 'POST', json: { text: condition.value }, signal })).text);
      const value = typed() ?? new Map();
      value.set('selector', answer.get('selector'));
      area.text = stringify(value, 2);
      run();
    } catch (error) { replace(result, errorBox(error)); }
  }

  function showIndexes(all) {
    return h('div', { class: 'scroll' }, h('table', { class: 'cards' }, tableHead([t.common.name, t.query.members, t.query.type, t.query.inThisQuery, '']),
      h('tbody', {}, all.map(index => h('tr', { 'data-key': `${index.ddoc} ${index.name}` }, h('th', { scope: 'row' }, bdi(index.name)),
        h('td', { 'data-label': t.query.membersLabel }, bdi(index.def.fields.map(entry => typeof entry === 'string' ? entry : Object.keys(entry)[0]).join(', ') || t.query.allTexts), partOf(index)),
        h('td', { 'data-label': t.query.typeLabel }, index.type),
        h('td', { 'data-label': t.query.inThisQueryLabel }, verdict(index, explained)),
        h('td', {}, index.ddoc && session.name && button(t.common.delete, () => remove(index), { class: 'button small', 'aria-label': t.query.deleteTheIndex(index.name) })))))));
  }

  async function create(proposed) {
    if (!await newIndex(db, proposed)) return;
    // The warning of the last run may not hold any more.
    if (result.firstChild) run(); else indexes.reload();
  }

  async function remove(index) {
    const gone = await dialog({
      title: t.query.deleteTheIndexOfName(index.name), body: h('p', {}, t.query.queriesGoOnByAnother),
      actions: [{ label: t.common.deleteAction, kind: 'danger', run: async () => { await ask(path`${db}/_index/${index.ddoc}/${index.type}/${index.name}`, { method: 'DELETE', whole: true }); return true; } }],
    });
    if (gone) { if (result.firstChild) run(); else indexes.reload(); }
  }

  setKeys([{ key: 'Enter', ctrl: true, text: t.query.runTheQuery, run }]);
  showSame(parse(area.text));
  onSession(indexes.reload, signal);
  if (query.selector) run();
  return {
    element: h('div', {}, head(t.common.query, button([icon('play'), t.query.run], run, { class: 'button primary', title: t.common.ctrlEnter })),
      h('form', { class: 'toolbar', on: { submit: translate } }, condition, h('button', { class: 'button' }, t.query.asSelector)),
      area.element,
      plan, result, h('h2', {}, t.query.indexes), indexes.element, button(t.query.newIndex, () => create())),
    leave: unsaved(() => area.text !== done, signal),
  };
}
