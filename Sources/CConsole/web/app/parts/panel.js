/** Parts of a page that are read from the server, errors, and questions over the page. */
import { mayAskAgain } from '../api.js';
import { h, button, field, icon, patch, replace } from './dom.js';
import { t } from '../words.js';

/** An error where it happened; it stays until it is dismissed. */
export function errorBox(error, retry) {
  const box = h('div', { class: 'error', role: 'alert' }, icon('warn'),
    h('strong', { class: 'bad' }, title(error)), ' ', h('span', {}, error.reason ?? error.message),
    error.requestId && h('small', { class: 'mono' }, t.panel.request(error.requestId)),
    retry && button(t.panel.tryAgain, () => { box.remove(); retry(); }, { class: 'button small' }),
    button(icon('close'), () => box.remove(), { class: 'button quiet small icon', 'aria-label': t.panel.dismiss }));
  return box;
}

/**
 * A place without rows: what is so, why, and what can be done. The drawing is `alone` where nothing is there or found, and `together`
 * where nothing is to do.
 */
export function stateBox({ art = 'alone', title, text, actions = [] }) {
  return h('div', { class: 'state' }, icon(art, 'i art'), h('h2', {}, title), text && h('p', {}, text), actions.length > 0 && h('div', { class: 'toolbar' }, actions));
}

/** Does something while a form can't be changed; then the focus is where it was. */
export async function resting(form, work) {
  const focused = document.activeElement;
  form.inert = true;
  form.setAttribute('aria-busy', 'true');
  try { return await work(); } finally {
    form.inert = false;
    form.removeAttribute('aria-busy');
    if (document.activeElement === document.body) focused.focus({ preventScroll: true });
  }
}

/** An error in the place of what could not be read: not allowed, or failed. */
function errorState(error, retry) {
  const isForbidden = error.status === 403 || error.status === 401;
  return h('div', { class: 'error state card', role: 'alert' }, icon(isForbidden ? 'locked' : 'unplugged', 'i art'),
    h('h2', {}, title(error)), h('p', {}, error.reason ?? error.message), button([icon('refresh'), t.panel.tryAgain], retry),
    error.requestId && h('small', { class: 'mono' }, t.panel.request(error.requestId)));
}

/** What stands in the place of something that is being read. */
export function bones(label = t.panel.loading) {
  return h('div', { class: 'load', role: 'status' }, h('span', { class: 'sr' }, label), Array.from({ length: 5 }, () => h('span', { class: 'bone' })));
}

/** Shows an error in a place, where nothing else is there as its state. If the place shows the same error already, it stays as it is. */
export function tell(place, error, retry, isAlone = false) {
  const box = isAlone ? errorState(error, retry) : errorBox(error, retry);
  const about = `${error.status} ${error.reason ?? error.message}`;
  if (place.dataset.told === about && place.firstChild) return;
  place.dataset.told = about;
  replace(place, box);
}

/** What a page calls before it is left: asks if something typed is not saved. Until a signal the browser asks, too, before it reloads or closes. */
export function unsaved(isChanged, signal, question = () => t.common.whatWasTyped) {
  window.addEventListener('beforeunload', event => { if (isChanged()) event.preventDefault(); }, { signal });
  return () => !isChanged() || confirm(question());
}

/** Reads again and again until a signal, while the page is in sight and may ask by itself. */
export function every(milliseconds, read, signal) {
  const timer = setInterval(() => { if (!document.hidden && mayAskAgain()) read(); }, milliseconds);
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
}

function title(error) {
  if (error.status === 403) return t.panel.notAllowed;
  if (error.status === undefined) return t.panel.thatDidNotWork;
  return `${error.error}${error.status ? ` (${error.status})` : ''}:`;
}

/**
 * A part with states: loading after a moment, there, failed. What was there stays in sight while it is read again.
 *
 * @param load is asked for a value
 * @param show makes nodes of it
 * @param again milliseconds after which it is read again, until `signal`
 * @param isKept whether elements that are alike stay when it is read again, as they do with `again`; `show` makes all of them anew
 */
export function panel(load, show, { label = t.panel.loading, again, signal, isKept = again !== undefined } = {}) {
  const element = h('section', { class: 'stack', 'aria-busy': 'false' });
  const problems = h('div');
  const content = h('div', { class: 'stack' });
  element.append(problems, content);
  let turn = 0;
  async function reload() {
    const mine = ++turn;
    element.setAttribute('aria-busy', 'true');
    const timer = setTimeout(() => { if (!content.childNodes.length) replace(content, bones(label)); }, 150);
    try {
      const value = await load();
      if (mine !== turn) return;
      replace(problems);
      (isKept ? patch : replace)(content, show(value));
    } catch (error) {
      if (mine !== turn || error.name === 'AbortError') return;
      if (content.firstChild?.className === 'load') replace(content);
      tell(problems, error, reload, !content.childNodes.length);
    } finally {
      clearTimeout(timer);
      if (mine === turn) element.setAttribute('aria-busy', 'false');
    }
  }
  // On a slow line a reading that is on its way is waited for, or none would ever end.
  if (again) every(again, () => { if (element.getAttribute('aria-busy') === 'false') reload(); }, signal);
  return { element, reload, content };
}

/**
 * Asks, and returns what the chosen action returned; `undefined` if it was left. An action that fails shows its error and
 * keeps what was typed. What was sent can't be taken back, so that leaving waits for its answer; an action with several requests gets
 * a signal after which it sends no more.
 */
export function dialog({ title, body, actions }) {
  return new Promise(resolve => {
    const before = document.activeElement;
    const errors = h('div', { role: 'alert' });
    let result;
    let running = null;
    const run = async action => {
      if (running) return;
      running = new AbortController();
      element.setAttribute('aria-busy', 'true');
      errors.replaceChildren();
      try { result = await action.run(running.signal); } catch (error) { errors.replaceChildren(errorBox(error)); }
      running = null;
      element.removeAttribute('aria-busy');
      if (result !== undefined) element.close();
    };
    const buttons = actions.map((action, index) => h('button', {
      class: `button ${action.kind ?? ''}`, type: index === 0 ? 'submit' : 'button',
      on: index === 0 ? {} : { click: () => run(action) },
    }, action.label));
    const form = h('form', { method: 'dialog', class: 'stack', on: { submit: event => { event.preventDefault(); run(actions[0]); } } },
      h('h2', { id: 'dialog-title' }, title), body, errors,
      h('div', { class: 'toolbar ft' }, buttons, button(t.dialog.cancel, leave)));
    const element = h('dialog', { 'aria-labelledby': 'dialog-title', on: {
      cancel: stay, keydown: event => { if (event.key === 'Escape') stay(event); },
    } }, form);
    function stay(event) {
      if (!running) return;
      event.preventDefault();
      running.abort();
    }
    function leave() { if (running) running.abort(); else element.close(); }
    element.addEventListener('close', () => { element.remove(); (before?.isConnected ? before : document.getElementById('main'))?.focus(); resolve(result); });
    document.body.append(element);
    element.showModal();
  });
}

/** Says that something failed, and why, until somebody has read it. */
export function tellFailed(what, error) {
  return dialog({ title: t.toast.failed(what), body: errorBox(error), actions: [{ label: t.keys.close, run: () => true }] });
}

/** Asks before something that can't be undone: the word must be typed. `more` stands below the text. */
export function confirmByTyping({ title, text, more, word, action, run }) {
  const input = h('input', { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
  return dialog({
    title, body: h('div', { class: 'stack' }, h('p', {}, text), more, field(t.dialog.typeToGo(word), input)),
    actions: [{
      label: action, kind: 'danger',
      run: async () => {
        if (input.value !== word) throw new Error(t.dialog.whatWasTyped(word));
        return (await run()) ?? true;
      },
    }],
  });
}
