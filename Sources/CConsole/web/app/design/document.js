/** One design document: its functions on the left, and on the right what the chosen one makes of samples. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, head, replace, field } from '../parts/dom.js';
import { toast } from '../parts/toast.js';
import { panel, dialog, unsaved } from '../parts/panel.js';
import { codeArea } from '../parts/code-area.js';
import { equal, parse, stringify } from '../value/json.js';
import { saveDocument } from '../documents/writing.js';
import { trial } from './trial.js';
import { t } from '../words.js';

const RULE = 'validate_doc_update';
/** The kinds of functions with names: the member that has them, and what a new one begins with. */
const KINDS = {
  view: { member: 'views', text: 'function (doc) {\n  emit(doc.name, null);\n}' },
  filter: { member: 'filters', text: 'function (doc, req) {\n  return doc.type === req.query.type;\n}' },
  update: { member: 'updates', text: 'function (doc, req) {\n  doc.seen = true;\n  return [doc, \'done\'];\n}' },
};
/** Members that have no modules. */
const FIXED = new Set(['views', 'filters', 'updates', 'options', '_attachments']);
const MOST_ROWS = 12; // of a reduce function
const NEW_RULE = 'function (doc, old, user, security) {\n  if (!doc._deleted && !doc.name) throw({forbidden: \'a name is missing\'});\n}';

export function one({ db, id, signal, setTitle, setSame, setKeys }) {
  const whole = `_design/${id}`;
  setTitle(`${db}: ${id}`);
  setSame({ url: path`${db}/${whole}`, settle: ['get', [{ db }, whole]] });
  let document = null;
  let stored = null; // the views as they are stored
  let chosen = null; // {kind, name}; the rule has no name
  let isSaved = true;
  let code = null;
  let reduce = null;
  let shown = null; // the texts of `code` and `reduce` that the document has
  const [problems, editor, actions] = [h('div'), h('div', { class: 'stack' }), h('div', { class: 'toolbar' })];
  const tried = trial({ db, signal });
  const main = panel(async () => {
    document = parse((await ask(path`${db}/${whole}`, { signal })).text);
    stored = viewsOf(parse(stringify(document)));
    return document;
  }, show, { label: t.designDocument.readingTheDesignDocument });

  const functions = kind => document.get(KINDS[kind].member) ?? new Map();
  const entries = () => Object.keys(KINDS).flatMap(kind => [...functions(kind).keys()].filter(name => kind !== 'view' || name !== 'lib').map(name => ({ kind, name })));
  const isChosen = entry => entry.kind === chosen?.kind && entry.name === chosen?.name;

  function show() {
    chosen ??= entries()[0] ?? (document.get(RULE) ? { kind: 'rule' } : null);
    queueMicrotask(edit);
    return [
      h('div', { class: 'toolbar' },
        entries().map(entry => button(`${entry.kind} ${entry.name}`, () => choose(entry), { 'aria-pressed': String(isChosen(entry)) })),
        document.get(RULE) ? button(t.designDocument.theRule, () => choose({ kind: 'rule' }), { 'aria-pressed': String(chosen?.kind === 'rule') }) : button(t.designDocument.addTheRule, addRule),
        Object.keys(KINDS).map(kind => button(`+ ${kind[0].toUpperCase()}${kind.slice(1)}`, () => add(kind)))),
      h('div', { class: 'two' }, editor, tried.element),
    ];
  }

  function choose(entry) {
    keep();
    chosen = entry;
    replace(main.content, show());
  }

  function textOf({ kind, name }) {
    if (kind === 'rule') return document.get(RULE);
    return kind === 'view' ? functions(kind).get(name).get('map') ?? '' : functions(kind).get(name);
  }

  function edit() {
    if (!chosen) {
      tried.end();
      replace(editor, h('p', { class: 'muted' }, t.designDocument.itHasNoFunctionYet));
      return;
    }
    const text = textOf(chosen);
    if (typeof text !== 'string') {
      tried.end();
      replace(editor, h('p', { class: 'muted' }, t.designDocument.thisIsNoFunction));
      return;
    }
    code = codeArea({ text, label: chosen.kind === 'rule' ? t.designDocument.theRuleAction : t.designDocument.theFunction(chosen.kind === 'view' ? t.designDocument.map : chosen.kind), onInput: changed, language: 'javascript' });
    reduce = chosen.kind === 'view' ? reduceArea(functions('view').get(chosen.name).get('reduce') ?? '') : null;
    shown = texts();
    drawActions();
    replace(editor, code.element, reduce && field(t.designDocument.reduce, reduce), actions);
    tried.ofKind(chosen.kind, subject, code);
  }

  function reduceArea(value) {
    const rows = Math.min(MOST_ROWS, String(value).split('\n').length + 1);
    return h('textarea', { rows, class: 'mono', spellcheck: 'false', autocapitalize: 'off', value, placeholder: t.designDocument.reduceHint, on: { input: changed } });
  }

  const texts = () => ({ code: code.text, reduce: reduce?.value });

  /** What can be done with the chosen function; a view has rows as soon as it is stored. */
  function drawActions() {
    replace(actions, chosen?.kind === 'view' && stored.has(chosen.name) && h('a', { class: 'button', href: link([db, 'view', id], { view: chosen.name }) }, t.view.rowsOfThisView),
      chosen && button(t.designDocument.removeThis(chosen.kind === 'rule' ? t.designDocument.theRule : chosen.kind), remove));
  }

  /** What is tried: the functions in the editor, and the modules that they may require. */
  function subject() {
    const modules = new Map([...document].filter(([name, value]) => value instanceof Map && !FIXED.has(name)));
    const library = viewsOf(document).get('lib');
    if (library) modules.set('views', new Map([['lib', library]]));
    if (chosen.kind === 'rule') return { functions: new Map([[RULE, code.text]]), modules };
    if (chosen.kind === 'filter') return { functions: new Map([['filter', code.text]]), modules };
    return { functions: new Map([['map', code.text], ...(reduce.value ? [['reduce', reduce.value]] : [])]), modules };
  }

  function changed() {
    isSaved = false;
    tried.soon();
  }

  /** Puts what was typed into the document. What nobody has touched stays as it is spelt, with line breaks that no text area keeps. */
  function keep() {
    if (!chosen || !code || typeof textOf(chosen) !== 'string') return;
    const before = shown;
    shown = texts();
    if (shown.code !== before.code) keepCode();
    if (reduce && shown.reduce !== before.reduce) {
      const view = functions('view').get(chosen.name);
      if (reduce.value) view.set('reduce', reduce.value); else view.delete('reduce');
    }
  }

  function keepCode() {
    if (chosen.kind === 'rule') document.set(RULE, code.text);
    else if (chosen.kind === 'view') functions('view').get(chosen.name).set('map', code.text);
    else functions(chosen.kind).set(chosen.name, code.text);
  }

  async function add(kind) {
    const title = h('input', { required: true });
    const made = await dialog({ title: t.designDocument.aNew(kind), body: field(t.common.name, title), actions: [{ label: t.designDocument.add, kind: 'primary', run: () => title.value || undefined }] });
    if (!made) return;
    keep();
    const { member, text } = KINDS[kind];
    document.set(member, new Map([...functions(kind), [made, kind === 'view' ? new Map([['map', text]]) : text]]));
    chosen = { kind, name: made };
    isSaved = false;
    replace(main.content, show());
  }

  function addRule() {
    keep();
    document.set(RULE, NEW_RULE);
    chosen = { kind: 'rule' };
    isSaved = false;
    replace(main.content, show());
  }

  function remove() {
    if (chosen.kind === 'rule') document.delete(RULE);
    else functions(chosen.kind).delete(chosen.name);
    if (chosen.name && functions(chosen.kind).size === 0) document.delete(KINDS[chosen.kind].member);
    chosen = null;
    isSaved = false;
    replace(main.content, show());
  }

  async function save() {
    if (!document) return;
    replace(problems);
    keep();
    const views = viewsOf(document);
    const names = [...views.keys()].filter(name => name !== 'lib');
    // The views of a document have one index: a change of one map builds all of them.
    const isBuilt = names.length > 0 && !equal(views, stored);
    const rev = await dialog({
      title: t.designDocument.save(id), body: h('p', {}, isBuilt ? t.designDocument.savingBuildsOfItAnew(t.designDocument.viewsCount(names.length)) : t.designDocument.noViewIsBuiltAnew),
      actions: [{ label: t.common.save, kind: 'primary', run: () => saveDocument(db, whole, stringify(document)) }],
    });
    if (!rev) return;
    // The document is not read again: that would end what is typed meanwhile.
    document.set('_rev', rev);
    stored = viewsOf(parse(stringify(document)));
    isSaved = true;
    toast(t.common.saved);
    drawActions();
  }

  const mayLeave = unsaved(() => !isSaved, signal);
  setKeys([{ key: 's', ctrl: true, text: t.common.saveKey, run: save }]);
  main.reload();
  return {
    element: h('div', {}, head(bdi(id, { class: 'mono' }), h('a', { class: 'button', href: link([db, 'doc', whole]) }, t.designDocument.asADocument), button(t.designDocument.saveButton, save, { class: 'button primary' })), problems, main.element),
    leave: () => { tried.stop(); return mayLeave(); },
  };
}

const viewsOf = document => document.get('views') ?? new Map();
