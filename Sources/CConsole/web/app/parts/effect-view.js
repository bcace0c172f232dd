/** What the server says a settlement does: the rows of its result, what is lost, and what is written. Nothing is reckoned here. */
import { h, bdi, button, card, icon, letter, replace } from './dom.js';
import { stringify } from '../value/json.js';
import { number, short, t } from '../words.js';

const LONG = 300;
const FIRST = 20;

/** The rows of an effect for a table of members. `named` calls leaves by their letters, `isPicked` says what was picked since. */
export function effectRows(effect, { named, isPicked }) {
  const isDeleted = effect.get('outcome') === 'deletes';
  return effect.get('rows').map(row => {
    const omitted = row.get('omitted') ?? [];
    return {
      path: row.get('path'), base: row.get('base'), isBaseOmitted: omitted.includes('base'),
      values: row.get('values').map(group => ({ revs: group.get('leaves'), value: group.get('value'), isOmitted: group.has('omitted') })),
      result: row.get('result'), isResultOmitted: omitted.includes('result'), isDeleted,
      from: row.get('from'), why: named(row.get('reason')), isClash: row.get('clash'),
      isWaiting: !isDeleted && isPicked(row.get('path')) !== row.get('picked'),
    };
  });
}

/** The list of what is lost, as the server tells it; empty only if it came, and is empty. */
export function lostList(effect, { nameOf }) {
  const [lost, count] = [effect.get('lost'), effect.get('lost_count').toNumber()];
  const list = h('ul', { class: 'lost' });
  const isDeletion = effect.get('outcome') === 'deletes';
  function draw(most) {
    replace(list, lost.slice(0, most).map(entry => h('li', { class: entry.get('kind') === 'document' ? 'bad' : null }, letter(nameOf(entry.get('rev'))), ' ', ...lossText(entry))),
      most < lost.length && h('li', {}, button(t.common.showMore(number(lost.length - most)), () => draw(Infinity), { class: 'button small' })),
      most >= lost.length && count > lost.length && h('li', { class: 'muted' }, t.effectView.notListed(number(count - lost.length))));
  }
  draw(FIRST);
  const box = card(t.effectView.whatIsLost, [
    effect.get('base_known') === false && h('p', { class: 'warn' }, t.effectView.removalsAreNotListed),
    count === 0 ? h('p', { class: 'muted' }, t.effectView.nothingEveryChange) : list,
  ], h('span', { class: `pill ${count === 0 ? '' : isDeletion ? 'bad' : 'warn'}` }, number(count)));
  box.setAttribute('aria-label', t.effectView.whatIsLost);
  return box;
}

function lossText(entry) {
  const [kind, place] = [entry.get('kind'), entry.get('path')];
  if (kind === 'document') return [t.effectView.theWholeDocument];
  if (kind === 'deletion') return [t.effectView.theDeletion];
  if (kind === 'removal') return [t.effectView.theRemovalOf, ' ', bdi(place)];
  if (kind === 'attachment') return [t.effectView.theAttachment, ' ', bdi(place.replace('/_attachments/', '').replaceAll('~1', '/').replaceAll('~0', '~'))];
  if (entry.has('omitted')) return [bdi(place), ' ', h('span', { class: 'muted' }, t.memberTable.tooLong)];
  const full = stringify(entry.get('value'));
  return [bdi(place), ' ', bdi(full.length > LONG ? `${full.slice(0, LONG)}…` : full)];
}

/** The revisions that would be written, and what validation functions say to them. */
export function writeList(plan) {
  const [writes, refused] = [plan.get('writes') ?? [], plan.get('refused') ?? []];
  return card(t.effectView.wouldWrite, [
    h('ul', { class: 'list small' }, writes.map(write => h('li', {}, h('span', { class: write.get('deleted') ? 'bad' : 'good' }, icon(write.get('deleted') ? 'close' : 'check')), ' ', h('span', { class: 'rev', title: write.get('rev') }, short(write.get('rev'))),
      t.effectView.on(short(write.get('parent'))), write.get('deleted') && write.get('doc')?.get('$closed') && t.effectView.closed(short(write.get('doc').get('$closed'))))),
    writes.length === 0 && h('li', {}, t.effectView.nothingOneLeafStays)),
    h('p', { class: refused.length ? 'bad' : 'good' }, refused.length
      ? t.effectView.validationRefuses(t.effectView.writesCount(refused.length), refused.map(entry => `${short(entry.get('rev'))} ${entry.get('reason')}`).join('; '))
      : t.effectView.validationAllWritesPass),
    (plan.get('warnings') ?? []).map(text => h('p', { class: 'warn' }, text)),
  ]);
}

/** What each policy does with a conflict, in words, for their cards; and why some do nothing. */
export function policyOutcomes(policies, named) {
  const outcomes = new Map(policies.map(entry => {
    const effect = entry.get('effect');
    const isDeletion = effect?.get('outcome') === 'deletes';
    return [entry.get('name'), h('span', { class: isDeletion ? 'bad' : null }, effect ? bdi(`${named(effect.get('words'))}, ${t.effectView.lostCount(effect.get('lost_count').toNumber())}`) : t.effectView.notTried)];
  }));
  return { outcomes, reasons: new Map(policies.filter(entry => entry.get('settles') === false).map(entry => [entry.get('name'), named(entry.get('reason'))])) };
}
