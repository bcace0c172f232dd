/** Queries: how they are answered, by which index, and the indexes there are. */
import { ask, path } from '../api.js';
import { setQuery } from '../router.js';
import { session, onSession } from '../session.js';
import { h, bdi, tableHead, button, head, icon, patch, replace, pre, visible } from '../parts/dom.js';
import { panel, errorBox, dialog, unsaved } from '../parts/panel.js';
import { codeArea } from '../parts/code-area.js';
import { parse, stringify } from '../value/json.js';
import { newIndex, partOf } from '../documents/indexes.js';
import { passedOver, planOf, wanted } from '../documents/plans.js';
import { queryHistory } from '../documents/query-history.js';
import { queryResults, sortOf, withSort } from '../documents/query-results.js';
import { number, t } from '../words.js';

/** The members of a query that its address has. */
const ADDRESSED = ['selector', 'fields', 'sort', 'limit', 'skip', 'use_index'];

const namesIn = text => text.split(',').filter(Boolean);

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
  const [result, plan, notice] = [h('div'), h('div'), h('div')];
  const view = { columns: query.columns === undefined ? null : namesIn(query.columns), as: query.as };
  const past = queryHistory({ db, current, onChoose: choose });
  const mayLeave = unsaved(() => area.text !== done, signal);
  const indexes = panel(async () => (await ask(path`${db}/_index`, { signal })).json.indexes, showIndexes, { label: t.query.readingTheIndexes, isKept: true });
  let [explained, counted] = [null, null]; // the plan and the costs of the run that is shown
  let turn = 0; // of the run that counts

  function current() {
    const value = typed();
    return value && stringify(value);
  }

  function typed() {
    try { return parse(area.text); } catch (error) { area.showError(error); return null; }
  }

  /** Runs the query in the editor. One that the server can't answer in the order of a column leaves everything as it was. */
  async function run(sorting = null) {
    const value = typed();
    if (!value) return;
    const mine = ++turn;
    const sent = area.text;
    const took = () => {
      done = sent;
      setQuery(Object.fromEntries(ADDRESSED.map(name => [name, value.has(name) ? stringify(value.get(name)) : undefined])));
      showSame(value);
    };
    const results = queryResults({ db, query: value, ...view, onSort: sortBy, onView: changes => {
      if ('columns' in changes) view.columns = changes.columns === undefined ? null : namesIn(changes.columns);
      if ('as' in changes) view.as = changes.as;
      setQuery(changes);
    } });
    const facts = h('p', { role: 'status' }, t.query.asking);
    const more = button(t.common.more, again, { hidden: true });
    const costs = { keys: 0, docs: 0, found: 0 };
    let place = []; // where a further page begins
    async function read() {
      more.disabled = true;
      const text = stringify(new Map([...value, ['execution_stats', true], ...place]));
      const answer = parse((await ask(path`${db}/_find`, { method: 'POST', text, signal })).text);
      const [docs, cost] = [answer.get('docs'), answer.get('execution_stats')];
      // The rows to skip are before the first page; the server would skip as many on each.
      place = [['bookmark', answer.get('bookmark')], ['skip', 0]];
      results.add(docs);
      const of = name => cost?.get(name)?.toNumber() ?? 0;
      costs.keys += of('total_keys_examined');
      costs.docs += of('total_docs_examined');
      costs.found += docs.length;
      replace(facts, costs.found === 0 ? t.query.nothingIsFound : t.query.found(t.common.documentsCount(costs.found)),
        t.query.keysAndDocumentsReadMs(number(costs.keys), number(costs.docs), number(of('execution_time_ms'))),
        answer.get('warning') && h('span', { class: 'warn' }, ` ⚠ ${answer.get('warning')}`));
      more.hidden = docs.length === 0 || docs.length < (value.get('limit')?.toNumber?.() ?? 25);
      more.disabled = false;
      if (counted === costs) drawPlan(costs);
    }
    function again() { read().catch(error => { more.disabled = false; if (error.name !== 'AbortError') replace(facts, errorBox(error, again)); }); }
    if (!sorting) {
      took();
      noPlan();
      replace(result, facts);
    }
    try {
      await read();
    } catch (error) {
      if (error.name === 'AbortError' || mine !== turn) return;
      if (sorting && error.error === 'no_usable_index') { unsorted(sorting, sent, error); return; }
      noPlan();
      replace(result, errorBox(error, () => run()));
      return;
    }
    if (mine !== turn) return;
    [explained, counted] = [null, costs];
    took();
    past.ran(stringify(value));
    const isFocused = result.contains(document.activeElement);
    const column = [...result.querySelectorAll('.sort')].indexOf(document.activeElement);
    replace(notice);
    replace(result, facts, results.element, more);
    if (isFocused) (result.querySelectorAll('.sort')[column] ?? document.getElementById('main')).focus({ preventScroll: true });
    explain(costs);
  }

  /** Asks the server for another order. */
  function sortBy(sort, column) {
    if (!typed()) return;
    const before = area.text;
    area.text = withSort(before, sort);
    run({ before, column });
  }

  function unsorted({ before, column }, sent, error) {
    const name = sortOf(parse(sent))[0][0];
    if (area.text === sent) area.text = before;
    replace(notice, h('p', { class: 'warn', role: 'alert' }, '⚠ ', t.query.noIndexHasTheOrder(visible(column)), ' ', error.reason, ' ',
      session.name && button(t.query.makeAnIndexForThis, () => create([name]), { class: 'button small' })));
  }

  function showSame(value) {
    const options = ['limit', 'skip'].filter(name => value.has(name)).flatMap(name => [`--${name}`, stringify(value.get(name))]);
    if (value.has('fields')) options.push('--fields', value.get('fields').join(','));
    const sort = sortOf(value).map(([name, order]) => `${order === 'desc' ? '-' : ''}${name}`);
    // A value that begins with a dash follows its option and an equals sign.
    if (sort.length) options.push(`--sort=${sort.join(',')}`);
    if (value.has('use_index')) options.push('--use-index', [value.get('use_index')].flat().join('/').replace('_design/', ''));
    setSame({ url: path`${db}/_find`, text: stringify(value), settle: ['find', [{ db }, stringify(value.get('selector'))], options] });
  }

  function noPlan() {
    counted = null;
    plan.removeAttribute('aria-busy');
    replace(plan);
  }

  async function explain(costs) {
    plan.setAttribute('aria-busy', 'true');
    try {
      const answer = parse((await ask(path`${db}/_explain`, { method: 'POST', text: done, signal, quiet: true })).text);
      if (counted !== costs) return;
      explained = answer;
      drawPlan(costs);
    } catch (error) {
      if (error.name !== 'AbortError' && counted === costs) replace(plan, errorBox(error));
    } finally { if (counted === costs) plan.removeAttribute('aria-busy'); }
  }

  /** The steps of the plan with the server's counts, and the indexes that it has passed over. */
  function drawPlan(costs) {
    if (!explained) return;
    const { steps, isWhole } = planOf(explained, costs);
    const [names, others] = [wanted(explained), passedOver(explained)];
    patch(plan, h('section', { class: 'card', 'aria-label': t.query.plan }, h('h2', {}, t.query.plan),
      h('ol', { class: 'steps' }, steps.map(({ title, detail, count }, index) => h('li', { class: isWhole && index === 0 ? 'warn' : null },
        h('strong', {}, title), count && h('span', { class: 'chip' }, count), detail && h('span', { class: 'muted mono' }, detail)))),
      isWhole && names.length > 0 && session.name && button(t.query.makeAnIndexForThis, () => create(names), { class: 'button small' }),
      others.length > 0 && [h('h3', {}, t.query.passedOver(others.length)),
        h('ul', {}, others.map(({ name, reasons }) => h('li', {}, h('span', { class: 'mono' }, bdi(name)), `: ${reasons.join(', ')}`)))],
      h('details', {}, h('summary', {}, t.query.thePlanAsJson), pre(stringify(explained, 2), t.query.thePlanAsJson))));
  }

  async function translate(event) {
    event.preventDefault();
    try {
      const answer = parse((await ask('_condition', { method: 'POST', json: { text: condition.value }, signal })).text);
      const value = area.text.trim() ? typed() : new Map();
      if (!value) return;
      value.set('selector', answer.get('selector'));
      area.text = stringify(value, 2);
      run();
    } catch (error) { replace(result, errorBox(error)); }
  }

  function showIndexes(all) {
    return h('div', { class: 'scroll' }, h('table', { class: 'cards' }, tableHead([t.common.name, t.query.members, t.query.type, '']),
      h('tbody', {}, all.map(index => h('tr', { 'data-key': `${index.ddoc} ${index.name}` }, h('th', { scope: 'row' }, bdi(index.name)),
        h('td', { 'data-label': t.query.membersLabel }, bdi(index.def.fields.map(entry => typeof entry === 'string' ? entry : Object.keys(entry)[0]).join(', ') || t.query.allTexts), partOf(index)),
        h('td', { 'data-label': t.query.typeLabel }, index.type),
        h('td', {}, index.ddoc && session.name && button(t.common.delete, () => remove(index), { class: 'button small', 'aria-label': t.query.deleteTheIndex(index.name) })))))));
  }

  /** A query of the list takes the place of the one in the editor. */
  function choose(text) {
    if (!mayLeave()) return;
    area.text = text;
    run();
  }

  async function create(proposed) {
    if (!await newIndex(db, proposed)) return;
    indexes.reload();
    // The warning of the last run may not hold any more.
    if (result.firstChild) run();
  }

  async function remove(index) {
    const gone = await dialog({
      title: t.query.deleteTheIndexOfName(index.name), body: h('p', {}, index.type === 'text' ? t.query.searchesMayFail : t.query.sortedQueriesMayFail),
      actions: [{ label: t.common.deleteAction, kind: 'danger', run: async () => { await ask(path`${db}/_index/${index.ddoc}/${index.type}/${index.name}`, { method: 'DELETE', whole: true }); return true; } }],
    });
    if (!gone) return;
    indexes.reload();
    if (result.firstChild) run();
  }

  setKeys([{ key: 'Enter', ctrl: true, text: t.query.runTheQuery, run: () => run() }]);
  showSame(parse(area.text));
  onSession(() => { indexes.reload(); past.draw(); }, signal);
  if (query.selector) run();
  return {
    element: h('div', {}, head(t.common.query, button([icon('play'), t.query.run], () => run(), { class: 'button primary', title: t.common.ctrlEnter })),
      h('form', { class: 'toolbar', on: { submit: translate } }, condition, h('button', { class: 'button' }, t.query.asSelector)),
      area.element,
      h('div', { class: 'toolbar' }, button(t.queryHistory.saveButton, past.save)),
      past.element, notice, result, plan, h('h2', {}, t.query.indexes), indexes.element, button(t.query.newIndex, () => create())),
    leave: mayLeave,
  };
}
