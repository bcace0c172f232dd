/** Queries: how they are answered, by which index, and the indexes there are. */
import { ask, path } from '../api.js';
import { setQuery } from '../router.js';
import { session } from '../session.js';
import { h, bdi, tableHead, button, replace, field } from '../parts/dom.js';
import { panel, errorBox } from '../parts/panel.js';
import { codeArea } from '../parts/code-area.js';
import { dialog } from '../parts/dialog.js';
import { parse, stringify, format } from '../value/json.js';

export default function page({ db, query, signal, setTitle, setSame, setKeys }) {
  setTitle(`${db}: query`);
  setSame({ url: `${encodeURIComponent(db)}/_find`, settle: `settle find URL/${db} 'count > 1'` });
  const area = codeArea({ text: format(`{"selector":${query.selector ?? '{}'},"limit":25}`), label: 'The query' });
  const condition = h('input', { class: 'grow', 'aria-label': 'A condition', placeholder: 'count > 1 && name begins "M"' });
  const [result, plan] = [h('div'), h('div')];
  const indexes = panel(async () => (await ask(path`${db}/_index`, { signal })).json.indexes, showIndexes, { label: 'Reading the indexes' });

  function typed() {
    try { return parse(area.text); } catch (error) { area.showError(error); return null; }
  }

  async function run() {
    const value = typed();
    if (!value) return;
    setQuery({ selector: stringify(value.get('selector')) });
    replace(result);
    const began = performance.now();
    try {
      const answer = parse((await ask(path`${db}/_find`, { method: 'POST', text: area.text, signal })).text);
      const docs = answer.get('docs');
      replace(result, h('p', { role: 'status' }, `${docs.length} documents, ${Math.round(performance.now() - began)} ms`),
        answer.get('warning') && h('p', { class: 'warn' }, `⚠ ${answer.get('warning')}`),
        docs.slice(0, 100).map(doc => h('pre', { class: 'card scroll' }, bdi(stringify(doc, 2)))));
    } catch (error) { replace(result, errorBox(error)); }
    explain();
  }

  async function explain() {
    try {
      const answer = parse((await ask(path`${db}/_explain`, { method: 'POST', text: area.text, signal, quiet: true })).text);
      const index = answer.get('index');
      const isWhole = index.get('type') === 'special';
      replace(plan, h('p', {}, isWhole ? '⚠ No index fits: every document is looked at.' : ['Answered by the index ', bdi(index.get('name')), ' of ', bdi(index.get('ddoc') ?? ''), '.']),
        h('details', {}, h('summary', {}, 'The plan as JSON'), h('pre', { class: 'scroll' }, bdi(stringify(answer, 2)))));
    } catch (error) { replace(plan, errorBox(error)); }
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
    return h('table', { class: 'cards' }, tableHead(['Name', 'Members', 'Type', '']),
      h('tbody', {}, all.map(index => h('tr', {}, h('th', { scope: 'row' }, bdi(index.name)),
        h('td', { 'data-label': 'members' }, bdi(index.def.fields.map(entry => typeof entry === 'string' ? entry : Object.keys(entry)[0]).join(', '))),
        h('td', { 'data-label': 'type' }, index.type),
        h('td', {}, index.ddoc && session.name && button('Delete…', () => remove(index), { class: 'button small', 'aria-label': `Delete the index ${index.name}…` }))))));
  }

  async function create() {
    const names = h('input', { required: true, placeholder: 'count, name' });
    const made = await dialog({
      title: 'A new index', body: field('Members, the first ones narrow most', names),
      actions: [{ label: 'Create', kind: 'primary', run: async () => {
        await ask(path`${db}/_index`, { method: 'POST', json: { index: { fields: names.value.split(',').map(name => name.trim()).filter(Boolean) } } });
        return true;
      } }],
    });
    if (made) { indexes.reload(); explain(); }
  }

  async function remove(index) {
    const gone = await dialog({
      title: `Delete the index ${index.name}`, body: h('p', {}, 'Queries go on, by another index or over all documents.'),
      actions: [{ label: 'Delete', kind: 'danger', run: async () => { await ask(path`${db}/_index/${index.ddoc}/json/${index.name}`, { method: 'DELETE' }); return true; } }],
    });
    if (gone) indexes.reload();
  }

  setKeys([{ key: 'Enter', ctrl: true, text: 'run the query', run }]);
  indexes.reload();
  if (query.selector) run();
  return {
    element: h('div', {}, h('h1', {}, 'Query'),
      h('form', { class: 'toolbar', on: { submit: translate } }, condition, h('button', { class: 'button' }, 'As selector')),
      area.element, h('div', { class: 'toolbar' }, button('Run', run, { class: 'button primary', title: 'Ctrl Enter' })),
      plan, result, h('h2', {}, 'Indexes'), indexes.element, button('+ New index', create)),
  };
}
