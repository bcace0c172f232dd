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

/**
 * How a query is answered: steps with a title, a detail and a count, and whether every document is looked at. The counts are the
 * server's, of what was read so far.
 */
export function planOf(explained, costs) {
  const index = explained.get('index');
  const kind = index?.get('type');
  const { range, isBackwards } = rangeOf(explained.get('mrargs'));
  const name = visible(index?.get('name') ?? '');
  const isWhole = !index || kind === 'special' && !range;
  const detail = `${range ?? t.plans.all}${isBackwards ? t.plans.backwards : ''}`;
  const options = explained.get('opts');
  const listed = value => value instanceof Map ? [...value].map(([field, order]) => `${field}${order === 'desc' ? t.plans.backwards : ''}`) : [];
  const [sort, fields] = [listed(options?.get('sort')), explained.get('fields')];
  const [skip, limit] = ['skip', 'limit'].map(member => explained.get(member)?.toNumber() ?? 0);
  const keys = t.plans.keysCount(costs.keys);
  const steps = [
    isWhole ? { title: t.plans.noIndexFitsEveryDocument, count: keys }
      : kind === 'text' ? { title: t.plans.theIndexOfTextsFinds(name), count: keys }
        : kind === 'special' ? { title: t.plans.documentsByTheirIDs, detail, count: keys } : { title: t.plans.rangeOfTheIndex(name), detail, count: keys },
    sort.length > 0 && { title: t.plans.inOrder(visible(sort.join(', '))), detail: t.plans.theIndexHasIt },
    explained.get('covering') ? { title: t.plans.noDocumentIsRead, detail: t.plans.theIndexHasAllFields }
      : { title: t.plans.documentsAreRead, count: t.common.documentsCount(costs.docs) },
    { title: t.plans.theSelectorIsChecked, detail: visible(stringify(explained.get('selector'))), count: t.plans.foundCount(costs.found) },
    { title: t.plans.atMost(skip, limit) },
    fields?.length > 0 && { title: t.plans.fieldsAreKept(visible(fields.join(', '))) },
  ];
  return { steps: steps.filter(Boolean), isWhole };
}

/** The members that an index for this query would have. */
export function wanted(explained) {
  const hinted = (explained.get('selector_hints') ?? [])[0]?.get('indexable_fields') ?? [];
  return hinted.filter(name => name !== '_id');
}

/** The indexes that were passed over, each with its name and the reasons that the server tells. */
export function passedOver(explained) {
  return (explained.get('index_candidates') ?? []).map(one => ({
    name: one.get('index').get('name'), reasons: one.get('analysis').get('reasons').map(reason => REASONS[reason.get('name')] ?? reason.get('name')),
  })).filter(({ reasons }) => reasons.length > 0);
}
