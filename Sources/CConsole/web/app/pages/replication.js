/** One replication: its state, its speed, and its history. */
import { ask, path } from '../api.js';
import { h, bdi } from '../parts/dom.js';
import { panel } from '../parts/panel.js';
import { sparkLine } from '../parts/spark-line.js';
import { number } from '../words.js';

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
    return { job, history: more?.history ?? [] };
  }

  function show({ job, history }) {
    const info = job.info ?? {};
    const shown = [['From', job.source], ['To', job.target], ['State', job.state], ['Reason', info.error], ['Changes to go', info.changes_pending], ['Documents read', info.docs_read],
      ['Documents written', info.docs_written], ['Refused by the target', info.doc_write_failures], ['Missing revisions found', info.missing_revisions_found]];
    return [
      h('dl', { class: 'keys' }, shown.filter(([, value]) => value !== undefined && value !== null).map(([label, value]) => [h('dt', {}, label), h('dd', {}, bdi(typeof value === 'number' ? number(value) : value))])),
      history.length > 0 && [h('h2', {}, 'History'), h('ol', {}, history.slice(0, 20).map(entry => h('li', {}, `${entry.timestamp} ${entry.type}`, entry.reason && [': ', bdi(entry.reason)])))],
    ];
  }

  main.reload();
  const timer = setInterval(() => { if (!document.hidden) main.reload(); }, 2000);
  return { element: h('div', {}, h('h1', {}, bdi(name)), h('div', { class: 'card' }, speed.element), main.element), leave: () => clearInterval(timer) };
}
