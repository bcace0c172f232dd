/** All replications of the server, with their states and reasons. */
import { ask, address, path } from '../api.js';
import { readDocument } from '../documents/reading.js';
import { deleteDocument, saveDocument } from '../documents/writing.js';
import { serverLink } from '../router.js';
import { session } from '../session.js';
import { h, bdi, tableHead, button, field, head, icon } from '../parts/dom.js';
import { panel, dialog, stateBox } from '../parts/panel.js';
import { parse } from '../value/json.js';
import { number, t } from '../words.js';

const PAGE = 100;

export default function page({ signal, setTitle, setSame }) {
  setTitle(t.common.replications);
  setSame({ url: '_scheduler/docs', settle: ['replications', ['list', {}]] });
  let skip = 0;
  const list = panel(async () => (await ask('_scheduler/docs', { query: { limit: PAGE, skip }, signal, quiet: true })).json, show, { label: t.replications.readingTheReplications, again: 5000, signal });

  function show({ total_rows: total, docs }) {
    if (total === 0) return stateBox({ title: t.replications.thereIsNoStoredReplication });
    return [
      h('div', { class: 'scroll' }, h('table', { class: 'cards' },
        tableHead([t.replications.replication, t.common.from, t.common.to, t.common.state, t.replications.written, '']),
        h('tbody', {}, docs.map(row)))),
      h('div', { class: 'toolbar' }, t.replications.to(number(skip + 1), number(skip + docs.length), number(total)),
        button(t.replications.before, () => { skip = Math.max(0, skip - PAGE); list.reload(); }, { disabled: skip === 0 }),
        button(t.replications.after, () => { skip += PAGE; list.reload(); }, { disabled: skip + docs.length >= total })),
    ];
  }

  function row(job) {
    const reason = job.info?.error;
    const isBad = ['crashing', 'failed', 'error'].includes(job.state);
    return h('tr', { 'data-key': `${job.database}/${job.doc_id}` },
      h('th', { scope: 'row' }, h('a', { href: serverLink('replication', `${job.database}/${job.doc_id}`) }, bdi(job.doc_id))),
      h('td', { 'data-label': t.replications.from }, bdi(job.source ?? '')), h('td', { 'data-label': t.replications.toLabel }, bdi(job.target ?? '')),
      h('td', { 'data-label': t.replications.state }, h('span', { class: `pill ${isBad ? 'bad' : 'good'}` }, job.state ?? t.replications.waits), reason && ['. ', bdi(reason)]),
      h('td', { class: 'num', 'data-label': t.replications.writtenLabel }, number(job.info?.docs_written ?? 0)),
      h('td', { class: 'act' }, button(t.common.removeButton, () => remove(job), { class: 'button small', 'aria-label': t.common.removeNamed(job.doc_id) })));
  }

  /** The fields of one side: a database of this server or an address, and who logs in there. */
  function sideFields(legend, text) {
    const kind = h('select', { on: { change: draw } }, h('option', { value: 'here' }, t.replications.thisServer), h('option', { value: 'there' }, t.replications.anAddress));
    const where = h('input', { required: true, autocapitalize: 'off', spellcheck: 'false' });
    const user = h('input', { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
    const password = h('input', { type: 'password', autocomplete: 'off' });
    const label = h('span');
    function draw() {
      const isHere = kind.value === 'here';
      label.textContent = isHere ? t.replications.database : t.replications.address;
      where.placeholder = isHere ? '' : text;
      user.value = isHere ? session.name ?? '' : '';
    }
    draw();
    return {
      element: h('fieldset', { class: 'stack' }, h('legend', {}, legend), field(t.common.kind, kind), h('label', { class: 'field' }, label, where),
        field(t.replications.user, user), field(t.common.password, password)),
      /** What a replication document has of the side. */
      value() {
        const url = kind.value === 'here' ? address(path`${where.value}`).href : where.value.trim();
        if (!user.value) return { url };
        return { url, auth: { basic: { username: user.value, password: password.value } } };
      },
    };
  }

  async function create() {
    const name = h('input', { required: true });
    const [source, target] = [sideFields(t.common.from, t.replications.addressHint), sideFields(t.common.to, t.replications.addressHint)];
    const [continuous, creates] = [h('input', { type: 'checkbox', checked: true }), h('input', { type: 'checkbox' })];
    const selector = h('input', { placeholder: '{"type": "note"}' });
    const made = await dialog({
      title: t.replications.aNewReplication,
      body: h('div', { class: 'stack' }, field(t.common.name, name), source.element, target.element,
        field(t.replications.onlyDocumentsByASelector, selector), h('label', {}, continuous, t.replications.goesOnWithNewChanges), h('label', {}, creates, t.replications.createsTheTarget),
        h('p', { class: 'muted' }, t.replications.passwordsAreStored)),
      actions: [{ label: t.common.create, kind: 'primary', run: async () => {
        const doc = { source: source.value(), target: target.value(), continuous: continuous.checked, create_target: creates.checked };
        if (selector.value) { parse(selector.value); doc.selector = JSON.parse(selector.value); }
        await ask('_replicator', { method: 'PUT', quiet: true }).catch(error => { if (error.status !== 412) throw error; });
        await saveDocument('_replicator', name.value, JSON.stringify(doc));
        return true;
      } }],
    });
    if (made) list.reload();
  }

  async function remove(job) {
    const gone = await dialog({
      title: t.common.removeOfName(job.doc_id), body: h('p', {}, t.replications.theReplicationStopsWhat),
      actions: [{ label: t.common.remove, kind: 'danger', run: async () => {
        const { rev } = await readDocument(job.database, job.doc_id);
        await deleteDocument(job.database, job.doc_id, rev);
        return true;
      } }],
    });
    if (gone) list.reload();
  }

  list.reload();
  return { element: h('div', {}, head(t.common.replications, button([icon('plus'), t.replications.new], create, { class: 'button primary' })), list.element) };
}
