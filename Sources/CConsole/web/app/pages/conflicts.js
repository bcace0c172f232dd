/** The documents in conflict, grouped by what differs or by their ids. */
import { ask, path } from '../api.js';
import { link, setQuery } from '../router.js';
import { session, onSession } from '../session.js';
import { h, bdi, tableHead, button, head, replace, field } from '../parts/dom.js';
import { errorBox, stateBox } from '../parts/panel.js';
import { number, short, t } from '../words.js';

const PAGE = 100;

function kindOf(kind) {
  const isDeletion = kind === 'deletion';
  return h('span', { class: isDeletion ? 'pill bad' : 'pill' }, isDeletion ? t.common.aDeletionAgainstAnEdit : t.common.twoOrMoreEdits);
}

export default function page({ db, query, signal, setTitle, setSame, setKeys }) {
  setTitle(t.conflicts.conflictsTitle(db));
  let [kind, by] = [query.kind ?? 'all', query.by ?? 'members'];
  let rows = [];
  let next = null;
  const [summary, list, problems] = [h('div', { class: 'muted', role: 'status' }), h('div', { class: 'stack' }), h('div')];
  const more = button(t.common.more, () => read(false));

  async function read(isNew) {
    replace(problems);
    if (isNew) { rows = []; next = null; }
    setSame({ url: path`${db}/_conflicts`, query: { kind }, settle: ['conflicts', [{ db }], kind === 'branches' ? [] : ['--deletions']] });
    more.disabled = true;
    try {
      const answer = (await ask(path`${db}/_conflicts`, { signal, query: { kind, differs: true, limit: PAGE + 1, ...(next !== null && { startkey: JSON.stringify(next) }) } })).json;
      next = answer.rows.length > PAGE ? answer.rows[PAGE].id : null;
      rows.push(...answer.rows.slice(0, PAGE));
      replace(summary, answer.total_rows === 0 ? stateBox({ art: 'together', title: t.conflicts.noDocumentIsInConflict, text: t.conflicts.newOnesAppear }) : t.conflicts.inConflictAreShown(t.common.documentsCount(answer.total_rows), number(rows.length)));
      draw();
    } catch (error) { if (error.name !== 'AbortError') replace(problems, errorBox(error, () => read(isNew))); }
    more.disabled = next === null;
    more.hidden = next === null;
  }

  function draw() {
    const groups = Map.groupBy(rows, row => by === 'members' ? (row.value.differs ?? []).join(', ') || (row.value.kind === 'deletion' ? t.common.aDeletionAgainstAnEdit : t.conflicts.theSameMembers) : row.id.split(/[:/_-]/)[0]);
    replace(list, [...groups].map(([name, members]) => h('details', { open: groups.size <= 8 },
      h('summary', {}, bdi(name), ' ', h('span', { class: 'chip' }, number(members.length))),
      h('div', { class: 'scroll' }, h('table', { class: 'cards' },
        tableHead([t.common.id, t.conflicts.leaves, t.conflicts.winner, t.common.base, t.common.kind], index => index === 1),
        h('tbody', {}, members.map(row => h('tr', {},
          h('th', { scope: 'row' }, h('a', { href: link([db, 'conflict', row.id], { list: kind }) }, bdi(row.id))),
          h('td', { class: 'num', 'data-label': t.conflicts.leavesLabel }, number(row.value.conflicts.length + 1)),
          h('td', { class: 'rev', 'data-label': t.common.winner }, short(row.value.rev)),
          h('td', { class: 'rev', 'data-label': t.common.baseLabel }, row.value.base ? short(row.value.base) : t.conflict.noCommonBase),
          h('td', { 'data-label': t.conflicts.kind }, kindOf(row.value.kind))))))))));
  }

  const choose = (label, value, words, set) => field(label, h('select', { on: { change: event => set(event.target.value) } },
    Object.entries(words).map(([name, text]) => h('option', { value: name, selected: name === value }, text))));
  setKeys([{ key: 'r', text: t.common.readAgain, run: () => read(true) }]);
  const many = h('a', { class: 'button primary', href: link([db, 'settle'], { kind }) }, t.conflicts.settleMany);
  onSession(() => { many.hidden = !session.name; }, signal);
  read(true);
  return {
    element: h('div', {}, head(t.common.conflicts, many),
      h('div', { class: 'toolbar' },
        choose(t.common.kind, kind, { all: t.common.all, branches: t.common.twoOrMoreEdits, deletions: t.common.aDeletionAgainstAnEdit }, value => { kind = value; many.href = link([db, 'settle'], { kind }); setQuery({ kind }); read(true); }),
        choose(t.conflicts.group, by, { members: t.conflicts.membersThatDiffer, prefix: t.conflicts.prefixOfTheId }, value => { by = value; setQuery({ by }); draw(); })),
      problems, summary, list, more),
  };
}
