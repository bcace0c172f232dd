/** What changes in a database, newest on top. */
import { ask, ApiError, path, stream } from '../api.js';
import { link, setQuery } from '../router.js';
import { readChange } from '../documents/reading.js';
import { h, bdi, button, field, head, replace } from '../parts/dom.js';
import { errorBox } from '../parts/panel.js';
import { sparkLine } from '../parts/spark-line.js';
import { stringify } from '../value/json.js';
import { differences } from '../value/compare.js';
import { number, short, t } from '../words.js';

const KEPT = 500; // rows
const FEW = 50; // rows to begin with, where none are looked for
const IDLE = 10 * 60_000;
const LONGEST = 30_000; // milliseconds until a lost feed is opened again
const STEADY = 5000; // milliseconds after which a feed that ends did work

/** What a change is, by what the feed tells: an id, its winner's generation, and whether it is deleted. */
const KINDS = {
  created: change => !change.deleted && /^1-/.test(change.changes[0].rev),
  edited: change => !change.deleted && !/^1-/.test(change.changes[0].rev),
  deleted: change => Boolean(change.deleted),
  design: change => change.id.startsWith('_design/'),
};
const NAMES = { created: t.changes.created, edited: t.changes.edited, deleted: t.changes.deleted, design: t.changes.design };

export default function page({ db, query, signal, setTitle, setSame, setKeys }) {
  setTitle(t.changes.changesTitle(db));
  const list = h('ul', { class: 'list' });
  const problems = h('div');
  const state = h('span', { class: 'pill', role: 'status' });
  const rate = sparkLine({ label: t.changes.changesASecond });
  const pause = button(t.changes.pause, () => (feed ? end(t.changes.paused) : begin()));
  let feed = null;
  let since = 'now';
  let { q: words = '', kind = '', since: asked = '' } = query;
  const changes = new WeakMap(); // of rows
  let waiting = []; // changes that have come while somebody reads further down, the oldest first
  let arrived = 0;
  let lastUse = Date.now();
  let [attempts, timer, turn] = [0, 0, 0];

  const search = h('input', { type: 'search', value: words, placeholder: t.changes.partOfAnID, on: { input: look } });
  const kinds = h('select', { on: { change: look } }, h('option', { value: '' }, t.common.all),
    Object.keys(KINDS).map(name => h('option', { value: name, selected: name === kind }, NAMES[name])));
  const start = h('input', { class: 'mono', value: asked, placeholder: t.changes.theLast, autocapitalize: 'off', spellcheck: 'false' });
  const form = h('form', { class: 'toolbar', on: { submit: from } }, field(t.changes.id, search), field(t.common.kind, kinds), field(t.changes.since, start),
    h('button', { class: 'button' }, t.common.show));
  const shown = h('p', { class: 'muted', role: 'status' });
  const arrivals = button('', flush, { class: 'button primary', hidden: true });
  const more = button(t.common.more, () => first(), { hidden: true });

  const isShown = change => change.id.includes(words) && (!kind || KINDS[kind](change));

  /** Looks for changes among those that were read, and reads as many as are kept. */
  function look() {
    const wasFew = !words && !kind;
    [words, kind] = [search.value, kinds.value];
    setQuery({ q: words, kind });
    if (wasFew && !asked && list.childElementCount === FEW) restart(); else sift();
  }

  function sift() {
    const rows = [...list.children];
    for (const line of rows) line.hidden = !isShown(changes.get(line));
    const isSifted = words || kind;
    shown.textContent = isSifted ? t.changes.match(number(rows.filter(line => !line.hidden).length), number(rows.length)) : '';
  }

  /** Changes from a sequence on; none means the last ones. */
  function from(event) {
    event.preventDefault();
    asked = start.value.trim();
    setQuery({ since: asked });
    restart();
  }

  function restart() {
    end('');
    replace(list);
    waiting = [];
    since = asked || 'now';
    tellWaiting();
    first();
  }

  function showSame() {
    const limit = String(asked || words || kind ? KEPT : FEW);
    setSame({
      url: path`${db}/_changes`, query: asked ? { since: asked, limit } : { descending: true, limit },
      settle: ['changes', [{ db }], [...(asked ? [`--since=${asked}`] : ['--descending']), '--limit', limit]],
    });
  }

  async function first() {
    const mine = ++turn;
    showSame();
    replace(problems);
    more.hidden = pause.disabled = true;
    list.setAttribute('aria-busy', 'true');
    try {
      if (asked) {
        const answer = (await ask(path`${db}/_changes`, { query: { since: since === 'now' ? asked : since, limit: KEPT }, signal })).json;
        if (mine !== turn) return;
        since = answer.last_seq;
        put(answer.results);
        if (answer.pending > 0) {
          state.textContent = t.changes.moreFollow(number(answer.pending));
          more.hidden = false;
          return;
        }
      } else {
        const limit = words || kind ? KEPT : FEW;
        const answer = (await ask(path`${db}/_changes`, { query: { descending: true, limit }, signal })).json;
        if (mine !== turn) return;
        // What was chosen meanwhile is looked for among all that are kept.
        if (limit === FEW && (words || kind)) { first(); return; }
        since = answer.results[0]?.seq ?? answer.last_seq;
        put(answer.results.reverse());
      }
      begin();
    } catch (error) { if (mine === turn && error.name !== 'AbortError') replace(problems, errorBox(error, first)); } finally {
      if (mine === turn) {
        pause.disabled = false;
        list.removeAttribute('aria-busy');
      }
    }
  }

  /** One feed a tab: browsers allow six connections to a server. */
  async function begin() {
    clearTimeout(timer);
    replace(problems);
    const control = new AbortController();
    feed?.abort();
    feed = control;
    signal.addEventListener('abort', () => control.abort(), { once: true });
    pause.textContent = t.changes.pause;
    const began = Date.now();
    const onOpen = () => { state.textContent = t.changes.live; };
    const isSteady = () => Date.now() - began > STEADY;
    try {
      await stream(path`${db}/_changes`, { query: { feed: 'continuous', since, heartbeat: 30_000 }, signal: control.signal, onOpen }, line => {
        const change = JSON.parse(line);
        if (change.last_seq) { since = change.last_seq; return; }
        since = change.seq;
        attempts = 0;
        arrived += 1;
        waiting.push(change);
        if (isReading()) tellWaiting(); else flush();
      });
      if (feed !== control) return;
      // A feed ends with the session that opened it; there may be a newer one, and else the next request asks for a login.
      if (isSteady()) begin(); else beginLater();
    } catch (error) {
      if (error.name === 'AbortError' || feed !== control) return;
      if (error instanceof ApiError && error.status > 0 && error.status < 500) {
        end(t.changes.notLive);
        replace(problems, errorBox(error, begin));
      } else beginLater();
    }
  }

  /** Puts changes, the oldest first, on top; a row that has the focus stays. */
  function put(some) {
    list.prepend(...some.map(row).reverse());
    while (list.childElementCount > KEPT && !list.lastElementChild.contains(document.activeElement)) list.lastElementChild.remove();
    sift();
  }

  /** Whether somebody reads further down, or has selected a text there. */
  function isReading() {
    const selected = document.getSelection();
    return list.childElementCount > 0 && list.getBoundingClientRect().top < 0 || !selected.isCollapsed && list.contains(selected.anchorNode);
  }

  function tellWaiting() {
    const count = waiting.filter(isShown).length;
    arrivals.textContent = t.changes.arrived(number(count));
    arrivals.hidden = count === 0;
  }

  /** Shows what waits; a button that was pressed for it leads to the top. */
  function flush(event) {
    put(waiting.splice(0).slice(-KEPT));
    tellWaiting();
    if (!event) return;
    form.scrollIntoView();
    list.querySelector('li:not([hidden]) summary')?.focus({ preventScroll: true });
  }

  /** Opens a feed that was lost again, after a while that grows; it goes on where it ended. */
  function beginLater() {
    const wait = Math.min(LONGEST, 1000 * 2 ** attempts);
    attempts += 1;
    state.textContent = t.changes.lost(Math.round(wait / 1000));
    timer = setTimeout(begin, wait);
  }

  function end(words) {
    clearTimeout(timer);
    feed?.abort();
    feed = null;
    pause.textContent = t.changes.goOn;
    state.textContent = words;
  }

  const kindOf = change => Object.keys(KINDS).find(name => KINDS[name](change));

  function row(change) {
    const look = h('div');
    const [{ rev }] = change.changes;
    const small = (text, more = '') => [' ', h('span', { class: `rev ${more}`, title: text }, short(text))];
    const details = h('details', { on: { toggle: () => { if (details.open && !look.childNodes.length) compare(change, look); } } },
      h('summary', {}, bdi(change.id), small(rev), ' ', h('span', { class: `chip ${change.deleted ? 'bad' : ''}` }, NAMES[kindOf(change)]), h('span', { 'data-volatile': true }, small(change.seq, 'muted'))), look);
    const line = h('li', {}, details);
    changes.set(line, change);
    return line;
  }

  /** What a revision has changed, where the body before is kept. */
  async function compare(change, look) {
    look.setAttribute('aria-busy', 'true');
    try {
      const [{ rev }] = change.changes;
      const { now, before, isFirst } = await readChange(db, change.id, rev, signal);
      const signs = { added: '+', removed: '−', changed: '~' };
      replace(look,
        (!now || !before && !isFirst) && h('p', { class: 'muted' }, now ? t.changes.theBodyBefore : t.changes.theBodyIsGone),
        now && (before || isFirst) && h('ul', {}, differences(before ?? new Map(), now).map(({ path: place, kind, before: was, after }) => h('li', {},
          `${signs[kind]} `, bdi(place), ' ', was !== undefined && [h('span', { class: 'diff-gone' }, bdi(stringify(was))), ' → '], after !== undefined && h('span', { class: 'diff-new' }, bdi(stringify(after)))))),
        h('a', { href: link([db, 'doc', change.id]) }, t.common.toTheDocument));
    } catch (error) { replace(look, errorBox(error)); } finally { look.removeAttribute('aria-busy'); }
  }

  const use = () => { lastUse = Date.now(); };
  const hide = () => { if (document.hidden) end(t.changes.pausedWhileTheTab); else if (!feed && !pause.disabled) begin(); };
  document.addEventListener('visibilitychange', hide);
  document.addEventListener('keydown', use);
  document.addEventListener('pointerdown', use);
  document.addEventListener('scroll', () => { if (waiting.length && !isReading()) flush(); }, { capture: true, passive: true, signal });
  const clock = setInterval(() => {
    rate.push(arrived);
    arrived = 0;
    if (feed && Date.now() - lastUse > IDLE) end(t.changes.pausedAfterTenMinutesWithout);
  }, 1000);
  setKeys([{ key: ' ', text: t.changes.pauseOrGo, run: () => pause.click() }]);
  first();
  return {
    element: h('div', {}, head([t.common.changes, state], pause), form, rate.element, problems, shown, h('div', { class: 'arrivals' }, arrivals), more, list),
    leave() {
      clearInterval(clock);
      document.removeEventListener('visibilitychange', hide);
      document.removeEventListener('keydown', use);
      document.removeEventListener('pointerdown', use);
      end('');
    },
  };
}
