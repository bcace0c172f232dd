/**
 * The members in which sides differ, one in a row, the base always beside them.
 *
 *     member   base     A winner    B came      result        why
 *     /count   1        2           3           ◉ 4           clash, rule sum
 */
import { h, bdi, button, replace } from './dom.js';
import { dialog } from './panel.js';
import { differences, at, namesOf } from '../value/compare.js';
import { equal, parse, stringify } from '../value/json.js';
import { codeArea } from './code-area.js';
import { lineTable } from './line-table.js';
import { t } from '../words.js';

const LONG = 300;

/**
 * A table of members.
 *
 * @param base the document that all sides come from; `null` for none
 * @param sides revision, label, document and moments of each side
 * @param decided says of a path what came of it: value, why, isClash; without it the table decides by itself
 * @param picks what was chosen, by path: `{rev}`, `{base: true}`, `{removed: true}` or `{value}`
 * @param onPick is called after a choice
 */
export function memberTable({ base, sides, decided, picks = new Map(), onPick = () => {} }) {
  const start = base ?? new Map();
  const paths = [...new Set(sides.flatMap(side => differences(start, side.doc).map(change => change.path)))];
  const element = h('div', { class: 'scroll' });
  const undone = [];
  let current = 0;

  function own(path) {
    const changed = sides.filter(side => !equal(at(side.doc, path), at(start, path)));
    const isClash = changed.some(side => !equal(at(side.doc, path), at(changed[0].doc, path)));
    return { value: at(changed[0].doc, path), isClash, why: isClash ? t.memberTable.clashChoose : t.memberTable.onlyChanged(changed.map(side => side.label).join(', ')) };
  }

  function outcome(path) {
    const pick = picks.get(path);
    const found = decided?.(path) ?? own(path);
    return pick ? { ...found, value: picked(path, pick), why: t.memberTable.pickedByYou } : found;
  }

  function picked(path, pick) {
    if (pick.base) return at(start, path);
    if (pick.removed) return undefined;
    if ('value' in pick) return pick.value;
    return at(sides.find(side => side.rev === pick.rev)?.doc ?? new Map(), path);
  }

  function pick(path, value) {
    undone.push([path, picks.get(path)]);
    if (value) picks.set(path, value); else picks.delete(path);
    draw();
    onPick();
  }

  async function edit(path) {
    const value = outcome(path).value;
    const area = codeArea({ text: value === undefined ? '' : stringify(value, 2), label: t.memberTable.theValue(path) });
    const answer = await dialog({
      title: path, body: area.element,
      actions: [{ label: t.memberTable.take, kind: 'primary', run: () => { try { return { value: parse(area.text) }; } catch (error) { area.showError(error); return undefined; } } }],
    });
    if (answer) pick(path, answer);
  }

  function choice(path, label, value, chosen, isChosen, blame) {
    const name = `pick ${path}`;
    const input = h('input', { type: 'radio', name, checked: isChosen, 'aria-label': `${label}, ${path}`, on: { change: () => pick(path, chosen) } });
    return h('td', { class: isChosen ? 'chosen' : null, 'data-label': label },
      h('label', {}, input, ' ', text(value, at(start, path), !chosen.base)), blame && h('span', { class: 'blame' }, blame));
  }

  function row(path, index) {
    const found = outcome(path);
    const pickedNow = picks.get(path);
    return h('tr', { class: `${found.isClash ? 'clash' : ''} ${index === current ? 'current' : ''}`, 'data-path': path },
      h('th', { scope: 'row' }, bdi(path)),
      base && choice(path, t.common.baseLabel, at(start, path), { base: true }, Boolean(pickedNow?.base)),
      sides.map(side => choice(path, side.label, at(side.doc, path), { rev: side.rev }, pickedNow?.rev === side.rev, side.blame?.(path))),
      h('td', { class: 'chosen long', 'data-label': t.memberTable.result }, text(found.value, undefined, false)),
      h('td', { 'data-label': t.memberTable.why }, h('span', { class: found.isClash && !pickedNow ? 'warn' : 'muted' }, found.why), ' ',
        button(t.memberTable.edit, () => edit(path), { class: 'button small', 'aria-label': t.memberTable.editOfPath(path) }),
        button(t.common.remove, () => pick(path, { removed: true }), { class: 'button small', 'aria-label': t.common.removeOfName(path) }),
        pickedNow && button(t.common.undo, () => pick(path, null), { class: 'button small', 'aria-label': t.memberTable.takeThePickOfBack(path) })));
  }

  function draw() {
    const focused = document.activeElement?.closest?.('tr')?.dataset.path;
    replace(element, paths.length === 0
      ? h('p', { class: 'muted' }, t.memberTable.allMembersAreTheSame)
      : h('table', { class: 'members cards' },
        h('thead', {}, h('tr', {}, [t.memberTable.member, ...(base ? [t.common.base] : []), ...sides.map(side => side.title ?? side.label), t.memberTable.resultColumn, t.memberTable.whyColumn].map(name => h('th', { scope: 'col' }, name)))),
        h('tbody', {}, paths.map(row))));
    if (focused) element.querySelector(`tr[data-path="${CSS.escape(focused)}"] input`)?.focus({ preventScroll: true });
  }

  /** Moves to the next or the previous clash. */
  function move(step) {
    const clashes = paths.map((path, index) => index).filter(index => outcome(paths[index]).isClash);
    if (clashes.length === 0) return;
    current = step > 0 ? clashes.find(index => index > current) ?? clashes[0] : clashes.findLast(index => index < current) ?? clashes.at(-1);
    draw();
    const line = element.querySelector('tr.current');
    line?.scrollIntoView({ block: 'nearest' });
    line?.querySelector('input')?.focus();
  }

  draw();
  return {
    element, draw, move, paths,
    pickSide: index => { if (paths[current] && sides[index]) pick(paths[current], { rev: sides[index].rev }); },
    pickBase: () => { if (paths[current] && base) pick(paths[current], { base: true }); },
    pickNone: () => { if (paths[current]) pick(paths[current], { removed: true }); },
    editCurrent: () => { if (paths[current]) edit(paths[current]); },
    undo() {
      const last = undone.pop();
      if (!last) return;
      if (last[1]) picks.set(last[0], last[1]); else picks.delete(last[0]);
      draw();
      onPick();
    },
    /** The first side's document with all outcomes in it. */
    result() {
      const document = parse(stringify(sides[0].doc));
      for (const path of paths) put(document, path, outcome(path).value);
      return document;
    },
  };
}

function put(document, path, value) {
  const names = namesOf(path);
  const last = names.pop();
  let inner = document;
  for (const name of names) {
    if (!(inner.get(name) instanceof Map)) inner.set(name, new Map());
    inner = inner.get(name);
  }
  if (value === undefined) inner.delete(last); else inner.set(last, value);
}

function text(value, base, isBeside) {
  if (value === undefined) return h('span', { class: 'muted' }, base === undefined ? '—' : t.memberTable.removed);
  if (isBeside && equal(value, base)) return h('span', { class: 'muted', title: t.memberTable.asTheBase }, '·');
  const full = stringify(value);
  if (full.length <= LONG && !(typeof value === 'string' && value.includes('\n'))) return bdi(full);
  const spread = one => typeof one === 'string' ? one : stringify(one, 2);
  return h('details', {}, h('summary', {}, bdi(full.length > 80 ? `${full.slice(0, 80)}…` : full)),
    isBeside && base !== undefined ? lineTable(spread(base), spread(value)) : h('pre', {}, bdi(spread(value))));
}
