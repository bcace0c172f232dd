/** Lines for a shell that do what a page does. They ask for the password of whoever is logged in. */
import { address, isExact, path, root } from '../api.js';
import { session } from '../session.js';
import { hasUnseen } from './dom.js';

/** A sign as it is between `$'` and `'`. */
function escaped(sign) {
  if (sign === '\'' || sign === '\\') return '\\' + sign;
  return hasUnseen(sign) ? '\\u' + sign.codePointAt(0).toString(16).padStart(4, '0') : sign;
}

/** A word as bash and zsh read it. */
function quoted(word) {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  if (hasUnseen(word)) return '$\'' + [...word].map(escaped).join('') + '\'';
  return '\'' + word.replaceAll('\'', '\'\\\'\'') + '\'';
}

/** The server, or a database of it, as `settle` takes it. */
function place(db) {
  const url = db === undefined ? new URL(root) : address(path`${db}`);
  url.username = session.name ?? '';
  return url.href;
}

/** A line of `settle`. A value may begin as an option does. */
function settleLine([command, values, options = []]) {
  const words = values.map(value => typeof value === 'string' ? value : place(value.db));
  const isOption = words.some(word => word.startsWith('-'));
  return ['settle', command, ...options, ...(isOption ? ['--'] : []), ...words].map(quoted).join(' ');
}

/** A line of `curl`, which sends a text if there is one. */
function curlLine(url, query, text) {
  const words = [...(session.name ? ['-u', session.name] : []), ...(text === undefined ? [] : ['-H', 'Content-Type:application/json', '-d', text])];
  return ['curl', ...words, address(url, query).href].map(quoted).join(' ');
}

/**
 * The address and the commands of what a page does.
 *
 * @param url a path of the server; one that a browser would change, as that of a document “.”, gives no line
 * @param text what is sent there; without one it is read, and has a line of its own
 * @param settle a command, its values, of which `{ db }` is a database and `{}` the server, and its options
 */
export function commands({ url, query, text, settle }) {
  const lines = isExact(url) ? [text === undefined && address(url, query).href, curlLine(url, query, text)] : [];
  return [...lines, settle && settleLine(settle)].filter(Boolean);
}
