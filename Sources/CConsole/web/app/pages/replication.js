/** One replication: its state, its speed, and its history. */
import { ask, path, root } from '../api.js';
import { link } from '../router.js';
import { h, bdi, tableHead } from '../parts/dom.js';
import { panel } from '../parts/panel.js';
import { sparkLine } from '../parts/spark-line.js';
import { number, short } from '../words.js';

const KINDS = { refused: 'the target refuses it', failed: 'it failed, and is tried again', gone: 'the source has no content of it any more', conflicted: 'its conflict could not be settled', left: 'it does not pass the filter any more', losing: 'it is no winner, and only winners are replicated' };

export default function page({ id, signal, setTitle, setSame }) {
  const [database, ...rest] = (id ?? '').split('/');
  const name = rest.join('/');
  setTitle(name);
  setSame({ url: path`_scheduler/docs/${database}/${name}` });
  const speed = sparkLine({ label: 'documents a second', shown: value => value.toFixed(1) });
  let before = null;
  const main = panel(load, show, { label: 'Reading the replication' });

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
    const shown = [['From', job.source], ['To', job.target], ['State', job.state], ['Reason', info.error], ['Changes to go', info.changes_pending], ['Documents read', info.docs_read],
      ['Documents written', info.docs_written], ['Refused by the target', info.doc_write_failures], ['Missing revisions found', info.missing_revisions_found]];
    return [
      h('dl', { class: 'keys' }, shown.filter(([, value]) => value !== undefined && value !== null).map(([label, value]) => [h('dt', {}, label), h('dd', {}, bdi(typeof value === 'number' ? number(value) : value))])),
      ledger?.total_rows > 0 && [h('h2', {}, `Not brought: ${number(ledger.total_rows)}`), h('div', { class: 'scroll' }, h('table', { class: 'cards' },
        tableHead(['Document', 'Revision', 'What', 'Reason', 'Attempts']), h('tbody', {}, ledger.rows.map(row => h('tr', {},
          h('th', { scope: 'row' }, local ? h('a', { href: link([local, 'doc', row.id]) }, bdi(row.id)) : bdi(row.id)),
          h('td', { class: 'rev', 'data-label': 'revision' }, row.rev ? short(row.rev) : '–'), h('td', { 'data-label': 'what' }, KINDS[row.kind] ?? row.kind),
          h('td', { class: 'long', 'data-label': 'reason' }, row.status && `${row.status} `, bdi(row.reason)), h('td', { class: 'num', 'data-label': 'attempts' }, number(row.attempts)))))))],
      history.length > 0 && [h('h2', {}, 'History'), h('ol', {}, history.slice(0, 20).map(entry => h('li', {}, `${entry.timestamp} ${entry.type}`, entry.reason && [': ', bdi(entry.reason)])))],
    ];
  }

  main.reload();
  const timer = setInterval(() => { if (!document.hidden) main.reload(); }, 2000);
  return { element: h('div', {}, h('h1', {}, bdi(name)), h('div', { class: 'card' }, speed.element), main.element), leave: () => clearInterval(timer) };
}
