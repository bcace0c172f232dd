/** What is shown where an address names no page. */
import { h } from '../parts/dom.js';
import { t } from '../words.js';

export default function page({ setTitle }) {
  setTitle(t.missing.noSuchPageTitle);
  return { element: h('div', {}, h('h1', {}, t.missing.thereIsNoSuchPage), h('p', {}, h('a', { href: '#/' }, t.missing.toTheDatabases))) };
}
