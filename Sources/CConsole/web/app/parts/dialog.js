/** Questions over the page. */
import { h, button, field } from './dom.js';
import { errorBox } from './panel.js';

/**
 * Asks, and returns what the chosen action returned; `undefined` if it was left. An action that fails shows its error and
 * keeps what was typed.
 */
export function dialog({ title, body, actions }) {
  return new Promise(resolve => {
    const before = document.activeElement;
    const errors = h('div', { role: 'alert' });
    let result;
    const run = async action => {
      errors.replaceChildren();
      try { result = await action.run(); } catch (error) { errors.replaceChildren(errorBox(error)); return; }
      if (result !== undefined) element.close();
    };
    const buttons = actions.map((action, index) => h('button', {
      class: `button ${action.kind ?? ''}`, type: index === 0 ? 'submit' : 'button',
      on: index === 0 ? {} : { click: () => run(action) },
    }, action.label));
    const form = h('form', { method: 'dialog', class: 'stack', on: { submit: event => { event.preventDefault(); run(actions[0]); } } },
      h('h2', { id: 'dialog-title' }, title), body, errors,
      h('div', { class: 'toolbar' }, buttons, button('Cancel', () => element.close())));
    const element = h('dialog', { 'aria-labelledby': 'dialog-title' }, form);
    element.addEventListener('close', () => { element.remove(); before?.focus?.(); resolve(result); });
    document.body.append(element);
    element.showModal();
  });
}

/** Asks before something that can't be undone: the word must be typed. */
export function confirmByTyping({ title, text, word, action, run }) {
  const input = h('input', { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
  return dialog({
    title, body: h('div', { class: 'stack' }, h('p', {}, text), field(`Type ${word} to go on`, input)),
    actions: [{
      label: action, kind: 'danger',
      run: async () => {
        if (input.value !== word) throw new Error(`What was typed is not “${word}”.`);
        return (await run()) ?? true;
      },
    }],
  });
}
