/** What kinds of text a line of code has, for its colours. What a line leaves open is the state that the next begins with. */
import { tokens } from '../value/json-text.js';

const LONGEST = 20_000; // a longer line stays without colours

const KEYWORDS = new Set(('async await break case catch class const continue default delete do else extends '
  + 'finally for function if in instanceof let new of return switch this throw try typeof var void while '
  + 'yield').split(' '));
const CONSTANTS = new Set(['true', 'false', 'null', 'undefined', 'NaN', 'Infinity']);
const BEFORE_REGEX = new Set(['return', 'typeof', 'case', 'in', 'of', 'delete', 'void', 'throw', 'new', 'else', 'do']);

const PIECE = new RegExp([
  /(?<space>\s+)/, /(?<comment>\/\/.*|\/\*.*?(?:\*\/|$))/, /(?<string>"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?)/,
  /(?<template>`(?:[^`\\]|\\.)*`?)/, /(?<regex>\/(?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+\/[a-z]*)/,
  /(?<number>(?:0[xXbBoO][0-9a-fA-F_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)n?)/,
  /(?<word>[\p{L}_$][\p{L}\p{N}_$]*)/, /(?<punctuation>[\s\S])/,
].map((part) => part.source).join('|'), 'uy');

/** The end of what a state leaves open, or -1 when the line does not close it. */
function closing(line, state) {
  if (state === 'comment') {
    const end = line.indexOf('*/');
    return end < 0 ? -1 : end + 2;
  }
  const end = /^(?:[^`\\]|\\.)*`/.exec(line);
  return end ? end[0].length : -1;
}

function script(line, state) {
  const spans = [];
  let at = 0;
  if (state !== '') {
    const end = closing(line, state);
    const kind = state === 'comment' ? 'comment' : 'string';
    if (end < 0) return { spans: [{ kind, text: line }], state };
    spans.push({ kind, text: line.slice(0, end) });
    at = end;
  }
  let open = '';
  let valueBefore = false;
  while (at < line.length) {
    PIECE.lastIndex = at;
    const found = PIECE.exec(line);
    let [text] = found;
    let [kind] = Object.entries(found.groups).find(([, value]) => value !== undefined);
    if (kind === 'regex' && valueBefore) [kind, text] = ['punctuation', '/'];
    if (kind === 'comment' && text.startsWith('/*') && !(text.length > 3 && text.endsWith('*/'))) open = 'comment';
    if (kind === 'template' && !/^`(?:[^`\\]|\\.)*`$/.test(text)) open = 'template';
    const word = kind === 'word';
    if (kind !== 'space' && kind !== 'comment') {
      valueBefore = word ? !BEFORE_REGEX.has(text) : kind === 'punctuation' ? /[)\]}]/.test(text) : true;
    }
    if (word) kind = KEYWORDS.has(text) ? 'keyword' : CONSTANTS.has(text) ? 'word' : 'plain';
    spans.push({ kind: kind === 'template' || kind === 'regex' ? 'string' : kind, text });
    at += text.length;
  }
  return { spans, state: open };
}

/**
 * Splits a line into pieces of one kind each.
 * @param {'json'|'javascript'|'text'} language
 * @param {string} line without its line break
 * @param {string} [state] what the line before left open, `''` for nothing
 * @returns {{spans: {kind: string, text: string}[], state: string}} together the pieces are the line
 */
export function lineSpans(language, line, state = '') {
  if (language === 'text' || line.length > LONGEST) return { spans: [{ kind: 'plain', text: line }], state };
  if (language === 'javascript') return script(line, state);
  const spans = [...tokens(line)].map(({ kind, start, end }) => ({ kind, text: line.slice(start, end) }));
  return { spans, state };
}

/** The number of digits of a whole number that JavaScript would round, or 0. */
export function digitsBeyond(text) {
  return /^-?[0-9]+$/.test(text) && !Number.isSafeInteger(Number(text)) ? text.replace('-', '').length : 0;
}
