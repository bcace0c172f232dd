/** One document: its text as it is spelt, its revisions and attachments. */
import { ask, path, root } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, replace, field } from '../parts/dom.js';
import { panel, errorBox } from '../parts/panel.js';
import { dialog } from '../parts/dialog.js';
import { codeArea } from '../parts/code-area.js';
import { memberTable } from '../parts/member-table.js';
import { parse, parseNoting, format, stringify } from '../value/json.js';
import { bytes, short, count } from '../words.js';

/** A longer text has fewer lines, since browsers take seconds for some hundred thousand. */
const LONG = 256 * 1024;
const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

export default function page({ db, id, query, signal, setTitle, setSame, setKeys }) {
  const isNew = id === undefined;
  setTitle(isNew ? `${db}: a new document` : id);
  const problems = h('div');
  const side = h('aside', { 'aria-label': 'Revisions and attachments' });
  const marks = h('p');
  let loaded = { text: '{\n  "_id": ""\n}', rev: null };
  let isSaved = true;
  const area = codeArea({ text: loaded.text, label: 'The document', onInput: () => { isSaved = area.text === loaded.text; } });
  const main = panel(load, shown, { label: 'Reading the document' });

  async function load() {
    if (isNew) return null;
    const given = query.rev ? { rev: query.rev } : {};
    const [{ text }, about] = await Promise.all([
      ask(path`${db}/${id}`, { query: given, signal }),
      ask(path`${db}/${id}`, { query: { ...given, conflicts: true, revs_info: true }, signal, quiet: true }),
    ]);
    // The text is shown as it came; what describes it is asked for apart, so that nothing has to be taken out of it.
    // Of these members nothing is saved, so the browser's own reading is exact enough, and faster on long documents.
    const meta = about.json;
    return {
      text: format(text.trim(), 2, text.length > LONG ? 2 : Infinity), rev: meta._rev, conflicts: meta._conflicts ?? [],
      infos: meta._revs_info ?? [], attachments: Object.entries(meta._attachments ?? {}),
    };
  }

  function shown(found) {
    if (found) {
      loaded = found;
      area.text = found.text;
      isSaved = true;
      setSame({ url: path`${db}/${id}`, settle: `settle get URL/${db} ${id}` });
      replace(marks, h('span', { class: 'rev', title: found.rev }, short(found.rev)), ' ',
        found.conflicts.length > 0 && h('a', { class: 'warn', href: link([db, 'conflict', id]) }, `▲ in conflict with ${count(found.conflicts.length, 'other')} → inspect`),
        query.rev && h('span', { class: 'warn' }, ' an older revision; saving writes a new one on the newest. ', h('a', { href: link([db, 'doc', id]) }, 'To the newest')));
      drawSide(found);
    }
    return area.element;
  }

  function drawSide({ infos, attachments }) {
    replace(side,
      infos.length > 0 && [h('h2', {}, 'Revisions'), h('ol', { reversed: true }, infos.slice(0, 50).map(info => {
        const { rev, status } = info;
        if (status !== 'available') return h('li', { class: 'muted' }, h('span', { class: 'rev' }, short(rev)), ` ${status === 'missing' ? 'its body is gone' : status}`);
        return h('li', {}, h('a', { class: 'rev', href: link([db, 'doc', id], { rev }) }, short(rev)));
      })), h('p', { class: 'muted' }, 'Revisions serve replication; bodies of old ones go with the next compaction, so they are no archive.')],
      h('h2', {}, 'Attachments'),
      attachments.length === 0 && h('p', { class: 'muted' }, 'none'),
      h('ul', {}, attachments.map(([name, stub]) => attachment(name, stub))),
      !isNew && !query.rev && upload());
  }

  function attachment(name, stub) {
    const type = stub.content_type;
    const url = new URL(path`${db}/${id}/${name}`, root).href;
    const look = h('div');
    const actions = [];
    if (IMAGES.has(type)) actions.push(button('Show', () => replace(look, h('img', { src: url, alt: name, width: 240 })), { class: 'button small' }));
    if (/^text\/plain|^application\/json/.test(type)) {
      actions.push(button('Show', async () => {
        try { replace(look, h('pre', { class: 'scroll' }, (await ask(path`${db}/${id}/${name}`, { headers: { Range: 'bytes=0-65535' }, signal })).text)); } catch (error) { replace(look, errorBox(error)); }
      }, { class: 'button small' }));
    }
    actions.push(h('a', { class: 'button small', href: url, download: name }, 'Download'));
    if (!query.rev) actions.push(button('Remove…', () => removeAttachment(name), { class: 'button small' }));
    return h('li', {}, bdi(name), ` ${bytes(stub.length)} `, h('span', { class: 'muted' }, bdi(type)), ' ', actions, look);
  }

  function upload() {
    const file = h('input', { type: 'file', on: { change: async () => {
      const [chosen] = file.files;
      if (!chosen) return;
      // What is attached makes a new revision, which is read again: the text must not be lost.
      if (!isSaved) { file.value = ''; replace(problems, h('p', { class: 'warn', role: 'alert' }, 'Save the text first, then attach the file.')); return; }
      try {
        await ask(path`${db}/${id}/${chosen.name}`, { method: 'PUT', query: { rev: loaded.rev }, body: chosen, headers: { 'Content-Type': chosen.type || 'application/octet-stream' } });
        main.reload();
      } catch (error) { replace(problems, errorBox(error)); }
    } } });
    return field('Attach a file', file);
  }

  async function removeAttachment(name) {
    if (!isSaved) { replace(problems, h('p', { class: 'warn', role: 'alert' }, 'Save the text first, then remove the attachment.')); return; }
    const gone = await dialog({
      title: `Remove ${name}`, body: h('p', {}, 'A new revision is written without it.'),
      actions: [{ label: 'Remove', kind: 'danger', run: async () => { await ask(path`${db}/${id}/${name}`, { method: 'DELETE', query: { rev: loaded.rev } }); return true; } }],
    });
    if (gone) main.reload();
  }

  /** Reads what was typed; `null` after showing what is wrong with it. */
  function typed() {
    try {
      const { value, duplicates } = parseNoting(area.text);
      if (!(value instanceof Map)) throw Object.assign(new Error('a document is an object'), { line: 1, column: 1, offset: 0 });
      if (duplicates.length) replace(problems, h('p', { class: 'warn' }, `The name “${duplicates[0].name}” stands twice (line ${duplicates[0].line}); the last one counts.`));
      return value;
    } catch (error) { area.showError(error); return null; }
  }

  async function save() {
    replace(problems);
    const value = typed();
    if (!value) return;
    const name = isNew ? value.get('_id') : id;
    const sent = area.text;
    if (!name) { area.showError({ line: 1, column: 1, offset: 0, message: 'a document needs an _id' }); return; }
    try {
      const text = query.rev ? stringify(new Map([...value, ['_rev', await newest()]])) : area.text;
      const { rev } = (await ask(path`${db}/${name}`, { method: 'PUT', text })).json;
      replace(problems, h('p', { class: 'good', role: 'status' }, `Saved as ${short(rev)}.`));
      if (area.text !== sent) {
        // What was typed meanwhile stays, on the revision that was written.
        area.text = area.text.replace(`"_rev": "${loaded.rev}"`, `"_rev": "${rev}"`);
        loaded = { ...loaded, rev };
        return;
      }
      isSaved = true;
      if (isNew || query.rev) location.hash = link([db, 'doc', name]); else await main.reload();
    } catch (error) {
      if (error.status === 409 && !isNew) await collided(value); else replace(problems, errorBox(error));
    }
  }

  async function newest() {
    return parse((await ask(path`${db}/${id}`, { signal, quiet: true })).text).get('_rev');
  }

  /** Somebody else has saved: theirs and mine stand side by side, and nothing is overwritten. */
  async function collided(mine) {
    try {
      const theirs = parse((await ask(path`${db}/${id}`, { signal })).text);
      const base = await ask(path`${db}/${id}`, { query: { rev: loaded.rev }, signal, quiet: true }).then(answer => parse(answer.text), () => null);
      const table = memberTable({ base, sides: [{ rev: theirs.get('_rev'), label: 'theirs', doc: theirs }, { rev: 'mine', label: 'mine', doc: mine }] });
      replace(problems, h('div', { class: 'card' },
        h('h2', {}, 'Somebody else has saved meanwhile'), h('p', {}, 'Choose for each member; then take the result into the text, and save it.'),
        table.element, h('div', { class: 'toolbar' },
          button('Take into the text', () => {
            const result = table.result();
            result.set('_rev', theirs.get('_rev'));
            loaded = { ...loaded, rev: theirs.get('_rev') };
            area.text = format(stringify(result));
            isSaved = false;
            replace(problems);
            area.focus();
          }, { class: 'button primary' }))));
      table.element.querySelector('input')?.focus();
    } catch (error) { replace(problems, errorBox(error)); }
  }

  async function check() {
    replace(problems);
    const value = typed();
    if (!value) return;
    try {
      const text = `{"functions":"stored","docs":{"given":[${area.text}]}}`;
      const { results = [] } = (await ask(path`${db}/_try`, { method: 'POST', text, signal })).json;
      const refused = results.filter(result => !result.ok);
      replace(problems, refused.length
        ? refused.map(result => errorBox({ status: 403, error: result.error, reason: result.reason }))
        : h('p', { class: 'good', role: 'status' }, 'The stored validation functions let it pass. Nothing was written.'));
    } catch (error) { replace(problems, errorBox(error)); }
  }

  async function copy() {
    const name = h('input', { required: true });
    const made = await dialog({
      title: 'Copy', body: field('Id of the copy', name),
      actions: [{ label: 'Copy', kind: 'primary', run: async () => { await ask(path`${db}/${id}`, { method: 'COPY', headers: { Destination: encodeURIComponent(name.value) } }); return name.value; } }],
    });
    if (made) location.hash = link([db, 'doc', made]);
  }

  async function remove() {
    const gone = await dialog({
      title: `Delete ${id}`, body: h('p', {}, 'A tombstone is written, and replicated like any edit.'),
      actions: [{ label: 'Delete', kind: 'danger', run: async () => { await ask(path`${db}/${id}`, { method: 'DELETE', query: { rev: loaded.rev } }); return true; } }],
    });
    if (gone) { isSaved = true; location.hash = link([db, 'docs']); }
  }

  const warn = event => { if (!isSaved) event.preventDefault(); };
  window.addEventListener('beforeunload', warn);
  setKeys([{ key: 's', ctrl: true, text: 'save', run: save }]);
  main.reload();
  return {
    element: h('div', {}, h('h1', {}, isNew ? 'A new document' : bdi(id)), marks,
      h('div', { class: 'toolbar' }, button('Save', save, { class: 'button primary', title: 'Ctrl S' }), button('Check', check),
        !isNew && [button('Copy to…', copy), button('Delete…', remove, { class: 'button danger' }), h('a', { class: 'button', href: link([db, 'conflict', id]) }, 'Tree')]),
      problems, h('div', { class: 'two' }, main.element, side)),
    leave() {
      if (!isSaved && !confirm('What was typed is not saved. Leave?')) return false;
      window.removeEventListener('beforeunload', warn);
      return true;
    },
  };
}
