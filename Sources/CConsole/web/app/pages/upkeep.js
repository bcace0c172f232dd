/** The upkeep of a database: its size, compaction, backups, indexes, the revision limit, and purging documents. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { commands } from '../parts/command.js';
import { h, bdi, button, field, head, pre, replace, tableHead } from '../parts/dom.js';
import { toast } from '../parts/toast.js';
import { panel, confirmByTyping, errorBox } from '../parts/panel.js';
import { bytes, moment, number, t } from '../words.js';

const EVERY = 5000;
const MOST = 100; // documents that the server purges at once
const LISTED = 10; // documents that a question lists
const BACKUPS = '/backup/settle'; // the folder in the command that makes one
/** Where `settle backup` records that it has read a database, as a list that may have nothing. */
const RECORD = { key: JSON.stringify('_local/settle-backup'), include_docs: true };

export default function page({ db, signal, setTitle, setSame }) {
  setTitle(t.upkeep.upkeepTitle(db));
  setSame({ url: path`${db}/_info`, settle: ['info', [{ db }]] });
  const problems = h('div');
  const read = async (where, query) => (await ask(where, { query, signal, quiet: true })).json;
  const facts = panel(async () => {
    const [info, details, { rows }] = await Promise.all([read(path`${db}`), read(path`${db}/_info`), read(path`${db}/_local_docs`, RECORD)]);
    return { info, details, backup: rows[0]?.doc };
  }, showFacts, { again: EVERY, signal });
  const indexes = panel(readIndexes, showIndexes, { again: EVERY, signal });

  let last = Promise.resolve();

  /** Does one thing after the other, and tells what was done or why not. A second press of Purge asks what is left to purge then. */
  function act(work, words) {
    last = last.then(() => perform(work, words));
    return last;
  }

  async function perform(work, words) {
    replace(problems);
    try {
      await work();
      if (words) toast(words);
      await Promise.all([facts.reload(), indexes.reload()]);
    } catch (error) { replace(problems, errorBox(error)); }
  }

  const post = where => ask(where, { method: 'POST', json: {} });

  function showFacts({ info, details, backup }) {
    const last = details.compaction;
    const shown = [[t.common.documents, number(info.doc_count)], [t.common.deleted, number(info.doc_del_count)],
      [t.upkeep.conflicts, number(details.conflicts.branches + details.conflicts.deletions)], [t.upkeep.attachments, number(details.attachments)],
      [t.upkeep.onDisk, bytes(details.sizes.file)], [t.upkeep.attachmentFiles, bytes(details.sizes.attachments)], [t.upkeep.inUse, bytes(info.sizes.active)],
      [t.upkeep.lastCompaction, info.compact_running ? t.upkeep.isRunning : !last ? t.upkeep.noneSince
        : last.error ? `${last.error}: ${last.reason}` : t.upkeep.hasRemoved(number(last.bodies), number(last.attachments), bytes(last.bytes))]];
    return [h('dl', { class: 'keys' }, shown.map(([label, value]) => [h('dt', {}, label), h('dd', {}, value)])),
      h('p', { class: 'toolbar' },
        button(t.upkeep.compact, () => act(() => post(path`${db}/_compact`), t.upkeep.compactionHasBegun), { disabled: info.compact_running }),
        h('span', { class: 'muted' }, t.upkeep.whatCompactionDoes)),
      h('h2', {}, t.upkeep.backup), showBackup(info, backup)];
  }

  /** The last backup, and how much was changed since: sequences begin with a number that counts changes. */
  function showBackup(info, backup) {
    const command = commands({ url: '', settle: ['backup', [{}, BACKUPS]] }).at(-1);
    if (!backup) return [h('p', {}, t.upkeep.noBackup), pre(command, t.upkeep.commandOfABackup)];
    const [now, then] = [info.update_seq, backup.update_seq].map(sequence => parseInt(sequence, 10) || 0);
    const finished = Date.parse(backup.finished);
    return h('p', {}, t.upkeep.lastBackup(Number.isNaN(finished) ? '–' : moment(finished), Math.max(0, now - then)), ' ',
      h('small', { class: 'muted mono' }, bdi(backup.moment ?? '')));
  }

  /** Views by their design documents, and indexes of queries. */
  async function readIndexes() {
    const [{ rows }, { indexes: made }] = await Promise.all([read(path`${db}/_design_docs`), read(path`${db}/_index`, { status: true })]);
    const own = new Set(made.map(index => index.ddoc));
    const views = await Promise.all(rows.filter(row => !own.has(row.id)).map(async ({ id }) => {
      // One without views has no index.
      const found = (await read(`${path`${db}/${id}`}/_info`).catch(() => null))?.view_index;
      return found && { id, label: id.slice('_design/'.length), kind: t.upkeep.views, size: found.sizes.file, pending: found.updates_pending.total };
    }));
    const stored = made.filter(index => index.ddoc);
    return [...views.filter(Boolean), ...stored.map(index => ({ id: index.ddoc, label: index.name, kind: t.upkeep.queries, ...index }))];
  }

  function showIndexes(rows) {
    return [rows.length === 0 ? h('p', { class: 'muted' }, t.common.none) : h('div', { class: 'scroll' }, h('table', { class: 'cards' },
      tableHead([t.common.name, t.common.kind, t.upkeep.size, t.upkeep.changesToRead], index => index > 1),
      h('tbody', {}, rows.map(row => h('tr', { 'data-key': `${row.id} ${row.label}` },
        h('th', { scope: 'row' }, h('a', { href: link([db, 'doc', row.id]) }, bdi(row.label))), h('td', { 'data-label': t.common.kind }, row.kind),
        h('td', { class: 'num', 'data-label': t.upkeep.size }, bytes(row.size ?? 0)),
        h('td', { class: 'num', 'data-label': t.upkeep.changesToRead }, number(row.pending ?? 0))))))),
    h('p', { class: 'toolbar' }, button(t.upkeep.cleanUp, () => act(() => post(path`${db}/_view_cleanup`), t.upkeep.isCleanedUp)),
      h('span', { class: 'muted' }, t.upkeep.whatCleaningDoes))];
  }

  const limit = h('input', { type: 'number', min: 1, required: true });
  const limits = panel(async () => read(path`${db}/_revs_limit`), value => {
    limit.value = value;
    return h('form', { class: 'toolbar', on: { submit: saveLimit } }, field(t.upkeep.revisionLimit, limit, t.upkeep.whatTheLimitDoes),
      h('button', { class: 'button' }, t.common.save));
  });

  function saveLimit(event) {
    event.preventDefault();
    act(() => ask(path`${db}/_revs_limit`, { method: 'PUT', json: Number(limit.value) }), t.common.saved);
  }

  const ids = h('textarea', { rows: 3, spellcheck: 'false', class: 'mono' });

  /** Purges documents with all their leaves, which are looked up first. */
  async function purge() {
    // Spaces around an id belong to it.
    const lines = () => ids.value.split(/\r?\n/).filter(Boolean);
    const typed = () => [...new Set(lines())];
    if (typed().length === 0) { ids.focus(); return; }
    await act(async () => {
      const asked = typed();
      if (asked.length === 0) return;
      if (asked.length > MOST) throw new Error(t.upkeep.atMost(MOST));
      const query = { style: 'all_docs', filter: '_doc_ids' };
      const { results } = (await ask(path`${db}/_changes`, { method: 'POST', query, json: { doc_ids: asked }, signal })).json;
      const found = Object.fromEntries(results.map(row => [row.id, row.changes.map(change => change.rev)]));
      const missing = asked.filter(id => !Object.hasOwn(found, id));
      if (missing.length) throw new Error(t.upkeep.areMissing(missing.map(t.upkeep.anId).join(', ')));
      const title = t.upkeep.purgeCount(asked.length);
      const gone = await confirmByTyping({
        title, text: t.upkeep.whatPurgingDoes(Object.values(found).flat().length), more: listOf(asked), word: String(asked.length), action: title,
        run: () => ask(path`${db}/_purge`, { method: 'POST', json: found }),
      });
      if (!gone) return;
      ids.value = lines().filter(id => !asked.includes(id)).join('\n');
      toast(t.upkeep.isPurged(Object.values(gone.json.purged).flat().length));
    });
  }

  /** The first of some ids in quotes, with all their spaces, and how many more there are. */
  function listOf(asked) {
    const rest = asked.length - LISTED;
    return h('ul', {}, asked.slice(0, LISTED).map(id => h('li', { class: 'spelt mono' }, bdi(t.upkeep.anId(id)))),
      rest > 0 && h('li', {}, t.upkeep.moreDocuments(rest)));
  }

  for (const one of [facts, indexes, limits]) one.reload();
  return {
    element: h('div', {}, head(t.common.upkeep), problems, facts.element,
      h('h2', {}, t.upkeep.indexes), indexes.element, h('h2', {}, t.upkeep.revisionLimit), limits.element,
      h('h2', {}, t.upkeep.purge), field(t.upkeep.idsToPurge, ids, t.upkeep.oneALine),
      h('p', {}, button(t.upkeep.purgeButton, purge, { class: 'button danger' }))),
  };
}
