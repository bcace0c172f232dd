/** The conflict inspector: a tree, base beside the sides, picks, and what would be written, before it is. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, replace, field } from '../parts/dom.js';
import { panel, errorBox } from '../parts/panel.js';
import { memberTable } from '../parts/member-table.js';
import { revTree } from '../parts/rev-tree.js';
import { parse, stringify } from '../value/json.js';
import { givenUp } from '../value/compare.js';
import { saveDocument } from '../documents/writing.js';
import { short, t } from '../words.js';
import { policyForm, readPolicies, settling } from '../parts/policy-form.js';
import { originForm, readOrigins, recorded, stamped } from '../parts/origins.js';

const MOST_SIDES = 4;
const MISSING = {
  none_in_common: t.conflict.theLeavesHaveNoRevision,
  unknown: t.conflict.noBaseIsKnownBecause,
  content_not_kept: t.conflict.theBaseIsKnownBut,
};

export default async function page({ db, id, signal, setTitle, setSame, setKeys }) {
  setTitle(t.conflict.conflictTitle(id));
  const picks = new Map();
  const [preview, outcomes, notes, done] = [h('div'), h('div'), h('div'), h('div')];
  let beside = null;
  let found = null;
  let table = null;
  let plan = null;
  let turn = 0;
  const policies = await readPolicies();
  const policy = policyForm(policies, () => { showSame(); rehearse(); });
  const settleButton = button(t.common.settle, settle, { class: 'button primary', title: t.common.ctrlEnter, disabled: true });
  const main = panel(load, show, { label: t.conflict.readingTheConflict });

  function showSame() {
    setSame({ url: path`${db}/_conflicts/${id}`, settle: `settle resolve URL/${db} ${id} --policy ${policy.name} --dry-run` });
  }

  async function load() {
    const [origins, answer] = await Promise.all([readOrigins(db, signal), ask(path`${db}/_conflicts/${id}`, { signal })]);
    const value = parse(answer.text);
    const tree = value.get('tree') && JSON.parse(stringify(value.get('tree')));
    return { value, tree, rev: value.get('rev'), origins };
  }

  function leaves() { return (found.value.get('leaves') ?? []).map(leaf => leaf.get('rev')); }

  function show(read) {
    found = read;
    const drawing = read.tree && revTree(read.tree, read.rev);
    if (!read.value.get('conflict')) {
      settleButton.disabled = true;
      replace(preview);
      replace(outcomes);
      return [h('p', { role: 'status' }, t.conflict.thisDocument), drawing];
    }
    const all = read.value.get('leaves');
    const names = new Map(all.map((leaf, index) => [leaf.get('rev'), index < 26 ? String.fromCharCode(65 + index) : `${index + 1}`]));
    const sides = all.map((leaf, index) => side(leaf, index, names.get(leaf.get('rev')), read.origins)).filter(entry => entry.doc);
    const chosen = sides.length > MOST_SIDES ? twoOf(sides) : sides;
    const base = read.value.get('base')?.get('doc') ?? null;
    Object.assign(found, { names, sides });
    table = memberTable({ base, sides: chosen, picks, decided, onPick: rehearse });
    const missing = read.value.get('missing_base');
    return h('div', { class: 'inspect' }, drawing, h('div', {},
      h('p', {}, t.conflict.base(t.conflict.leavesCount(all.length), read.value.get('base') ? short(read.value.get('base').get('rev')) : t.common.none),
        all.some(leaf => leaf.get('deleted')) && t.conflict.aDeletionAgainstAnEdit,
        chosen.length < sides.length && t.conflict.twoOfLiveLeavesStand(sides.length)),
      chosen.length < sides.length && h('div', { class: 'toolbar' }, chosen.map((entry, place) => field(place ? t.conflict.and : t.conflict.besideTheBase, chooser(sides, place)))),
      missing && h('p', { class: 'warn' }, MISSING[missing] ?? missing),
      all.some(leaf => leaf.get('omitted')) && h('p', { class: 'warn' }, t.conflict.someLeavesAreTooLarge),
      table.element, originForm({ db, origins: read.origins, leaves: all, onSave: main.reload })), preview);
  }

  /** The two leaves that were chosen, as far as they are still there. */
  function twoOf(sides) {
    const kept = (beside ?? []).filter(rev => sides.some(entry => entry.rev === rev));
    beside = [...new Set([...kept, ...sides.map(entry => entry.rev)])].slice(0, 2);
    return beside.map(rev => sides.find(entry => entry.rev === rev));
  }

  function chooser(sides, place) {
    const select = h('select', {
      on: {
        change: () => {
          beside[place] = select.value;
          if (beside[0] === beside[1]) beside[1 - place] = sides.find(entry => entry.rev !== select.value).rev;
          replace(main.content, show(found));
          table.draw();
        },
      },
    }, sides.map(entry => h('option', { value: entry.rev, selected: entry.rev === beside[place] }, entry.label)));
    return select;
  }

  function side(leaf, index, name, origins) {
    const origin = { local: t.conflict.madeHere, remote: t.common.came }[leaf.get('side')];
    const label = `${name} ${short(leaf.get('rev'))}`;
    return {
      rev: leaf.get('rev'), label, doc: leaf.get('deleted') ? null : leaf.get('doc') ?? null,
      title: [label, h('span', { class: 'blame' }, bdi([index === 0 && 'winner', origin, recorded(origins, leaf)].filter(Boolean).join(', ')))],
      blame: place => stamped(origins, leaf, place),
    };
  }

  function decided(place) {
    const member = plan?.get('decision')?.get('members').find(entry => entry.get('path') === place);
    if (!member) return null;
    return { value: member.get('result'), why: member.get('left') ? t.common.leftInConflict : named(member.get('reason')), isClash: member.get('clash') };
  }

  /** A text in which revisions of leaves are called by their letters. */
  function named(text) {
    for (const [rev, name] of found.names) text = text.replaceAll(rev, name);
    return text.replace(/\b\d+-[0-9a-f]{32}\b/g, short);
  }

  function request(isDry) {
    const body = new Map([['policy', policy.value()], ['leaves', leaves()]]);
    if (picks.size) body.set('picks', new Map([...picks].map(([place, pick]) => [place, new Map(Object.entries(pick))])));
    if (isDry) body.set('dry_run', true);
    return stringify(body);
  }

  /** Asks what would be written; the answer to the last question counts. */
  async function rehearse() {
    const mine = ++turn;
    settleButton.disabled = true;
    try {
      const answer = parse((await ask(path`${db}/_settle/${id}`, { method: 'POST', text: request(true), signal, quiet: true })).text);
      if (mine !== turn) return;
      plan = answer;
      table?.draw();
      drawPlan();
    } catch (error) {
      if (mine !== turn || error.name === 'AbortError') return;
      if (error.status === 409) changed(); else replace(preview, errorBox(error, rehearse));
    }
  }

  function drawPlan() {
    const [writes, refused] = [plan.get('writes') ?? [], plan.get('refused') ?? []];
    if (plan.get('outcome') !== 'settled') {
      replace(preview, h('p', { class: 'warn' }, plan.get('outcome') === 'left' ? t.conflict.thisPolicyLeavesTheConflict : t.conflict.thisPolicyHasNothing(policies.policies.filter(entry => entry.decides.includes('deletion')).map(entry => entry.name).join(', '))));
      return;
    }
    const result = writes.find(write => !write.get('deleted'))?.get('doc') ?? found.sides.find(entry => entry.rev === plan.get('rev'))?.doc;
    const lost = result ? givenUp(found.value.get('base')?.get('doc') ?? new Map(), found.sides, result) : [];
    const reason = plan.get('decision')?.get('reason');
    replace(preview,
      reason && h('p', {}, named(reason)),
      h('h2', {}, t.conflict.wouldWrite),
      h('ul', {}, writes.map(write => h('li', {}, write.get('deleted') ? '✕ ' : '● ', h('span', { class: 'rev', title: write.get('rev') }, short(write.get('rev'))),
        t.conflict.on(short(write.get('parent'))), write.get('deleted') && write.get('doc')?.get('$closed') && t.conflict.closed(short(write.get('doc').get('$closed'))))),
      writes.length === 0 && h('li', {}, t.conflict.nothingOneLeafStays)),
      h('h2', {}, t.conflict.givenUp),
      lost.length === 0 ? h('p', { class: 'muted' }, t.conflict.nothingEveryChangedValue)
        : h('ul', {}, lost.map(entry => h('li', {}, bdi(`${found.names.get(entry.rev)}: ${entry.path} ${stringify(entry.value)}`)))),
      h('p', { class: refused.length ? 'bad' : 'good' }, refused.length
        ? t.conflict.validationRefuses(t.conflict.writesCount(refused.length), refused.map(entry => `${short(entry.get('rev'))} ${entry.get('reason')}`).join('; '))
        : t.conflict.validationAllWritesPass),
      (plan.get('warnings') ?? []).map(text => h('p', { class: 'warn' }, text)));
    settleButton.disabled = refused.length > 0;
  }

  /** Somebody else has written meanwhile: what is there now is shown, and the picks are laid over it. */
  async function changed() {
    replace(notes, h('p', { class: 'warn', role: 'alert' }, t.conflict.theLeavesHaveChangedMeanwhile));
    await main.reload();
    for (const [place, pick] of picks) if (pick.rev && !leaves().includes(pick.rev)) picks.delete(place);
    if (found.value.get('conflict')) await rehearse();
  }

  async function settle() {
    if (settleButton.disabled) return;
    settleButton.disabled = true;
    const before = found;
    try {
      const answer = (await ask(path`${db}/_settle/${id}`, { method: 'POST', text: request(false) })).json;
      replace(notes);
      replace(done, h('div', { class: 'card', role: 'status' },
        h('p', { class: 'good' }, t.conflict.settledWrittenStays(t.conflict.revisionsCount(answer.written.length), short(answer.rev)), h('a', { href: link([db, 'doc', id]) }, t.conflict.lookAtIt)),
        h('div', { class: 'toolbar' }, before.sides.map(entry => button(t.conflict.takeBack(entry.label), () => takeBack(entry, answer.rev), { class: 'button small' })))));
      picks.clear();
      await main.reload();
    } catch (error) {
      if (error.status === 409) changed(); else { replace(preview, errorBox(error, rehearse)); settleButton.disabled = false; }
    }
  }

  /** Writes an earlier leaf's content as a new edit. */
  async function takeBack(entry, rev) {
    try {
      const text = stringify(new Map([...entry.doc, ['_rev', rev]]));
      const rev = await saveDocument(db, id, text);
      replace(done, h('p', { class: 'good', role: 'status' }, t.conflict.isWrittenAgain(entry.label, short(rev))));
      main.reload();
    } catch (error) { done.append(errorBox(error)); }
  }

  /** What each policy would do with this conflict. */
  async function askAll() {
    const rows = await Promise.all(settling(policies).map(async name => {
      try {
        const answer = (await ask(path`${db}/_settle/${id}`, { method: 'POST', json: { policy: name, dry_run: true }, signal, quiet: true })).json;
        const what = answer.decision?.resolution;
        const winner = found.names?.get(answer.rev);
        const text = answer.outcome === 'settled' ? (what === 'keep' ? t.conflict.keeps(winner ?? short(answer.rev)) : what === 'delete' ? t.conflict.deletes : t.conflict.merges(short(answer.rev))) : answer.outcome === 'left' ? t.conflict.leaves : t.conflict.hasNothingToDecide;
        return [name, text];
      } catch (error) { return [name, error.reason ?? error.message]; }
    }));
    replace(outcomes, h('details', {}, h('summary', {}, t.conflict.whatEachPolicyDoes),
      h('table', {}, h('tbody', {}, rows.map(([name, text]) => h('tr', {}, h('th', { scope: 'row' }, button(name, () => policy.choose(name), { class: 'button small' })), h('td', {}, bdi(text))))))));
  }

  setKeys([
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(digit => ({ key: String(digit), text: t.conflict.takeSide(String.fromCharCode(64 + digit)), run: () => table?.pickSide(digit - 1) })),
    { key: '0', text: t.conflict.takeTheBase, run: () => table?.pickBase() }, { key: 'x', text: t.conflict.removeTheMember, run: () => table?.pickNone() },
    { key: 'e', text: t.conflict.editTheValue, run: () => table?.editCurrent() }, { key: 'n', text: t.conflict.nextClash, run: () => table?.move(1) },
    { key: 'p', text: t.conflict.previousClash, run: () => table?.move(-1) }, { key: 'u', text: t.conflict.takeTheLastPickBack, run: () => table?.undo() },
    { key: 'Enter', ctrl: true, text: t.conflict.settle, run: settle },
  ]);
  showSame();
  main.reload().then(() => { if (found?.value.get('conflict')) { rehearse(); askAll(); } });
  return {
    element: h('div', {}, h('h1', {}, bdi(id)), done, notes, policy.element, main.element, outcomes,
      h('div', { class: 'toolbar' }, settleButton, h('a', { class: 'button', href: link([db, 'conflicts']) }, t.conflict.leave), h('a', { href: link([db, 'doc', id]) }, t.conflict.toTheDocument))),
    leave: () => picks.size === 0 || confirm(t.conflict.thePicksAreNotSettled),
  };
}
