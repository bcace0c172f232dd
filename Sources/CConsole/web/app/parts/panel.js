/** Parts of a page that are read from the server, and errors. */
import { h, button, replace } from './dom.js';

/** An error where it happened; it stays until it is dismissed. */
export function errorBox(error, retry) {
  const box = h('div', { class: 'error', role: 'alert' },
    h('strong', {}, title(error)), ' ', h('span', {}, error.reason ?? error.message),
    error.requestId && h('small', { class: 'mono' }, ` request ${error.requestId}`),
    retry && button('Try again', () => { box.remove(); retry(); }, { class: 'button small' }),
    button('Dismiss', () => box.remove(), { class: 'button small' }));
  return box;
}

function title(error) {
  if (error.status === 403) return 'Not allowed.';
  if (error.status === undefined) return 'That did not work.';
  return `${error.error}${error.status ? ` (${error.status})` : ''}:`;
}

/**
 * A part with states: loading after a moment, there, failed. What was there stays in sight while it is read again.
 *
 * @param load is asked for a value
 * @param show makes nodes of it
 */
export function panel(load, show, { label = 'Loading' } = {}) {
  const element = h('section', { 'aria-busy': 'false' });
  const problems = h('div');
  const content = h('div');
  element.append(problems, content);
  let turn = 0;
  async function reload() {
    const mine = ++turn;
    element.setAttribute('aria-busy', 'true');
    const timer = setTimeout(() => { if (!content.childNodes.length) replace(content, h('p', { class: 'muted' }, `${label}…`)); }, 150);
    try {
      const value = await load();
      if (mine !== turn) return;
      replace(problems);
      replace(content, show(value));
    } catch (error) {
      if (mine !== turn || error.name === 'AbortError') return;
      if (content.firstChild?.className === 'muted') replace(content);
      replace(problems, errorBox(error, reload));
    } finally {
      clearTimeout(timer);
      if (mine === turn) element.setAttribute('aria-busy', 'false');
    }
  }
  return { element, reload, content };
}
