/** The server: what it does, and how it is set up. */
import { ask, path } from '../api.js';
import { h, bdi, button, field, head, replace } from '../parts/dom.js';
import { dialog, every, panel, tell } from '../parts/panel.js';
import { sparkLine } from '../parts/spark-line.js';
import { bytes, number, tenths, t } from '../words.js';

const EVERY = 5000;
/** The settings that the server takes over HTTP; only the first one without `live_settings`, which shows as a section `admins`. */
const LIVE = ['couchdb/users_db_security_editable', 'couchdb/max_document_size', 'couchdb/max_bulk_docs_count', 'couchdb/max_bulk_get_count',
  'chttpd/max_http_request_size', 'chttpd/decode_plus_to_space', 'chttpd/enable_cors', 'cors/credentials', 'cors/max_age', 'cors/origins', 'cors/headers',
  'cors/methods', 'text_indexes/enable'];

export default function page({ signal, setTitle, setSame }) {
  setTitle(t.common.server);
  setSame({ url: '_node/_local/_stats' });
  const problems = h('div');
  const rate = value => `${tenths(value)}/s`;
  const lines = {
    requests: sparkLine({ label: t.server.requests, shown: rate }), time: sparkLine({ label: t.server.timeOf95OfRequests, shown: value => `${tenths(value)} ms` }), failed: sparkLine({ label: t.server.answersOf4xxAnd5xx, shown: rate }),
    writes: sparkLine({ label: t.server.documentsWritten, shown: rate }), feeds: sparkLine({ label: t.server.feedsThatWait }),
    databases: sparkLine({ label: t.server.openDatabases }), memory: sparkLine({ label: t.server.memory, shown: bytes }),
  };
  let isReading = false;

  async function read() {
    if (isReading) return;
    isReading = true;
    try {
      const { couchdb: couch, settle } = (await ask('_node/_local/_stats', { signal, quiet: true })).json;
      const value = entry => entry?.value ?? 0;
      const codes = Object.entries(couch.httpd_status_codes ?? {});
      lines.requests.pushTotal(value(couch.httpd.requests));
      lines.writes.pushTotal(value(couch.document_writes));
      lines.failed.pushTotal(codes.filter(([code]) => code >= 400).reduce((sum, [, entry]) => sum + value(entry), 0));
      const [, slow] = couch.request_time.value.percentile.find(([share]) => share === 95);
      lines.time.push(slow);
      lines.feeds.push(value(couch.httpd.clients_requesting_changes));
      lines.databases.push(value(couch.open_databases));
      lines.memory.push(value(settle?.memory_bytes));
      replace(problems);
    } catch (error) { if (error.name !== 'AbortError') tell(problems, error, read); }
    isReading = false;
  }

  const settings = panel(async () => {
    const [welcome, versions, config] = await Promise.all([ask('', { signal }), ask('_node/_local/_versions', { signal }), ask('_node/_local/_config', { signal })]);
    return { welcome: welcome.json, versions: versions.json, config: config.json };
  }, ({ welcome, versions, config }) => [
    h('p', {}, t.server.settleAsCouchdb(versions.settle?.version ?? '', welcome.version), h('span', { class: 'mono' }, bdi(welcome.uuid ?? ''))),
    h('h2', {}, t.server.settings),
    Object.entries(config).map(([section, values]) => h('details', { 'data-key': section }, h('summary', {}, bdi(section), ' ', h('span', { class: 'chip' }, number(Object.keys(values).length))),
      h('dl', { class: 'keys' }, Object.entries(values).map(([key, value]) => [h('dt', {}, bdi(key)),
        h('dd', {}, section === 'admins' ? '…' : bdi(String(value)), ' ',
          (config.admins ? LIVE : LIVE.slice(0, 1)).includes(`${section}/${key}`)
            && button(t.server.change, () => change(section, key, value),
              { class: 'button small', 'aria-label': t.server.changeOf(`${section}/${key}`) }))])))),
    h('p', { class: 'muted' }, config.admins ? t.server.someAreChangedHere : t.server.areSetAtTheStart),
  ], { label: t.server.readingTheSettings, isKept: true });

  /** Asks for another value, or that of the start. */
  async function change(section, key, value) {
    const input = h('input', { value });
    const where = path`_node/_local/_config/${section}/${key}`;
    const isDone = await dialog({
      title: t.server.changeHeading(`${section}/${key}`), body: field(t.server.value, input, t.server.takesEffect),
      actions: [{ label: t.common.save, kind: 'primary', run: async () => { await ask(where, { method: 'PUT', json: input.value }); return true; } },
        { label: t.server.asStarted, run: async () => { await ask(where, { method: 'DELETE', whole: true }); return true; } }],
    });
    if (isDone) settings.reload();
  }

  settings.reload();
  read();
  every(EVERY, read, signal);
  return {
    element: h('div', {}, head(t.common.server), problems, h('div', { class: 'tiles' }, Object.values(lines).map(line => h('div', { class: 'card' }, line.element))), settings.element),
  };
}
