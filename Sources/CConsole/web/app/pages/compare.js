/** Two revisions of a document side by side: the fields that differ, and the whole texts by lines. */
import { isExact, path } from '../api.js';
import { link, setQuery } from '../router.js';
import { h, bdi, field, head, replace, tableHead } from '../parts/dom.js';
import { panel } from '../parts/panel.js';
import { lineTable } from '../parts/line-table.js';
import { differences } from '../value/compare.js';
import { parse, stringify } from '../value/json.js';
import { readDocument, readTree } from '../documents/reading.js';
import { short, t } from '../words.js';

const LONG = 120; // characters of a text from which on it is compared by lines

export default function page({ db, id, query, signal, setTitle, setSame, setKeys }) {
  setTitle(t.compare.compareTitle(id));
  let { a, b } = query;
  const [one, other] = [h('select', { on: { change: choose } }), h('select', { on: { change: choose } })];
  const tree = panel(() => readTree(db, id, signal), offer);
  const main = panel(read, show);

  /** The revisions whose bodies are kept, the newest first. */
  function offer(found) {
    const kept = (found?.revisions ?? []).filter(revision => revision.stored).map(revision => revision.rev);
    const all = [...new Set([...kept, a, b].filter(Boolean))].sort((left, right) => parseInt(right, 10) - parseInt(left, 10));
    b ??= found?.rev ?? all[0];
    a ??= all.find(rev => rev !== b) ?? b;
    for (const [select, chosen] of [[one, a], [other, b]]) {
      const named = rev => rev === found?.rev ? `${short(rev)} (${t.common.winner})` : short(rev);
      replace(select, all.map(rev => h('option', { value: rev, selected: rev === chosen }, named(rev))));
    }
    main.reload();
    return h('div', { class: 'toolbar' }, field(t.compare.before, one), field(t.compare.after, other));
  }

  function choose() {
    [a, b] = [one.value, other.value];
    setQuery({ a, b });
    main.reload();
  }

  async function read() {
    const where = path`${db}/${id}`;
    if (isExact(where)) setSame({ url: where, query: { open_revs: JSON.stringify([a, b]) }, settle: ['diff', [{ db }, id, a, b]] });
    return Promise.all([a, b].map(rev => readDocument(db, id, { rev, signal })));
  }

  function show([before, after]) {
    const gone = [[before, a], [after, b]].filter(([found]) => found.text === null);
    if (gone.length) return gone.map(([, rev]) => h('p', { class: 'warn' }, t.compare.isNotKept(short(rev))));
    const found = differences(parse(before.text), parse(after.text));
    if (found.length === 0) return h('p', { class: 'muted' }, t.compare.noFieldDiffers);
    return [
      h('p', { role: 'status' }, t.compare.fieldsDiffer(found.length)),
      h('div', { class: 'scroll' }, h('table', { class: 'cards' }, tableHead([t.bulk.field, short(a), short(b)]), h('tbody', {}, found.map(row)))),
      h('h2', {}, t.compare.wholeText), lineTable(before.text, after.text, t.compare.byLines),
    ];
  }

  const textOf = value => typeof value === 'string' ? value : stringify(value, 2);

  function row({ path: place, before, after }) {
    const [was, now] = [before, after].map(value => value === undefined ? null : textOf(value));
    const isLong = was !== null && now !== null && (was.length > LONG || now.length > LONG || was.includes('\n') || now.includes('\n'));
    const cell = (text, label, kind) => h('td', { 'data-label': label },
      text === null ? h('span', { class: 'muted' }, t.compare.notThere) : h('span', { class: `${kind} mono` }, bdi(text.slice(0, LONG * 10))));
    return h('tr', {}, h('th', { scope: 'row', class: 'mono' }, bdi(place)),
      isLong ? h('td', { colspan: 2 }, lineTable(was, now, t.compare.byLines)) : [cell(was, short(a), 'diff-gone'), cell(now, short(b), 'diff-new')]);
  }

  setKeys([{ key: 'r', text: t.common.readAgain, run: () => tree.reload() }]);
  tree.reload();
  const back = h('a', { class: 'button', href: link([db, 'doc', id]) }, t.common.toTheDocument);
  return { element: h('div', {}, head(h('span', {}, t.compare.revisionsOf, bdi(id)), back), tree.element, main.element) };
}
