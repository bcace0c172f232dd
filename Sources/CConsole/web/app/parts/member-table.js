/**
 * The members in which leaves differ, one in a row, the base always beside them. The server computes the rows.
 *
 *     field    base     A winner    B           result
 *     /count   1        ○ 2         ○ 3         4, and why: a clash, decided by the rule “sum”
 *
 * Of more than four leaves each different value is one choice, with the letters of the leaves that have it.
 */
import { h, bdi, button, icon, letter, pre, replace, visible } from './dom.js';
import { dialog } from './panel.js';
import { equal, parse, stringify } from '../value/json.js';
import { codeArea } from './code-area.js';
import { lineTable } from './line-table.js';
import { number, t } from '../words.js';

const LONG = 300;
const MOST_COLUMNS = 4;
const PAGE = 200;

/**
 * A table of members, those that clash first. A row keeps its place whatever is picked.
 *
 * @param hasBase whether there is a base
 * @param sides `rev`, `name`, `label`, `title` and `blame` of each leaf; the name is a letter
 * @param rows tells the rows: path, base, values with their `revs`, result, from, why, isClash, isPicked, isWaiting; a missing
 *   value is `undefined`. It may say `isDeleted` of a document that is deleted
 * @param picks what was chosen, by path: `{rev}`, `{base: true}`, `{removed: true}` or `{value}`
 * @param onPick is called after a choice
 * @param view makes a node of a value in a leaf, `null` for one that is shown as JSON
 */
export function memberTable({ hasBase, sides, rows, picks = new Map(), onPick = () => {}, view = () => null }) {
  const element = h('div', { class: 'scroll' });
  const undone = [];
  const isByValue = sides.length > MOST_COLUMNS;
  const names = new Map(sides.map(side => [side.rev, side.name ?? side.label]));
  const places = new Map(); // whether a row clashed when it came first
  let current = 0;
  let limit = PAGE;

  /** The rows in their order, `null` where there are none yet. */
  function ordered() {
    const all = rows();
    for (const row of all ?? []) if (!places.has(row.path)) places.set(row.path, row.isClash);
    return all && [...all.filter(row => places.get(row.path)), ...all.filter(row => !places.get(row.path))];
  }

  function pick(path, value) {
    undone.push([path, picks.get(path)]);
    if (value) picks.set(path, value); else picks.delete(path);
    draw();
    onPick();
  }

  async function edit({ path, result }) {
    const area = codeArea({ text: result === undefined ? '' : stringify(result, 2), label: t.memberTable.theValue(path) });
    const answer = await dialog({
      title: path, body: area.element,
      actions: [{ label: t.memberTable.take, kind: 'primary', run: () => { try { return { value: parse(area.text) }; } catch (error) { area.showError(error); return undefined; } } }],
    });
    if (answer) pick(path, answer);
  }

  /** The group of the value that was taken; none where several were joined. */
  function takenOf({ values, from }) {
    return values.find(group => from.length > 0 && from.every(rev => group.revs.includes(rev)));
  }

  function choice(row, label, content, chosen, isTaken) {
    const input = h('input', { type: 'radio', name: `pick ${row.path}`, checked: isTaken, 'aria-label': `${label}, ${row.path}`, on: { change: () => pick(row.path, chosen) } });
    return h('label', {}, input, h('span', { class: 'v' }, content));
  }

  function isTaken(row, group, rev) {
    const now = picks.get(row.path);
    return now ? now.rev === rev : takenOf(row) === group;
  }

  const shown = (row, group, rev) => group.isOmitted ? tooLong() : view(row.path, group.value, rev) ?? text(group.value, row.base, true);

  function columns(row) {
    return sides.map(side => {
      const group = row.values.find(one => one.revs.includes(side.rev)) ?? { revs: [side.rev] };
      const taken = isTaken(row, group, side.rev);
      const blame = side.blame?.(row.path);
      // A value that two leaves have is one choice of the radio buttons, that of the first.
      return h('td', { class: taken ? 'chosen' : null, 'data-label': side.name ?? side.label },
        choice(row, side.label, shown(row, group, side.rev), { rev: side.rev }, taken && (picks.has(row.path) || group.revs[0] === side.rev)),
        blame && h('span', { class: 'blame' }, blame));
    });
  }

  function valueList(row) {
    return h('td', { 'data-label': t.memberTable.values }, h('div', { class: 'stack', role: 'radiogroup', 'aria-label': row.path }, row.values.map(group => {
      const letters = group.revs.map(rev => names.get(rev)).join(', ');
      const taken = group.revs.includes(picks.get(row.path)?.rev) || isTaken(row, group, null);
      return h('div', { class: taken ? 'chosen' : null }, choice(row, letters, [shown(row, group, group.revs[0]), h('span', { class: 'blame' }, group.revs.map(rev => letter(names.get(rev))))], { rev: group.revs[0] }, taken));
    })));
  }

  function result(row) {
    if (row.isWaiting) return h('span', { class: 'muted' }, '…');
    if (row.isResultOmitted) return tooLong();
    if (row.isDeleted) return h('span', { class: 'bad' }, t.common.deleted);
    return view(row.path, row.result, null) ?? text(row.result, undefined, false);
  }

  function rowElement(row, index) {
    const { path, base, why, isClash, isDeleted } = row;
    const isPicked = picks.has(path);
    const isAttachment = path.startsWith('/_attachments/');
    return h('tr', { class: `${isClash ? 'clash' : ''} ${index === current ? 'current' : ''}`, 'data-path': path },
      h('th', { scope: 'row' }, bdi(path)),
      hasBase && h('td', { class: picks.get(path)?.base ? 'chosen' : null, 'data-label': t.common.baseLabel },
        choice(row, t.common.baseLabel, row.isBaseOmitted ? tooLong() : view(path, base, null) ?? text(base, base, false), { base: true }, Boolean(picks.get(path)?.base))),
      isByValue ? valueList(row) : columns(row),
      h('td', { class: isDeleted ? 'result bad' : 'result', 'data-label': t.memberTable.resultColumn }, h('div', {}, h('span', { class: 'v' }, result(row)),
        h('span', { class: 'why' }, h('span', { class: isClash && !isPicked ? 'warn' : null }, isPicked ? t.memberTable.pickedByYou : why), ' ',
          !isAttachment && button(icon('edit'), () => edit(row), small(t.memberTable.editOfPath(path))),
          button(icon('trash'), () => pick(path, { removed: true }), small(t.common.removeOfName(path))),
          isPicked && button(icon('undo'), () => pick(path, null), small(t.memberTable.takeThePickOfBack(path)))))));
  }

  function draw() {
    const all = ordered();
    if (!all) { replace(element); return; }
    const focused = document.activeElement?.closest?.('tr')?.dataset.path;
    const heads = [t.memberTable.member, ...(hasBase ? [t.common.base] : []), ...(isByValue ? [t.memberTable.valuesColumn] : sides.map(side => side.title ?? side.label)), t.memberTable.resultColumn];
    const clashes = all.filter(row => places.get(row.path)).length;
    replace(element, all.length === 0
      ? h('p', { class: 'muted' }, t.memberTable.allMembersAreTheSame)
      : h('table', { class: 'members cards' },
        h('thead', {}, h('tr', {}, heads.map((name, index) => h('th', { scope: 'col', class: index === heads.length - 1 ? 'result' : null }, name)))),
        h('tbody', {}, all.slice(0, limit).map((row, index) => [
          index === clashes && h('tr', { class: 'sec' }, h('td', { colspan: heads.length }, t.memberTable.withoutAClash(all.length - clashes))), rowElement(row, index),
        ]))),
    all.length > limit && button(t.common.showMore(number(all.length - limit)), () => { limit = Infinity; draw(); }, { class: 'button' }));
    if (focused) element.querySelector(`tr[data-path="${CSS.escape(focused)}"] input`)?.focus({ preventScroll: true });
  }

  /** Moves to the next or the previous clash. */
  function move(step) {
    const all = ordered() ?? [];
    const clashes = all.map((row, index) => index).filter(index => all[index].isClash);
    if (clashes.length === 0) return;
    current = step > 0 ? clashes.find(index => index > current) ?? clashes[0] : clashes.findLast(index => index < current) ?? clashes.at(-1);
    if (current >= limit) limit = Infinity;
    draw();
    const line = element.querySelector('tr.current');
    line?.scrollIntoView({ block: 'nearest' });
    line?.querySelector('input')?.focus();
  }

  const here = () => (ordered() ?? [])[current];
  draw();
  return {
    element, draw, move,
    pickSide(index) {
      const row = here();
      const rev = isByValue ? row?.values[index]?.revs[0] : sides[index]?.rev;
      if (row && rev) pick(row.path, { rev });
    },
    pickBase: () => { if (here() && hasBase) pick(here().path, { base: true }); },
    pickNone: () => { if (here()) pick(here().path, { removed: true }); },
    editCurrent: () => { if (here() && !here().path.startsWith('/_attachments/')) edit(here()); },
    undo() {
      const last = undone.pop();
      if (!last) return;
      if (last[1]) picks.set(last[0], last[1]); else picks.delete(last[0]);
      draw();
      onPick();
    },
  };
}

const small = label => ({ class: 'button quiet small icon', 'aria-label': label, title: label });

function tooLong() { return h('span', { class: 'muted' }, t.memberTable.tooLong); }

function text(value, base, isBeside) {
  if (value === undefined) return h('span', { class: 'muted' }, base === undefined ? '—' : t.memberTable.removed);
  if (isBeside && equal(value, base)) return h('span', { class: 'muted' }, '·', h('span', { class: 'blame' }, t.memberTable.asTheBase));
  const full = stringify(value);
  if (full.length <= LONG && !(typeof value === 'string' && value.includes('\n'))) return bdi(full);
  return folded(value, full, isBeside ? base : undefined);
}

/** A long value: its beginning is shown, and the rest when it is opened. */
function folded(value, full, base) {
  const spread = one => typeof one === 'string' ? one : stringify(one, 2);
  const inside = h('div');
  const short = full.length > 80 ? `${full.slice(0, 80)}…` : full;
  const details = h('details', {
    on: { toggle: () => { if (details.open) replace(inside, base !== undefined ? lineTable(spread(base), spread(value)) : pre(spread(value), visible(short))); } },
  }, h('summary', {}, bdi(short)), inside);
  return details;
}
