/** What was changed here and no peer has yet, with undo. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, tableHead } from '../parts/dom.js';
import { panel } from '../parts/panel.js';
import { dialog } from '../parts/dialog.js';
import { parse, stringify } from '../value/json.js';
import { differences } from '../value/compare.js';
import { count, moment } from '../words.js';

const SIGNS = { added: '+', removed: '−', changed: '~' };

export default function page({ db, signal, setTitle, setSame }) {
  setTitle(`${db}: journal`);
  setSame({ url: `${encodeURIComponent(db)}/_journal`, settle: `settle log ${db}` });
  const list = panel(load, show, { label: 'Reading the journal' });

  async function load() {
    try { return parse((await ask(path`${db}/_journal`, { signal, quiet: true })).text); } catch (error) {
      if (error.status === 412) return null;
      throw error;
    }
  }

  function show(answer) {
    if (!answer) return [h('p', { class: 'muted' }, 'This database keeps no journal.'), h('p', {}, button('Keep a journal', () => change(true)))];
    const entries = [...answer.get('history')].reverse();
    const stop = h('p', {}, button('Stop the journal…', () => change(false)));
    if (entries.length === 0) return [h('p', { class: 'good' }, 'Everything is synchronized.'), stop];
    return [
      h('p', {}, `${count(answer.get('count').toNumber(), 'operation')} on ${count(answer.get('pending').length, 'document')} that no peer has yet.`),
      h('div', { class: 'scroll' }, h('table', { class: 'cards' }, tableHead(['When', 'Operation', 'Document', 'Changes', '']), h('tbody', {}, entries.map(row)))), stop,
    ];
  }

  function row(entry) {
    const [before, after] = [entry.get('old') ?? new Map(), entry.get('new') ?? new Map()];
    const id = entry.get('id');
    return h('tr', {}, h('td', { 'data-label': 'when' }, moment(entry.get('timestamp').toNumber())), h('td', { 'data-label': 'operation' }, entry.get('operation')),
      h('th', { scope: 'row' }, h('a', { href: link([db, 'doc', id]) }, bdi(id))),
      h('td', { class: 'long', 'data-label': 'changes' }, bdi(differences(before, after).slice(0, 6).map(change => `${SIGNS[change.kind]}${change.path}${change.after === undefined ? '' : ` ${stringify(change.after)}`}`).join('  '))),
      h('td', {}, button('Undo all of it…', () => undo(id), { class: 'button small', 'aria-label': `Undo all operations on ${id}…` })));
  }

  async function change(isOn) {
    const text = isOn ? 'Operations are recorded from now on, until a peer has them.' : 'All recorded operations are forgotten, and can not be undone. The documents stay.';
    const done = await dialog({
      title: isOn ? 'Keep a journal' : 'Stop the journal', body: h('p', {}, text),
      actions: [{ label: isOn ? 'Keep it' : 'Stop it', kind: isOn ? 'primary' : 'danger', run: async () => { await ask(path`${db}/_journal`, { method: 'PUT', json: isOn }); return true; } }],
    });
    if (done) list.reload();
  }

  async function undo(id) {
    const done = await dialog({
      title: `Undo ${id}`, body: h('p', {}, 'All operations on this document that no peer has yet are undone. Changes by others stay.'),
      actions: [{ label: 'Undo', kind: 'danger', run: async () => { await ask(path`${db}/_journal/_undo`, { method: 'POST', json: { id } }); return true; } }],
    });
    if (done) list.reload();
  }

  list.reload();
  return { element: h('div', {}, h('h1', {}, 'Journal'), h('div', { class: 'toolbar' }, button('Read again', list.reload)), list.element) };
}
