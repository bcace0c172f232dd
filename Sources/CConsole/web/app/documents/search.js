/** What a search line asks for, and the pages of rows that answer it. Bodies are not read. */
import { ask, path } from '../api.js';
import { parse, stringify } from '../value/json.js';

const LAST = '\u{10ffff}'; // sorts behind every other character
const OPERATOR = /[<>=!"]|&&|\|\|/;
const WORD = /\b(begins|contains|exists|in|matches|missing)\b/;

const rowOf = ({ id, value }) => ({ id, rev: value.rev, isDeleted: value.deleted === true });

/**
 * Understands a search line: an exact id, `mi*`, a selector, a condition, words where there is an index of texts, or the
 * beginning of a list.
 *
 * @returns `low` and `high`, the range of ids, or a `selector`; `found` is a row of that very id, `missing` says there is none, and
 *   `words` that there is none and the `index` of texts is asked
 */
export async function understand(db, line, signal) {
  const text = line.trim();
  if (text === '' || text === '*') return {};
  if (text.startsWith('{')) return { selector: parse(text) };
  if (/^[^"=<>]+\*$/.test(text)) return { low: text.slice(0, -1), high: text.slice(0, -1) + LAST };
  const [row] = (await ask(path`${db}/_all_docs`, { method: 'POST', json: { keys: [text] }, signal, quiet: true })).json.rows;
  if (row?.id !== undefined) return { low: text, found: rowOf(row) };
  if (OPERATOR.test(text) || WORD.test(text)) {
    try {
      return { selector: parse((await ask('_condition', { method: 'POST', json: { text }, signal })).text).get('selector') };
    } catch (error) {
      // “made-in” has a word of conditions, and is the beginning of an id.
      if (error.error !== 'bad_condition' || OPERATOR.test(text)) throw error;
    }
  }
  const index = await textIndex(db, signal);
  if (index) return { selector: new Map([['$text', text]]), words: text, index: [index.ddoc, index.name] };
  return { low: text, missing: true };
}

/** An index of texts, of all documents if there is one, and of all their texts. */
async function textIndex(db, signal) {
  const { indexes } = (await ask(path`${db}/_index`, { signal, quiet: true })).json;
  const width = ({ def }) => (Object.keys(def.partial_filter_selector ?? def.selector ?? {}).length ? 0 : 2) + (def.fields.length ? 0 : 1);
  return indexes.filter(index => index.type === 'text').sort((one, other) => width(other) - width(one))[0];
}

/** Pages of ids, for `keyList`. A document of that very id that is deleted stands first, since the list has it not. */
export function listed(db, { low, high, found }, from, signal) {
  const read = async query => (await ask(path`${db}/_all_docs`, { query, signal })).json.rows;
  const given = (name, value) => value === undefined ? {} : { [name]: JSON.stringify(value) };
  return {
    isFirst: from === undefined && (low === undefined || high !== undefined),
    async load(key, limit) {
      const rows = await read({ limit: limit + 1, ...given('startkey', key ?? from ?? low), ...given('endkey', high) });
      const page = rows.slice(0, limit).map(rowOf);
      return { rows: key === null && found?.isDeleted && from === undefined ? [found, ...page] : page, next: rows[limit]?.id ?? null };
    },
    async loadBefore(key, limit) {
      const asked = { limit: limit + 2, descending: true, startkey: JSON.stringify(key), ...(high !== undefined && given('endkey', low)) };
      const rows = (await read(asked)).filter(row => row.id !== key);
      return { rows: rows.slice(0, limit).reverse().map(rowOf), isFirst: rows.length <= limit };
    },
  };
}

/** Pages of what a selector finds, for `keyList`, by an index if one is given; `onFacts` hears what it has cost so far. */
export function selected(db, { selector, index }, signal, onFacts) {
  const costs = new Map();
  return {
    async load(bookmark, limit) {
      const text = stringify({ selector, fields: ['_id', '_rev'], limit, execution_stats: true, bookmark: bookmark ?? undefined, use_index: index });
      const answer = (await ask(path`${db}/_find`, { method: 'POST', text, signal })).json;
      const { total_docs_examined: docs = 0, total_keys_examined: keys = 0 } = answer.execution_stats ?? {};
      costs.set(bookmark, Math.max(docs, keys));
      onFacts({ looked: [...costs.values()].reduce((sum, one) => sum + one, 0), warning: answer.warning });
      return {
        rows: answer.docs.map(({ _id, _rev }) => ({ id: _id, rev: _rev, isDeleted: false })),
        next: answer.docs.length < limit ? null : answer.bookmark,
      };
    },
  };
}
