/** The newest events of the server, and requests that failed, were cut off or took long. */
import { ask } from '../api.js';
import { setQuery } from '../router.js';
import { h, bdi, button, field, head, prefixInput, searchBox, tableHead } from '../parts/dom.js';
import { panel, stateBox } from '../parts/panel.js';
import { number, t } from '../words.js';

const EVERY = 5000;
const KEPT = 1500; // lines that the server keeps
const PAGE = 200;
const LEVELS = { error: t.log.error, warning: t.log.warning, notice: t.log.notice };
const LOOKS = { error: 'bad', warning: 'warn' };

export default function page({ query, signal, setTitle, setSame, setKeys }) {
  setTitle(t.common.log);
  setSame({ url: '_node/_local/_log', query: { limit: KEPT } });
  let [text, limit] = [query.text ?? '', PAGE];
  const search = prefixInput(t.log.partOfALine, text, filter, t.log.partOfALine);
  const level = h('select', { on: { change: () => filter(text) } },
    h('option', { value: '' }, t.common.all), Object.entries(LEVELS).map(([name, words]) => h('option', { value: name, selected: name === query.level }, words)));
  const list = panel(async () => keyed((await ask('_node/_local/_log', { query: { limit: KEPT }, signal, quiet: true })).json.log), show,
    { label: t.log.readingTheLog, again: EVERY, signal });

  function filter(part) {
    [text, limit] = [part, PAGE];
    setQuery({ text, level: level.value });
    list.reload();
  }

  /** The lines with keys that stay when newer ones come. */
  function keyed(lines) {
    const seen = new Map();
    return lines.toReversed().map(line => {
      const name = `${line.time} ${line.id ?? line.event}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
      return { line, key: `${name} ${seen.get(name)}` };
    }).reverse();
  }

  const isWanted = ({ line }) => (!level.value || line.level === level.value)
    && Object.values(line).join(' ').toLowerCase().includes(text.trim().toLowerCase());

  function show(lines) {
    const found = lines.filter(isWanted);
    const title = lines.length ? t.log.noLineFits : t.log.isEmpty;
    if (found.length === 0) return stateBox({ art: lines.length ? 'alone' : 'together', title });
    const rows = found.slice(0, limit).map(({ line, key }) => h('tr', { 'data-key': key },
      h('th', { scope: 'row' }, h('span', { class: 'mono cut' }, line.time.slice(0, -1).replace('T', ' '))),
      h('td', { 'data-label': t.log.level }, h('div', {}, h('span', { class: `pill ${LOOKS[line.level] ?? ''}` }, LEVELS[line.level] ?? line.level))),
      h('td', { 'data-label': t.log.line }, written(line))));
    return [h('p', { class: 'muted' }, t.log.linesCount(found.length)),
      h('div', { class: 'scroll' }, h('table', { class: 'cards' }, tableHead([t.log.timeInUtc, t.log.level, t.log.line]), h('tbody', {}, rows))),
      found.length > limit && button(t.common.showMore(Math.min(PAGE, found.length - limit)), () => { limit += PAGE; list.reload(); })];
  }

  /** What a line says first, and its other members. */
  function written({ time, level: kind, event, message, method, path: where, ...more }) {
    const first = event === 'request' ? `${method} ${where}` : message ?? event;
    const shown = (name, value) => typeof value === 'number' && name !== 'status' ? number(value) : value;
    const rest = Object.entries(more).filter(([, value]) => value !== null).map(([name, value]) => `${name} ${shown(name, value)}`);
    return h('div', {}, bdi(first), rest.length > 0 && h('div', { class: 'small muted' }, bdi(rest.join(' · '))));
  }

  setKeys([{ key: '/', text: t.common.search, run: () => search.focus() }, { key: 'r', text: t.common.readAgain, run: list.reload }]);
  list.reload();
  return { element: h('div', {}, head(t.common.log), h('p', { class: 'muted' }, t.log.whatIsKept),
    h('div', { class: 'toolbar' }, searchBox(search), field(t.log.level, level)), list.element) };
}
