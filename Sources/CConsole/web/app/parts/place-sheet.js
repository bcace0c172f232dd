/** All places on a telephone: a sheet from below with those that the bar has not, the theme, and logging out. */
import { h } from './dom.js';
import { t } from '../words.js';

/** Shows the sheet; `lists` has a title and the links of each part, `rest` what follows. */
export function placeSheet(lists, rest) {
  const before = document.activeElement;
  const close = event => { if (event.target === element || event.target.closest('a')) element.close(); };
  const element = h('dialog', { class: 'sheet', 'aria-label': t.main.allPlaces, on: { click: close } },
    lists.map(({ title, links }) => h('div', { class: 'menu' }, h('h2', {}, title), links)), h('div', { class: 'toolbar' }, rest));
  element.addEventListener('close', () => { element.remove(); if (before?.isConnected) before.focus(); });
  document.body.append(element);
  element.showModal();
}
