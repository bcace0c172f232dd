/** The conflict of the demonstration: what the server answers, what each policy would do, and the deed. */
import { link } from '../router.js';
import { h, bdi, button, pre, replace, tableHead } from '../parts/dom.js';
import { lostList, writeList } from '../parts/effect-view.js';
import { readPolicies } from '../parts/policy-form.js';
import { stringify } from '../value/json.js';
import { short, t } from '../words.js';
import { DOCUMENT, settle } from './databases.js';

/** The merge that the demonstration proposes: the server's usual one, with both counts added up. */
export async function proposed() {
  return { name: (await readPolicies()).default, rules: { '/count': 'sum' }, on_clash: 'winner' };
}

/**
 * The part of the page for a place in conflict.
 *
 * @param run does something while the page is busy
 * @param onSettled is called after it is settled
 */
export function conflictPart({ place, run, onSettled }) {
  let shown = null;
  const [outcomes, preview, answer] = [h('div'), h('div'), h('div')];
  const element = h('section', { 'aria-label': t.play.theConflict, hidden: true });

  function named(text) {
    shown.told.get('leaves').forEach((leaf, index) => { text = text.replaceAll(leaf.get('rev'), letter(index)); });
    return text;
  }
  const letter = index => String.fromCharCode(65 + index);
  const nameOf = rev => named(rev) === rev ? short(rev) : named(rev);
  const value = one => one === undefined ? '—' : bdi(stringify(one));

  function resultTable(effect) {
    return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t.conflict.theResult }, h('table', {},
      tableHead([t.memberTable.member, t.common.base, t.memberTable.valuesColumn, t.memberTable.resultColumn, t.play.why]),
      h('tbody', {}, effect.get('rows').map(row => h('tr', {}, h('th', { scope: 'row' }, bdi(row.get('path'))), h('td', {}, value(row.get('base'))),
        h('td', {}, row.get('values').map(group => h('div', {}, group.get('leaves').map(nameOf).join(' '), ' ', value(group.get('value'))))),
        h('td', {}, value(row.get('result'))), h('td', {}, bdi(named(row.get('reason')))))))));
  }

  /** The policies that settle the conflict, with what the server says of each. */
  function outcomeTable(policies) {
    return h('div', { class: 'scroll' }, h('table', { class: 'outcomes' }, h('tbody', {}, policies.filter(entry => entry.get('effect')).map(entry => {
      const [name, effect] = [entry.get('name'), entry.get('effect')];
      return h('tr', {}, h('th', { scope: 'row' }, button(name, () => run(() => choose(name)), { class: 'button small' })),
        h('td', { class: effect.get('outcome') === 'deletes' ? 'bad' : null }, bdi(named(effect.get('words')))),
        h('td', { class: 'num' }, t.effectView.lostCount(effect.get('lost_count').toNumber())));
    }))));
  }

  /** Shows what the server says a policy does. */
  async function choose(next) {
    const asked = shown;
    const plan = await settle(asked.db, asked.told, next, true);
    if (asked !== shown) return;
    const effect = plan.get('effect');
    replace(preview, h('h3', {}, typeof next === 'string' ? next : t.play.proposed),
      effect ? [h('p', {}, bdi(named(effect.get('words')))), resultTable(effect), lostList(effect, { nameOf }), writeList(plan)]
        : h('p', {}, bdi(plan.get('reason') ?? '')),
      h('div', { class: 'toolbar' }, button(t.common.settle, () => run(() => carryOut(next), true), { class: 'button primary' })));
  }

  async function carryOut(policy) {
    await settle(shown.db, shown.told, policy, false);
    await onSettled();
  }

  return {
    element, choose, carryOut,
    /** Shows the conflict of a database, or nothing; one that is shown already stays. */
    show(state) {
      if (state && shown?.db === state.db && stringify(shown.told.get('leaves')) === stringify(state.told.get('leaves'))) return;
      shown = state;
      element.hidden = !state;
      replace(preview);
      if (!state) return;
      replace(outcomes, h('h3', {}, t.play.outcomes), outcomeTable(state.told.get('policies') ?? []),
        h('div', { class: 'toolbar' }, button(t.play.proposed, () => run(async () => choose(await proposed())))));
      replace(answer, h('details', {}, h('summary', {}, t.play.whatTheServerAnswers), pre(stringify(state.told, 2), t.play.whatTheServerAnswers)));
      replace(element, h('h2', {}, t.play.conflictOn(place(state.db))),
        h('p', {}, h('a', { href: link([state.db, 'conflict', DOCUMENT]) }, t.play.openInspector)), outcomes, preview, answer);
    },
  };
}
