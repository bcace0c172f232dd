/** Design documents: their functions, and what these make of samples before they are saved. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, replace, field, tableHead } from '../parts/dom.js';
import { panel, errorBox } from '../parts/panel.js';
import { dialog } from '../parts/dialog.js';
import { codeArea } from '../parts/code-area.js';
import { parse, stringify } from '../value/json.js';
import { count } from '../words.js';

const NEW_MAP = 'function (doc) {\n  emit(doc.name, null);\n}';
const NEW_RULE = 'function (doc, old, user, security) {\n  if (!doc._deleted && !doc.name) throw({forbidden: \'a name is missing\'});\n}';

export default function page({ db, id, signal, setTitle, setSame, setKeys }) {
  return id === undefined ? list() : one();

  function list() {
    setTitle(`${db}: design documents`);
    setSame({ url: `${encodeURIComponent(db)}/_design_docs?include_docs=true`, settle: `settle design list URL/${db}` });
    const all = panel(async () => (await ask(path`${db}/_design_docs`, { query: { include_docs: true, limit: 200 }, signal })).json.rows, rows => rows.length === 0
      ? h('p', { class: 'muted' }, 'There is no design document yet.')
      : h('table', { class: 'cards' }, tableHead(['Name', 'Language', 'Views', 'Rule']), h('tbody', {}, rows.map(({ id: whole, doc }) => h('tr', {},
        h('th', { scope: 'row' }, h('a', { href: doc.language === 'query' ? link([db, 'query']) : link([db, 'design', whole.slice(8)]) }, bdi(whole.slice(8)))),
        h('td', { 'data-label': 'language' }, doc.language ?? 'javascript'), h('td', { 'data-label': 'views' }, bdi(Object.keys(doc.views ?? {}).join(', '))),
        h('td', { 'data-label': 'rule' }, doc.validate_doc_update ? 'yes' : 'no'))))), { label: 'Reading the design documents' });
    const create = async () => {
      const name = h('input', { required: true });
      const made = await dialog({
        title: 'A new design document', body: field('Name', name),
        actions: [{ label: 'Create', kind: 'primary', run: async () => { await ask(path`${db}/${`_design/${name.value}`}`, { method: 'PUT', json: { views: {} } }); return name.value; } }],
      });
      if (made) location.hash = link([db, 'design', made]);
    };
    all.reload();
    return { element: h('div', {}, h('h1', {}, 'Design documents'), h('div', { class: 'toolbar' }, button('+ New', create)), all.element) };
  }

  function one() {
    const whole = `_design/${id}`;
    setTitle(`${db}: ${id}`);
    setSame({ url: path`${db}/${whole}`, settle: `settle design show URL/${db} ${id}` });
    let document = null;
    let chosen = null;
    let isSaved = true;
    let timer = 0;
    let turn = 0;
    const [problems, editor, outcome] = [h('div'), h('div'), h('div', { role: 'status' })];
    const samples = h('input', { type: 'number', min: 1, max: 100, value: 20 });
    const name = h('input', { placeholder: 'ben' });
    const roles = h('input', { placeholder: 'staff' });
    const main = panel(async () => { document = parse((await ask(path`${db}/${whole}`, { signal })).text); return document; }, show, { label: 'Reading the design document' });
    let map = null;
    let reduce = null;

    const views = () => document.get('views') ?? new Map();

    function show() {
      const names = [...views().keys()];
      chosen ??= names[0] ?? (document.get('validate_doc_update') ? 'the rule' : null);
      const choose = what => { chosen = what; main.content.replaceChildren(...show()); };
      queueMicrotask(edit);
      return [
        h('div', { class: 'toolbar' }, names.map(entry => button(`view ${entry}`, () => choose(entry), { 'aria-pressed': String(entry === chosen) })),
          button(document.get('validate_doc_update') ? 'the rule' : '+ Rule', () => choose('the rule'), { 'aria-pressed': String(chosen === 'the rule') }),
          button('+ View', addView)),
        h('div', { class: 'two' }, editor, h('div', {}, chosen === 'the rule'
          ? [field('Tried as', name), field('with the roles', roles)] : null, field('on the first', samples), outcome)),
      ];
    }

    function edit() {
      if (chosen === null) { replace(editor, h('p', { class: 'muted' }, 'It has no function yet.')); return; }
      const isRule = chosen === 'the rule';
      const view = isRule ? null : views().get(chosen);
      map = codeArea({ text: isRule ? document.get('validate_doc_update') ?? NEW_RULE : view.get('map') ?? NEW_MAP, label: isRule ? 'The rule' : 'The map function', onInput: changed, language: 'text' });
      reduce = isRule ? null : h('input', { value: view.get('reduce') ?? '', placeholder: '_count, _sum, _stats, or a function', on: { input: changed } });
      replace(editor, map.element, reduce && field('Reduce', reduce));
      attempt();
    }

    function changed() {
      isSaved = false;
      clearTimeout(timer);
      timer = setTimeout(attempt, 500);
    }

    /** Runs what stands in the editor on samples; the answer to the last attempt counts. */
    async function attempt() {
      const mine = ++turn;
      const docs = { limit: Number(samples.value) || 20 };
      const functions = reduce === null ? { validate_doc_update: map.text } : { map: map.text, ...(reduce.value && { reduce: reduce.value }) };
      const user = { name: name.value || null, roles: roles.value.split(',').map(role => role.trim()).filter(Boolean) };
      try {
        const answer = parse((await ask(path`${db}/_try`, { method: 'POST', json: { functions, docs, user }, signal, quiet: true })).text);
        if (mine === turn) tell(answer);
      } catch (error) { if (mine === turn && error.name !== 'AbortError') replace(outcome, errorBox(error)); }
    }

    function tell(answer) {
      const errors = answer.get('errors') ?? [];
      const [rows, results, reduced] = [answer.get('rows'), answer.get('results'), answer.get('reduced')];
      replace(outcome,
        errors.map(error => h('p', { class: 'bad' }, `${error.get('line') ? `Line ${stringify(error.get('line'))}: ` : ''}${error.get('reason')}`)),
        rows && errors.length === 0 && h('p', {}, `${count(rows.length, 'row')} of ${count(answer.get('docs').toNumber(), 'document')}, ${stringify(answer.get('milliseconds'))} ms`),
        reduced && h('p', {}, 'reduced: ', h('span', { class: 'mono' }, bdi(stringify(reduced[0].get('value'))))),
        rows?.length > 0 && h('table', {}, tableHead(['Key', 'Value', 'Document']), h('tbody', {}, rows.slice(0, 50).map(row => h('tr', {},
          h('td', {}, bdi(stringify(row.get('key')))), h('td', {}, bdi(stringify(row.get('value')))), h('td', {}, bdi(row.get('id'))))))),
        results && h('table', {}, tableHead(['Document', 'Outcome']), h('tbody', {}, results.map(result => h('tr', {}, h('td', {}, bdi(result.get('id'))),
          h('td', { class: result.get('ok') ? 'good' : 'bad' }, result.get('ok') ? 'passes' : `${result.get('error')}: ${result.get('reason')}`))))));
    }

    async function addView() {
      const title = h('input', { required: true });
      const made = await dialog({ title: 'A new view', body: field('Name', title), actions: [{ label: 'Add', kind: 'primary', run: () => title.value || undefined }] });
      if (!made) return;
      document.set('views', new Map([...views(), [made, new Map([['map', NEW_MAP]])]]));
      chosen = made;
      isSaved = false;
      main.content.replaceChildren(...show());
    }

    async function save() {
      replace(problems);
      if (chosen === 'the rule') document.set('validate_doc_update', map.text);
      else if (chosen !== null) {
        const view = views().get(chosen);
        view.set('map', map.text);
        if (reduce.value) view.set('reduce', reduce.value); else view.delete('reduce');
      }
      const isSure = await dialog({
        title: `Save ${id}`, body: h('p', {}, views().size ? `Saving builds ${count(views().size, 'view')} of it anew, at their next use.` : 'It has no views to build.'),
        actions: [{ label: 'Save', kind: 'primary', run: async () => { await ask(path`${db}/${whole}`, { method: 'PUT', text: stringify(document) }); return true; } }],
      });
      if (!isSure) return;
      isSaved = true;
      replace(problems, h('p', { class: 'good', role: 'status' }, 'Saved.'));
      main.reload();
    }

    samples.addEventListener('input', changed);
    for (const input of [name, roles]) input.addEventListener('input', changed);
    setKeys([{ key: 's', ctrl: true, text: 'save', run: save }]);
    main.reload();
    return {
      element: h('div', {}, h('h1', {}, bdi(id)), h('div', { class: 'toolbar' }, button('Save…', save, { class: 'button primary' }), h('a', { class: 'button', href: link([db, 'doc', whole]) }, 'As a document')), problems, main.element),
      leave: () => { clearTimeout(timer); return isSaved || confirm('What was typed is not saved. Leave?'); },
    };
  }
}
