/**
 * A text area over a coloured text: editing is the browser's own, with its undo, input methods and screen readers.
 *
 *     ┌ lines ┐┌ pre: the coloured text ────────────┐
 *     │ 1     ││ textarea over it, its text unseen  │
 *     └───────┘└────────────────────────────────────┘
 */
import { h, replace } from './dom.js';
import { tokens } from '../value/json.js';

/** Above this length a text has no colours. */
const MOST = 256 * 1024;

/** An area for JSON, or with `language: 'text'` for another text without colours; `onInput` is called after each change. */
export function codeArea({ text, label, onInput, readOnly = false, language = 'json' }) {
  const lines = h('pre', { class: 'lines', 'aria-hidden': 'true' });
  const colours = h('pre', { class: 'colours', 'aria-hidden': 'true' });
  const area = h('textarea', { 'aria-label': label, spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', wrap: 'off', readOnly });
  const note = h('p', { class: 'bad', role: 'alert', id: `error-${Math.random().toString(36).slice(2)}` });
  const inside = h('div', { class: 'inside' }, colours, area);
  const frame = h('div', { class: 'code' }, lines, inside);

  function draw() {
    const isLong = area.value.length > MOST;
    frame.classList.toggle('plain', isLong);
    if (isLong) { replace(lines); replace(colours); return; }
    lines.textContent = Array.from({ length: area.value.split('\n').length }, (_, index) => index + 1).join('\n');
    replace(colours, language === 'json' ? coloured(area.value) : area.value, '\n');
  }

  area.addEventListener('input', () => { showError(null); draw(); onInput?.(); });
  inside.addEventListener('scroll', () => { lines.style.transform = `translateY(${-inside.scrollTop}px)`; });

  /** Says what is wrong, and puts the cursor there. */
  function showError(error) {
    note.textContent = error ? `Line ${error.line}, column ${error.column}: ${error.message}.` : '';
    area.setAttribute('aria-invalid', error ? 'true' : 'false');
    if (!error) return;
    area.setAttribute('aria-describedby', note.id);
    area.focus();
    area.setSelectionRange(error.offset, error.offset);
  }

  area.value = text;
  draw();
  return {
    element: h('div', {}, frame, note), showError,
    get text() { return area.value; },
    set text(value) { area.value = value; showError(null); draw(); },
    focus: () => area.focus(),
  };
}

function coloured(text) {
  const parts = [];
  const all = [...tokens(text)];
  all.forEach((token, index) => {
    const word = text.slice(token.start, token.end);
    if (token.kind === 'space' || token.kind === 'punctuation') { parts.push(word); return; }
    const after = all.slice(index + 1, index + 3).find(next => next.kind !== 'space');
    const isName = token.kind === 'string' && after && text[after.start] === ':';
    parts.push(h('span', { class: `t-${isName ? 'name' : token.kind}` }, word));
  });
  return parts;
}
