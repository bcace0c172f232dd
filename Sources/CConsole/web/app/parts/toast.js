/**
 * What is done, told in a corner of its own. A message goes after six seconds, but stays while it is hovered or has the focus. Errors
 * are never told here.
 */
import { h, button, icon } from './dom.js';
import { tellFailed } from './panel.js';
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

/** Does what a message offers; why it failed stays on the page until somebody has read it. Whether the message has done its work. */
async function act({ label, run }) {
  try { return await run() !== false; } catch (error) {
    tellFailed(label, error);
    return false;
  }
}

/**
 * Tells what is done. A message without an action gives way to the next one.
 *
 * @param action what can be done about it, such as taking it back: its `label`, and what it `run`s once; `false` says that a question
 *   was left, and the message stays
 */
export function toast(words, action) {
  for (const one of [...corner.children].filter(other => !other.querySelector('.act'))) dismiss(one);
  let [timer, isActing] = [0, false];
  const leave = () => { clearTimeout(timer); timer = setTimeout(() => dismiss(message), STAY); };
  const stay = () => clearTimeout(timer);
  const leaveUnless = () => { if (!isActing && !message.matches(':hover,:focus-within')) leave(); };
  const begin = async () => {
    if (isActing) return;
    isActing = true;
    stay();
    isActing = await act(action);
    if (isActing) dismiss(message); else leaveUnless();
  };
  const message = h('div', { class: 'pop row', on: { pointerenter: stay, pointerleave: leaveUnless, focusin: stay, focusout: () => setTimeout(leaveUnless) } },
    h('span', { class: 'good row' }, icon('check')), h('span', { class: 'grow' }, words),
    action && button(action.label, begin, { class: 'button small act' }),
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
