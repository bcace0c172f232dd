/**
 * A text area over a coloured text: editing is the browser's own, with its undo, input methods and screen readers. Only the
 * lines in sight are painted. A long text that is only read is painted without a text area.
 *
 *     ┌ lines ┐┌ pre: the coloured lines in sight ──┐
 *     │ 1     ││ textarea over it, its text unseen  │
 *     └───────┘└────────────────────────────────────┘
 */
import { h, button, replace } from './dom.js';
import { lineSpans, digitsBeyond } from './code-colours.js';
import { number, t } from '../words.js';

/** Above this length a text that is edited has no colours. */
export const COLOURED = 256 * 1024;
const TALLEST = 8_000_000; // pixels; browsers end somewhat above
const SPARE = 4; // lines painted above and below those in sight
const WIDEST = 20_000; // characters of a line that are painted where a text is only read

let made = 0;

function lineStarts(text) {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/**
 * An area for JSON, or for another `language`: `javascript` or `text`.
 *
 * @param onInput is called after each change by a person
 * @param firstLine the number of the first line, where the text is a part of a longer one
 */
export function codeArea({ text, label, onInput, readOnly = false, language = 'json', firstLine = 1 }) {
  const isView = readOnly && text.length > COLOURED;
  const spacer = h('div');
  const paint = h('pre', { class: 'paint', 'aria-hidden': isView ? null : 'true' });
  const area = isView
    ? h('div', { class: 'text', tabindex: '0', role: 'region', 'aria-label': label }, spacer, paint)
    : h('textarea', { class: 'text', 'aria-label': label, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off', readOnly, value: text });
  const lines = h('div', { 'aria-hidden': 'true' });
  const note = h('p', { class: 'bad', role: 'alert', id: `error-${made += 1}` });
  const frame = h('div', { class: 'code' }, h('div', { class: 'lines' }, lines), h('div', { class: 'inside' }, area, !isView && paint));

  let value = isView ? text : area.value;
  let starts = [0];
  let states = [''];
  let error = null;
  let painted = '';
  let spot = 0; // the number of a line that was looked for
  let isScheduled = false;
  let amended = []; // texts before and after changes that undoing passes over
  let isAmending = false;

  const markOf = index => index + firstLine === error?.line ? 'marked' : index + firstLine === spot ? 'spot' : null;
  const hasColours = () => isView || value.length <= COLOURED;
  const line = index => value.slice(starts[index], index + 1 < starts.length ? starts[index + 1] - 1 : value.length);
  const lineHeight = () => parseFloat(getComputedStyle(paint).lineHeight);

  function stateAt(index) {
    if (language !== 'javascript') return '';
    while (states.length <= index) states.push(lineSpans(language, line(states.length - 1), states.at(-1)).state);
    return states[index];
  }

  /** The pixels of lines that a pixel of scrolling stands for, more than one where a browser's limit would be passed. */
  function scale(height) {
    const all = starts.length * height;
    return isView && all > TALLEST ? (all - area.clientHeight) / (TALLEST - area.clientHeight) : 1;
  }

  function paintedLine(index) {
    const whole = line(index);
    const shown = isView ? whole.slice(0, WIDEST) : whole;
    const { spans } = lineSpans(language, shown, stateAt(index));
    const digits = language === 'json' ? spans.filter(span => span.kind === 'number').map(span => digitsBeyond(span.text)).find(Boolean) : 0;
    return h('div', { class: markOf(index) },
      spans.map(({ kind, text: word }) => kind === 'space' || kind === 'plain' || kind === 'punctuation' ? word : h('span', { class: `t-${kind}` }, word)),
      shown.length < whole.length && h('i', { class: 'muted' }, t.codeArea.more(t.codeArea.charactersCount(whole.length - shown.length))),
      digits > 0 && h('i', { class: 'muted' }, t.codeArea.digits(digits)));
  }

  function repaint() {
    isScheduled = false;
    const height = lineHeight();
    if (!height || !area.clientHeight) return;
    const top = area.scrollTop * scale(height);
    const first = Math.max(0, Math.floor(top / height) - SPARE);
    const last = Math.min(starts.length, Math.ceil((top + area.clientHeight) / height) + SPARE);
    if (`${first} ${last}` !== painted) {
      painted = `${first} ${last}`;
      const indices = Array.from({ length: last - first }, (_, index) => first + index);
      replace(lines, indices.map(index => h('div', { class: markOf(index) }, index + firstLine)));
      replace(paint, hasColours() && indices.map(paintedLine));
    }
    lines.style.transform = `translateY(${first * height - top}px)`;
    // Inside of a view the paint scrolls along, beside a text area it has to follow.
    paint.style.transform = isView ? `translateY(${area.scrollTop + first * height - top}px)` : `translate(${-area.scrollLeft}px, ${first * height - top}px)`;
  }

  function schedule() {
    if (!isScheduled) requestAnimationFrame(repaint);
    isScheduled = true;
  }

  function changed() {
    [starts, states, painted] = [lineStarts(value), [''], ''];
    frame.classList.toggle('plain', !hasColours());
    frame.style.setProperty('--digits', String(starts.length + firstLine).length);
    frame.style.setProperty('--lines', Math.min(Math.max(starts.length + 1, 4), 200));
    spacer.style.blockSize = `min(${TALLEST}px, calc(var(--row) * ${starts.length}))`;
    schedule();
  }

  /** Makes a line the uppermost one, or marks it and shows it below a few others. */
  function scrollTo(place, isSpot = false) {
    if (isSpot) [spot, painted, place] = [place, '', place - 3];
    const height = lineHeight() || 20;
    area.scrollTop = Math.max(0, (place - firstLine) * height / scale(height));
    schedule();
  }

  function goTo(place, column) {
    area.focus();
    if (!isView) {
      const offset = Math.min((starts[place - firstLine] ?? value.length) + column - 1, value.length);
      area.setSelectionRange(offset, offset);
    }
    scrollTo(place - 3);
  }

  /** Says what is wrong and where, or takes it back with `null`; puts the cursor there unless somebody is typing. */
  function showError(found, isTyping = false) {
    if (!found && !error) return;
    [error, painted] = [found, ''];
    area.setAttribute('aria-invalid', String(Boolean(found)));
    if (found) area.setAttribute('aria-describedby', note.id); else area.removeAttribute('aria-describedby');
    replace(note, found && [t.codeArea.lineColumn(number(found.line), number(found.column), found.message),
      isTyping && button(t.common.goThere, () => goTo(found.line, found.column), { class: 'button small' })]);
    if (found && !isTyping) goTo(found.line, found.column);
    schedule();
  }

  /** After an undo or a redo that ends before a change that nobody has typed, goes one step further. */
  function passOver(command) {
    isAmending = true;
    for (let was = null; was !== area.value && amended.includes(area.value);) {
      was = area.value;
      document.execCommand(command);
    }
    isAmending = false;
  }

  /** Puts a text in the place of what differs, as the browser's own edit; says whether the browser has done it. */
  function insert(next) {
    const focused = document.activeElement;
    area.focus({ preventScroll: true });
    if (isView || readOnly || document.activeElement !== area) return false;
    let [start, end, last] = [0, value.length, next.length];
    while (start < Math.min(end, last) && value[start] === next[start]) start += 1;
    while (end > start && last > start && value[end - 1] === next[last - 1]) [end, last] = [end - 1, last - 1];
    const { scrollTop, selectionStart, selectionEnd } = area;
    const moved = place => place >= end ? place + last - end : Math.min(place, start);
    isAmending = true;
    area.setSelectionRange(start, end);
    const isDone = last > start ? document.execCommand('insertText', false, next.slice(start, last)) : document.execCommand('delete');
    isAmending = false;
    area.setSelectionRange(moved(selectionStart), moved(selectionEnd));
    area.scrollTop = scrollTop;
    if (focused === document.body) area.blur(); else focused.focus({ preventScroll: true });
    return isDone && area.value === next;
  }

  area.addEventListener('scroll', repaint, { passive: true });
  if (!isView) {
    area.addEventListener('input', event => {
      if (isAmending) return;
      if (event.inputType === 'historyUndo') passOver('undo');
      if (event.inputType === 'historyRedo') passOver('redo');
      value = area.value;
      showError(null);
      changed();
      onInput?.();
    });
    area.addEventListener('keydown', event => {
      if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || readOnly) return;
      const before = value.slice(0, area.selectionStart);
      const blanks = /[ \t]*/.exec(before.slice(before.lastIndexOf('\n') + 1))[0] + (/[{[(]$/.test(before) ? '  ' : '');
      // The browser's own command keeps what can be undone.
      if (blanks && document.execCommand('insertText', false, `\n${blanks}`)) event.preventDefault();
    });
  }
  new ResizeObserver(() => { painted = ''; schedule(); }).observe(frame);
  changed();

  return {
    element: h('div', {}, frame, note), showError, scrollTo,
    get text() { return value; },
    set text(next) {
      if (next === value) return;
      amended = [];
      const { selectionStart, selectionEnd, scrollTop } = area;
      area.value = next;
      value = area.value;
      area.setSelectionRange(selectionStart, selectionEnd);
      area.scrollTop = scrollTop;
      showError(null);
      changed();
    },
    /** Turns the text into another one, and keeps what can be undone, to which this change does not belong. */
    amend(next) {
      if (next === value) return;
      const before = value;
      if (!insert(next)) { this.text = next; return; }
      amended.push(before);
      value = area.value;
      showError(null);
      changed();
    },
    /** The number of the uppermost line. */
    lineInSight: () => Math.floor(area.scrollTop * scale(lineHeight() || 20) / (lineHeight() || 20)) + firstLine,
    focus: () => area.focus(),
  };
}
