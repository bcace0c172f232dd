/** Logging in, as a page. */
import { h, icon } from '../parts/dom.js';
import { root } from '../api.js';
import { errorBox } from '../parts/panel.js';
import { loginFields } from '../session.js';
import { t } from '../words.js';

export default function page({ setTitle }) {
  setTitle(t.common.logIn);
  const fields = loginFields();
  const errors = h('div');
  const form = h('form', {
    class: 'stack',
    on: {
      submit: async event => {
        event.preventDefault();
        errors.replaceChildren();
        try { await fields.send(); location.hash = '#/'; } catch (error) { errors.replaceChildren(errorBox(error)); }
      },
    },
  }, h('h1', { class: 'brand' }, icon('word', 'word'), h('span', { class: 'sr' }, t.common.logIn)), h('p', { class: 'muted small' }, root.host), fields.element, errors, h('button', { class: 'button primary' }, t.common.logIn));
  queueMicrotask(() => fields.first.focus());
  return { element: h('div', { class: 'login' }, h('div', { class: 'card' }, form)) };
}
