/** What is shown where an address names no page. */
import { h } from '../parts/dom.js';

export default function page({ setTitle }) {
  setTitle('No such page');
  return { element: h('div', {}, h('h1', {}, 'There is no such page'), h('p', {}, h('a', { href: '#/' }, 'To the databases'))) };
}
