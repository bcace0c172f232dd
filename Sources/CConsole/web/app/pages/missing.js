/** What is shown where an address names no page. */
import { h } from '../parts/dom.js';
import { stateBox } from '../parts/panel.js';
import { t } from '../words.js';

export default function page({ setTitle }) {
  setTitle(t.missing.noSuchPageTitle);
  return { element: h('div', {}, h('h1', {}, t.missing.noSuchPageTitle), stateBox({ title: t.missing.thereIsNoSuchPage, actions: [h('a', { class: 'button', href: '#/' }, t.missing.toTheDatabases)] })) };
}
