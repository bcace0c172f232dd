/** A stored replication as a form: a new one, or one there is. */
import { ask } from '../api.js';
import { serverLink } from '../router.js';
import { h, button, field, head, replace } from '../parts/dom.js';
import { toast } from '../parts/toast.js';
import { errorBox, unsaved, resting } from '../parts/panel.js';
import { partsOf, readReplication, saveReplication } from '../replications/stored.js';
import { sideFields } from '../replications/side.js';
import { parse, stringify } from '../value/json.js';
import { t } from '../words.js';

const FILTERS = { all: t.replicate.allDocuments, selector: t.replicate.bySelector, doc_ids: t.replicate.byIds, filter: t.replicate.byFunction };
const KINDS = Object.keys(FILTERS).filter(kind => kind !== 'all'); // members of a document
const OTHER_WAY = '-back'; // what the name of the second document ends with

const decoded = text => { try { return decodeURIComponent(text); } catch { return text; } };

/** The filter of a document as text, and back. */
function textOf(kind, value) {
  if (value === undefined || value === null) return '';
  return kind === 'doc_ids' ? value.map(decoded).join('\n') : kind === 'filter' ? value : stringify(value, 2);
}

function valueOf(kind, text) {
  // The server decodes ids, so only what would be decoded is encoded.
  if (kind === 'doc_ids') return text.split(/\r?\n/).filter(Boolean).map(id => id.replaceAll('%', '%25'));
  if (kind === 'filter') return text.trim();
  const value = parse(text);
  if (!(value instanceof Map)) throw new Error(t.replicate.aSelectorIsAnObject);
  return value;
}

export default async function page({ id, signal, setTitle, setSame }) {
  const isNew = id === undefined;
  const { database, name } = isNew ? { database: '_replicator', name: '' } : partsOf(id);
  const heading = isNew ? t.replicate.aNewReplication : t.replicate.editOf(name);
  setTitle(heading);
  setSame({ url: '_scheduler/docs', settle: ['replications', ['list', {}]] });
  const found = isNew ? null : await readReplication(database, name, signal);
  if (!isNew && !found) throw new Error(t.replicate.thereIsNone(name));
  const document = found?.document ?? new Map();
  const [problems, names] = [h('div'), h('datalist', { id: 'databases' })];
  const [source, target] = [['source', t.common.from], ['target', t.common.to]].map(([member, legend]) => sideFields(legend, document.get(member), names.id));
  const called = h('input', { value: name, readOnly: !isNew, autocapitalize: 'off', spellcheck: 'false', required: true });
  const continuous = h('input', { type: 'checkbox', checked: isNew || document.get('continuous') === true });
  const creates = h('input', { type: 'checkbox', checked: document.get('create_target') === true });
  const ways = h('select', {}, h('option', { value: 'one' }, t.replicate.oneWay), h('option', { value: 'both' }, t.replicate.bothWays));
  const texts = {};
  const filter = h('select', { on: { change: draw } }, Object.entries(FILTERS).map(([value, label]) => h('option', { value }, label)));
  const area = h('textarea', { rows: 4, spellcheck: 'false', class: 'mono', on: { input: () => { texts[filter.value] = area.value; } } });
  const [label, hint, second] = [h('span'), h('small', { class: 'muted' }), h('small', { class: 'muted' })];
  const text = h('label', { class: 'field' }, label, area, hint);
  // A filter may be there and let nothing pass: a list without ids.
  const has = kind => (document.get(kind) ?? null) !== null;
  texts.all = '';
  for (const kind of KINDS) {
    texts[kind] = textOf(kind, document.get(kind));
    if (has(kind)) filter.value = kind;
  }
  const stored = { ...texts };
  draw();

  function draw() {
    const kind = filter.value;
    text.hidden = kind === 'all';
    area.required = kind !== 'all' && !(has(kind) && stored[kind] === '');
    area.value = texts[kind];
    label.textContent = FILTERS[kind];
    area.placeholder = kind === 'selector' ? '{"type": "note"}' : kind === 'filter' ? 'app/mine' : '';
    hint.textContent = kind === 'doc_ids' ? t.upkeep.oneALine : kind === 'filter' ? t.replicate.ofTheSource : '';
    drawSecond();
  }

  function drawSecond() {
    second.textContent = ways.value === 'both' ? t.replicate.secondDocument(called.value + OTHER_WAY) : '';
  }

  /** The document as the form says it; what the form doesn't show stays. */
  function typed() {
    const made = new Map(document);
    const kind = filter.value;
    for (const other of KINDS) if (other !== kind) made.delete(other);
    if (kind !== 'filter') made.delete('query_params');
    if (kind !== 'all' && !(has(kind) && texts[kind] === stored[kind])) made.set(kind, valueOf(kind, area.value));
    made.set('source', source.value()).set('target', target.value());
    made.set('continuous', continuous.checked).set('create_target', creates.checked);
    return made;
  }

  const written = new Set(); // names that an attempt before this one has stored

  async function store(key, made) {
    const known = written.has(key) ? await readReplication(database, key, signal) : key === name ? found : null;
    await saveReplication(database, key, made, known ?? {});
    written.add(key);
  }

  async function save() {
    replace(problems);
    try {
      const made = typed();
      if (isNew) await ask('_replicator', { method: 'PUT', quiet: true }).catch(error => { if (error.status !== 412) throw error; });
      await store(called.value, made);
      if (ways.value === 'both') {
        const back = new Map([...made, ['source', made.get('target')], ['target', made.get('source')], ['create_target', false]]);
        await store(called.value + OTHER_WAY, back);
      }
      done = look();
      toast(isNew ? t.replicationActions.isStarted(called.value) : t.replicate.isSaved(called.value));
      if (!signal.aborted) location.hash = ways.value === 'both' ? serverLink('replications') : serverLink('replication', `${database}/${called.value}`);
    } catch (error) {
      replace(problems, errorBox(error));
      problems.scrollIntoView({ block: 'nearest' });
    }
  }

  const form = h('form', { class: 'stack', on: { submit: event => { event.preventDefault(); resting(form, save); }, input: drawSecond } },
    field(t.common.name, called), h('div', { class: 'tiles' }, source.element, target.element),
    isNew && field(t.replicate.direction, ways, second),
    h('label', {}, continuous, ` ${t.replicate.continuous}`), h('label', {}, creates, ` ${t.replicate.createTheTarget}`),
    field(t.replicate.whatIsReplicated, filter), text, names, h('p', { class: 'muted' }, t.replicate.passwordsAreStored), problems,
    h('div', { class: 'toolbar' }, h('button', { class: 'button primary' }, isNew ? t.common.create : t.common.save),
      button(t.dialog.cancel, () => { location.hash = isNew ? serverLink('replications') : serverLink('replication', id); })));
  const look = () => [...form.querySelectorAll('input,select,textarea')].map(one => one.type === 'checkbox' ? one.checked : one.value).join('\n');
  let done = look();
  ask('_all_dbs', { query: { limit: 1000 }, signal, quiet: true })
    .then(answer => replace(names, answer.json.map(one => h('option', { value: one }))), () => {});
  return { element: h('div', {}, head(heading), form), leave: unsaved(() => look() !== done, signal) };
}
