/** All replications of the server, with their states and reasons: stored ones, and those that a request has begun. */
import { ask } from '../api.js';
import { serverLink } from '../router.js';
import { h, bdi, head, icon, tableHead, button } from '../parts/dom.js';
import { panel, stateBox } from '../parts/panel.js';
import { actionsOf, stateOf } from '../replications/actions.js';
import { readStopped } from '../replications/stored.js';
import { nameHere } from '../replications/side.js';
import { number, t } from '../words.js';

const PAGE = 100;
const ALL = 10_000; // jobs, of which those without a document are shown

/** An address for people: a database of this server has its name alone. */
const shortly = url => nameHere(url) ?? url ?? '';

export default function page({ signal, setTitle, setSame, setKeys }) {
  setTitle(t.common.replications);
  setSame({ url: '_scheduler/docs', settle: ['replications', ['list', {}]] });
  let skip = 0;
  const problems = h('div');
  const list = panel(load, show, { label: t.replications.readingTheReplications, again: 5000, signal });

  async function load() {
    const at = skip;
    const stored = (await ask('_scheduler/docs', { query: { limit: PAGE, skip: at }, signal, quiet: true })).json;
    if (at > 0) return { ...stored, at, stopped: new Map(), transient: [] };
    const [stopped, { jobs }] = await Promise.all([readStopped('_replicator', signal),
      ask('_scheduler/jobs', { query: { limit: ALL }, signal, quiet: true }).then(answer => answer.json)]);
    return { ...stored, at, stopped, transient: jobs.filter(job => job.doc_id === null) };
  }

  function show({ total_rows: total, docs, at, stopped, transient }) {
    const urlOf = side => side instanceof Map ? side.get('url') : side;
    const waiting = [...stopped].map(([name, one]) => (
      { database: '_replicator', doc_id: name, source: urlOf(one.get('source')), target: urlOf(one.get('target')), state: 'paused' }));
    if (total + waiting.length + transient.length === 0) return stateBox({ title: t.replications.thereIsNoStoredReplication });
    return [
      h('div', { class: 'scroll' }, h('table', { class: 'cards' },
        tableHead([t.replications.replication, t.common.from, t.common.to, t.common.state, t.replications.written, '']),
        h('tbody', {}, [...docs, ...waiting, ...transient].map(row)))),
      total > PAGE && h('div', { class: 'toolbar' }, t.replications.to(number(at + 1), number(at + docs.length), number(total)),
        button(t.replications.before, () => { skip = Math.max(0, at - PAGE); list.reload(); }, { disabled: at === 0 }),
        button(t.replications.after, () => { skip = at + PAGE; list.reload(); }, { disabled: at + docs.length >= total })),
    ];
  }

  function row(job) {
    const isTransient = job.doc_id === null;
    const id = isTransient ? `_replicate/${job.id}` : `${job.database}/${job.doc_id}`;
    return h('tr', { 'data-key': id },
      h('th', { scope: 'row' }, h('a', { href: serverLink('replication', id) }, bdi(isTransient ? job.id : job.doc_id)),
        isTransient && [' ', h('span', { class: 'chip' }, t.replications.transient)]),
      h('td', { 'data-label': t.replications.from }, bdi(shortly(job.source))), h('td', { 'data-label': t.replications.toLabel }, bdi(shortly(job.target))),
      h('td', { 'data-label': t.replications.state }, stateOf(job)),
      h('td', { class: 'num', 'data-label': t.replications.writtenLabel }, number(job.info?.docs_written ?? 0)),
      h('td', { class: 'act' }, actionsOf(job, { isShort: true, problems, onDone: list.reload })));
  }

  setKeys([{ key: 'c', text: t.replications.new, run: () => { location.hash = serverLink('replicate'); } }]);
  list.reload();
  return {
    element: h('div', {}, head(t.common.replications,
      h('a', { class: 'button primary', href: serverLink('replicate') }, icon('plus'), t.replications.new)), problems, list.element),
  };
}
