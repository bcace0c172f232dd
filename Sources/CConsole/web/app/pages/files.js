/** A database as a file, and documents of a file in a database. */
import { path } from '../api.js';
import { h, bdi, button, field, head, replace, tableHead } from '../parts/dom.js';
import { errorBox, unsaved } from '../parts/panel.js';
import { commands } from '../parts/command.js';
import { exportLines } from '../files/exporting.js';
import { beginningOf, sendFile } from '../files/sending.js';
import { parse, stringify } from '../value/json.js';
import { bytes, number, short, t } from '../words.js';

const SHOWN = 5; // ids of what could not be exported
const CUT = 120; // characters of a document of a preview
const CALM = 300; // milliseconds without a key before the preview follows a typed name
const LISTED = 200; // refused documents
const LARGE = 64_000_000; // bytes; a larger file is sent for a preview only on demand
const KINDS = ['json', 'csv', 'couchdb', 'couchbackup', 'pouchdb', 'couchbase1', 'cloudant', 'cblite', 'mongo', 'firestore', 'realm'];
const ENCODINGS = ['utf-8', 'utf-16', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1', 'macintosh'];
const BY_THE_TOOL = /`settle import\b/; // what the server says of a part of a database

/** A part that works for a while: progress in words, Stop, and errors. Only one of its kind runs. */
function worker(signal) {
  const [bar, words, problems] = [h('progress', { hidden: true, 'aria-label': t.common.progress }), h('span', { role: 'status' }), h('div')];
  let control = null;
  const stop = button(t.settle.stop, () => control.abort(), { hidden: true });
  return {
    element: h('div', {}, h('div', { class: 'toolbar' }, bar, words, stop), problems),
    get isRunning() { return control !== null; },
    tell(text, value, max) {
      words.textContent = text;
      if (max) [bar.max, bar.value] = [max, value]; else bar.removeAttribute('value');
    },
    /** Does work; what it returns is told at its end. */
    async run(work, onStop) {
      if (control) return;
      control = new AbortController();
      replace(problems);
      bar.removeAttribute('value');
      stop.hidden = bar.hidden = false;
      try { words.textContent = await work(AbortSignal.any([signal, control.signal])); } catch (error) {
        if (error.name === 'AbortError') words.textContent = control.signal.aborted ? onStop() : ''; else replace(problems, errorBox(error));
      }
      control = null;
      stop.hidden = bar.hidden = true;
    },
  };
}

export default function page({ db, signal, setTitle, setSame }) {
  setTitle(t.files.filesTitle(db));
  setSame({ url: path`${db}/_changes`, query: { style: 'all_docs', include_docs: true, attachments: true }, settle: ['export', [{ db }]] });
  const [saving, storing] = [worker(signal), worker(signal)];
  const [withFiles, withDeleted] = [1, 2].map(() => h('input', { type: 'checkbox', checked: true }));
  const [settings, preview, report] = [1, 2, 3].map(() => h('div', { class: 'stack' }));
  let looking = new AbortController();

  const save = () => saving.run(async until => {
    let count = 0;
    const failed = await exportLines(db, { withFiles: withFiles.checked, withDeleted: withDeleted.checked }, ({ revisions, read, left }) => {
      count = revisions;
      saving.tell(t.files.exported(revisions), read, read + left);
    }, until);
    return t.files.exportIsDone(count) + (failed.length ? t.files.notExported(number(failed.length), failed.slice(0, SHOWN).join(', ')) : '');
  }, () => t.files.exportIsStopped);

  const box = label => h('label', {}, h('input', { type: 'checkbox' }), ` ${label}`);
  const select = (values, on = {}) => h('select', { on }, Object.entries(values).map(([value, words]) => h('option', { value }, words)));
  const named = (first, names) => select({ '': first, ...Object.fromEntries(names.map(name => [name, name])) }, { change: () => look() });
  const [kinds, encodings] = [named(t.files.byItsContent, KINDS), named(t.files.byItsBytes, ENCODINGS)];
  const [collections, conflict] = [select({}, { change: () => look() }), select({ '': t.files.fail, overwrite: t.files.overwrite, skip: t.files.skip })];
  const member = h('input', { autocomplete: 'off', spellcheck: 'false', on: { input() { clearTimeout(typing); typing = setTimeout(() => look(false, true), CALM); } } });
  let typing = 0;
  const [winners, strict] = [box(t.files.keepWinner), box(t.files.strict)];
  const ofDatabases = h('div', { class: 'stack', hidden: true }, h('p', { hidden: true }, field(t.files.collection, collections)), winners);
  // A text that can't be read before its encoding is named is not known as one.
  const ofTexts = h('p', {}, field(t.files.encoding, encodings));
  const ofDumps = h('div', { class: 'stack', hidden: true }, field(t.files.idMember, member, t.files.idMemberHint), field(t.files.ifThere, conflict));
  const options = h('details', {}, h('summary', {}, t.files.options),
    h('div', { class: 'stack' }, field(t.files.kind, kinds), ofTexts, ofDumps, ofDatabases, strict));
  const isOn = label => label.firstChild.checked || undefined;

  /** What is asked for: of the options those that the file has a use for. */
  const asked = ({ name }) => ({
    name, from: kinds.value || undefined, strict: isOn(strict),
    ...(!ofTexts.hidden && { encoding: encodings.value || undefined }),
    ...(!ofDumps.hidden && { id: member.value || undefined, on_conflict: conflict.value || undefined }),
    ...(!ofDatabases.hidden && { collection: collections.value || undefined, keep_winner: isOn(winners) }),
  });

  /** Begins with another file. */
  function choose() {
    for (const one of [kinds, encodings, collections, conflict, member]) one.value = '';
    [ofTexts.hidden, ofDumps.hidden, ofDatabases.hidden] = [false, true, true];
    replace(settings, file.files[0] && options);
    replace(collections);
    if (!storing.isRunning) storing.tell('');
    look();
  }

  /** Shows what the server says of the file; with `isKept` what is shown stays until then. */
  async function look(isWanted = false, isKept = false) {
    clearTimeout(typing);
    looking.abort();
    looking = new AbortController();
    const [chosen, until] = [file.files[0], AbortSignal.any([signal, looking.signal])];
    replace(report);
    if (!isKept) replace(preview);
    if (!chosen) return;
    try {
      const part = await beginningOf(chosen);
      if (until.aborted) return;
      const about = h('p', {}, bdi(chosen.name), `, ${bytes(chosen.size)}`);
      if (!part && chosen.size > LARGE && !isWanted) {
        replace(preview, about, h('p', { class: 'toolbar' }, importButton(chosen), button(t.files.preview, () => look(true)),
          h('span', { class: 'muted' }, t.files.isLarge)));
        return;
      }
      const words = h('span', { role: 'status' });
      if (!isKept) replace(preview, about, h('p', { class: 'toolbar' }, words, button(t.settle.stop, () => { looking.abort(); replace(preview); })));
      const onSent = sent => { words.textContent = saying(sent, part ?? chosen); };
      onSent(0);
      const text = await sendFile(db, part ?? chosen, { ...asked(chosen), dry_run: true }, { signal: until, onSent });
      show(chosen, JSON.parse(text), parse(text).get('sample'), part);
    } catch (error) {
      if (!until.aborted) replace(preview, BY_THE_TOOL.test(error.reason) ? forTheTool(chosen.name, error.reason) : errorBox(error));
    }
  }

  /** What is said of a file that the page can't send, with the command that takes it. */
  const forTheTool = (name, reason) => [h('p', { role: 'alert' }, reason), h('p', {}, t.files.settleTakesIt),
    h('pre', {}, commands({ url: '.', settle: ['import', [{ db }, name]] }).join('\n'))];

  const importButton = chosen => button(t.files.importIt, () => store(chosen), { class: 'button primary' });

  function show(chosen, told, sample, part) {
    // A dump has no count of conflicts.
    const isDatabase = told.conflicts !== null;
    [ofTexts.hidden, ofDumps.hidden, ofDatabases.hidden] = [isDatabase, isDatabase, !isDatabase];
    if (told.collections) {
      replace(collections, told.collections.map(name => h('option', { value: name, selected: name === told.collection }, name)));
      collections.closest('p').hidden = false;
    }
    replace(preview, h('p', {}, bdi(chosen.name), `, ${bytes(chosen.size)}: `, bdi(told.product)),
      h('p', { class: 'muted' }, part ? t.files.fromTheBeginning : t.files.holds(told)),
      sample.length === 0 ? told.documents + told.local === 0 && h('p', { class: 'muted' }, t.files.noDocument) : h('div', { class: 'scroll' }, h('table', {},
        tableHead([t.common.id, t.common.revision, t.common.document]), h('tbody', {}, sample.map(line)))),
      told.documents + told.local > 0 && h('p', { class: 'toolbar' }, importButton(chosen), h('span', { class: 'muted' }, t.files.whatIsWritten)),
      !part && [faults(told.not_taken, told.lost_revisions + told.lost_attachments, t.files.wouldBeRefused),
        told.left_out.length > 0 && h('p', { class: 'muted' }, t.files.leftOut, bdi(told.left_out.join('; ')))]);
  }

  const saying = (sent, { size }) => sent < size ? t.files.sent(bytes(sent), bytes(size)) : t.files.isRead;

  const line = row => {
    const text = row.has('doc') ? stringify(row.get('doc')) : row.has('omitted') ? t.files.isLong : '';
    const id = row.get('id');
    return h('tr', {}, h('th', { scope: 'row' }, id === null ? h('span', { class: 'muted' }, t.files.newID) : bdi(id)),
      h('td', { class: 'rev' }, row.has('rev') ? short(row.get('rev')) : t.files.edit, row.has('deleted') && ` ${t.common.deleted}`),
      h('td', { class: 'mono' }, bdi(text.length > CUT ? `${text.slice(0, CUT)}…` : text)));
  };

  const store = chosen => {
    const refused = [];
    let [all, stored, timer] = [0, 0, 0];
    const showRefused = () => { timer = 0; replace(report, faults(refused, all, t.files.refused)); };
    const onLine = ({ progress, ...row }) => {
      if (progress) {
        stored = progress.imported;
        storing.tell(t.files.imported(stored, progress.failed), progress.fraction ?? 0, progress.fraction === undefined ? 0 : 1);
        return;
      }
      all += 1;
      if (refused.length < LISTED) refused.push(row);
      timer ||= setTimeout(showRefused, 200);
    };
    return storing.run(async until => {
      replace(report);
      const onSent = sent => storing.tell(saying(sent, chosen), sent, sent < chosen.size ? chosen.size : 0);
      onSent(0);
      const result = await sendFile(db, chosen, asked(chosen), { signal: until, onSent, onLine });
      if (all > 0) showRefused();
      const out = result.left_out?.length ? [t.files.leftOut + result.left_out.join('; ')] : result.notes ?? [];
      return [t.files.importIsDone, 'imported' in result ? t.files.imported(result.imported, result.failed) + t.files.others(result) : t.files.held(t.files.holds(result), all),
        ...out].join(' ');
    }, () => t.files.importIsStopped(stored));
  };

  /** Documents and parts of them that are not taken, as far as they are listed. */
  const faults = (rows, all, heading) => all > 0 && [h('h2', {}, heading(number(all))), h('div', { class: 'scroll' }, h('table', { class: 'cards' },
    tableHead([t.common.id, t.files.lineLabel, t.replication.reason]), h('tbody', {}, rows.slice(0, LISTED).map(row => h('tr', {},
      h('th', { scope: 'row' }, bdi(row.id ?? '—')), h('td', { 'data-label': t.files.lineLabel }, row.line === undefined ? '' : number(row.line)),
      h('td', { class: 'long', 'data-label': t.replication.reason },
        bdi([row.error && row.error !== 'not_taken' && row.error, row.attachment, row.message].filter(Boolean).join(': '))))))) ),
  all > LISTED && h('p', { class: 'muted' }, t.settle.andMore(number(all - LISTED)))];

  const file = h('input', { type: 'file', on: { change: choose } });
  const place = h('div', {
    class: 'stack', on: {
      dragover: event => event.preventDefault(),
      drop(event) {
        event.preventDefault();
        const [{ items, files }] = [event.dataTransfer];
        const folder = [...items].find(item => item.webkitGetAsEntry?.()?.isDirectory);
        if (!folder && files.length === 0) return;
        file.files = folder ? new DataTransfer().files : files;
        choose();
        if (folder) replace(preview, forTheTool(files[0]?.name ?? folder.webkitGetAsEntry().name, t.files.isAFolder));
      },
    },
  }, field(t.files.file, file, t.files.whichFiles), settings, preview, storing.element, report);
  return {
    element: h('div', {}, head(t.common.files), h('h2', {}, t.files.exportHeading), h('p', { class: 'muted' }, t.files.whatIsExported),
      h('p', { class: 'stack' }, h('label', {}, withFiles, ` ${t.files.withAttachments}`), h('label', {}, withDeleted, ` ${t.files.withDeleted}`)),
      button(t.files.export, save), saving.element,
      h('h2', {}, t.files.importHeading), place),
    leave: unsaved(() => saving.isRunning || storing.isRunning, signal),
  };
}
