/** One document: its text as it is spelt, its revisions and attachments. */
import { ask, path } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, replace, field, visible } from '../parts/dom.js';
import { panel, errorBox } from '../parts/panel.js';
import { dialog } from '../parts/dialog.js';
import { COLOURED } from '../parts/code-area.js';
import { parseNoting } from '../value/json.js';
import { format, withRev } from '../value/json-text.js';
import { editor } from '../documents/editor.js';
import { readDocument, readTree } from '../documents/reading.js';
import { revisionList } from '../documents/revisions.js';
import { attachmentList } from '../documents/attachments.js';
import { deleteDocument, saveDocument } from '../documents/writing.js';
import { clashView } from '../documents/clash.js';
import { bytes, short, count } from '../words.js';

const CALM = 300; // milliseconds without a key until the text is looked at
const LARGE = 1_000_000; // bytes from which on the page shows the size before the text

export default function page({ db, id, query, signal, setTitle, setSame, setKeys }) {
  const isNew = id === undefined;
  setTitle(isNew ? `${db}: a new document` : id);
  const [problems, notes, size] = [h('div'), h('div', { role: 'status' }), h('div', { role: 'status' })];
  const side = h('aside', { 'aria-label': 'Revisions and attachments' });
  const area = editor({ label: 'The document', onInput: () => { clearTimeout(timer); timer = setTimeout(look, CALM); } });
  // The text stays where it is while the document is read again, with its place and the cursor in it.
  const place = h('div', { hidden: !isNew }, area.element);
  const main = panel(load, shown, { label: 'Reading the document' });
  let loaded = { text: '{\n  "_id": ""\n}', rev: null };
  let timer = 0;
  let [isSaving, isAskedAgain] = [false, false];

  async function load() {
    if (isNew) return null;
    const [found, tree] = await Promise.all([
      readDocument(db, id, { rev: query.rev, signal, onSize: length => { if (length > LARGE) replace(size, `Reading ${bytes(length)}…`); } }).finally(() => replace(size)),
      readTree(db, id, signal),
    ]);
    // An older revision is saved on the newest one of now: another edit since is a conflict, as always.
    return { ...found, tree, newest: query.rev ? tree?.rev : null };
  }

  function shown(found) {
    if (!found) return null;
    setSame({ url: path`${db}/${id}`, settle: `settle get URL/${db} ${id}` });
    const others = (found.tree?.leaves.length ?? 1) - 1;
    const text = found.text ?? `{\n  "_id": ${JSON.stringify(id)}\n}`;
    // What was typed while it was read stays, and so does the revision that it was typed on.
    if (area.isChanged) loaded = { ...found, text: loaded.text, rev: loaded.rev };
    else {
      loaded = { ...found, text };
      area.store(text);
    }
    look();
    replace(side, found.tree && revisionList({ db, id, tree: found.tree, shown: found.rev }),
      found.rev && !id.startsWith('_local/') && attachmentList({ db, id, rev: found.rev, stubs: found.attachments, signal, mayWrite: query.rev ? null : mayWrite, onWritten: main.reload }));
    place.hidden = found.text === null && Boolean(query.rev);
    return h('p', {}, found.rev && h('span', { class: 'rev', title: found.rev }, short(found.rev)), ' ',
      found.tree?.isConflict && others > 0 && h('a', { class: 'warn', href: link([db, 'conflict', id]) }, `▲ in conflict with ${count(others, 'other')} → inspect`),
      state(found), query.rev && [' ', h('a', { href: link([db, 'doc', id]) }, 'To the newest')]);
  }

  function state(found) {
    const told = words => h('span', { class: 'warn' }, words);
    if (found.text === null && query.rev) return told(`The content of ${short(query.rev)} is gone. Revisions serve replication and are no archive: the content of all but the newest goes at the next compaction.`);
    if (found.text === null) return told(found.isDeleted ? '✕ This document is deleted. Saving makes it anew.' : 'There is no such document yet. Saving makes it.');
    return query.rev && told('an older revision; saving writes a new one on the newest.');
  }

  /** What is attached makes a new revision, which is read again: the text must not be lost. */
  function mayWrite() {
    if (!area.isChanged) return true;
    replace(problems, h('p', { class: 'warn', role: 'alert' }, 'Save the text first: an attachment makes a new revision.'));
    return false;
  }

  /** Tells mistakes, and names that stand twice, when nobody has typed for a moment. */
  async function look() {
    clearTimeout(timer);
    const { text } = area;
    replace(notes);
    if (text.length > COLOURED) return;
    try { tell((await parseNoting(text)).duplicates); } catch (error) { if (area.text === text) area.showError(error, true); }
  }

  function tell(duplicates) {
    replace(notes, duplicates.slice(0, 20).map(({ name, line, column }) => h('p', { class: 'warn' },
      '⚠ The name “', bdi(name), `” stands twice (line ${line}, column ${column}); the last one counts.`)));
  }

  /** Reads what was typed; `null` after showing what is wrong with it. */
  async function typed(text) {
    try {
      const { value, duplicates } = await parseNoting(text);
      if (!(value instanceof Map)) throw Object.assign(new Error('a document is an object'), { line: 1, column: 1 });
      tell(duplicates);
      area.showError(null);
      return value;
    } catch (error) {
      if (error.line === undefined) throw error;
      area.showError(error);
      return null;
    }
  }

  /** Saves; what is asked for while that goes on is done afterwards, if there is something new. */
  async function save() {
    isAskedAgain = isSaving;
    if (isSaving) return;
    isSaving = true;
    let sent = null;
    do {
      if (area.text === sent) break;
      sent = area.text;
      isAskedAgain = false;
      replace(problems, h('p', { class: 'muted' }, 'Saving…'));
      try {
        const value = await typed(sent);
        if (value) await send(value, sent); else replace(problems);
      } catch (error) { if (error.name !== 'AbortError') replace(problems, errorBox(error)); }
    } while (isAskedAgain && !signal.aborted);
    isSaving = false;
  }

  async function send(value, sent) {
    const name = isNew ? value.get('_id') : id;
    if (!name) { area.showError({ line: 1, column: 1, message: 'a document needs an _id' }); return; }
    const text = query.rev ? withRev(sent, loaded.newest) : sent;
    try {
      // Blanks between the tokens of a long text would count as its size.
      const rev = await saveDocument(db, name, text.length > COLOURED ? format(text, 0) : text);
      replace(problems, h('p', { class: 'good', role: 'status' }, `Saved as ${short(rev)}.`));
      const now = area.text;
      const written = withRev(sent, rev);
      loaded = { ...loaded, rev, newest: query.rev ? rev : null, text: written };
      // What was typed meanwhile stays, on the revision that was written.
      area.store(written, now === sent ? written : withRev(now, rev));
      if (now !== sent) return;
      if (isNew || query.rev) location.hash = link([db, 'doc', name]); else await main.reload();
    } catch (error) {
      if (error.status !== 409 || isNew) throw error;
      await collided(sent);
    }
  }

  /** Somebody else has saved: theirs and mine stand side by side, and nothing is overwritten. */
  async function collided(mine) {
    const theirs = await readDocument(db, id, { signal });
    const before = loaded.rev ? await readDocument(db, id, { rev: loaded.rev, signal, quiet: true }) : null;
    replace(problems, clashView({
      base: before?.text ?? null, theirs, mine,
      onTake: text => {
        loaded = { ...loaded, rev: theirs.rev, newest: query.rev ? theirs.rev : null };
        area.store(theirs.text ?? '', text);
        replace(problems);
        area.focus();
      },
    }));
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
        : h('p', { class: 'good', role: 'status' }, 'The stored validation functions let it pass. Nothing was written.'));
    } catch (error) { replace(problems, errorBox(error)); }
  }

  async function copy() {
    const name = h('input', { required: true });
    const made = await dialog({
      title: 'Copy', body: h('div', { class: 'stack' }, h('p', {}, 'The stored revision is copied with its attachments, not what is being typed.'), field('Id of the copy', name)),
      actions: [{ label: 'Copy', kind: 'primary', run: async () => { await ask(path`${db}/${id}`, { method: 'COPY', query: { rev: query.rev }, headers: { Destination: encodeURIComponent(name.value) } }); return name.value; } }],
    });
    if (made) location.hash = link([db, 'doc', made]);
  }

  async function remove() {
    const gone = await dialog({
      title: `Delete ${visible(id)}`,
      body: h('p', {}, 'A tombstone is written, and replicated like any edit.', loaded.tree?.isConflict && ' The document is in conflict: another leaf becomes the winner, and the document stays.'),
      actions: [{ label: 'Delete', kind: 'danger', run: async () => { await deleteDocument(db, id, loaded.rev); return true; } }],
    });
    if (gone) { area.store(area.text); location.hash = link([db, 'docs']); }
  }

  const warn = event => { if (area.isChanged) event.preventDefault(); };
  window.addEventListener('beforeunload', warn);
  setKeys([{ key: 's', ctrl: true, text: 'save', run: save }]);
  area.store(loaded.text);
  main.reload();
  return {
    element: h('div', {}, h('h1', {}, isNew ? 'A new document' : bdi(id)), main.element, size,
      h('div', { class: 'toolbar' }, button('Save', save, { class: 'button primary', title: 'Ctrl S' }), button('Check', check),
        !isNew && [button('Copy to…', copy), button('Delete…', remove, { class: 'button danger' }), h('a', { class: 'button', href: link([db, 'conflict', id]) }, 'Tree')]),
      problems, notes, h('div', { class: 'two' }, place, side)),
    leave() {
      if (area.isChanged && !confirm('What was typed is not saved. Leave?')) return false;
      clearTimeout(timer);
      window.removeEventListener('beforeunload', warn);
      return true;
    },
  };
}
