/** One replication: its state, its speed, what it did not replicate, and its history. */
import { ask, path } from '../api.js';
import { link, serverLink } from '../router.js';
import { h, bdi, head, tableHead } from '../parts/dom.js';
import { panel } from '../parts/panel.js';
import { sparkLine } from '../parts/spark-line.js';
import { actionsOf, stateOf } from '../replications/actions.js';
import { partsOf, readReplication, readStopped } from '../replications/stored.js';
import { nameHere } from '../replications/side.js';
import { moment, number, short, tenths, t } from '../words.js';

const KINDS = { refused: t.replication.theTargetRefuses, failed: t.replication.itFailedAndIsTried, gone: t.replication.theSourceHasNoContent, conflicted: t.replication.itsConflictCould, left: t.replication.itDoesNotPass, losing: t.replication.itIsNoWinner };
const EVENTS = Object.freeze(t.replicationEvents);
const FILTERED = { selector: t.replicate.bySelector, doc_ids: t.replicate.byIds, filter: t.replicate.byFunction };

export default function page({ id, signal, setTitle, setSame }) {
  const { database, name } = partsOf(id);
  const isTransient = database === '_replicate';
  setTitle(name);
  setSame({ url: isTransient ? path`_scheduler/jobs/${name}` : path`_scheduler/docs/${database}/${name}` });
  const speed = sparkLine({ label: t.replication.documentsASecond, shown: value => tenths(value) });
  const problems = h('div');
  const main = panel(load, show, { label: t.replication.readingTheReplication, again: 2000, signal });
  let kept = null; // what the document says, which changes only with an edit
  if (!isTransient) readReplication(database, name, signal).then(found => { kept = found?.document ?? null; main.reload(); }, () => {});

  const read = async (where, query) => (await ask(where, { query, signal, quiet: true })).json;

  async function load() {
    const job = isTransient ? await read(path`_scheduler/jobs/${name}`) : await read(path`_scheduler/docs/${database}/${name}`).catch(stoppedOr);
    const tried = (where, query) => read(where, query).catch(() => null);
    const [more, ledger] = job.id ? await Promise.all([tried(path`_scheduler/jobs/${job.id}`), tried(path`_scheduler/ledger/${job.id}`, { limit: 200 })]) : [];
    speed.pushTotal(job.info?.docs_written); // not told while nobody answers
    return { job, history: more?.history ?? [], ledger };
  }

  /** One that the server does not know may be stopped. */
  async function stoppedOr(error) {
    const document = error.status === 404 ? (await readStopped(database, signal)).get(name) : null;
    if (!document) throw error;
    const urlOf = side => side instanceof Map ? side.get('url') : side;
    return { database, doc_id: name, id: null, state: 'paused', source: urlOf(document.get('source')), target: urlOf(document.get('target')) };
  }

  function show({ job, history, ledger }) {
    const info = job.info ?? {};
    const place = url => {
      const db = nameHere(url);
      return db ? [t.replication.thisServer, h('a', { href: link([db, 'docs']) }, bdi(db))] : bdi(url ?? '');
    };
    const count = value => typeof value === 'number' ? number(value) : null;
    const time = value => value ? moment(Date.parse(value)) : null;
    const filter = kept && Object.keys(FILTERED).find(kind => kept.has(kind));
    const shown = [[t.common.from, place(job.source)], [t.common.to, place(job.target)], [t.common.state, stateOf(job)],
      [t.replication.attempts, job.error_count ? number(job.error_count) : null],
      [t.common.kind, isTransient ? t.replication.noDocument : kept && (kept.get('continuous') === true ? t.replication.continuous : t.replication.once)],
      [t.replication.filter, filter && FILTERED[filter]],
      [t.replication.since, time(job.start_time)], [t.replication.lastChange, time(job.last_updated)],
      [t.replication.changesToGo, count(info.changes_pending)], [t.replication.documentsRead, count(info.docs_read)],
      [t.replication.documentsWritten, count(info.docs_written)], [t.replication.refusedByTheTarget, count(info.doc_write_failures)],
      [t.replication.missingRevisionsFound, count(info.missing_revisions_found)]];
    const db = nameHere(job.source);
    return [
      h('div', { class: 'toolbar' }, actionsOf(job, { problems, onDone: main.reload, onRemoved: () => { location.hash = serverLink('replications'); } })),
      h('dl', { class: 'keys' }, shown.filter(([, value]) => value).map(([label, value]) => [h('dt', {}, label), h('dd', {}, value)])),
      ledger?.total_rows > 0 && [h('h2', {}, t.replication.notReplicated(number(ledger.total_rows))),
        h('div', { class: 'scroll', 'data-key': 'ledger' }, h('table', { class: 'cards' },
        tableHead([t.common.document, t.common.revision, t.replication.what, t.replication.reason, t.replication.attempts]), h('tbody', {}, ledger.rows.map(row => h('tr', { 'data-key': `${row.id} ${row.rev} ${row.kind}` },
          h('th', { scope: 'row' }, db ? h('a', { href: link([db, 'doc', row.id]) }, bdi(row.id)) : bdi(row.id)),
          h('td', { class: 'rev', 'data-label': t.replication.revision }, row.rev ? short(row.rev) : '–'), h('td', { 'data-label': t.replication.whatLabel }, KINDS[row.kind] ?? row.kind),
          h('td', { class: 'long', 'data-label': t.replication.reasonLabel }, row.status && `${row.status} `, bdi(row.reason)), h('td', { class: 'num', 'data-label': t.replication.attemptsLabel }, number(row.attempts)))))))],
      history.length > 0 && [h('h2', {}, t.replication.history), h('ol', {}, history.slice(0, 20).map(entry =>
        h('li', { 'data-key': `${entry.timestamp} ${entry.type}` }, `${moment(Date.parse(entry.timestamp))} `, EVENTS[entry.type] ?? entry.type,
          entry.reason && [': ', bdi(entry.reason)])))],
    ];
  }

  main.reload();
  return { element: h('div', {}, head(bdi(name, { class: 'mono' })), problems, h('div', { class: 'card' }, speed.element), main.element) };
}
