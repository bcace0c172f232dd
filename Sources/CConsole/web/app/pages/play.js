/** A demonstration step by step: two devices and a server between them, as throw-away databases of this server. */
import { path } from '../api.js';
import { beginningWith } from '../names.js';
import { session, onSession, loginDialog } from '../session.js';
import { h, bdi, button, replace } from '../parts/dom.js';
import { errorBox, unsaved } from '../parts/panel.js';
import { sheet } from '../parts/sheet.js';
import { conflictPart, proposed } from '../play/conflict.js';
import { create, DEVICES, DOCUMENT, leftOver, namesOf, read, remove, replicate, write } from '../play/databases.js';
import { deviceCard, serverCard } from '../play/device.js';
import { moment, number, short, t } from '../words.js';

const MOST_LINES = 8;
const TITLES = { anna: t.play.anna, ben: t.play.ben, server: t.common.server };

export default async function page({ signal, setTitle, setSame }) {
  setTitle(t.play.play);
  await sheet('play.css');
  const [content, problems] = [h('div', { class: 'stack' }), h('div')];
  const told = h('p', { role: 'status' });
  let playing = null;
  let last = Promise.resolve(); // of what is done one after the other

  /** Does one thing after the other, and shows what went wrong. What `isAlone` is not begun while something is done. */
  function run(work, isAlone = false) {
    if (isAlone && content.hasAttribute('aria-busy')) return last;
    content.setAttribute('aria-busy', 'true');
    const mine = last.then(async () => {
      replace(problems);
      try { await work(); } catch (error) { if (!signal.aborted) replace(problems, errorBox(error, () => run(work))); }
      if (mine === last) content.removeAttribute('aria-busy');
    });
    last = mine;
    return mine;
  }

  // Before and after.

  async function welcome() {
    playing = null;
    setSame({ url: '_all_dbs', query: beginningWith('play-') });
    if (!session.isAdmin) {
      replace(content, h('p', {}, t.play.needsAnAdministrator), !session.name && button(t.common.logIn, loginDialog, { class: 'button primary' }));
      return;
    }
    const visits = await leftOver(signal);
    const isLost = content.contains(document.activeElement);
    replace(content,
      visits.length > 0 && h('section', { class: 'card', 'aria-label': t.play.earlierVisits }, h('h2', {}, t.play.earlierVisits), h('p', {}, t.play.stillThere),
        h('ul', { class: 'plain' }, visits.map(earlier))),
      button(t.play.start, () => run(async () => begin(await create(), 0), true), { class: 'button primary' }));
    if (isLost) document.getElementById('main').focus({ preventScroll: true });
  }

  function earlier({ token, began, names, isWhole }) {
    return h('li', { class: 'toolbar' }, h('span', {}, moment(began), ': ', names.map(name => [bdi(name), ' '])),
      isWhole && button(t.play.playOn, () => run(() => begin(token, null), true), { class: 'button small' }),
      button(t.play.deleteDatabases(names.length), () => run(() => end(names), true), { class: 'button small danger' }));
  }

  async function end(names) {
    await remove(names);
    told.textContent = t.play.deleted(names.length);
    await welcome();
  }

  // The devices.

  async function begin(token, step) {
    const names = namesOf(token);
    const who = db => TITLES[Object.keys(names).find(one => names[one] === db)];
    const cards = { server: serverCard(names.server) };
    for (const one of DEVICES) {
      cards[one] = deviceCard({ title: TITLES[one], db: names[one], run, onSave: fields => save(one, fields), onSync: () => sync(one) });
    }
    const conflict = conflictPart({ place: who, run, onSettled: settled });
    const lines = h('ol', { class: 'plain mono' });
    const steps = h('ol', { class: 'steps' });
    const buttons = h('div', { class: 'toolbar' });
    playing = { names, cards, conflict, states: {}, steps, buttons, lines, step };
    told.textContent = '';
    setSame({ url: path`${names.server}/_conflicts/${DOCUMENT}` });
    replace(content, steps, buttons, h('div', { class: 'play' }, cards.anna.element, cards.server.element, cards.ben.element), conflict.element,
      h('section', { 'aria-label': t.play.requests }, h('h2', {}, t.play.requests), lines));
    await refresh();
    draw();
  }

  function log(...words) {
    playing.lines.prepend(h('li', {}, words));
    while (playing.lines.children.length > MOST_LINES) playing.lines.lastChild.remove();
  }

  /** Reads what is everywhere; `by` is the device that has saved some fields. */
  async function refresh(by, saved) {
    const now = playing;
    const all = await Promise.all(Object.entries(now.names).map(async ([one, db]) => [one, await read(db, signal)]));
    if (now !== playing) return;
    for (const [one, state] of all) {
      now.states[one] = state;
      now.cards[one].show(state, one === by ? saved : null);
    }
    now.conflict.show(all.map(([, state]) => state).find(state => state.told?.get('conflict')) ?? null);
  }

  async function save(who, fields) {
    const { names, states, cards } = playing;
    const rev = await write(names[who], states[who].doc, fields);
    log(`PUT /${names[who]}/${DOCUMENT}`, ` → ${short(rev)}`);
    await refresh(who, fields);
    told.textContent = cards[who].isOnline ? t.play.savedHere(TITLES[who]) : t.play.savedOffline(TITLES[who]);
  }

  async function sync(who) {
    const { names } = playing;
    const counts = [];
    for (const [source, target] of [[names[who], names.server], [names.server, names[who]]]) {
      counts.push(await replicate(source, target));
      log('POST /_replicate ', bdi(source), ' → ', bdi(target), `: ${t.conflict.revisionsCount(counts.at(-1))}`);
    }
    await refresh();
    const same = new Set(Object.values(playing.states).map(state => state.doc?._rev));
    const isQuiet = same.size === 1 && !same.has(undefined) && !Object.values(playing.states).some(state => state.told?.get('conflict'));
    const words = t.play.synced(TITLES[who], ...counts.map(t.conflict.revisionsCount));
    told.textContent = isQuiet ? `${words} ${t.play.allTheSame(short([...same][0]))}` : words;
  }

  async function settled() {
    await refresh();
    told.textContent = t.play.settled;
    if (playing.step !== null) playing.step = STEPS.length - 1;
    draw();
  }

  // The steps.

  const both = work => Promise.resolve().then(() => work('anna')).then(() => work('ben'));
  function switchOn(who, value) { playing.cards[who].switchOn(value); }
  const STEPS = [
    [t.play.stepWrite, () => save('anna', { name: t.play.milk, count: 1, bought: false, note: '' })],
    [t.play.stepSync, () => both(sync)],
    [t.play.stepOffline, async () => {
      for (const who of DEVICES) switchOn(who, false);
      told.textContent = t.play.offlineKeeps;
    }],
    [t.play.stepEdit, async () => {
      await save('anna', { name: t.play.milk, count: 2, bought: false, note: t.play.lowFat });
      await save('ben', { name: t.play.oatMilk, count: 3, bought: false, note: '' });
    }],
    [t.play.stepFirst, () => { switchOn('anna', true); return sync('anna'); }],
    [t.play.stepSecond, async () => {
      switchOn('ben', true);
      await sync('ben');
      await sync('anna');
    }],
    [t.play.stepOutcome, async () => playing.conflict.choose(await proposed())],
    [t.play.stepSettle, async () => playing.conflict.carryOut(await proposed())],
    [t.play.stepEnd, () => both(sync)],
  ];

  async function next() {
    const now = playing;
    const at = now.step;
    await STEPS[at][1]();
    if (now.step === at) {
      now.step = at + 1 < STEPS.length ? at + 1 : null;
      now.hasEnded = now.step === null;
    }
    draw();
  }

  function playFreely() {
    playing.step = null;
    run(refresh);
    draw();
  }

  /** Draws the steps, of which one comes next, and what can be done. */
  function draw() {
    const { steps, buttons, step, cards, hasEnded } = playing;
    const isGuided = step !== null;
    for (const one of DEVICES) cards[one].lock(isGuided);
    const isNow = index => index === step;
    const marks = index => ({ class: isNow(index) ? 'now' : index < step ? 'muted' : null, 'aria-current': isNow(index) ? 'step' : null });
    replace(steps, isGuided && STEPS.map(([text], index) => h('li', marks(index), text)));
    steps.hidden = !isGuided;
    const forward = isGuided && button(t.play.next(number(step + 1), number(STEPS.length)), () => run(next, true), { class: 'button primary' });
    const hadFocus = buttons.contains(document.activeElement);
    replace(buttons, forward, isGuided && button(t.play.freely, playFreely), !isGuided && h('span', {}, hasEnded ? t.play.theEnd : t.play.freePlay),
      button(t.play.deleteDatabases(3), () => run(() => end(Object.values(playing.names)), true), { class: 'button danger' }));
    if (hadFocus) (forward || cards.anna).focus({ preventScroll: true });
  }

  let who = null;
  onSession(() => {
    if (who === session.name || playing && !session.name) return;
    who = session.name;
    run(welcome);
  }, signal);
  if (!session.name) await run(welcome);
  return {
    element: h('div', {}, h('h1', {}, t.play.title), h('p', {}, t.play.intro), told, problems, content),
    leave: unsaved(() => playing !== null && DEVICES.some(one => playing.cards[one].isChanged()), signal),
  };
}
