/**
 * JSON that loses nothing: numbers keep their spelling, and members their order and their names. Nothing here recurses, so
 * that a deeply nested document can't exhaust the stack.
 *
 *     JSON.parse   {"b":9223372036854775807,"1":1}  →  {"1":1,"b":9223372036854776000}
 *     parse        the same text                    →  Map { b → JNumber 9223372036854775807, 1 → JNumber 1 }
 */
import { t } from '../words.js';

/** A number as it is spelt. */
export class JNumber {
  constructor(text) { this.text = text; }
  toNumber() { return Number(this.text); }
}

/** What is wrong with a text, and where: line and column from 1, the offset from 0. */
export class JSONError extends Error {
  constructor(message, text, offset) {
    super(message);
    this.offset = offset;
    Object.assign(this, placeOf(text, offset));
  }
}

/** The line and the column of an offset, both from 1. */
export function placeOf(text, offset) {
  let line = 1;
  let start = 0;
  for (let next = text.indexOf('\n'); next >= 0 && next < offset; next = text.indexOf('\n', start)) {
    line += 1;
    start = next + 1;
  }
  return { line, column: offset - start + 1 };
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPES = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** The words that are values. */
export const WORDS = new Map([['true', true], ['false', false], ['null', null]]);

/** The offset of the next character that is no space, tab, line feed or carriage return. */
export function skipSpace(text, at) {
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return at;
    at += 1;
  }
}

/** The offset behind the closing quote of the string that begins at `start`; a fault throws with its place. */
export function stringEnd(text, start) {
  for (let at = start + 1; ; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 34) return at + 1;
    if (code === 92) {
      const escape = text[at + 1];
      if (escape === 'u') {
        if (!/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) throw new JSONError(t.json.uNeedsFourHexadecimalDigits, text, at);
        at += 5;
      } else if (escape !== undefined && Object.hasOwn(ESCAPES, escape)) at += 1;
      else throw new JSONError(t.json.jsonHasNoSuchEscape, text, at);
    } else if (at >= text.length) throw new JSONError(t.json.thisTextInQuotesDoes, text, start);
    else if (code < 32) throw new JSONError(code === 10 ? t.json.aTextInQuotesEnds : t.json.aControlCharacterMust, text, at);
  }
}

function stringValue(text, start, end) {
  const inner = text.slice(start + 1, end - 1);
  if (!inner.includes('\\')) return inner;
  return inner.replace(/\\(?:u(....)|(.))/g, (_, hex, letter) => hex ? String.fromCharCode(parseInt(hex, 16)) : ESCAPES[letter]);
}

const isWordCode = code => (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;

/** The offset behind the letters and digits that begin at `start`. */
export function wordEnd(text, start) {
  let at = start;
  while (isWordCode(text.charCodeAt(at))) at += 1;
  return at;
}

/** The offset behind the number that begins at `start`; `start` if no number begins there. */
export function numberEnd(text, start) {
  NUMBER.lastIndex = start;
  if (!NUMBER.test(text)) return start;
  const next = text.charCodeAt(NUMBER.lastIndex);
  return isWordCode(next) || next === 43 || next === 45 || next === 46 ? start : NUMBER.lastIndex;
}

/** How many characters are worked on before a calm reader lets the page answer. */
const STRETCH = 200_000;

/** Reads a text, and stops now and then, so that somebody who waits can let the page answer. */
function* reading(text, duplicates) {
  const open = []; // the containers around the value that is being read
  const names = []; // and the name each of them waits for
  let top = null;
  let at = skipSpace(text, 0);
  let pause = STRETCH;

  const fail = (message, offset = at) => { throw new JSONError(message, text, offset); };
  const readName = () => {
    at = skipSpace(text, at);
    if (text[at] !== '"') fail(at >= text.length ? t.json.theTextEndsWithin : t.json.aNameInQuotes);
    const start = at;
    at = stringEnd(text, at);
    const name = stringValue(text, start, at);
    if (top.has(name)) {
      duplicates?.push({ name, offset: start });
      // The server keeps the last of two members with one name, in its place.
      top.delete(name);
    }
    names[names.length - 1] = name;
    at = skipSpace(text, at);
    if (text[at] !== ':') fail(t.json.isExpectedAfterAName);
    at = skipSpace(text, at + 1);
  };

  for (;;) {
    let value;
    const first = text[at];
    if (at > pause) {
      pause = at + STRETCH;
      yield;
    }
    if (first === '{' || first === '[') {
      const container = first === '{' ? new Map() : [];
      at = skipSpace(text, at + 1);
      if (text[at] === (first === '{' ? '}' : ']')) {
        at += 1;
        value = container;
      } else {
        open.push(container);
        names.push(null);
        top = container;
        if (first === '{') readName();
        continue;
      }
    } else if (first === '"') {
      const end = stringEnd(text, at);
      value = stringValue(text, at, end);
      at = end;
    } else if (first === '-' || (first >= '0' && first <= '9')) {
      const end = numberEnd(text, at);
      if (end === at) fail(t.json.thisIsNoNumber);
      value = new JNumber(text.slice(at, end));
      at = end;
    } else {
      const end = wordEnd(text, at);
      const word = text.slice(at, end);
      if (!WORDS.has(word)) fail(at >= text.length ? t.json.theTextEndsTooEarly : t.json.aValueIsExpectedHere);
      value = WORDS.get(word);
      at = end;
    }
    for (;;) {
      at = skipSpace(text, at);
      if (!top) {
        if (at < text.length) fail(t.json.somethingFollowsAfterTheEnd);
        return value;
      }
      const isList = Array.isArray(top);
      if (isList) top.push(value); else top.set(names[names.length - 1], value);
      const next = text[at];
      if (next === ',') {
        at = skipSpace(text, at + 1);
        if (!isList) readName();
        break;
      }
      if (next !== (isList ? ']' : '}')) fail(at >= text.length ? t.json.theTextEndsTooEarly : t.json.orIsExpectedHere(isList ? ']' : '}'));
      at += 1;
      value = open.pop();
      names.pop();
      top = open.length ? open[open.length - 1] : null;
    }
  }
}

/** Does work without a stop. */
export function toEnd(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

/** Does work that stops now and then, and lets the page answer in between. */
export async function calmly(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
    await new Promise(resolve => { setTimeout(resolve); });
  }
}

/** A text as a value; throws a `JSONError`. */
export function parse(text) { return toEnd(reading(text, null)); }

/** A text as a value, and at most a hundred of the names that stand twice in one object. The page answers meanwhile. */
export async function parseNoting(text) {
  const found = [];
  const value = await calmly(reading(text, found));
  return { value, duplicates: found.slice(0, 100).map(({ name, offset }) => ({ name, ...placeOf(text, offset) })) };
}

/** A new line at a depth. Levels below the hundredth stand below each other, or blanks would outweigh the text. */
export const lineBreak = (indent, depth) => `\n${' '.repeat(indent * Math.max(0, Math.min(depth, 100)))}`;

/**
 * A value as text; with an indent in lines. Besides what `parse` makes, plain objects and numbers are taken, so that a
 * request can be put around values; members that are `undefined` are left out.
 */
export function stringify(value, indent = 0) {
  let text = '';
  const frames = [];
  const begin = item => {
    if (item instanceof JNumber) text += item.text;
    else if (item === null || typeof item !== 'object') text += JSON.stringify(item) ?? 'null';
    else {
      const isList = Array.isArray(item);
      const members = isList || item instanceof Map ? item : Object.entries(item).filter(([, member]) => member !== undefined);
      frames.push({ isList, members: members[Symbol.iterator](), isEmpty: true });
      text += isList ? '[' : '{';
    }
  };
  begin(value);
  while (frames.length) {
    const frame = frames[frames.length - 1];
    const { done, value: member } = frame.members.next();
    if (done) {
      frames.pop();
      if (indent && !frame.isEmpty) text += lineBreak(indent, frames.length);
      text += frame.isList ? ']' : '}';
      continue;
    }
    if (!frame.isEmpty) text += ',';
    frame.isEmpty = false;
    if (indent) text += lineBreak(indent, frames.length);
    if (!frame.isList) text += JSON.stringify(member[0]) + (indent ? ': ' : ':');
    begin(frame.isList ? member : member[1]);
  }
  return text;
}

/** Whether two values are the same: numbers by their spelling, members in their order. */
export function equal(one, other) {
  const pairs = [[one, other]];
  while (pairs.length) {
    const [left, right] = pairs.pop();
    if (left === right) continue;
    if (left instanceof JNumber) {
      if (!(right instanceof JNumber) || left.text !== right.text) return false;
    } else if (left instanceof Map) {
      if (!(right instanceof Map) || left.size !== right.size) return false;
      const others = right.entries();
      for (const [name, member] of left) {
        const [otherName, otherMember] = others.next().value;
        if (name !== otherName) return false;
        pairs.push([member, otherMember]);
      }
    } else if (Array.isArray(left)) {
      if (!Array.isArray(right) || left.length !== right.length) return false;
      left.forEach((item, index) => pairs.push([item, right[index]]));
    } else return false;
  }
  return true;
}
