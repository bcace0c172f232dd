/** The documents in conflict, grouped by what differs or by their ids. */
import { ask, path } from '../api.js';
import { link, setQuery } from '../router.js';
import { session, onSession } from '../session.js';
import { h, bdi, tableHead, button, head, replace, field } from '../parts/dom.js';
import { panel, stateBox } from '../parts/panel.js';
import { number, short, t } from '../words.js';

const PAGE = 100;

function kindOf(kind) {
  const isDeletion = kind === 'deletion';
  return h('span', { class: isDeletion ? 'pill bad' : 'pill' }, isDeletion ? t.common.aDeletionAgainstAnEdit : t.common.twoOrMoreEdits);
}

export default function page({ db, query, signal, setTitle, setSame, setKeys }) {
  setTitle(t.conflicts.conflictsTitle(db));
  let [kind, by] = [query.kind ?? 'all', query.by ?? 'members'];
  let [from, found] = [null, null]; // where the page that is read begins, and what was read before
  const closed = new Set(); // groups
  const list = panel(load, show, { label: t.conflicts.readingTheConflicts, isKept: true });

  async function load() {
    const [asked, before] = [kind, from === null ? [] : found.rows];
    const { rows, total_rows: total } = (await ask(path`${db}/_conflicts`, { signal, query: { kind: asked, differs: true, limit: PAGE + 1, ...(from !== null && { startkey: JSON.stringify(from) }) } })).json;
    return { rows: [...before, ...rows.slice(0, PAGE)], next: rows[PAGE]?.id ?? null, total, kind: asked };
  }

  function read(start = null) {
    from = start;
    setSame({ url: path`${db}/_conflicts`, query: { kind }, settle: ['conflicts', [{ db }], kind === 'branches' ? [] : ['--deletions']] });
    list.reload();
  }

  function show(now) {
    found = now;
    const { rows, next, total } = now;
    const summary = total === 0 ? stateBox({ art: 'together', title: t.conflicts.noDocumentIsInConflict, text: t.conflicts.newOnesAppear }) : t.conflicts.inConflictAreShown(t.common.documentsCount(total), number(rows.length));
    return [h('div', { class: 'muted', role: 'status' }, summary), groupsOf(rows), next !== null && h('div', { class: 'toolbar' }, button(t.common.more, () => read(now.kind === kind ? next : null)))];
  }

  function groupsOf(rows) {
    const groups = Map.groupBy(rows, row => by === 'members' ? (row.value.differs ?? []).join(', ') || (row.value.kind === 'deletion' ? t.common.aDeletionAgainstAnEdit : t.conflicts.theSameMembers) : row.id.split(/[:/_-]/)[0]);
    return [...groups].map(([name, members]) => h('details', { 'data-key': name, open: groups.size <= 8 && !closed.has(name), on: { toggle: event => { if (event.target.open) closed.delete(name); else closed.add(name); } } },
      h('summary', {}, bdi(name), ' ', h('span', { class: 'chip' }, number(members.length))),
      h('div', { class: 'scroll' }, h('table', { class: 'cards' },
        tableHead([t.common.id, t.conflicts.leaves, t.conflicts.winner, t.common.base, t.common.kind], index => index === 1),
        h('tbody', {}, members.map(row => h('tr', {},
          h('th', { scope: 'row' }, h('a', { href: link([db, 'conflict', row.id], { list: kind }) }, bdi(row.id))),
          h('td', { class: 'num', 'data-label': t.conflicts.leavesLabel }, number(row.value.conflicts.length + 1)),
          h('td', { class: 'rev', 'data-label': t.common.winner }, short(row.value.rev)),
          h('td', { class: 'rev', 'data-label': t.common.baseLabel }, row.value.base ? short(row.value.base) : t.conflict.noCommonBase),
          h('td', { 'data-label': t.conflicts.kind }, kindOf(row.value.kind)))))))));
  }

  const choose = (label, value, words, set) => field(label, h('select', { on: { change: event => set(event.target.value) } },
    Object.entries(words).map(([name, text]) => h('option', { value: name, selected: name === value }, text))));
  setKeys([{ key: 'r', text: t.common.readAgain, run: () => read() }]);
  const many = h('a', { class: 'button primary', href: link([db, 'settle'], { kind }) }, t.conflicts.settleMany);
  onSession(() => { many.hidden = !session.name; }, signal);
  read();
  return {
    element: h('div', {}, head(t.common.conflicts, many),
      h('div', { class: 'toolbar' },
        choose(t.common.kind, kind, { all: t.common.all, branches: t.common.twoOrMoreEdits, deletions: t.common.aDeletionAgainstAnEdit }, value => { kind = value; many.href = link([db, 'settle'], { kind }); setQuery({ kind }); read(); }),
        choose(t.conflicts.group, by, { members: t.conflicts.membersThatDiffer, prefix: t.conflicts.prefixOfTheId }, value => { by = value; setQuery({ by }); if (found) replace(list.content, show(found)); })),
      list.element),
  };
}
