/** Texts of JSON by their tokens: layout and single changes, in which every token stays as it is spelt. */
import { WORDS, calmly, lineBreak, numberEnd, parse, skipSpace, stringEnd, toEnd, wordEnd } from './json.js';

const STRETCH = 400_000;

/** The end of the token that begins at `at`, and its kind; a broken string ends with its line. */
function tokenAt(text, at) {
  const first = text[at];
  const space = skipSpace(text, at);
  if (space > at) return ['space', space];
  if ('{}[],:'.includes(first)) return ['punctuation', at + 1];
  if (first === '"') {
    try {
      const end = stringEnd(text, at);
      return [text[skipSpace(text, end)] === ':' ? 'name' : 'string', end];
    } catch {
      const end = text.indexOf('\n', at);
      return ['error', end < 0 ? text.length : end];
    }
  }
  const number = numberEnd(text, at);
  if (number > at) return ['number', number];
  const word = wordEnd(text, at);
  if (word > at) return [WORDS.has(text.slice(at, word)) ? 'word' : 'error', word];
  return ['error', at + String.fromCodePoint(text.codePointAt(at)).length];
}

/** The tokens of a text, one after the other: kind, start and end. What is no token is an `error`; together they are the text. */
export function* tokens(text) {
  for (let start = 0; start < text.length;) {
    const [kind, end] = tokenAt(text, start);
    yield { kind, start, end };
    start = end;
  }
}

/** The offset behind the string that begins at `at`, in a text that is known to be JSON. */
function quickStringEnd(text, at) {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text.charCodeAt(before - 1) === 92) before -= 1;
    if ((end - before) % 2 === 0) return end + 1;
  }
  return text.length;
}

function* formatting(text, indent) {
  const breaks = Array.from({ length: 101 }, (_, level) => indent ? lineBreak(indent, level) : '');
  let result = '';
  let depth = 0;
  let from = skipSpace(text, 0);
  let at = from;
  let pause = STRETCH;
  const broken = () => breaks[Math.max(0, Math.min(depth, 100))];
  const put = (end, space) => {
    result += text.slice(from, end) + space;
    at = from = skipSpace(text, end);
  };
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (at > pause) {
      pause = at + STRETCH;
      yield;
    }
    if (code === 34) at = quickStringEnd(text, at);
    else if (code === 123 || code === 91) {
      const isEmpty = text.charCodeAt(skipSpace(text, at + 1)) === code + 2;
      if (!isEmpty) depth += 1;
      put(at + 1, isEmpty ? '' : broken());
      if (isEmpty) at += 1;
    } else if (code === 125 || code === 93) {
      depth -= 1;
      put(at, broken());
      at += 1;
    } else if (code === 44) put(at + 1, broken());
    else if (code === 58) put(at + 1, indent ? ' ' : '');
    else if (code === 32 || code === 10 || code === 13 || code === 9) put(at, '');
    else at += 1;
  }
  return result + text.slice(from);
}

/** The same text in lines, one member in each. */
export function format(text, indent = 2) { return toEnd(formatting(text, indent)); }

/** As `format`; the page answers meanwhile. */
export function laidOut(text) { return calmly(formatting(text, 2)); }

/** Reads the name of a member from its spelling; `null` while the spelling is unfinished. */
function nameIn(spelling) {
  try { return parse(spelling); } catch { return null; }
}

/** The members of the outermost object: where the name begins, and where the value begins and ends. */
function* outerMembers(text) {
  let depth = 0;
  let name = null;
  let start = -1;
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const code = text.charCodeAt(at);
    const isEnd = code === 125 || code === 93;
    if (depth === 1 && start >= 0 && (code === 44 || isEnd)) {
      yield { name: nameIn(text.slice(name.start, name.end)), nameStart: name.start, start, end: name.last };
      [name, start] = [null, -1];
    }
    const isColon = depth === 1 && code === 58;
    if (depth === 1 && name && !isColon && start < 0) start = at;
    if (code === 123 || code === 91) depth += 1;
    if (isEnd) depth -= 1;
    const begin = at;
    at = code === 34 ? quickStringEnd(text, at) : at + 1;
    if (depth === 1 && !name && code === 34) name = { start: begin, end: at };
    else if (name && start >= 0) name.last = at;
  }
}

/** Replaces `_id` in the text of an object that has one; all else stays byte for byte. */
export function withId(text, id) {
  const { start, end } = [...outerMembers(text)].filter(({ name }) => name === '_id').at(-1);
  return text.slice(0, start) + JSON.stringify(id) + text.slice(end);
}

/** Replaces `_rev` in the text of an object, or removes it for `null`; all else stays byte for byte. */
export function withRev(text, rev) {
  const found = [...outerMembers(text)].filter(({ name }) => name === '_rev').at(-1);
  if (found && rev) return text.slice(0, found.start) + JSON.stringify(rev) + text.slice(found.end);
  if (found) {
    const after = /^\s*,\s*/.exec(text.slice(found.end));
    const before = /,?\s*$/.exec(text.slice(0, found.nameStart));
    return after ? text.slice(0, found.nameStart) + text.slice(found.end + after[0].length) : text.slice(0, before.index) + text.slice(found.end);
  }
  if (!rev) return text;
  const start = text.indexOf('{') + 1;
  return `${text.slice(0, start)}\n  "_rev": ${JSON.stringify(rev)}${/^\s*\}/.test(text.slice(start)) ? '\n' : ','}${text.slice(start)}`;
}

const PART_LINES = 500;
const PART_LENGTH = 200_000;

/** Some lines of a long text, from a line on, counted from 1: the offsets, without the line break at their end. */
export function partOf(text, first) {
  let start = 0;
  for (let line = 1; line < first; line += 1) start = text.indexOf('\n', start) + 1;
  let end = start;
  for (let line = 0; line < PART_LINES && end < text.length && (line === 0 || end - start < PART_LENGTH); line += 1) {
    const next = text.indexOf('\n', line === 0 ? end : end + 1);
    end = next < 0 ? text.length : next;
  }
  return { first, start, end };
}
