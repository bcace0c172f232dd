/** One replication: its state, its speed, and its history. */
import { ask, path, root } from '../api.js';
import { link } from '../router.js';
import { h, bdi, head, tableHead } from '../parts/dom.js';
import { panel } from '../parts/panel.js';
import { sparkLine } from '../parts/spark-line.js';
import { number, short, t } from '../words.js';

const KINDS = { refused: t.replication.theTargetRefuses, failed: t.replication.itFailedAndIsTried, gone: t.replication.theSourceHasNoContent, conflicted: t.replication.itsConflictCould, left: t.replication.itDoesNotPass, losing: t.replication.itIsNoWinner };

export default function page({ id, signal, setTitle, setSame }) {
  const [database, ...rest] = (id ?? '').split('/');
  const name = rest.join('/');
  setTitle(name);
  setSame({ url: path`_scheduler/docs/${database}/${name}` });
  const speed = sparkLine({ label: t.replication.documentsASecond, shown: value => value.toFixed(1) });
  let before = null;
  const main = panel(load, show, { label: t.replication.readingTheReplication, again: 2000, signal });

  async function load() {
    const job = (await ask(path`_scheduler/docs/${database}/${name}`, { signal, quiet: true })).json;
    const more = job.id ? (await ask(path`_scheduler/jobs/${job.id}`, { signal, quiet: true }).catch(() => null))?.json : null;
    const written = job.info?.docs_written ?? 0;
    const now = performance.now();
    if (before) speed.push(Math.max(0, (written - before.written) / ((now - before.now) / 1000)));
    before = { written, now };
    const ledger = job.id ? (await ask(path`_scheduler/ledger/${job.id}`, { query: { limit: 200 }, signal, quiet: true }).catch(() => null))?.json : null;
    return { job, history: more?.history ?? [], ledger };
  }

  function show({ job, history, ledger }) {
    const info = job.info ?? {};
    // A database of this very server can be looked at here.
    const local = job.source?.startsWith(root.href) ? decodeURIComponent(job.source.slice(root.href.length).replace(/[/]$/, '')) : null;
    const shown = [[t.common.from, job.source], [t.common.to, job.target], [t.common.state, job.state], [t.replication.reason, info.error], [t.replication.changesToGo, info.changes_pending], [t.replication.documentsRead, info.docs_read],
      [t.replication.documentsWritten, info.docs_written], [t.replication.refusedByTheTarget, info.doc_write_failures], [t.replication.missingRevisionsFound, info.missing_revisions_found]];
    return [
      h('dl', { class: 'keys' }, shown.filter(([, value]) => value !== undefined && value !== null).map(([label, value]) => [h('dt', {}, label), h('dd', {}, bdi(typeof value === 'number' ? number(value) : value))])),
      ledger?.total_rows > 0 && [h('h2', {}, t.replication.notBrought(number(ledger.total_rows))), h('div', { class: 'scroll', 'data-key': 'ledger' }, h('table', { class: 'cards' },
        tableHead([t.common.document, t.common.revision, t.replication.what, t.replication.reason, t.replication.attempts]), h('tbody', {}, ledger.rows.map(row => h('tr', { 'data-key': `${row.id} ${row.rev} ${row.kind}` },
          h('th', { scope: 'row' }, local ? h('a', { href: link([local, 'doc', row.id]) }, bdi(row.id)) : bdi(row.id)),
          h('td', { class: 'rev', 'data-label': t.replication.revision }, row.rev ? short(row.rev) : '–'), h('td', { 'data-label': t.replication.whatLabel }, KINDS[row.kind] ?? row.kind),
          h('td', { class: 'long', 'data-label': t.replication.reasonLabel }, row.status && `${row.status} `, bdi(row.reason)), h('td', { class: 'num', 'data-label': t.replication.attemptsLabel }, number(row.attempts)))))))],
      history.length > 0 && [h('h2', {}, t.replication.history), h('ol', {}, history.slice(0, 20).map(entry => h('li', { 'data-key': `${entry.timestamp} ${entry.type}` }, `${entry.timestamp} ${entry.type}`, entry.reason && [': ', bdi(entry.reason)])))],
    ];
  }

  main.reload();
  return { element: h('div', {}, head(bdi(name, { class: 'mono' })), h('div', { class: 'card' }, speed.element), main.element) };
}
