/**
 * Splits the text of a dump into its values while it comes, in bounded memory: values in lines or one after the other, the elements
 * of arrays, and those of the lists in CouchDB's answers. Brackets are counted outside of strings, so no value is read here.
 *
 *     {"total_rows":2,"rows":[ {…}, {…} ]}   →  two values of the list `rows`
 */

/** What may stand before the list of an answer. */
const HEAD = new RegExp('\\{\\s*(?:"(?:new_edits|total_rows|offset|update_seq|last_seq|pending|bookmark|warning)"\\s*:\\s*'
  + '(?:"(?:[^"\\\\]|\\\\.)*"|[^"\\[\\]{},]*),\\s*)*"(docs|rows|results)"\\s*:\\s*\\[', 'y');
const LONGEST_HEAD = 65_536;
const MARK = /["\\{}[\],]/g;

/** The splitter; `push` takes a piece of text and returns the values that it completes, each with its `text`, `line` and `list`. */
export function splitter({ isLines = false } = {}) {
  let [text, at, start, depth, line] = ['', 0, -1, 0, 1];
  let [isString, isTail, list] = [false, false, null]; // list: where the values are elements, '' for an array alone

  function* lines(isEnd) {
    for (let end; (end = text.indexOf('\n', at)) >= 0 || isEnd && at < text.length; line += 1) {
      const one = text.slice(at, end < 0 ? text.length : end).trim();
      at = end < 0 ? text.length : end + 1;
      if (one) yield { text: one, line, list: null };
    }
  }

  function* values(isEnd) {
    while (at < text.length) {
      if (start < 0) {
        const sign = text[at];
        if (sign === '\n') line += 1;
        if (/[\s,]/.test(sign)) { at += 1; continue; }
        if (list !== null && sign === ']') {
          at += 1;
          isTail = list !== '';
          list = null;
          if (!isTail) continue;
        }
        if (isTail) [start, depth] = [at, 1];
        else if (list === null && sign === '[') { [list, at] = ['', at + 1]; continue; }
        else if (list === null && sign === '{') {
          if (!isEnd && text.length - at < LONGEST_HEAD) return;
          HEAD.lastIndex = at;
          const head = HEAD.exec(text);
          if (head) { [list, at] = [head[1], HEAD.lastIndex]; continue; }
        }
        if (start < 0) [start, depth] = [at, 0];
      }
      if (!step() && !isEnd) return;
      if (at === start) at += 1; // a bracket that closes nothing
      const value = text.slice(start, at);
      if (!isTail) yield { text: value.trim(), line, list };
      line += value.split('\n').length - 1;
      [start, isTail] = [-1, false];
    }
  }

  /** Goes to the end of a value; whether it is there. */
  function step() {
    for (;;) {
      MARK.lastIndex = at;
      const found = MARK.exec(text);
      if (!found) { at = text.length; return false; }
      const sign = found[0];
      at = found.index + 1;
      if (isString) {
        if (sign === '\\') { if (at === text.length) { at -= 1; return false; } at += 1; } else if (sign === '"') isString = false;
      } else if (sign === '"') isString = true;
      else if (sign === '{' || sign === '[') depth += 1;
      else if (sign === ',') { if (depth === 0) { at -= 1; return true; } } else if (sign !== '\\') {
        if (depth === 0) { at -= 1; return true; }
        depth -= 1;
        if (depth === 0) return true;
      }
    }
  }

  function push(piece, isEnd = false) {
    const kept = start < 0 ? at : start;
    [text, at, start] = [text.slice(kept) + piece, at - kept, start < 0 ? -1 : 0];
    return [...(isLines ? lines : values)(isEnd)];
  }

  return { push, end: () => push('', true) };
}
