/** A database as a file, and documents of a file in a database. */
import { path } from '../api.js';
import { h, bdi, button, field, head, replace, tableHead } from '../parts/dom.js';
import { errorBox, unsaved } from '../parts/panel.js';
import { commands } from '../parts/command.js';
import { exportLines } from '../files/exporting.js';
import { documentsIn, OtherKind } from '../files/reading.js';
import { writeAll } from '../files/writing.js';
import { bytes, number, short, t } from '../words.js';

const SHOWN = 5; // documents of a preview
const CUT = 120; // characters of each
const LISTED = 200; // refused documents

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
      if (max) [bar.value, bar.max] = [value, max];
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
  const [preview, report] = [h('div'), h('div')];

  const save = () => saving.run(async until => {
    let count = 0;
    const failed = await exportLines(db, { withFiles: withFiles.checked, withDeleted: withDeleted.checked }, ({ revisions, read, left }) => {
      count = revisions;
      saving.tell(t.files.exported(revisions), read, read + left);
    }, until);
    return t.files.exportIsDone(count) + (failed.length ? t.files.notExported(number(failed.length), failed.slice(0, SHOWN).join(', ')) : '');
  }, () => t.files.exportIsStopped);

  async function look() {
    replace(report);
    replace(preview);
    const chosen = file.files[0];
    if (!chosen) return;
    try {
      const found = documentsIn(chosen);
      const { value: { kind } } = await found.next();
      const first = [];
      for await (const one of found) {
        first.push(one);
        if (first.length === SHOWN) break;
      }
      replace(preview, h('p', {}, bdi(chosen.name), `, ${bytes(chosen.size)}: ${kind}`),
        first.length === 0 ? h('p', { class: 'muted' }, t.files.noDocument) : h('div', { class: 'scroll' }, h('table', {},
          tableHead([t.common.id, t.common.revision, t.common.document]), h('tbody', {}, first.map(line)))),
        first.some(one => one.doc) && h('p', { class: 'toolbar' }, button(t.files.importIt, () => store(chosen), { class: 'button primary' }),
          h('span', { class: 'muted' }, t.files.whatIsWritten)));
    } catch (error) {
      if (!(error instanceof OtherKind)) { replace(preview, errorBox(error)); return; }
      replace(preview, h('p', { role: 'alert' }, error.message, ' ', t.files.settleTakesIt),
        h('pre', {}, commands({ url: '.', settle: ['import', [{ db }, chosen.name]] }).join('\n')));
    }
  }

  const line = ({ doc, text, problem, line: place }) => problem
    ? h('tr', {}, h('th', { scope: 'row' }, t.files.line(place)), h('td', { colspan: 2, class: 'bad' }, problem))
    : h('tr', {}, h('th', { scope: 'row' }, bdi(doc.get('_id') ?? t.files.newId)),
      h('td', { class: 'rev' }, doc.has('_rev') ? short(doc.get('_rev')) : t.files.edit),
      h('td', { class: 'mono' }, bdi(text.length > CUT ? `${text.slice(0, CUT)}…` : text)));

  const store = chosen => {
    const notes = { empty: 0, logs: 0, broken: 0 };
    const refused = [];
    let [written, read] = [0, 0];
    const told = () => t.files.imported(written, refused.length);
    return storing.run(async until => {
      const documents = documentsIn(chosen, { notes, onBytes(size) { read = size; } });
      await writeAll(db, documents, step => {
        written += step.written;
        refused.push(...step.refused);
        storing.tell(told(), read, chosen.size);
        if (step.refused.length) showRefused(refused);
      }, until);
      return `${t.files.importIsDone} ${told()} ${t.files.passedOver(notes)}`;
    }, () => `${t.files.importIsStopped} ${told()}`);
  };

  function showRefused(refused) {
    replace(report, h('h2', {}, t.files.refused(number(refused.length))), h('div', { class: 'scroll' }, h('table', { class: 'cards' },
      tableHead([t.common.id, t.files.lineLabel, t.replication.reason]), h('tbody', {}, refused.slice(0, LISTED).map(row => h('tr', {},
        h('th', { scope: 'row' }, bdi(row.id ?? '')), h('td', { 'data-label': t.files.lineLabel }, number(row.line ?? 0)),
        h('td', { class: 'long', 'data-label': t.replication.reason }, bdi(`${row.error}: ${row.reason}`))))))),
    refused.length > LISTED && h('p', { class: 'muted' }, t.settle.andMore(number(refused.length - LISTED))));
  }

  const file = h('input', { type: 'file', on: { change: look } });
  return {
    element: h('div', {}, head(t.common.files), h('h2', {}, t.files.exportHeading), h('p', { class: 'muted' }, t.files.whatIsExported),
      h('p', { class: 'stack' }, h('label', {}, withFiles, ` ${t.files.withAttachments}`), h('label', {}, withDeleted, ` ${t.files.withDeleted}`)),
      button(t.files.export, save), saving.element,
      h('h2', {}, t.files.importHeading), field(t.files.file, file, t.files.whichFiles), preview, storing.element, report),
    leave: unsaved(() => saving.isRunning || storing.isRunning, signal),
  };
}
