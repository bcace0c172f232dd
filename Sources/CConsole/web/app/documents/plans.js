/** What `_explain` answers, in words. */
import { visible } from '../parts/dom.js';
import { stringify } from '../value/json.js';

const REASONS = {
  alphabetically_comes_after: 'another fits as well and comes first by its name',
  empty_selector: 'an empty selector asks for every document',
  excluded_by_user: 'the query names another one',
  field_mismatch: 'the query does not ask for all of its members',
  is_partial: 'it has only some documents, so a query must name it',
  less_overlap: 'another one narrows the query more',
  needs_text_search: 'the query asks for words',
  sort_order_mismatch: 'it has another order',
  too_many_fields: 'another fits with fewer members',
  unfavored_type: 'an index of members is quicker',
};

/** The part of an index that is read. */
function rangeOf(args) {
  const isBackwards = args?.get('direction') === 'rev';
  const edge = value => (Array.isArray(value) ? value : [value]).filter(part => part !== undefined && part !== null && part !== '' && part !== '<MAX>')
    .map(part => visible(stringify(part))).join(', ');
  const keys = [edge(args?.get('start_key')), edge(args?.get('end_key'))];
  const [from, to] = isBackwards ? keys.reverse() : keys;
  const range = from && from === to ? `at ${from}` : from && to ? `from ${from} to ${to}` : from ? `from ${from} on` : to ? `up to ${to}` : null;
  return { range, isBackwards };
}

/** How a query is answered, as a sentence, and whether every document is looked at. */
export function planOf(explained) {
  const index = explained.get('index');
  const { range, isBackwards } = rangeOf(explained.get('mrargs'));
  if (index?.get('type') === 'text') return { text: `The index of texts ${visible(index.get('name'))} finds the words.` };
  if (!index || (index.get('type') === 'special' && !range)) return { text: 'No index fits: every document is looked at.', isWhole: true };
  if (index.get('type') === 'special') return { text: `Documents are read by their ids, ${range}, and checked.` };
  return { text: `Answered by the index ${visible(index.get('name'))}, ${range ?? 'all of it'}${isBackwards ? ', backwards' : ''}; ${explained.get('covering') ? 'no document has to be read' : 'each document that it finds is read and checked'}.` };
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
  if (isThat(explained.get('index'))) return 'used';
  const found = (explained.get('index_candidates') ?? []).find(one => isThat(one.get('index')));
  const reasons = (found?.get('analysis').get('reasons') ?? []).map(reason => REASONS[reason.get('name')] ?? reason.get('name'));
  return reasons.length ? `passed over: ${reasons.join(', ')}` : '';
}
