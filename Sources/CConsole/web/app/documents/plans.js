/** What `_explain` answers, in words. */
import { visible } from '../parts/dom.js';
import { stringify } from '../value/json.js';
import { t } from '../words.js';

const REASONS = {
  alphabetically_comes_after: t.plans.anotherFitsAsWell,
  empty_selector: t.plans.anEmptySelectorAsks,
  excluded_by_user: t.plans.theQueryNamesAnotherOne,
  field_mismatch: t.plans.theQueryDoesNotAsk,
  is_partial: t.plans.itHasOnlySomeDocuments,
  less_overlap: t.plans.anotherOneNarrowsTheQuery,
  needs_text_search: t.plans.theQueryAsksForWords,
  sort_order_mismatch: t.plans.itHasAnotherOrder,
  too_many_fields: t.plans.anotherFitsWithFewerMembers,
  unfavored_type: t.plans.anIndexOfMembers,
};

/** The part of an index that is read. */
function rangeOf(args) {
  const isBackwards = args?.get('direction') === 'rev';
  const edge = value => (Array.isArray(value) ? value : [value]).filter(part => part !== undefined && part !== null && part !== '' && part !== '<MAX>')
    .map(part => visible(stringify(part))).join(', ');
  const keys = [edge(args?.get('start_key')), edge(args?.get('end_key'))];
  const [from, to] = isBackwards ? keys.reverse() : keys;
  const range = from && from === to ? t.plans.at(from) : from && to ? t.plans.from(from, to) : from ? t.plans.fromOfFrom(from) : to ? t.plans.upTo(to) : null;
  return { range, isBackwards };
}

/** How a query is answered, as a sentence, and whether every document is looked at. */
export function planOf(explained) {
  const index = explained.get('index');
  const { range, isBackwards } = rangeOf(explained.get('mrargs'));
  if (index?.get('type') === 'text') return { text: t.plans.theIndexOfTextsFinds(visible(index.get('name'))) };
  if (!index || (index.get('type') === 'special' && !range)) return { text: t.plans.noIndexFitsEveryDocument, isWhole: true };
  if (index.get('type') === 'special') return { text: t.plans.documentsAreReadByTheir(range) };
  return { text: t.plans.answeredByTheIndex(visible(index.get('name')), range ?? t.plans.all, isBackwards ? t.plans.backwards : '', explained.get('covering') ? t.plans.noDocumentHas : t.plans.eachDocumentThatItFinds) };
}

/** The members that an index for this query would have. */
export function wanted(explained) {
  const hinted = (explained.get('selector_hints') ?? [])[0]?.get('indexable_fields') ?? [];
  return hinted.filter(name => name !== '_id');
}

/** What became of an index of `_index` in a query: used, or passed over and why. */
export function verdict(index, explained) {
  if (!explained) return '';
  const isThat = other => other?.get('name') === index.name && (other.get('ddoc') ?? null) === (index.ddoc ?? null);
  if (isThat(explained.get('index'))) return t.plans.used;
  const found = (explained.get('index_candidates') ?? []).find(one => isThat(one.get('index')));
  const reasons = (found?.get('analysis').get('reasons') ?? []).map(reason => REASONS[reason.get('name')] ?? reason.get('name'));
  return reasons.length ? t.plans.passedOver(reasons.join(', ')) : '';
}
