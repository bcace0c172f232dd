/**
 * The conflict inspector: a tree, base beside the leaves, picks, and what would be written, before it is. Results, reasons and
 * losses are the server's: the page asks for a dry run of each choice and shows the answer.
 */
import { address, ask, isExact, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, card, field, head, icon, letter, patch, replace, visible } from '../parts/dom.js';
import { panel, dialog, errorBox, stateBox } from '../parts/panel.js';
import { toast } from '../parts/toast.js';
import { memberTable } from '../parts/member-table.js';
import { revTree } from '../parts/rev-tree.js';
import { effectRows, lostList, policyOutcomes, writeList } from '../parts/effect-view.js';
import { parse, stringify } from '../value/json.js';
import { namesOf } from '../value/compare.js';
import { IMAGES } from '../documents/attachments.js';
import { neighbours, nextConflict } from '../documents/conflict-list.js';
import { restoreOne } from '../documents/restoring.js';
import { bytes, number, short, t } from '../words.js';
import { policyForm, readPolicies } from '../parts/policy-form.js';
import { originForm, readOrigins, recorded, stamped } from '../parts/origins.js';

const MOST_BUTTONS = 4;
const MISSING = {
  none_in_common: t.conflict.theLeavesHaveNoRevision,
  unknown: t.conflict.noBaseIsKnownBecause,
  content_not_kept: t.conflict.theBaseIsKnownBut,
};

/** What `settle resolve` takes for a policy that the server takes. */
function policyOptions(policy) {
  if (typeof policy === 'string') return ['--policy', policy];
  const rules = [...policy.get('rules') ?? []].flatMap(([place, rule]) => ['--merge-rule', `${place}=${rule}`]);
  return ['--policy', policy.get('name'), ...rules, ...(policy.has('on_clash') ? ['--on-clash', policy.get('on_clash')] : [])];
}

export default async function page({ db, id, query, signal, setTitle, setSame, setKeys }) {
  setTitle(t.conflict.conflictTitle(id));
  const picks = new Map();
  const kind = query.list ?? 'all'; // of the list in which the neighbours stand
  const [preview, notes, choices, pills] = [h('div', { class: 'stack' }), h('div'), h('span', { class: 'seg' }), h('span', { class: 'row' })];
  const sentence = h('span', { class: 'grow', role: 'status' });
  let way = { name: 'merge' };
  let found = null;
  let table = null;
  let plan = null;
  let list = null; // of leaves, where they are many
  let turn = 0;
  const policy = policyForm(await readPolicies(), () => { way = { name: 'merge' }; rehearse(); });
  const settleButton = button(t.common.settle, settle, { class: 'button primary act', title: t.common.ctrlEnter, disabled: true });
  const main = panel(load, show, { label: t.conflict.readingTheConflict });
  const listed = link([db, 'conflicts'], { kind: query.list });
  const skip = h('a', { class: 'button quiet', href: listed }, t.conflict.leave);
  const position = h('span', { class: 'small muted num' }, '…');
  const [back, on] = [[t.conflict.previousConflict, 'back', 'previous'], [t.conflict.nextConflict, 'next', 'next']].map(([label, sign, side]) =>
    button(icon(sign), () => goTo(near[side]), { class: 'button quiet icon', 'aria-label': label, title: label, disabled: true }));
  let near = { previous: null, next: null };
  const dock = h('div', { class: 'dock toolbar', role: 'group', 'aria-label': t.conflict.theResult, hidden: true });

  function showSame() {
    const isThere = found?.value.get('conflict');
    // The tool takes no picks, so that a line without them would do something else.
    const isTold = way.name !== 'merge' || picks.size === 0;
    const options = { merge: policyOptions(policy.value()), keep: ['--keep', way.rev], delete: ['--delete'] }[way.name];
    setSame({
      url: isThere ? path`${db}/_settle/${id}` : path`${db}/_conflicts/${id}`, text: isThere ? request(true) : undefined,
      settle: isTold && ['resolve', [{ db }, id], [...options, '--dry-run']],
    });
  }

  async function load() {
    const [origins, answer] = await Promise.all([readOrigins(db, signal), ask(path`${db}/_conflicts/${id}`, { query: { policies: true }, signal })]);
    const value = parse(answer.text);
    const tree = value.get('tree') && JSON.parse(stringify(value.get('tree')));
    return { value, tree, rev: value.get('rev'), origins };
  }

  function leaves() { return (found.value.get('leaves') ?? []).map(leaf => leaf.get('rev')); }

  function show(read) {
    found = read;
    plan = null;
    const drawing = read.tree && revTree(read.tree, read.rev);
    dock.hidden = !read.value.get('conflict');
    replace(pills);
    if (dock.hidden) {
      settleButton.disabled = true;
      replace(preview);
      return [stateBox({ art: 'together', title: t.conflict.thisDocument }), drawing && card(t.revTree.revisionTree, drawing)];
    }
    const all = read.value.get('leaves');
    const names = new Map(all.map((leaf, index) => [leaf.get('rev'), index < 26 ? String.fromCharCode(65 + index) : `${index + 1}`]));
    const sides = all.filter(leaf => !leaf.get('deleted')).map((leaf, index) => side(leaf, index, names.get(leaf.get('rev')), read.origins));
    // The tree stands below what is lost and written, and comes with it, so that it does not move.
    Object.assign(found, { names, sides, treeCard: drawing && card(t.revTree.revisionTree, drawing) });
    if (found.treeCard) found.treeCard.hidden = true;
    offer(read.value.get('policies') ?? []);
    list = h('select', { 'aria-label': t.conflict.leafToKeep }, sides.map(entry => h('option', { value: entry.rev, selected: entry.rev === way.rev }, entry.label)));
    drawChoices();
    table = memberTable({ hasBase: Boolean(read.value.get('base')), sides, picks, rows, view: attachment, onPick: () => choose({ name: 'merge' }) });
    const missing = read.value.get('missing_base');
    replace(pills, h('span', { class: 'pill warn' }, icon('conflict'), t.conflict.leavesCount(all.length)),
      h('span', { class: 'muted small' }, read.value.get('base') ? t.conflict.baseIs(short(read.value.get('base').get('rev'))) : t.conflict.noCommonBase));
    const banner = words => h('p', { class: 'note warn' }, words);
    return [policy.element, h('div', { class: 'inspect' }, h('div', {},
      all.some(leaf => leaf.get('deleted')) && banner(t.conflict.aDeletionAgainstAnEdit),
      missing && banner(MISSING[missing] ?? missing),
      all.some(leaf => leaf.get('omitted')) && banner(t.conflict.someLeavesAreTooLarge),
      sides.length > MOST_BUTTONS && h('details', {}, h('summary', {}, t.conflict.theLeaves), h('ul', { class: 'list' }, sides.map(entry => h('li', {}, entry.title)))),
      originForm({ db, origins: read.origins, leaves: all, onSave: reload }), table.element), h('div', {}, preview, found.treeCard))];
  }

  const linkTo = next => next === null ? listed : link([db, 'conflict', next], { list: kind });
  const goTo = next => { if (next !== null) location.hash = linkTo(next); };

  /** The place in the list and the neighbours there, so that a user can work it off. */
  async function findNear() {
    try {
      near = await neighbours(db, id, { kind, signal });
      skip.href = linkTo(near.next);
      [back.disabled, on.disabled] = [near.previous === null, near.next === null];
      position.textContent = near.place === null ? t.conflict.inAll(near.total) : t.conflict.placeOf(number(near.place), number(near.total));
    } catch { position.textContent = ''; }
  }

  async function reload() {
    await main.reload();
    if (found?.value.get('conflict')) await rehearse();
  }

  function side(leaf, index, name, origins) {
    const label = `${name} ${short(leaf.get('rev'))}`;
    return {
      rev: leaf.get('rev'), name, label, doc: leaf.get('doc') ?? null,
      title: [letter(name), ' ', h('span', { class: 'rev' }, short(leaf.get('rev'))), h('span', { class: 'blame' }, bdi([index === 0 && t.common.winner, recorded(origins, leaf)].filter(Boolean).join(', ')))],
      blame: place => stamped(origins, leaf, place),
    };
  }

  /** An attachment in a row: a picture if it is one, and its type and size. */
  function attachment(place, value, rev) {
    if (!place.startsWith('/_attachments/') || value === undefined) return null;
    const [name, type] = [namesOf(place)[1], value.get('content_type')];
    const url = path`${db}/${id}/${name}`;
    const words = bdi(`${type}, ${bytes(value.get('length').toNumber())}`);
    if (rev === null || !IMAGES.has(type) || !isExact(url)) return words;
    return [h('img', { class: 'thumb', src: address(url, { rev }).href, alt: name, loading: 'lazy' }), ' ', words];
  }

  /** Policies that do not settle this conflict are not offered; then a leaf is kept at first. */
  function offer(policies) {
    const { outcomes, reasons } = policyOutcomes(policies, named);
    found.canMerge = policy.offer(outcomes, reasons);
    if (way.name === 'merge' && !found.canMerge) way = { name: 'keep', rev: found.sides[0].rev };
    if (way.name === 'keep' && !leaves().includes(way.rev)) way = { name: 'merge' };
  }

  function rows() { return plan && effectRows(plan.get('effect') ?? new Map([['rows', []]]), { named, isPicked: place => way.name === 'merge' && isPicked(place) }); }

  function isPicked(place) { return [...picks.keys()].some(one => one === place || one.startsWith(`${place}/`) || place.startsWith(`${one}/`)); }

  /** A text in which revisions of leaves are called by their letters. */
  function named(text) {
    for (const [rev, name] of found.names) text = text.replaceAll(rev, name);
    return text.replace(/\b\d+-[0-9a-f]{32}\b/g, short);
  }

  // The result: merged by the policy, a leaf, or a deletion. Choosing asks what it would do; one button does it.

  function choose(next) {
    way = next;
    drawChoices();
    rehearse();
  }

  function drawChoices() {
    const { sides, canMerge } = found;
    const one = (label, next, attributes) => button(label, () => choose(next), { class: 'button', ...attributes, 'aria-pressed': String(way.name === next.name && way.rev === next.rev) });
    patch(choices,
      one([icon('merge'), t.conflict.merge], { name: 'merge' }, { disabled: !canMerge }),
      sides.length <= MOST_BUTTONS
        ? sides.map(entry => one([t.conflict.keep, letter(entry.name)], { name: 'keep', rev: entry.rev }, { title: entry.label }))
        : [list, button(t.conflict.keepThisLeaf, () => choose({ name: 'keep', rev: list.value }), { class: 'button', 'aria-pressed': String(way.name === 'keep') })],
      one([icon('trash'), t.common.deleteAction], { name: 'delete' }, { class: 'button bad' }));
  }

  function request(isDry) {
    const body = new Map([['leaves', leaves()]]);
    if (way.name === 'keep') body.set('keep', way.rev);
    else if (way.name === 'delete') body.set('delete', true);
    else {
      body.set('policy', policy.value());
      if (picks.size) body.set('picks', new Map([...picks].map(([place, pick]) => [place, new Map(Object.entries(pick))])));
    }
    if (isDry) body.set('dry_run', true);
    return stringify(body);
  }

  /** Asks what would be done; the answer to the last question counts. */
  async function rehearse() {
    const mine = ++turn;
    settleButton.disabled = true;
    showSame();
    if (!found?.value.get('conflict')) return;
    drawChoices();
    preview.setAttribute('aria-busy', 'true');
    try {
      const answer = parse((await ask(path`${db}/_settle/${id}`, { method: 'POST', text: request(true), signal, quiet: true })).text);
      if (mine !== turn) return;
      plan = answer;
      table?.draw();
      drawPlan();
    } catch (error) {
      if (mine !== turn || error.name === 'AbortError') return;
      replace(sentence);
      if (error.status === 409) changed(); else replace(preview, errorBox(error, rehearse));
    } finally {
      if (mine === turn) preview.removeAttribute('aria-busy');
      if (mine === turn && found.treeCard) found.treeCard.hidden = false;
    }
  }

  function drawPlan() {
    const effect = plan.get('effect');
    const reason = plan.get('decision')?.get('reason');
    const outcome = effect?.get('outcome') ?? 'leaves';
    const isDeletion = outcome === 'deletes';
    const words = effect ? named(effect.get('words')) : t.conflict.nothingToSettle;
    replace(sentence, h('strong', { class: isDeletion ? 'bad' : null }, bdi(words)), effect && outcome !== 'leaves' && `, ${t.effectView.lostCount(effect.get('lost_count').toNumber())}`);
    settleButton.textContent = isDeletion ? t.conflict.deleteTheDocument
      : outcome === 'keeps' ? t.conflict.keepAndClose(found.names.get(effect.get('keeps')) ?? short(effect.get('keeps'))) : t.conflict.settleAsMerged;
    settleButton.className = `button ${isDeletion ? 'danger' : 'primary'} act`;
    if (plan.get('outcome') !== 'settled') {
      replace(preview, h('p', { class: 'note warn' }, plan.get('outcome') === 'left' ? t.conflict.thisPolicyLeavesTheConflict : t.conflict.nothingToSettle), reason && h('p', {}, bdi(named(reason))));
      return;
    }
    replace(preview, isDeletion && h('p', { class: 'note bad', role: 'alert' }, icon('warn'), bdi(words)),
      lostList(effect, { nameOf: rev => found.names.get(rev) ?? short(rev) }), writeList(plan), reason && h('p', { class: 'small muted' }, bdi(named(reason))));
    settleButton.disabled = (plan.get('refused') ?? []).length > 0;
  }

  /** Somebody else has written meanwhile: what is there now is shown, and the picks are laid over it. */
  async function changed() {
    replace(notes, h('p', { class: 'note warn', role: 'alert' }, t.conflict.theLeavesHaveChangedMeanwhile));
    await main.reload();
    for (const [place, pick] of picks) if (pick.rev && !leaves().includes(pick.rev)) picks.delete(place);
    if (found.value.get('conflict')) await rehearse();
  }

  async function settle() {
    if (settleButton.disabled) return;
    const isFocused = document.activeElement === settleButton;
    settleButton.disabled = true;
    const leaves = found.sides.filter(entry => entry.doc);
    try {
      const answer = (await ask(path`${db}/_settle/${id}`, { method: 'POST', text: request(false) })).json;
      turn += 1; // what was asked about these leaves counts no more
      replace(notes);
      picks.clear();
      toast(t.conflict.settled(answer.written.length), { label: t.conflict.takeBack, run: () => takeBack(leaves, answer.rev) });
      // One that is taken from the list is followed by the next one there.
      const next = query.list && await nextConflict(db, id, { kind, signal }).catch(() => null);
      if (signal.aborted) return;
      if (query.list) location.hash = linkTo(next);
      else { await reload(); finding = findNear(); }
    } catch (error) {
      if (error.status === 409) await changed(); else { replace(preview, errorBox(error, rehearse)); settleButton.disabled = false; }
    }
    // A button that rests loses the focus.
    if (isFocused && document.activeElement === document.body) (settleButton.disabled ? document.getElementById('main') : settleButton).focus({ preventScroll: true });
  }

  /** Writes an earlier leaf's content as a new edit, of several the one that is chosen. */
  async function takeBack(leaves, rev) {
    const leaf = h('select', {}, leaves.map(entry => h('option', { value: entry.rev }, entry.label)));
    const write = () => restoreOne(db, { id, rev: leaf.value, on: rev });
    const written = leaves.length === 1 ? await write() : await dialog({
      title: t.conflict.takeBack,
      body: h('div', { class: 'stack' }, h('p', {}, t.conflict.aLeafIsWrittenAgain(visible(id))), field(t.conflict.leafToWrite, leaf)),
      actions: [{ label: t.conflict.writeItAgain, kind: 'primary', run: write }],
    });
    if (!written) return false;
    toast(t.conflict.isWrittenAgain(leaves.find(entry => entry.rev === leaf.value).label, short(written)));
    if (!signal.aborted) reload();
    return true;
  }

  /** Does something as soon as the neighbours in the list are known. */
  function whenFound(act) { finding.then(() => { if (!signal.aborted) act(); }); }

  let finding = findNear();
  setKeys([
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map(digit => ({ key: String(digit), text: t.conflict.takeSide(String.fromCharCode(64 + digit)), run: () => table?.pickSide(digit - 1) })),
    { key: '0', text: t.conflict.takeTheBase, run: () => table?.pickBase() }, { key: 'x', text: t.conflict.removeTheMember, run: () => table?.pickNone() },
    { key: 'e', text: t.conflict.editTheValue, run: () => table?.editCurrent() }, { key: 'n', text: t.conflict.nextClash, run: () => table?.move(1) },
    { key: 'p', text: t.conflict.previousClash, run: () => table?.move(-1) }, { key: 'u', text: t.conflict.takeTheLastPickBack, run: () => table?.undo() },
    { key: '[', text: t.conflict.previousConflict, run: () => whenFound(() => goTo(near.previous)) },
    { key: ']', text: t.conflict.nextConflict, run: () => whenFound(() => skip.click()) }, { key: 'Enter', ctrl: true, text: t.conflict.settle, run: settle },
  ]);
  showSame();
  replace(dock, choices, sentence, skip, settleButton);
  reload();
  return {
    element: h('div', {}, head([bdi(id, { class: 'mono' }), pills], h('span', { class: 'row', role: 'group', 'aria-label': t.conflict.placeInTheList }, back, position, on), h('a', { class: 'button', href: link([db, 'doc', id]) }, icon('doc'), t.conflict.openDocument)),
      notes, main.element, dock),
    leave: () => picks.size === 0 || confirm(t.conflict.thePicksAreNotSettled),
  };
}
