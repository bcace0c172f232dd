/** Logging in, as a page. */
import { h } from '../parts/dom.js';
import { errorBox } from '../parts/panel.js';
import { loginFields } from '../session.js';
import { t } from '../words.js';

export default function page({ setTitle, setSame }) {
  setTitle(t.common.logIn);
  setSame({ url: '_session' });
  const fields = loginFields();
  const errors = h('div');
  const form = h('form', {
    class: 'stack narrow',
    on: {
      submit: async event => {
        event.preventDefault();
        errors.replaceChildren();
        try { await fields.send(); location.hash = '#/'; } catch (error) { errors.replaceChildren(errorBox(error)); }
      },
    },
  }, h('h1', {}, t.common.logIn), fields.element, errors, h('button', { class: 'button primary' }, t.common.logIn));
  queueMicrotask(() => fields.first.focus());
  return { element: form };
}
