/**
 * The text of one document. A long one is painted in sight and edited in parts, since browsers take seconds for each key in a
 * text area of some megabytes.
 */
import { h, button, replace } from '../parts/dom.js';
import { codeArea, COLOURED } from '../parts/code-area.js';
import { placeOf } from '../value/json.js';
import { partOf } from '../value/json-text.js';
import { number, t } from '../words.js';

const WHOLE = COLOURED; // characters above which a text is edited in parts

/** An editor with the label `label`; `onInput` is called after each change by a person. */
export function editor({ label, onInput }) {
  const element = h('div');
  let stored = ''; // what the server has
  let whole = ''; // the text when the area was made
  let part = null; // the lines in the area, where it has not all: first, start and end
  let area = null;
  let found = -1; // the offset of what was looked for
  const word = h('input', { required: true });
  const told = h('span', { role: 'status' });

  const text = () => part ? whole.slice(0, part.start) + area.text + whole.slice(part.end) : area && whole.length <= WHOLE ? area.text : whole;

  /** A browser finds only what is painted. */
  function find(event) {
    event.preventDefault();
    const next = whole.indexOf(word.value, found + 1);
    found = next < 0 ? whole.indexOf(word.value) : next;
    replace(told, found < 0 ? t.editor.notFound : '');
    if (found >= 0) area.scrollTo(placeOf(whole, found).line, true);
  }

  function showWhole(next, place = 1) {
    [whole, part] = [next, null];
    const isLong = next.length > WHOLE;
    area = codeArea({ text: next, label, onInput, readOnly: isLong });
    replace(element, isLong && h('form', { class: 'toolbar', on: { submit: find } },
      t.editor.thisTextIsLong, button(t.editor.editTheLinesInSight, editInSight),
      h('label', {}, t.editor.find, word), h('button', { class: 'button' }, t.editor.next), told), area.element);
    if (place > 1) area.scrollTo(place);
  }

  /** Shows the lines from a line on; what is before and after them stays as it is. */
  function showPart(next, first) {
    [whole, part] = [next, partOf(next, first)];
    area = codeArea({ text: next.slice(part.start, part.end), label, firstLine: first, onInput });
    replace(element, h('p', { class: 'toolbar' }, t.editor.theseAreTheLines(number(first)),
      button(t.editor.showAll, () => showWhole(text(), first))), area.element);
  }

  function editInSight() {
    const place = area.lineInSight();
    showPart(text(), Math.max(1, place - 10));
    area.focus();
    area.scrollTo(place);
  }

  /** Shows a text; one that is only `amended` leaves what can be undone. */
  function put(next, isAmended = false) {
    if (part && next.length > WHOLE) {
      const place = area.lineInSight();
      showPart(next, part.first);
      area.scrollTo(place);
    } else if (area && !part && whole.length <= WHOLE && next.length <= WHOLE) {
      whole = next;
      if (isAmended) area.amend(next); else area.text = next;
    } else showWhole(next, area?.lineInSight());
  }

  showWhole('');
  return {
    element,
    get text() { return text(); },
    /** Shows a text. */
    put,
    /** Shows a text that the server has. If it `isSaved`, what was typed before can still be undone. */
    store(next, shown = next, isSaved = false) {
      stored = next;
      put(shown, isSaved);
    },
    get isChanged() { return part && whole === stored ? area.text !== whole.slice(part.start, part.end) : text() !== stored; },
    showError(error, isTyping) {
      const isElsewhere = error && part && (error.line < part.first || error.line >= part.first + area.text.split('\n').length);
      if (isElsewhere) showWhole(text());
      area.showError(error, isTyping);
    },
    focus: () => area.focus(),
  };
}
