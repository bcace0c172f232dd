/** What was changed here and no peer has yet, with undo. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, head, tableHead } from '../parts/dom.js';
import { panel, dialog, stateBox } from '../parts/panel.js';
import { parse, stringify } from '../value/json.js';
import { differences } from '../value/compare.js';
import { moment, t } from '../words.js';

const SIGNS = { added: '+', removed: '−', changed: '~' };

export default function page({ db, signal, setTitle, setSame }) {
  setTitle(t.journal.journalTitle(db));
  setSame({ url: path`${db}/_journal`, settle: ['log', [{ db }]] });
  const list = panel(load, show, { label: t.journal.readingTheJournal });

  async function load() {
    try { return parse((await ask(path`${db}/_journal`, { signal, quiet: true })).text); } catch (error) {
      if (error.status === 412) return null;
      throw error;
    }
  }

  function show(answer) {
    if (!answer) return stateBox({ title: t.journal.thisDatabaseKeepsNoJournal, actions: [button(t.journal.keepAJournal, () => change(true), { class: 'button primary' })] });
    const entries = [...answer.get('history')].reverse();
    const stop = h('p', {}, button(t.journal.stopTheJournal, () => change(false)));
    if (entries.length === 0) return [stateBox({ art: 'together', title: t.journal.everythingIsSynchronized }), stop];
    return [
      h('p', {}, t.journal.onThatNoPeerHas(t.journal.operationsCount(answer.get('count').toNumber()), t.common.documentsCount(answer.get('pending').length))),
      h('div', { class: 'scroll' }, h('table', { class: 'cards' }, tableHead([t.journal.when, t.journal.operation, t.common.document, t.common.changes, '']), h('tbody', {}, entries.map(row)))), stop,
    ];
  }

  function row(entry) {
    const [before, after] = [entry.get('old') ?? new Map(), entry.get('new') ?? new Map()];
    const id = entry.get('id');
    return h('tr', {}, h('td', { 'data-label': t.journal.whenLabel }, moment(entry.get('timestamp').toNumber())), h('td', { 'data-label': t.journal.operationLabel }, entry.get('operation')),
      h('th', { scope: 'row' }, h('a', { href: link([db, 'doc', id]) }, bdi(id))),
      h('td', { class: 'long', 'data-label': t.journal.changes }, bdi(differences(before, after).slice(0, 6).map(change => `${SIGNS[change.kind]}${change.path}${change.after === undefined ? '' : ` ${stringify(change.after)}`}`).join('  '))),
      h('td', {}, button(t.journal.undoAll, () => undo(id), { class: 'button small', 'aria-label': t.journal.undoAllOperations(id) })));
  }

  async function change(isOn) {
    const text = isOn ? t.journal.operationsAreRecordedFromNow : t.journal.allRecordedOperationsAreForgotten;
    const done = await dialog({
      title: isOn ? t.journal.keepAJournal : t.journal.stopTheJournalHeading, body: h('p', {}, text),
      actions: [{ label: isOn ? t.journal.keep : t.journal.stop, kind: isOn ? 'primary' : 'danger', run: async () => { await ask(path`${db}/_journal`, { method: 'PUT', json: isOn }); return true; } }],
    });
    if (done) list.reload();
  }

  async function undo(id) {
    const done = await dialog({
      title: t.journal.undo(id), body: h('p', {}, t.journal.allOperationsOnThisDocument),
      actions: [{ label: t.common.undo, kind: 'danger', run: async () => { await ask(path`${db}/_journal/_undo`, { method: 'POST', json: { id } }); return true; } }],
    });
    if (done) list.reload();
  }

  list.reload();
  return { element: h('div', {}, head(t.common.journal, button(t.journal.readAgain, list.reload)), list.element) };
}
