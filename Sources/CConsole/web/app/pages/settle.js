/** Settling many conflicts by one policy: rehearse, read, run; stopped and gone on with at any time. Documents are deleted last, and asked about. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, head, replace, field } from '../parts/dom.js';
import { errorBox, confirmByTyping } from '../parts/panel.js';
import { policyForm, readPolicies } from '../parts/policy-form.js';
import { stringify } from '../value/json.js';
import { number, t } from '../words.js';

const PAGE = 100;
const MOST_LISTED = 200;
/** What can be run, by what becomes of the documents; a deletion is never chosen by itself. */
const RUNNABLE = { merged: true, clash: true, kept: true, deleted: false };

export default async function page({ db, query, signal, setTitle, setSame }) {
  setTitle(t.settle.settleManyTitle(db));
  const policy = policyForm(await readPolicies(), () => forget());
  const kind = h('select', { on: { change: () => forget() } }, Object.entries({ branches: t.common.twoOrMoreEdits, deletions: t.common.aDeletionAgainstAnEdit, all: t.common.all })
    .map(([name, text]) => h('option', { value: name, selected: name === (query.kind ?? 'branches') }, text)));
  const bar = h('progress', { 'aria-label': t.common.progress, hidden: true });
  const state = h('span', { role: 'status' });
  const [results, problems] = [h('div', { class: 'stack' }), h('div')];
  let isStopped = true;
  const stop = button(t.settle.stop, () => { isStopped = true; }, { hidden: true });

  const names = {
    merged: t.settle.mergedWithoutAClash, clash: t.settle.clashDecidedByTheRule, kept: t.settle.keepsOneLeaf, deleted: t.settle.deletesTheDocument,
    left: t.common.leftInConflict, nothing: t.settle.nothingToDecide, refused: t.settle.refused,
  };

  function showSame() {
    const text = stringify(new Map([['policy', policy.value()], ['kind', kind.value], ['limit', PAGE], ['dry_run', true]]));
    setSame({ url: path`${db}/_settle`, text, settle: ['resolve', [{ db }], ['--all', '--policy', policy.name, '--dry-run']] });
  }

  /** The group of a row, by the outcome that the server tells. */
  function groupOf(row) {
    if (row.error) return 'refused';
    if (row.outcome !== 'settled') return row.outcome;
    const outcome = row.effect?.outcome;
    if (outcome === 'deletes') return 'deleted';
    if (outcome === 'keeps') return 'kept';
    return row.clashes.length ? 'clash' : 'merged';
  }

  const common = () => ({ total: null, seen: 0, groups: new Map(Object.keys(names).map(name => [name, []])) });

  /** All conflicts of the kind, of which nothing is written. */
  function rehearsal() {
    let [start, isDone] = [null, false];
    return {
      ...common(), isDry: true, isDone: () => isDone,
      body: () => new Map([['policy', policy.value()], ['kind', kind.value], ['limit', PAGE], ['startkey', start], ['dry_run', true]]),
      take(answer) {
        start = answer.next_startkey;
        isDone = start === null;
      },
    };
  }

  /** Chosen documents in passes; only the last one may delete. */
  function settlement(passes) {
    const left = passes.filter(pass => pass.keys.length);
    return {
      ...common(), isDry: false, total: left.reduce((sum, pass) => sum + pass.keys.length, 0), isDone: () => left.length === 0,
      body: () => new Map([['policy', policy.value()], ['limit', PAGE], ['keys', left[0].keys.slice(0, PAGE)], ['may_delete', left[0].mayDelete]]),
      take(answer) {
        left[0].keys.splice(0, Math.max(answer.rows.length, 1));
        if (left[0].keys.length === 0) left.shift();
      },
    };
  }

  /** Goes over pages, from where the work was cut or stopped. */
  async function go(work) {
    if (!isStopped) return;
    isStopped = false;
    stop.hidden = bar.hidden = false;
    lock(true);
    forget();
    keepFocus();
    try {
      work.total ??= (await ask(path`${db}/_conflicts`, { query: { kind: kind.value, limit: 0 }, signal })).json.total_rows;
      bar.max = Math.max(work.total, 1);
      while (!work.isDone() && !isStopped) {
        const answer = (await ask(path`${db}/_settle`, { method: 'POST', text: stringify(work.body()), signal, quiet: true })).json;
        for (const row of answer.rows) work.groups.get(groupOf(row)).push(row);
        work.seen += answer.rows.length;
        work.take(answer);
        bar.value = work.seen;
        state.textContent = t.settle.of(number(work.seen), number(work.total));
      }
      state.textContent = t.settle.progressOf(isStopped ? t.settle.stoppedAfter : t.settle.done, number(work.seen), number(work.total));
    } catch (error) { if (error.name !== 'AbortError') replace(problems, errorBox(error, () => go(work))); }
    isStopped = true;
    lock(false);
    if (document.activeElement === stop) rehearse.focus();
    stop.hidden = true;
    show(work);
  }

  function show({ groups, isDry }) {
    const boxes = new Map();
    const size = (...some) => number(some.reduce((sum, name) => sum + groups.get(name).length, 0));
    const sum = h('p', { class: 'counts' }, t.settle.mergedKeptDeleted(size('merged', 'clash'), size('kept'), size('deleted')));
    replace(results, sum, [...groups].filter(([, rows]) => rows.length).map(([name, rows]) => {
      const isRunnable = isDry && name in RUNNABLE;
      const box = h('input', { type: 'checkbox', checked: isRunnable && RUNNABLE[name], disabled: !isRunnable, 'aria-label': names[name] });
      if (isRunnable) boxes.set(name, box);
      return h('details', { class: 'card', 'data-group': name }, h('summary', { class: name === 'deleted' ? 'bad' : null }, isDry && box, ` ${names[name]} `, h('span', { class: 'chip' }, number(rows.length))),
        h('ul', {}, rows.slice(0, MOST_LISTED).map(row => h('li', {}, h('a', { href: link([db, 'conflict', row.id]) }, bdi(row.id)), ' ',
          bdi(row.reason ?? (row.clashes?.length ? row.clashes.join(', ') : '')), row.effect?.lost_count > 0 && h('span', { class: 'muted' }, ` ${t.settle.losesCount(row.effect.lost_count)}`)))),
        rows.length > MOST_LISTED && h('p', { class: 'muted' }, t.settle.andMore(number(rows.length - MOST_LISTED))));
    }), isDry && boxes.size > 0 && button(t.settle.run, () => run(groups, boxes), { class: 'button primary' }));
  }

  async function run(groups, boxes) {
    const idsOf = isWanted => [...boxes].filter(([name, box]) => box.checked && isWanted(name)).flatMap(([name]) => groups.get(name).map(row => row.id));
    const [kept, deleted] = [idsOf(name => name !== 'deleted'), idsOf(name => name === 'deleted')];
    const count = kept.length + deleted.length;
    if (count === 0) return;
    const isSure = await confirmByTyping({
      title: t.settle.settleMany, text: t.settle.areSettledEveryCopy(t.settle.conflictsCount(count)),
      word: String(count), action: t.common.settle, run: () => true,
    });
    if (!isSure) return;
    const mayDelete = deleted.length > 0 && await confirmByTyping({
      title: t.settle.deleteMany(deleted.length), text: t.settle.theseAreDeleted(t.settle.isAre(deleted.length)),
      word: String(deleted.length), action: t.settle.deleteMany(deleted.length), run: () => true,
    });
    if (deleted.length > 0 && !mayDelete) return;
    await go(settlement([{ keys: kept, mayDelete: false }, { keys: deleted, mayDelete: true }]));
  }

  const rehearse = button(t.settle.rehearse, () => go(rehearsal()), { class: 'button primary' });

  /** What was rehearsed belongs to another choice. */
  function forget() {
    for (const place of [problems, results]) replace(place);
    showSame();
  }

  /** The button for a run is gone with what was rehearsed. */
  function keepFocus() { if (document.activeElement === document.body) rehearse.focus(); }

  /** While something is rehearsed or run its policy and kind stay, and nothing else begins. */
  function lock(isLocked) {
    for (const one of [policy.element, kind]) one.disabled = isLocked;
    // It keeps the focus, so that a second press on it does nothing.
    rehearse.setAttribute('aria-disabled', isLocked);
  }

  showSame();
  return {
    element: h('div', {}, head(t.settle.settleMany), policy.element,
      h('div', { class: 'toolbar' }, field(t.common.kind, kind), rehearse, stop, bar, state),
      h('p', { class: 'muted' }, t.settle.aRehearsalWritesNothing),
      problems, results),
    leave: () => { isStopped = true; },
  };
}
