/** The rows of a stored view: what is asked for, their pages, and the rows of a group. Keys are JSON as it is spelt. */
import { ask, path } from '../api.js';
import { equal, parse, stringify } from '../value/json.js';

/** What an address may ask of a view, by CouchDB's names. */
export const ASKED = ['key', 'keys', 'startkey', 'endkey', 'inclusive_end', 'descending', 'reduce', 'group', 'group_level', 'include_docs', 'update'];
/** What is asked for by saying nothing. */
export const DEFAULTS = { inclusive_end: 'true', reduce: 'false', descending: 'false', include_docs: 'false', group: 'false', update: 'true' };
const READ = 1000; // groups that are read at once, and drawn
const HIGHEST = '{"\\uffff":{}}'; // sorts after other values

/** The path of a view. */
export function viewPath(db, design, view) { return `${path`${db}/${`_design/${design}`}`}/_view/${encodeURIComponent(view)}`; }

/** Whether rows are counted off: groups and rows by keys have no place of their own. */
const isCounted = asked => asked.reduce === 'true' || asked.keys !== undefined;

/** What is sent: `query`, and a `text` with the keys. Rows are not reduced unless that is asked for. */
export function requestOf({ keys, ...asked }, more = {}) {
  return { query: { reduce: 'false', ...asked, ...more }, text: keys === undefined ? undefined : `{"keys":${keys}}` };
}

const key = ({ place }) => stringify(place);

function placeIn(text) {
  const place = parse(text);
  return { key: place.get('key'), id: place.get('id'), skip: place.get('skip').toNumber() };
}

const isSame = (one, other) => one && other && one.id === other.id && equal(one.key, other.key);

/**
 * Pages of rows, for `keyList`. A row has `key`, `value`, `id`, `doc` and its `place`: a key, a document and the number of equal rows
 * before it, or how many rows are before it.
 *
 * @param from the place of the first row
 * @param onRead is called after each answer with the rows read, and the number of all
 */
export function viewRows({ db, design, view, asked, from, signal, onRead }) {
  const where = viewPath(db, design, view);
  const isGrouped = asked.reduce === 'true';
  let groups = null; // {start, rows, isLast}

  async function read(more) {
    const { query, text } = requestOf(asked, more);
    const answer = parse((await ask(where, { method: text === undefined ? 'GET' : 'POST', query, text, signal })).text);
    const rows = answer.get('rows').map(row => ({ key: null, ...Object.fromEntries(row) }));
    return { rows, total: answer.get('total_rows')?.toNumber() };
  }

  /** Rows from a number on, each with its place; groups are read a thousand at once. */
  async function counted(start, limit) {
    const isThere = groups && start >= groups.start && (groups.isLast || start + limit < groups.start + groups.rows.length);
    if (!isThere) {
      const count = isGrouped ? READ : limit;
      const first = isGrouped && start + limit < READ ? 0 : start;
      const { rows, total } = await read({ skip: first, limit: count + 1 });
      rows.forEach((row, index) => { row.place = { skip: first + index }; });
      groups = { start: first, rows, isLast: rows.length <= count };
      onRead({ rows: rows.slice(0, count), total, start: first, isWhole: first === 0 && groups.isLast });
    }
    return groups.rows.slice(start - groups.start, start - groups.start + limit + 1);
  }

  function placed(rows, first) {
    rows.forEach((row, index) => {
      const before = index === 0 ? first && { ...first, place: { skip: first.skip - 1 } } : rows[index - 1];
      row.place = { key: row.key, id: row.id, skip: isSame(row, before) ? before.place.skip + 1 : 0 };
    });
    return rows;
  }

  async function following(place, limit) {
    const { rows, total } = await read({ limit: limit + 1, ...(place && { ...startOf(place), skip: place.skip }) });
    onRead({ rows: rows.slice(0, limit), total });
    return placed(rows, place);
  }

  /** A key that is asked for is the beginning as well. */
  const startOf = ({ key, id }) => asked.key === undefined ? { startkey: stringify(key), startkey_docid: id } : { startkey_docid: id };

  async function preceding(place, limit) {
    const turned = { ...startOf(place), endkey: asked.startkey, inclusive_end: undefined, descending: String(asked.descending !== 'true') };
    const most = limit + 2 + place.skip;
    const { rows } = await read({ ...turned, limit: most });
    // Equal rows of the place come first: those after it are left out, and it itself.
    const equals = rows.findIndex(row => !isSame(row, place));
    const found = placed(rows.slice((equals < 0 ? rows.length : equals) - place.skip).reverse());
    const isFirst = rows.length < most;
    // More rows may be equal to the first one, so that its number among them is not known.
    const known = isFirst ? 0 : Math.max(0, found.findIndex(row => !isSame(row, found[0])));
    return { rows: found.slice(known), isFirst };
  }

  return {
    isFirst: from === undefined,
    key,
    async load(text, limit) {
      const start = text === null ? from ?? null : placeIn(text);
      const rows = isCounted(asked) ? await counted(start?.skip ?? 0, limit) : await following(start, limit);
      return { rows: rows.slice(0, limit), next: rows[limit] ? key(rows[limit]) : null };
    },
    async loadBefore(text, limit) {
      const place = placeIn(text);
      if (!isCounted(asked)) return preceding(place, limit);
      const start = Math.max(0, place.skip - limit);
      return { rows: (await counted(start, limit)).slice(0, place.skip - start), isFirst: start === 0 };
    },
    forget: () => { groups = null; },
  };
}

/** The query for the rows of a group. The ends of the range stand where they cut the group. */
export function rowsBehind(group, asked) {
  const { reduce: _, group: isExact, group_level: level, keys, key, ...rest } = asked;
  const one = { ...rest, startkey: undefined, endkey: undefined, inclusive_end: undefined };
  if (!isExact && !level) return { ...rest, key, keys };
  if (key !== undefined) return { ...one, key };
  if (!Array.isArray(group) || group.length !== Number(level)) return { ...one, key: stringify(group) };
  const cuts = text => {
    const edge = text === undefined ? null : parse(text);
    return Array.isArray(edge) && equal(edge.slice(0, group.length), group);
  };
  const [low, high] = asked.descending === 'true' ? ['endkey', 'startkey'] : ['startkey', 'endkey'];
  const text = stringify(group);
  return {
    ...rest, [low]: cuts(asked[low]) ? asked[low] : text,
    [high]: cuts(asked[high]) ? asked[high] : `${text.slice(0, -1)}${group.length ? ',' : ''}${HIGHEST}]`,
    inclusive_end: cuts(asked.endkey) ? asked.inclusive_end : undefined,
  };
}
