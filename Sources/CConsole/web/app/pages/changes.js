/** What changes in a database, newest on top. */
import { ask, ApiError, path, stream } from '../api.js';
import { link } from '../router.js';
import { readChange } from '../documents/reading.js';
import { h, bdi, button, head, replace } from '../parts/dom.js';
import { errorBox } from '../parts/panel.js';
import { sparkLine } from '../parts/spark-line.js';
import { stringify } from '../value/json.js';
import { differences } from '../value/compare.js';
import { short, t } from '../words.js';

const KEPT = 500;
const IDLE = 10 * 60_000;
const LONGEST = 30_000; // milliseconds until a lost feed is opened again
const STEADY = 5000; // milliseconds after which a feed that ends did work

export default function page({ db, signal, setTitle, setSame, setKeys }) {
  setTitle(t.changes.changesTitle(db));
  setSame({ url: path`${db}/_changes`, query: { descending: true, limit: 50 }, settle: ['changes', [{ db }], ['--descending', '--limit', '50']] });
  const list = h('ul', { class: 'list' });
  const problems = h('div');
  const state = h('span', { class: 'pill', role: 'status' });
  const rate = sparkLine({ label: t.changes.changesASecond });
  const pause = button(t.changes.pause, () => (feed ? end(t.changes.paused) : begin()));
  let feed = null;
  let since = 'now';
  let arrived = 0;
  let lastUse = Date.now();
  let [attempts, timer] = [0, 0];

  async function first() {
    try {
      const answer = (await ask(path`${db}/_changes`, { query: { descending: true, limit: 50 }, signal })).json;
      replace(list, answer.results.map(row));
      since = answer.results[0]?.seq ?? answer.last_seq;
      begin();
    } catch (error) { if (error.name !== 'AbortError') replace(problems, errorBox(error, first)); }
  }

  /** One feed a tab: browsers allow six connections to a server. */
  async function begin() {
    clearTimeout(timer);
    replace(problems);
    const control = new AbortController();
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
        list.prepend(row(change));
        while (list.childElementCount > KEPT) list.lastElementChild.remove();
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

  function row(change) {
    const look = h('div');
    const details = h('details', { on: { toggle: () => { if (details.open && !look.childNodes.length) compare(change, look); } } },
      h('summary', {}, bdi(change.id), ' ', h('span', { class: 'rev', title: change.changes[0].rev }, short(change.changes[0].rev)), change.deleted && ' ✕'), look);
    return h('li', {}, details);
  }

  /** What a revision has changed, where the body before is kept. */
  async function compare(change, look) {
    try {
      const [{ rev }] = change.changes;
      const { now, before, isFirst } = await readChange(db, change.id, rev, signal);
      const signs = { added: '+', removed: '−', changed: '~' };
      replace(look,
        (!now || !before && !isFirst) && h('p', { class: 'muted' }, now ? t.changes.theBodyBefore : t.changes.theBodyIsGone),
        now && (before || isFirst) && h('ul', {}, differences(before ?? new Map(), now).map(({ path: place, kind, before: was, after }) => h('li', {},
          `${signs[kind]} `, bdi(place), ' ', was !== undefined && [h('span', { class: 'diff-gone' }, bdi(stringify(was))), ' → '], after !== undefined && h('span', { class: 'diff-new' }, bdi(stringify(after)))))),
        h('a', { href: link([db, 'doc', change.id]) }, t.common.toTheDocument));
    } catch (error) { replace(look, errorBox(error)); }
  }

  const use = () => { lastUse = Date.now(); };
  const hide = () => { if (document.hidden) end(t.changes.pausedWhileTheTab); else if (!feed) begin(); };
  document.addEventListener('visibilitychange', hide);
  document.addEventListener('keydown', use);
  document.addEventListener('pointerdown', use);
  const clock = setInterval(() => {
    rate.push(arrived);
    arrived = 0;
    if (feed && Date.now() - lastUse > IDLE) end(t.changes.pausedAfterTenMinutesWithout);
  }, 1000);
  setKeys([{ key: ' ', text: t.changes.pauseOrGo, run: () => pause.click() }]);
  first();
  return {
    element: h('div', {}, head([t.common.changes, state], pause), rate.element, problems, list),
    leave() {
      clearInterval(clock);
      document.removeEventListener('visibilitychange', hide);
      document.removeEventListener('keydown', use);
      document.removeEventListener('pointerdown', use);
      end('');
    },
  };
}
