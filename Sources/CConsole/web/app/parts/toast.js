/**
 * What is done, told in a corner of its own. A message goes after six seconds, but stays while it is hovered or has the focus. Errors
 * are never told here.
 */
import { h, button, icon } from './dom.js';
import { dialog, errorBox } from './panel.js';
import { t } from '../words.js';

const STAY = 6000; // milliseconds
const MOST = 3; // messages at once

// A region that is there before its text is read aloud.
const corner = h('div', { class: 'toasts stack', role: 'status', 'aria-atomic': 'false' });
document.body.append(corner);

function dismiss(message) {
  if (message.contains(document.activeElement)) document.getElementById('main').focus({ preventScroll: true });
  message.remove();
}

/** Does what a message offers, once; why it failed stays on the page until somebody has read it. */
async function act(message, { label, run }) {
  dismiss(message);
  try { await run(); } catch (error) {
    dialog({ title: t.toast.failed(label), body: errorBox(error), actions: [{ label: t.keys.close, run: () => true }] });
  }
}

/**
 * Tells what is done. A message without an action gives way to the next one.
 *
 * @param action what can be done about it, such as taking it back: its `label`, and what it `run`s
 */
export function toast(words, action) {
  for (const one of [...corner.children].filter(other => !other.querySelector('.act'))) dismiss(one);
  let timer = 0;
  const leave = () => { clearTimeout(timer); timer = setTimeout(() => dismiss(message), STAY); };
  const stay = () => clearTimeout(timer);
  const leaveUnless = () => { if (!message.matches(':hover,:focus-within')) leave(); };
  const message = h('div', { class: 'pop row', on: { pointerenter: stay, pointerleave: leaveUnless, focusin: stay, focusout: () => setTimeout(leaveUnless) } },
    h('span', { class: 'good row' }, icon('check')), h('span', { class: 'grow' }, words),
    action && button(action.label, () => act(message, action), { class: 'button small act' }),
    button(icon('close'), () => dismiss(message), { class: 'button quiet small icon', 'aria-label': t.panel.dismiss }));
  corner.append(message);
  if (corner.children.length > MOST) dismiss(corner.firstChild);
  // The time begins when it is seen: a page can be busy, or in a tab that is not shown.
  requestAnimationFrame(() => requestAnimationFrame(leaveUnless));
}

/** What the newest message offers; `null` if none offers anything. */
export function offered() {
  const found = [...corner.querySelectorAll('.act')].at(-1);
  return found ? () => found.click() : null;
}
