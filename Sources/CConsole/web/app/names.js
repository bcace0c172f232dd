/** The names of databases: all of them up to a number, and of more only those that begin with a text. */
import { ask } from './api.js';

/** The number of names that are read at once. */
export const MOST_NAMES = 10_000;

/** The bounds of what begins with a text, as a query takes them; none for an empty text. */
export function beginningWith(text) {
  return text ? { startkey: JSON.stringify(text), endkey: JSON.stringify(`${text}\u{10ffff}`) } : {};
}

/** The first names, of those that begin with a text, and whether there are more. `options` are those of `ask`. */
export async function readNames({ prefix = '', limit = MOST_NAMES, ...options }) {
  const names = (await ask('_all_dbs', { ...options, query: { ...beginningWith(prefix), limit: limit + 1 } })).json;
  return { names: names.slice(0, limit), hasMore: names.length > limit };
}
