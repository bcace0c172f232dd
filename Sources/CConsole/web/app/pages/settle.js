/** Settling many conflicts by one policy: rehearse, read, run; stopped and gone on with at any time. */
import { ask, path } from '../api.js';
import { link, setQuery } from '../router.js';
import { h, bdi, button, replace, field } from '../parts/dom.js';
import { errorBox, confirmByTyping } from '../parts/panel.js';
import { policyForm, readPolicies } from '../parts/policy-form.js';
import { stringify } from '../value/json.js';
import { number, t } from '../words.js';

const PAGE = 100;
const MOST_LISTED = 200;

export default async function page({ db, query, signal, setTitle, setSame }) {
  setTitle(t.settle.settleManyTitle(db));
  const policy = policyForm(await readPolicies(), () => { replace(results); showSame(); });
  const kind = h('select', {}, Object.entries({ branches: t.common.twoOrMoreEdits, deletions: t.common.aDeletionAgainstAnEdit, all: 'all' })
    .map(([name, text]) => h('option', { value: name, selected: name === (query.kind ?? 'branches') }, text)));
  const bar = h('progress', { 'aria-label': t.common.progress, hidden: true });
  const state = h('span', { role: 'status' });
  const [results, problems] = [h('div'), h('div')];
  let isStopped = true;
  const stop = button(t.settle.stop, () => { isStopped = true; }, { hidden: true });

  const names = {
    merged: t.settle.mergedWithoutAClash, clash: t.settle.clashDecidedByTheRule, left: t.common.leftInConflict, nothing: t.settle.nothingToDecide, refused: 'refused',
  };

  function showSame() {
    setSame({ url: `${encodeURIComponent(db)}/_settle`, settle: `settle resolve URL/${db} --all --policy ${policy.name} --dry-run` });
  }

  function groupOf(row) {
    if (row.error) return 'refused';
    if (row.outcome === 'settled') return row.clashes.length ? 'clash' : 'merged';
    return row.outcome;
  }

  /** Goes over pages, from where the address says. */
  async function go(isDry, keysOf) {
    replace(problems);
    const total = (await ask(path`${db}/_conflicts`, { query: { kind: kind.value, limit: 0 }, signal })).json.total_rows;
    const groups = new Map(Object.keys(names).map(name => [name, []]));
    let [start, seen] = [isDry ? null : query.from ?? null, 0];
    isStopped = false;
    stop.hidden = bar.hidden = false;
    bar.max = Math.max(total, 1);
    try {
      do {
        const body = new Map([['policy', policy.value()], ['kind', kind.value], ['limit', PAGE], ['startkey', start]]);
        if (isDry) body.set('dry_run', true);
        if (keysOf) { const keys = keysOf(); if (keys.length === 0) break; body.set('keys', keys); body.delete('startkey'); body.delete('kind'); }
        const answer = (await ask(path`${db}/_settle`, { method: 'POST', text: stringify(body), signal, quiet: true })).json;
        for (const row of answer.rows) groups.get(groupOf(row)).push(row);
        seen += answer.rows.length;
        start = answer.next_startkey;
        bar.value = seen;
        state.textContent = t.settle.of(number(seen), number(total));
        if (!isDry && !keysOf) setQuery({ from: start ?? undefined });
        if (keysOf) keysOf(answer.rows.length);
      } while ((start !== null || keysOf) && !isStopped);
      state.textContent = t.settle.progressOf(isStopped ? t.settle.stoppedAfter : t.settle.done, number(seen), number(total));
    } catch (error) { if (error.name !== 'AbortError') replace(problems, errorBox(error, () => go(isDry, keysOf))); }
    isStopped = true;
    stop.hidden = true;
    show(groups, isDry);
  }

  function show(groups, isDry) {
    const boxes = new Map();
    replace(results, [...groups].filter(([, rows]) => rows.length).map(([name, rows]) => {
      const isRunnable = isDry && (name === 'merged' || name === 'clash');
      const box = h('input', { type: 'checkbox', checked: isRunnable, disabled: !isRunnable, 'aria-label': names[name] });
      if (isRunnable) boxes.set(name, box);
      return h('details', {}, h('summary', {}, isDry && box, ` ${names[name]} `, h('span', { class: 'chip' }, number(rows.length))),
        h('ul', {}, rows.slice(0, MOST_LISTED).map(row => h('li', {}, h('a', { href: link([db, 'conflict', row.id]) }, bdi(row.id)), ' ',
          bdi(row.reason ?? (row.clashes?.length ? row.clashes.join(', ') : ''))))),
        rows.length > MOST_LISTED && h('p', { class: 'muted' }, t.settle.andMore(number(rows.length - MOST_LISTED))));
    }), isDry && boxes.size > 0 && button(t.settle.run, () => run(groups, boxes), { class: 'button primary' }));
  }

  async function run(groups, boxes) {
    const ids = [...boxes].filter(([, box]) => box.checked).flatMap(([name]) => groups.get(name).map(row => row.id));
    if (ids.length === 0) return;
    let place = 0;
    const keysOf = taken => { place += taken ?? 0; return ids.slice(place, place + PAGE); };
    const isSure = await confirmByTyping({
      title: t.settle.settleMany, text: t.settle.areSettledEveryCopy(t.settle.conflictsCount(ids.length)),
      word: String(ids.length), action: t.common.settle, run: () => true,
    });
    if (isSure) await go(false, keysOf);
  }

  showSame();
  return {
    element: h('div', {}, h('h1', {}, t.settle.settleMany), policy.element,
      h('div', { class: 'toolbar' }, field(t.common.kind, kind), button(t.settle.rehearse, () => go(true), { class: 'button primary' }), stop, bar, state),
      h('p', { class: 'muted' }, t.settle.aRehearsalWritesNothing),
      problems, results),
    leave: () => { isStopped = true; },
  };
}
