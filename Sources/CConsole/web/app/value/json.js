/**
 * JSON that loses nothing: numbers keep their spelling, and members their order and their names.
 *
 *     JSON.parse   {"b":9223372036854775807,"1":1}  →  {"1":1,"b":9223372036854776000}
 *     parse        the same text                    →  Map { b → JNumber 9223372036854775807, 1 → JNumber 1 }
 */

/** A number as it is spelt. */
export class JNumber {
  constructor(text) { this.text = text; }
  toNumber() { return Number(this.text); }
}

/** What is wrong with a text, and where. */
export class JSONError extends Error {
  constructor(message, text, offset) {
    super(message);
    const before = text.slice(0, offset);
    this.offset = offset;
    this.line = before.split('\n').length;
    this.column = offset - before.lastIndexOf('\n');
  }
}

const TOKEN = /\s+|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[{}[\],:]/y;

/** The tokens of a text, one after the other: kind, start and end. What is no token is an `error` of one character. */
export function* tokens(text) {
  let start = 0;
  while (start < text.length) {
    TOKEN.lastIndex = start;
    const found = TOKEN.exec(text);
    const end = found ? TOKEN.lastIndex : start + 1;
    yield { kind: found ? kindOf(text[start]) : 'error', start, end };
    start = end;
  }
}

function kindOf(first) {
  if (first === '"') return 'string';
  if (/\s/.test(first)) return 'space';
  if (/[-\d]/.test(first)) return 'number';
  return /[a-z]/.test(first) ? 'word' : 'punctuation';
}

/** A text as a value; throws a `JSONError`. */
export function parse(text) { return parseNoting(text).value; }

/** A text as a value, and the names that stand twice in one object. */
export function parseNoting(text) {
  const source = tokens(text);
  const duplicates = [];
  const stack = [];
  let token;
  const fail = (message, at = token ? token.start : text.length) => { throw new JSONError(message, text, at); };
  const next = () => {
    do { token = source.next().value; } while (token && token.kind === 'space');
    if (token?.kind === 'error') fail(text[token.start] === '"' ? 'this text does not end, or has a character that must be escaped' : `there is no “${text[token.start]}” in JSON here`);
    return token;
  };
  const word = () => token && text.slice(token.start, token.end);
  let value;
  next();
  reading: for (;;) {
    if (!token) fail('the text ends too early');
    if (token.kind === 'string') value = JSON.parse(word());
    else if (token.kind === 'number') value = new JNumber(word());
    else if (token.kind === 'word') value = word() === 'null' ? null : word() === 'true';
    else if (word() === '{' || word() === '[') {
      const open = { isObject: word() === '{', value: word() === '{' ? new Map() : [], name: null };
      stack.push(open);
      next();
      if (word() !== (open.isObject ? '}' : ']')) {
        if (open.isObject) readName(open);
        continue;
      }
      value = stack.pop().value;
    } else fail('a value is expected here');
    next();
    while (stack.length) {
      const top = stack.at(-1);
      if (top.isObject) top.value.set(top.name, value); else top.value.push(value);
      if (word() === ',') {
        next();
        if (top.isObject) readName(top);
        continue reading;
      }
      if (word() !== (top.isObject ? '}' : ']')) fail(`“,” or “${top.isObject ? '}' : ']'}” is expected here`);
      value = stack.pop().value;
      next();
    }
    if (token) fail('something follows after the end');
    return { value, duplicates };
  }
  function readName(object) {
    if (token?.kind !== 'string') fail('a name in quotes is expected here');
    object.name = JSON.parse(word());
    if (object.value.has(object.name)) {
      const at = new JSONError('', text, token.start);
      duplicates.push({ name: object.name, line: at.line, column: at.column });
    }
    next();
    if (word() !== ':') fail('“:” is expected after a name');
    next();
  }
}

/** A value as text; with an indent in lines. */
export function stringify(value, indent = 0) {
  const text = write(value);
  return indent ? format(text, indent) : text;
}

function write(value) {
  if (value instanceof JNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map(write).join(',')}]`;
  if (value instanceof Map) return `{${[...value].map(([name, inner]) => `${JSON.stringify(name)}:${write(inner)}`).join(',')}}`;
  return JSON.stringify(value ?? null);
}

/** The same text in lines: every token stays as it is spelt. What is nested deeper than `deepest` stays in one line. */
export function format(text, indent = 2, deepest = Infinity) {
  let depth = 0;
  let result = '';
  let before = '';
  const line = () => `\n${' '.repeat(depth * indent)}`;
  for (const token of tokens(text)) {
    if (token.kind === 'space') continue;
    const word = text.slice(token.start, token.end);
    const isEnd = token.kind === 'punctuation' && (word === '}' || word === ']');
    if (isEnd) depth -= 1;
    const isBreak = isEnd ? before !== '{' && before !== '[' : before === '{' || before === '[' || before === ',';
    if (isBreak && depth + (isEnd ? 1 : 0) <= deepest) result += line();
    else if (before === ',') result += ' ';
    result += word;
    if (token.kind === 'punctuation') {
      if (word === '{' || word === '[') depth += 1;
      if (word === ':') result += ' ';
      before = word;
    } else before = '';
  }
  return result;
}

/** The same text without blanks between tokens. */
export function compact(text) {
  let result = '';
  for (const token of tokens(text)) if (token.kind !== 'space') result += text.slice(token.start, token.end);
  return result;
}

/** Whether two values are the same, numbers by their spelling. */
export function equal(left, right) {
  if (left === undefined || right === undefined) return left === right;
  return write(left) === write(right);
}
