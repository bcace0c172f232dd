/** What is shown when somebody else has saved a document meanwhile: theirs and mine side by side. Nothing is overwritten. */
import { h, button } from '../parts/dom.js';
import { memberTable } from '../parts/member-table.js';
import { at, differences, put } from '../value/compare.js';
import { equal, parse, stringify } from '../value/json.js';
import { withRev } from '../value/json-text.js';
import { t } from '../words.js';

/**
 * The view of two edits of one document.
 *
 * @param base the text that both began with, `null` where it is no longer kept
 * @param theirs its `rev` and `text`, none where they have deleted the document
 * @param mine the text that was not saved
 * @param onTake hears the text that is to be saved on theirs
 */
export function clashView({ base, theirs, mine, onTake }) {
  const take = (label, run) => h('div', { class: 'toolbar' }, button(label, run, { class: 'button primary' }));
  if (theirs.text === null) {
    return h('div', { class: 'card' }, h('h2', {}, t.clash.somebodyElseHasDeleted),
      h('p', {}, t.clash.nothingIsOverwrittenSavedWithout),
      take(t.clash.takeOutTheRevision, () => onTake(withRev(mine, null))));
  }
  const picks = new Map();
  const start = base === null ? new Map() : parse(base);
  const sides = [{ rev: theirs.rev, label: t.clash.theirs, doc: parse(theirs.text) }, { rev: 'mine', label: t.clash.mine, doc: parse(mine) }];
  const paths = outermost(new Set(sides.flatMap(side => differences(start, side.doc).map(change => change.path))));
  const rows = () => paths.map(path => rowOf(path, start, sides, picks.get(path)));
  const table = memberTable({ hasBase: base !== null, sides, rows, picks });
  return h('div', { class: 'card' },
    h('h2', {}, t.clash.somebodyElseHasSavedMeanwhile), h('p', {}, t.clash.chooseForEachMemberThen),
    table.element, take(t.clash.takeIntoTheText, () => {
      const result = parse(stringify(sides[0].doc));
      for (const row of rows()) put(result, row.path, row.result);
      result.set('_rev', theirs.rev);
      onTake(stringify(result, 2));
    }));
}

/** The paths below no other one: where one side has changed members of an object and the other one the object itself, they are one row. */
function outermost(paths) {
  const isBelow = path => {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) if (paths.has(path.slice(0, end))) return true;
    return false;
  };
  return [...paths].filter(path => !isBelow(path));
}

/** A member of edits that are not saved, so that no server can tell what comes of them: theirs first, unless only mine has changed it. */
function rowOf(path, start, sides, pick) {
  const base = at(start, path);
  const values = [];
  for (const { rev, doc } of sides) {
    const value = at(doc, path);
    const same = values.find(group => equal(group.value, value));
    if (same) same.revs.push(rev); else values.push({ revs: [rev], value });
  }
  const changed = sides.filter(side => !equal(at(side.doc, path), base));
  const isClash = changed.some(side => !equal(at(side.doc, path), at(changed[0].doc, path)));
  return {
    path, base, values, isClash, from: pick ? [] : [changed[0].rev],
    result: pick ? picked(path, base, sides, pick) : at(changed[0].doc, path),
    why: isClash ? t.memberTable.clashChoose : t.memberTable.onlyChanged(changed.map(side => side.label).join(', ')),
  };
}

function picked(path, base, sides, pick) {
  if (pick.base) return base;
  if (pick.removed) return undefined;
  return 'value' in pick ? pick.value : at(sides.find(side => side.rev === pick.rev).doc, path);
}
