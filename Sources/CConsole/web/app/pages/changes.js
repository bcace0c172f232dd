/** What changes in a database, newest on top. */
import { ask, path, stream } from '../api.js';
import { link } from '../router.js';
import { h, bdi, button, replace } from '../parts/dom.js';
import { errorBox } from '../parts/panel.js';
import { sparkLine } from '../parts/spark-line.js';
import { parse, stringify } from '../value/json.js';
import { differences } from '../value/compare.js';
import { short, t } from '../words.js';

const KEPT = 500;
const IDLE = 10 * 60_000;

export default function page({ db, signal, setTitle, setSame, setKeys }) {
  setTitle(t.changes.changesTitle(db));
  setSame({ url: `${encodeURIComponent(db)}/_changes?descending=true&limit=50`, settle: `settle changes URL/${db} --follow` });
  const list = h('ol', { class: 'plain', reversed: true });
  const problems = h('div');
  const state = h('span', { role: 'status' });
  const rate = sparkLine({ label: t.changes.changesASecond });
  const pause = button(t.changes.pause, () => (feed ? end(t.changes.paused) : begin()));
  let feed = null;
  let since = 'now';
  let arrived = 0;
  let lastUse = Date.now();

  async function first() {
    try {
      const answer = (await ask(path`${db}/_changes`, { query: { descending: true, limit: 50 }, signal })).json;
      replace(list, answer.results.map(row));
      since = answer.results[0]?.seq ?? 'now';
      begin();
    } catch (error) { if (error.name !== 'AbortError') replace(problems, errorBox(error, first)); }
  }

  /** One feed a tab: browsers allow six connections to a server. */
  async function begin() {
    const control = new AbortController();
    feed = control;
    signal.addEventListener('abort', () => control.abort(), { once: true });
    pause.textContent = t.changes.pause;
    state.textContent = t.changes.live;
    const began = Date.now();
    try {
      await stream(path`${db}/_changes`, { query: { feed: 'continuous', since, heartbeat: 30_000 }, signal: control.signal }, line => {
        const change = JSON.parse(line);
        if (change.last_seq) { since = change.last_seq; return; }
        since = change.seq;
        arrived += 1;
        list.prepend(row(change));
        while (list.childElementCount > KEPT) list.lastElementChild.remove();
      });
      if (feed !== control) return;
      // A feed ends with the session that opened it; there may be a newer one, and else the next request asks for a login.
      if (Date.now() - began > 5000) begin(); else end(t.changes.theFeedHasEnded);
    } catch (error) {
      if (error.name !== 'AbortError' && feed === control) { end(t.changes.notLive); replace(problems, errorBox(error, begin)); }
    }
  }

  function end(words) {
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
      const now = parse((await ask(path`${db}/${change.id}`, { query: { rev, revs_info: true }, signal, quiet: true })).text);
      const before = now.get('_revs_info')?.[1];
      now.delete('_revs_info');
      const old = before?.get('status') === 'available'
        ? parse((await ask(path`${db}/${change.id}`, { query: { rev: before.get('rev') }, signal, quiet: true })).text) : null;
      const signs = { added: '+', removed: '−', changed: '~' };
      replace(look,
        before && !old && h('p', { class: 'muted' }, t.changes.theBodyBefore),
        (old || !before) && h('ul', {}, differences(old ?? new Map(), now).map(({ path: place, kind, before: was, after }) => h('li', {},
          `${signs[kind]} `, bdi(place), ' ', was !== undefined && [h('span', { class: 'diff-gone' }, bdi(stringify(was))), ' → '], after !== undefined && h('span', { class: 'diff-new' }, bdi(stringify(after)))))),
        h('a', { href: link([db, 'doc', change.id]) }, t.common.toTheDocument));
    } catch (error) { replace(look, errorBox(error)); }
  }

  const use = () => { lastUse = Date.now(); };
  const hide = () => { if (document.hidden) end(t.changes.pausedWhileTheTab); else if (!feed) begin(); };
  document.addEventListener('visibilitychange', hide);
  document.addEventListener('keydown', use);
  document.addEventListener('pointerdown', use);
  const timer = setInterval(() => {
    rate.push(arrived);
    arrived = 0;
    if (feed && Date.now() - lastUse > IDLE) end(t.changes.pausedAfterTenMinutesWithout);
  }, 1000);
  setKeys([{ key: ' ', text: t.changes.pauseOrGo, run: () => pause.click() }]);
  first();
  return {
    element: h('div', {}, h('h1', {}, t.common.changes), h('div', { class: 'toolbar' }, state, pause, rate.element), problems, list),
    leave() {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', hide);
      document.removeEventListener('keydown', use);
      document.removeEventListener('pointerdown', use);
      end('');
    },
  };
}
