/** What is shown when somebody else has saved a document meanwhile: theirs and mine side by side. Nothing is overwritten. */
import { h, button } from '../parts/dom.js';
import { memberTable } from '../parts/member-table.js';
import { parse, stringify } from '../value/json.js';
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
  const table = memberTable({
    base: base === null ? null : parse(base),
    sides: [{ rev: theirs.rev, label: t.clash.theirs, doc: parse(theirs.text) }, { rev: 'mine', label: t.clash.mine, doc: parse(mine) }],
  });
  return h('div', { class: 'card' },
    h('h2', {}, t.clash.somebodyElseHasSavedMeanwhile), h('p', {}, t.clash.chooseForEachMemberThen),
    table.element, take(t.clash.takeIntoTheText, () => {
      const result = table.result();
      result.set('_rev', theirs.rev);
      onTake(stringify(result, 2));
    }));
}
