/** The attachments of a document: images and the beginnings of texts are shown, everything else is a download. */
import { ask, address, isExact, path } from '../api.js';
import { h, bdi, button, card, icon, replace, field, visible } from '../parts/dom.js';
import { dialog, tellFailed } from '../parts/panel.js';
import { bytes, t } from '../words.js';

/** The types of images that are shown. */
export const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);
const BEGINNING = 64 * 1024;

/** The first 64 KiB; a server that has it compressed sends all, so reading ends there. */
async function beginningOf(url, rev, signal) {
  const response = await ask(url, { query: { rev }, headers: { Range: `bytes=0-${BEGINNING - 1}` }, signal, raw: true });
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let [text, size] = ['', 0];
  while (size < BEGINNING) {
    const { done, value } = await reader.read();
    if (done) break;
    const piece = value.subarray(0, BEGINNING - size);
    size += piece.length;
    text += decoder.decode(piece, { stream: true });
  }
  await reader.cancel();
  return { text, size };
}

/**
 * The section of attachments.
 *
 * @param rev the revision that they are of
 * @param stubs `_attachments` of the document
 * @param mayWrite says whether a new revision may be written now; without it nothing can be changed
 * @param rest is called with whether nothing may be changed, and whether files are being sent
 * @param onWritten is called when the document has a new revision, for which this section is made anew
 * @param onError hears why something failed
 */
export function attachmentList({ db, id, rev, newest, stubs, signal, mayWrite, rest, onWritten, onError }) {
  const problems = h('div', { role: 'status' });
  let current = rev;
  let last = Promise.resolve(); // of what is sent: files that were dropped later follow
  const names = new Set(Object.keys(stubs)); // and those that were sent since

  async function tried(act) {
    replace(problems);
    onError(null);
    try { await act(); } catch (error) {
      if (error.name === 'AbortError') return;
      if (signal.aborted) tellFailed(t.attachments.attachFiles, error); else onError(error);
    }
  }

  function line([name, { content_type: type, length }]) {
    const url = path`${db}/${id}/${name}`;
    const about = [bdi(name), ` ${bytes(length)} `, h('span', { class: 'muted' }, bdi(type)), ' '];
    if (!isExact(url)) {
      return h('li', {}, about, h('span', { class: 'muted' },
        t.attachments.itsNameHasNoAddress));
    }
    const { href } = address(url, { rev });
    const look = h('div');
    const named = word => ({ class: 'button small', 'aria-label': `${word} ${visible(name)}` });
    const plain = type.split(';')[0].trim().toLowerCase();
    const isText = plain === 'application/json' || (plain.startsWith('text/') && plain !== 'text/html');
    const show = async () => {
      if (!isText) { replace(look, h('img', { src: href, alt: visible(name), width: 240 })); return; }
      const { text, size } = await beginningOf(url, rev, signal);
      replace(look, h('pre', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': visible(name) }, text),
        size < length && h('p', { class: 'muted' }, t.attachments.theFirst(bytes(size), bytes(length))));
    };
    return h('li', {}, about,
      (isText || IMAGES.has(plain)) && button(t.common.show, () => tried(show), named(t.common.show)),
      h('a', { href, download: name.split('/').at(-1), ...named(t.attachments.download) }, icon('download'), t.attachments.download),
      mayWrite && button(t.common.removeButton, () => tried(() => remove(name)), named(t.common.remove)), look);
  }

  async function remove(name) {
    if (!mayWrite()) return;
    const gone = await dialog({
      title: t.common.removeOfName(name), body: h('p', {}, t.attachments.aNewRevisionIsWritten),
      actions: [{ label: t.common.remove, kind: 'danger', run: async () => { await ask(path`${db}/${id}/${name}`, { method: 'DELETE', query: { rev: newest() } }); return true; } }],
    });
    if (!gone) return;
    rest(true);
    await onWritten();
    rest(false);
  }

  async function upload(files) {
    if (!mayWrite()) return;
    rest(true, true);
    current = newest();
    const failures = [];
    try {
      for (const file of files) {
        if (signal.aborted) break; // the page was left
        const isSure = !names.has(file.name) || await dialog({
          title: t.attachments.replace(file.name), body: h('p', {}, t.attachments.thereIsAnAttachment),
          actions: [{ label: t.attachments.replaceAction, kind: 'danger', run: () => true }],
        });
        if (!isSure) continue;
        replace(problems, h('p', { class: 'muted' }, t.attachments.sending(visible(file.name), bytes(file.size))));
        try {
          current = (await ask(path`${db}/${id}/${file.name}`, {
            method: 'PUT', query: { rev: current }, body: file, headers: { 'Content-Type': file.type || 'application/octet-stream' },
          })).json.rev;
          names.add(file.name);
        } catch (error) {
          failures.push(Object.assign(error, { reason: `${visible(file.name)}: ${error.reason ?? error.message}` }));
          if (!error.status || error.status === 409) break; // the next one would fail, too
        }
      }
    } finally {
      // What was sent is written: the page may be left, and the document is read again.
      rest(true);
      replace(problems);
      if (current !== rev) await onWritten();
      rest(false);
    }
    if (failures.length) throw Object.assign(failures[0], { reason: failures.map(({ reason }) => reason).join('\n') });
  }

  function send(files) {
    last = last.then(() => tried(() => upload(files)));
    return last;
  }

  const file = h('input', { type: 'file', multiple: true, on: { change: () => send([...file.files]).finally(() => { file.value = ''; }) } });
  const section = card(t.attachments.attachments, [
    Object.keys(stubs).length === 0 && h('p', { class: 'muted' }, t.common.none),
    h('ul', { class: 'list' }, Object.entries(stubs).map(line)), mayWrite && field(t.attachments.attachFiles, file, t.attachments.orDropThemHere), problems]);
  if (mayWrite) {
    section.addEventListener('dragover', event => event.preventDefault());
    section.addEventListener('drop', event => { event.preventDefault(); send([...event.dataTransfer.files]); });
  }
  return section;
}
