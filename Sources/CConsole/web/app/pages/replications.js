/** All replications of the server, with their states and reasons. */
import { ask, address, path } from '../api.js';
import { readDocument } from '../documents/reading.js';
import { deleteDocument, saveDocument } from '../documents/writing.js';
import { link } from '../router.js';
import { h, bdi, tableHead, button, field } from '../parts/dom.js';
import { panel } from '../parts/panel.js';
import { dialog } from '../parts/dialog.js';
import { parse } from '../value/json.js';
import { number } from '../words.js';

const PAGE = 100;

export default function page({ signal, setTitle, setSame }) {
  setTitle('Replications');
  setSame({ url: '_scheduler/docs', settle: 'settle replications URL' });
  let skip = 0;
  const list = panel(async () => (await ask('_scheduler/docs', { query: { limit: PAGE, skip }, signal, quiet: true })).json, show, { label: 'Reading the replications' });

  function show({ total_rows: total, docs }) {
    if (total === 0) return h('p', { class: 'muted' }, 'There is no stored replication yet.');
    return [
      h('div', { class: 'scroll' }, h('table', { class: 'cards' },
        tableHead(['Replication', 'From', 'To', 'State', 'Written', '']),
        h('tbody', {}, docs.map(row)))),
      h('div', { class: 'toolbar' }, `${number(skip + 1)} to ${number(skip + docs.length)} of ${number(total)}`,
        button('Before', () => { skip = Math.max(0, skip - PAGE); list.reload(); }, { disabled: skip === 0 }),
        button('After', () => { skip += PAGE; list.reload(); }, { disabled: skip + docs.length >= total })),
    ];
  }

  function row(job) {
    const reason = job.info?.error;
    return h('tr', {},
      h('th', { scope: 'row' }, h('a', { href: link(['replication', `${job.database}/${job.doc_id}`]) }, bdi(job.doc_id))),
      h('td', { 'data-label': 'from' }, bdi(job.source ?? '')), h('td', { 'data-label': 'to' }, bdi(job.target ?? '')),
      h('td', { 'data-label': 'state' }, h('span', { class: ['crashing', 'failed', 'error'].includes(job.state) ? 'bad' : 'good' }, job.state ?? 'waits'), reason && ['. ', bdi(reason)]),
      h('td', { class: 'num', 'data-label': 'written' }, number(job.info?.docs_written ?? 0)),
      h('td', {}, button('Remove…', () => remove(job), { class: 'button small', 'aria-label': `Remove ${job.doc_id}…` })));
  }

  async function create() {
    const inputs = {
      name: h('input', { required: true }), source: h('input', { required: true, placeholder: 'database or address' }), target: h('input', { required: true, placeholder: 'database or address' }),
      continuous: h('input', { type: 'checkbox', checked: true }), create: h('input', { type: 'checkbox' }), selector: h('input', { placeholder: '{"type": "note"}' }),
    };
    const made = await dialog({
      title: 'A new replication',
      body: h('div', { class: 'stack' }, field('Name', inputs.name), field('From', inputs.source), field('To', inputs.target),
        field('Only documents by a selector', inputs.selector), h('label', {}, inputs.continuous, ' goes on with new changes'), h('label', {}, inputs.create, ' creates the target'),
        h('p', { class: 'muted' }, 'A password in an address is stored in the document, and shown to administrators.')),
      actions: [{ label: 'Create', kind: 'primary', run: async () => {
        const doc = { source: urlOf(inputs.source.value), target: urlOf(inputs.target.value), continuous: inputs.continuous.checked, create_target: inputs.create.checked };
        if (inputs.selector.value) { parse(inputs.selector.value); doc.selector = JSON.parse(inputs.selector.value); }
        await ask('_replicator', { method: 'PUT', quiet: true }).catch(error => { if (error.status !== 412) throw error; });
        await saveDocument('_replicator', inputs.name.value, JSON.stringify(doc));
        return true;
      } }],
    });
    if (made) list.reload();
  }

  /** A name means a database of this server. */
  const urlOf = text => /^[a-z]+:[/][/]/.test(text) ? text : address(path`${text}`).href;

  async function remove(job) {
    const gone = await dialog({
      title: `Remove ${job.doc_id}`, body: h('p', {}, 'The replication stops. What it has brought stays.'),
      actions: [{ label: 'Remove', kind: 'danger', run: async () => {
        const { rev } = await readDocument(job.database, job.doc_id);
        await deleteDocument(job.database, job.doc_id, rev);
        return true;
      } }],
    });
    if (gone) list.reload();
  }

  list.reload();
  const timer = setInterval(() => { if (!document.hidden) list.reload(); }, 5000);
  return {
    element: h('div', {}, h('h1', {}, 'Replications'), h('div', { class: 'toolbar' }, button('+ New', create)), list.element),
    leave: () => clearInterval(timer),
  };
}
