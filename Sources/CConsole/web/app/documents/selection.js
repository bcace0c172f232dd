/**
 * The documents that somebody has selected in a list. A selection belongs to ids: rows may be dropped, sorted and read again, and a newer
 * revision of a selected document that is shown is selected in place of the one before.
 */
import { toast } from '../parts/toast.js';
import { h, bdi, button, replace, visible } from '../parts/dom.js';
import { t } from '../words.js';

const MOST = 100; // refused documents that are listed

/**
 * A selection.
 *
 * @param rows tells the rows of the list in their order, each with `id` and `rev`
 * @param redraw draws the rows in sight again
 * @param acts what can be done with it: a label, what runs, and a kind
 */
export function selection({ rows, redraw, acts, onChange }) {
  const chosen = new Map(); // the revisions by ids
  const items = new WeakMap(); // of drawn rows
  let anchor = null; // the id from which a range goes
  const count = h('strong', { role: 'status' });
  const bar = h('div', { class: 'toolbar bulk', hidden: true }, count,
    acts.map(({ label, run, kind = '' }) => button(label, run, { class: `button ${kind}` })), button(t.selection.clear, clear));
  const all = h('input', { type: 'checkbox', 'aria-label': t.selection.allRowsRead, on: { change: () => { choose(rows(), all.checked); redraw(); } } });
  const isOpen = row => !row.isDeleted;

  function tell() {
    count.textContent = t.selection.selected(chosen.size);
    bar.hidden = chosen.size === 0;
    const open = rows().filter(isOpen);
    const inList = open.filter(row => chosen.has(row.id)).length;
    all.checked = inList > 0 && inList === open.length;
    all.indeterminate = inList > 0 && inList < open.length;
    onChange(chosen.size);
  }

  function choose(some, isChosen) {
    for (const { id, rev } of some.filter(isOpen)) if (isChosen) chosen.set(id, rev); else chosen.delete(id);
    tell();
  }

  /** Chooses one row, or all from the last one on. */
  function chooseTo(row, isChosen, isRange) {
    const list = rows();
    const [from, to] = [list.findIndex(one => one.id === anchor), list.findIndex(one => one.id === row.id)];
    choose(isRange && from >= 0 && to >= 0 ? list.slice(Math.min(from, to), Math.max(from, to) + 1) : [row], isChosen);
    anchor = row.id;
  }

  function clear() {
    chosen.clear();
    anchor = null;
    redraw();
    tell();
  }

  return {
    bar, all, chosen, clear, tell,
    /** The cell of a row in which it is selected. */
    cell(row) {
      if (chosen.has(row.id)) chosen.set(row.id, row.rev);
      const box = h('input', {
        type: 'checkbox', checked: chosen.has(row.id), disabled: row.isDeleted, 'aria-label': t.selection.select(visible(row.id)),
        on: { click: event => { chooseTo(row, box.checked, event.shiftKey); redraw(); } },
      });
      const cell = h('td', {}, box);
      items.set(cell, row);
      return cell;
    },
    /** A space on a row selects it, and an arrow with Shift the row that it leads to. */
    onKey(event) {
      const line = document.activeElement.closest?.('tr');
      const row = line && items.get(line.cells[0]);
      if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
      const isRange = event.shiftKey && /^Arrow(Up|Down)$/.test(event.key);
      if (!isRange && (event.key !== ' ' || document.activeElement.matches('input'))) return;
      event.preventDefault();
      chooseTo(row, isRange || !chosen.has(row.id), isRange);
      redraw();
    },
  };
}

/** What became of many documents: a sentence, and those that the server has refused, with its reasons, which stay on the page. */
export function outcome(place, sentence, { done, refused }, action) {
  if (done > 0 || refused.length === 0) toast(sentence, action);
  replace(place, refused.length > 0 && [
    h('p', { class: 'warn', role: 'status' }, t.selection.refused(refused.length)),
    h('ul', { class: 'refused' }, refused.slice(0, MOST).map(({ id, error, reason }) => h('li', {}, bdi(id), `: ${error}`, reason && [': ', bdi(reason)]))),
    refused.length > MOST && h('p', { class: 'muted' }, t.settle.andMore(refused.length - MOST)),
  ]);
}
