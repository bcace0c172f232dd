/** What is read of rows in sight only: whether they are in conflict, and the members shown as columns. */
import { ask, path } from '../api.js';
import { parse, stringify } from '../value/json.js';
import { at, pointerOf } from '../value/compare.js';

const CALM = 80; // milliseconds without scrolling
const LONGEST = 200; // characters of a cell

function cell(body, column) {
  const value = at(body, pointerOf(column));
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/**
 * Reads what is shown of rows, and writes it into them: `conflicts`, `isDeleted`, `rev` and `cells`.
 *
 * @param columns the members shown as columns
 * @param onChange is called when rows have changed
 */
export function sight({ db, columns, onChange, onError }) {
  let timer = 0;
  let reading = null;

  async function readMarks(rows, signal) {
    if (rows.length === 0) return;
    const answer = await ask(path`${db}/_conflicts`, { method: 'POST', json: { keys: rows.map(row => row.id) }, signal, quiet: true });
    const found = new Map(answer.json.rows.map(row => [row.key, row.value]));
    for (const row of rows) row.conflicts = found.get(row.id)?.conflicts.length ?? 0;
  }

  async function readCells(rows, signal) {
    if (rows.length === 0) return;
    const json = { keys: rows.map(row => row.id) };
    const answer = await ask(path`${db}/_all_docs`, { method: 'POST', query: { include_docs: true }, json, signal, quiet: true });
    parse(answer.text).get('rows').forEach((found, index) => {
      const [row, value, body] = [rows[index], found.get('value'), found.get('doc')];
      row.isDeleted = value?.get('deleted') === true || !value;
      if (value) row.rev = value.get('rev');
      row.cells = new Map(columns.map(column => [column, body ? cell(body, column) : null]));
    });
  }

  async function read(rows) {
    reading?.abort();
    reading = new AbortController();
    const { signal } = reading;
    const unmarked = rows.filter(row => row.conflicts === undefined && !row.isDeleted);
    const unread = columns.length ? rows.filter(row => !row.cells) : [];
    if (!unmarked.length && !unread.length) return;
    try {
      await Promise.all([readMarks(unmarked, signal), readCells(unread, signal)]);
      if (!signal.aborted) onChange();
    } catch (error) { if (!signal.aborted) onError(error); }
  }

  return {
    see(rows) {
      clearTimeout(timer);
      timer = setTimeout(() => read(rows), CALM);
    },
    leave() {
      clearTimeout(timer);
      reading?.abort();
    },
  };
}
