/** The last queries of a user in a database, and those that were saved with a name. They stay in this browser. */
import { root } from '../api.js';
import { session } from '../session.js';
import { h, bdi, button, field, replace } from '../parts/dom.js';
import { dialog } from '../parts/panel.js';
import { format } from '../value/json-text.js';
import { t } from '../words.js';

const MOST = 20;
const LONGEST = 160; // characters of a query in the list

/** The list of queries; `onChoose` is called with the text of one. */
export function queryHistory({ db, current, onChoose }) {
  const key = () => `queries ${JSON.stringify([root.pathname, session.name ?? '', db])}`;
  const list = h('div');
  const element = h('details', { class: 'history' }, h('summary', {}, t.queryHistory.history), list);

  function stored() {
    try { return { last: [], saved: [], ...JSON.parse(localStorage.getItem(key())) }; } catch { return { last: [], saved: [] }; }
  }

  function store(change) {
    const now = stored();
    change(now);
    try { localStorage.setItem(key(), JSON.stringify(now)); } catch { /* The browser keeps nothing, or it is full. */ }
    draw();
  }

  function line(text, name) {
    const shown = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
    return h('li', { class: 'toolbar' }, name !== undefined && h('strong', {}, bdi(name)),
      h('button', { type: 'button', class: 'button small mono', on: { click: () => onChoose(format(text)) } }, bdi(shown)),
      name !== undefined && button(t.common.remove, () => forget(name), { class: 'button small', 'aria-label': t.common.removeOfName(name) }));
  }

  function forget(name) { store(all => { all.saved = all.saved.filter(one => one.name !== name); }); }

  function draw() {
    const { last, saved } = stored();
    const part = (title, lines) => lines.length > 0 && [h('h2', {}, title), h('ul', { class: 'list' }, lines)];
    replace(list, part(t.queryHistory.saved, saved.map(({ name, text }) => line(text, name))), part(t.queryHistory.last, last.map(text => line(text))),
      last.length + saved.length === 0 && h('p', { class: 'muted' }, t.queryHistory.none));
  }

  async function save() {
    const text = current();
    if (text === null) return;
    const name = h('input', { required: true });
    await dialog({
      title: t.queryHistory.saveTheQuery,
      body: h('div', { class: 'stack' }, field(t.common.name, name), h('p', { class: 'muted' }, t.queryHistory.inThisBrowser)),
      actions: [{ label: t.common.save, kind: 'primary', run: () => {
        store(all => { all.saved = [...all.saved.filter(one => one.name !== name.value), { name: name.value, text }]; });
        element.open = true;
        return true;
      } }],
    });
  }

  draw();
  return { element, save, draw, ran: text => store(all => { all.last = [text, ...all.last.filter(one => one !== text)].slice(0, MOST); }) };
}
