/** One document: its text as it is spelt, its revisions and attachments. */
import { ask, isExact, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, head, icon, patch, replace, field, visible } from '../parts/dom.js';
import { panel, errorBox, dialog, unsaved } from '../parts/panel.js';
import { toast } from '../parts/toast.js';
import { COLOURED } from '../parts/code-area.js';
import { parseNoting } from '../value/json.js';
import { format, withId, withRev } from '../value/json-text.js';
import { editor } from '../documents/editor.js';
import { leafOf, readDocument, readTree } from '../documents/reading.js';
import { revisionList } from '../documents/revisions.js';
import { attachmentList } from '../documents/attachments.js';
import { restoreOne } from '../documents/restoring.js';
import { copyDocument, deleteDocument, newID, saveDocument } from '../documents/writing.js';
import { clashView } from '../documents/clash.js';
import { bytes, short, t } from '../words.js';

const CALM = 300; // milliseconds without a key until the text is looked at
const PARTS = { text: t.common.document, revisions: t.common.revisions, attachments: t.attachments.attachments };
const LARGE = 1_000_000; // bytes from which on the page shows the size before the text

export default function page({ db, id, query, signal, setTitle, setSame, setKeys }) {
  const isNew = id === undefined;
  setTitle(isNew ? t.doc.aNewDocumentTitle(db) : id);
  const [problems, banner, notes, size] = [h('div'), h('div'), h('div', { role: 'status' }), h('div', { role: 'status' })];
  const side = h('aside', { 'aria-label': t.doc.revisionsAndAttachments });
  const area = editor({ label: t.doc.theDocument, onInput: () => { clearTimeout(timer); timer = setTimeout(look, CALM); } });
  // The text stays where it is while the document is read again, with its place and the cursor in it.
  const shownText = h('div', { hidden: !isNew }, area.element);
  const main = panel(load, shown, { label: t.doc.readingTheDocument });
  let loaded = { text: '{\n  "_id": ""\n}', rev: null };
  const ownID = h('input', { class: 'mono', autocapitalize: 'off', spellcheck: 'false', on: { input: takeID } });
  let timer = 0;
  let [isSaving, isAskedAgain, isSending, wasFocusBeside] = [false, false, false, false];
  // Until the document is read there is nothing to save, copy or delete.
  let isRead = isNew;
  const acting = [];
  function action(label, run, attributes) {
    acting.push(button(label, run, { ...attributes, disabled: !isNew }));
    return acting.at(-1);
  }
  const replaced = new Set(); // revisions that were replaced here, with nobody else's in between: undoing leads back to their texts
  // On a telephone the parts are tabs, and the dock has what the head has elsewhere.
  const pending = h('span', { class: 'grow warn', role: 'status' });
  const dock = h('div', { class: 'dock toolbar phone', role: 'group', 'aria-label': t.common.save },
    pending, action([icon('check'), t.doc.check], check), action(t.common.save, save, { class: 'button primary act' }));
  const tabs = h('div', { class: 'seg phone', hidden: true });
  let [part, parts] = ['text', {}];

  async function load() {
    if (isNew) return { id: await newID() };
    const [found, tree] = await Promise.all([
      readDocument(db, id, { rev: query.rev, signal, onSize: length => { if (length > LARGE) replace(size, t.doc.reading(bytes(length))); } }).finally(() => replace(size)),
      readTree(db, id, signal),
    ]);
    // A leaf is saved on itself, an older revision on the newest one of now: another edit since is a conflict, as always.
    const isLeaf = Boolean(tree?.leaves.some(leaf => leaf.rev === query.rev && !leaf.deleted));
    return { ...found, tree, isLeaf, newest: isLeaf ? query.rev : query.rev ? tree?.rev : null };
  }

  function shown(found) {
    if (isNew) {
      // What was typed before the server has made an id stays.
      if (!area.isChanged) area.store(withId(loaded.text, found.id));
      look();
      return field(t.common.id, ownID, t.doc.theServerHasMadeIt);
    }
    showSame();
    isRead = true;
    for (const one of acting) one.disabled = false;
    const others = (found.tree?.leaves.length ?? 1) - 1;
    const text = found.text ?? `{\n  "_id": ${JSON.stringify(id)}\n}`;
    const isSaved = found.rev === loaded.rev;
    if (!isSaved) replaced.clear();
    // What was typed while it was read stays, and so does the revision that it was typed on.
    if (area.isChanged) loaded = { ...found, text: loaded.text, rev: loaded.rev };
    else {
      loaded = { ...found, text };
      area.store(text, text, isSaved);
    }
    look();
    drawParts({
      revisions: found.tree && revisionList({ db, id, tree: found.tree, shown: found.rev }),
      attachments: found.rev && !id.startsWith('_local/')
        && attachmentList({ db, id, rev: found.rev, newest: () => loaded.rev, stubs: found.attachments, signal, mayWrite: query.rev ? null : mayWrite, rest, onWritten: main.reload, onError: error => replace(problems, error && errorBox(error)) }),
    });
    shownText.hidden = found.text === null && Boolean(query.rev);
    replace(banner, found.tree?.isConflict && others > 0 && h('div', { class: 'note warn' }, icon('conflict'), h('p', { class: 'grow' }, t.doc.inConflictWith(t.common.othersCount(others))),
      h('a', { class: 'button small', href: link([db, 'conflict', id]) }, t.doc.settleIt)));
    return h('p', { class: 'row' }, found.rev && h('span', { class: 'rev', title: found.rev }, short(found.rev)), ' ',
      state(found), query.rev && [' ', h('a', { href: link([db, 'doc', id]) }, t.doc.toTheNewest)]);
  }

  /** The text and what stands beside it; on a telephone one of them is shown. */
  function drawParts(beside) {
    parts = Object.fromEntries(Object.entries({ text: shownText, ...beside }).filter(([, element]) => element));
    replace(side, beside.revisions, beside.attachments);
    tabs.hidden = Object.keys(parts).length < 2;
    showPart(parts[part] ? part : 'text');
  }

  function showPart(name) {
    part = name;
    patch(tabs, Object.keys(parts).map(one => button(PARTS[one], () => showPart(one), { 'aria-pressed': String(one === name) })));
    for (const [one, element] of Object.entries(parts)) element.classList.toggle('off', one !== name);
    side.classList.toggle('off', name === 'text');
  }

  /** An id that can't be in a path is sent. */
  function showSame() {
    const line = ['get', [{ db }, id], query.rev ? ['--rev', query.rev] : []];
    if (isExact(path`${db}/${id}`)) setSame({ url: path`${db}/${id}`, query: { rev: query.rev }, settle: line });
    else setSame({ url: path`${db}/_bulk_get`, text: JSON.stringify({ docs: [{ id, rev: query.rev }] }), settle: line });
  }

  function state(found) {
    const told = words => h('span', { class: 'warn' }, words);
    if (found.text === null && query.rev) return told(t.doc.theContentOfIsGone(short(query.rev)));
    if (found.text === null) return told(found.isDeleted ? t.doc.thisDocumentIsDeletedSaving : t.doc.thereIsNoSuchDocument);
    return query.rev && !found.isLeaf && told(t.doc.anOlderRevisionSavingWrites);
  }

  /** Puts an id of the person's own into the text of a new document. */
  function takeID() {
    try { area.put(withId(area.text, ownID.value)); } catch { look(); }
  }

  /** What is attached makes a new revision, which is read again: the text must not be lost. */
  function mayWrite() {
    if (!area.isChanged) return true;
    replace(problems, h('p', { class: 'warn', role: 'alert' }, t.doc.saveTheTextFirst));
    return false;
  }

  /** While an attachment is sent the text rests: it would be saved on the revision before. If the focus was beside it, it returns to the field for files. */
  function rest(isResting, isSent = false) {
    isSending = isSent;
    if (isResting) wasFocusBeside ||= side.contains(document.activeElement);
    shownText.inert = side.inert = isResting;
    if (!isResting && wasFocusBeside) {
      if (document.activeElement === document.body) side.querySelector('[type=file]')?.focus({ preventScroll: true });
      wasFocusBeside = false;
    }
    isRead = !isResting;
    for (const one of acting) one.disabled = isResting;
  }

  /** Tells mistakes, and names that stand twice, when nobody has typed for a moment. */
  async function look() {
    clearTimeout(timer);
    const { text } = area;
    pending.textContent = area.isChanged ? t.doc.unsaved : '';
    replace(notes);
    if (text.length > COLOURED) return;
    try {
      const { value, duplicates } = await parseNoting(text);
      tell(duplicates);
      if (document.activeElement !== ownID) ownID.value = value.get?.('_id') ?? '';
    } catch (error) { if (area.text === text) area.showError(error, true); }
  }

  function tell(duplicates) {
    replace(notes, duplicates.slice(0, 20).map(({ name, line, column }) => h('p', { class: 'warn' },
      t.doc.theName, bdi(name), t.doc.standsTwiceLineColumn(line, column))));
  }

  /** Reads what was typed; `null` after showing what is wrong with it. */
  async function typed(text) {
    try {
      const { value, duplicates } = await parseNoting(text);
      if (!(value instanceof Map)) throw Object.assign(new Error(t.doc.aDocumentIsAnObject), { line: 1, column: 1 });
      tell(duplicates);
      area.showError(null);
      return value;
    } catch (error) {
      if (error.line === undefined) throw error;
      showPart('text');
      area.showError(error);
      return null;
    }
  }

  /** Saves; what is asked for while that goes on is done afterwards, if there is something new. */
  async function save() {
    isAskedAgain = isSaving;
    if (isSaving || !isRead) return;
    isSaving = true;
    let sent = null;
    do {
      if (area.text === sent) break;
      sent = area.text;
      isAskedAgain = false;
      replace(problems, h('p', { class: 'muted' }, t.doc.saving));
      try {
        const value = await typed(sent);
        if (value) await send(value, sent); else replace(problems);
      } catch (error) { if (error.name !== 'AbortError') replace(problems, errorBox(error)); }
    } while (isAskedAgain && area.isChanged && !signal.aborted);
    isSaving = false;
  }

  async function send(value, sent) {
    const name = isNew ? value.get('_id') : id;
    if (!name) { area.showError({ line: 1, column: 1, message: t.doc.aDocumentNeedsAnId }); return; }
    if (value.has('_id') && value.get('_id') !== name) { await renamed(value.get('_id'), sent); return; }
    // A text from before a save has the revision that was replaced then.
    const isEarlier = !query.rev && replaced.has(value.get('_rev'));
    const text = query.rev || isEarlier ? withRev(sent, isEarlier ? loaded.rev : loaded.newest) : sent;
    try {
      // Blanks between the tokens of a long text would count as its size.
      const made = await saveDocument(db, name, text.length > COLOURED ? format(text, 0) : text);
      replace(problems);
      const now = area.text;
      const written = withRev(sent, made);
      replaced.add(value.get('_rev')).add(loaded.rev);
      const isOnWinner = loaded.tree && loaded.tree.rev === (loaded.newest ?? loaded.rev);
      loaded = { ...loaded, tree: isOnWinner ? { ...loaded.tree, rev: made } : loaded.tree, rev: made, newest: query.rev ? made : null, text: written };
      // What was typed meanwhile stays, on the revision that was written.
      area.store(written, now === sent ? written : withRev(now, made), true);
      look();
      toast(t.doc.saved(short(made)));
      if (now !== sent || signal.aborted) return;
      if (!isNew && !query.rev) { await main.reload(); return; }
      // A leaf that does not win is shown as what it is.
      const tree = loaded.isLeaf ? await readTree(db, name, signal).catch(() => null) : null;
      const winner = loaded.isLeaf ? tree?.rev : made;
      location.hash = link([db, 'doc', name], winner === made ? {} : { rev: made });
    } catch (error) {
      if (error.status !== 409) throw error;
      if (isNew) replace(problems, h('p', { class: 'warn', role: 'alert' }, t.doc.thereIsADocument, h('a', { href: link([db, 'doc', name]) }, bdi(name)), t.doc.takeAnotherId));
      else await collided(sent);
    }
  }

  /** Somebody else has saved: theirs and mine stand side by side, and nothing is overwritten. */
  async function collided(mine) {
    // Theirs is what a leaf has become; of one that is no more, the winner.
    const leaf = loaded.isLeaf ? leafOf(await readTree(db, id, signal), loaded.newest) : undefined;
    const theirs = await readDocument(db, id, { rev: leaf, signal });
    const before = loaded.rev ? await readDocument(db, id, { rev: loaded.rev, signal, quiet: true }) : null;
    replace(problems, clashView({
      base: before?.text ?? null, theirs, mine,
      onTake: async text => {
        // What was typed since then stands beside theirs first.
        const now = area.text;
        if (now !== mine) {
          try { if (await typed(now)) await collided(now); } catch (error) { replace(problems, errorBox(error)); }
          return;
        }
        replaced.clear();
        loaded = { ...loaded, rev: theirs.rev, newest: query.rev ? theirs.rev : null };
        area.store(theirs.text ?? '', text);
        replace(problems);
        area.focus();
      },
    }));
  }

  /** The id in the text is another one: the text is saved as another document, or the id is put back. */
  async function renamed(name, sent) {
    replace(problems);
    const isText = typeof name === 'string' && name !== '';
    const takeBack = { label: t.doc.putTheIdBack, run: () => { area.put(withId(sent, id)); return t.doc.putTheIdBack; } };
    const done = await dialog({
      title: t.doc.theIdIsAnother, body: h('p', {}, t.doc.anIdStays(visible(id))),
      actions: isText ? [{ label: t.doc.saveAsAnother(visible(name)), kind: 'primary', run: async () => {
        const rev = Object.keys(loaded.attachments ?? {}).length ? await copyDocument(db, id, name, loaded.rev) : null;
        await saveDocument(db, name, withRev(sent, rev));
        return name;
      } }, takeBack] : [takeBack],
    });
    if (done === undefined || done === t.doc.putTheIdBack) return;
    area.store(area.text);
    location.hash = link([db, 'doc', done]);
  }

  async function check() {
    replace(problems);
    try {
      const { text } = area;
      if (!await typed(text)) return;
      const { results = [] } = (await ask(path`${db}/_try`, { method: 'POST', text: `{"functions":"stored","docs":{"given":[${text}]}}`, signal })).json;
      const refused = results.filter(result => !result.ok);
      replace(problems, refused.length
        ? refused.map(result => errorBox({ status: 403, error: result.error, reason: result.reason }))
        : h('p', { class: 'good', role: 'status' }, t.doc.theStoredValidationFunctionsLet));
    } catch (error) { replace(problems, errorBox(error)); }
  }

  async function copy() {
    const name = h('input', { required: true, class: 'mono' });
    newID().then(made => { name.value ||= made; }, () => {});
    const made = await dialog({
      title: t.doc.copy, body: h('div', { class: 'stack' }, h('p', {}, t.doc.theStoredRevisionIsCopied), field(t.doc.idOfTheCopy, name)),
      actions: [{ label: t.doc.copy, kind: 'primary', run: async () => { const made = name.value; await copyDocument(db, id, made, query.rev); return made; } }],
    });
    if (made) location.hash = link([db, 'doc', made]);
  }

  async function remove() {
    // Against a deletion there is one live leaf only, and nothing keeps the document.
    const isKept = loaded.tree?.kind === 'branches';
    // An older revision is deleted by its newest one or not at all, which the server decides.
    const isWinner = loaded.rev === loaded.tree?.rev || !loaded.isLeaf;
    const gone = await dialog({
      title: t.common.deleteOfKey(visible(id)),
      body: h('p', {}, t.doc.aTombstoneIsWritten, isKept && (isWinner ? t.doc.theDocumentIsInConflict : t.doc.thisLeafDoesNotWin)),
      actions: [{ label: t.common.deleteAction, kind: 'danger', run: async () => { await deleteDocument(db, id, loaded.rev); return true; } }],
    });
    if (!gone) return;
    area.store(area.text);
    const [there, before] = [link([db, 'docs']), loaded.rev];
    location.hash = there;
    const undo = async () => {
      const rev = await restoreOne(db, { id, rev: before });
      if (location.hash.startsWith(there)) location.hash = link([db, 'doc', id]);
      toast(t.doc.isRestored(visible(id), short(rev)));
    };
    // Another leaf of a conflict is the winner then, so that nothing could be written in the place of the deletion.
    const isFinal = id.startsWith('_local/') || isKept;
    toast((!isKept ? t.doc.isDeleted : isWinner ? t.doc.winnerIsDeleted : t.doc.leafIsDeleted)(visible(id)), isFinal ? undefined : { label: t.common.undo, run: undo });
  }

  const mayLeave = unsaved(() => area.isChanged || isSending, signal, () => isSending ? t.attachments.leave : t.common.whatWasTyped);
  setKeys([{ key: 's', ctrl: true, text: t.common.saveKey, run: save }]);
  area.store(loaded.text);
  main.reload();
  return {
    element: h('div', {}, head(isNew ? t.doc.aNewDocument : bdi(id, { class: 'mono' }),
      action([icon('check'), t.doc.check], check, { class: 'button desk' }),
      !isNew && [action([icon('copy'), t.doc.copyButton], copy), h('a', { class: 'button', href: link([db, 'conflict', id]) }, t.doc.tree), action([icon('trash'), t.common.delete], remove, { class: 'button danger' })],
      action([t.common.save, h('kbd', {}, t.doc.ctrlS)], save, { class: 'button primary desk' })),
      main.element, size, banner, problems, notes, tabs, h('div', { class: 'two' }, shownText, side), dock),
    leave() {
      if (!mayLeave()) return false;
      clearTimeout(timer);
      return true;
    },
  };
}
