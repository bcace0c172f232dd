/** The command palette: places, databases, documents and commands by their words. A combobox with one list. */
import { ask, path } from '../api.js';
import { beginningWith, readNames } from '../names.js';
import { link, read } from '../router.js';
import { session, logOut } from '../session.js';
import { commands } from './command.js';
import { h, bdi, icon, replace } from './dom.js';
import { sheet } from './sheet.js';
import { errorBox } from './panel.js';
import { help, letterOf, signsOf } from './keys.js';
import { t } from '../words.js';

const MOST_SHOWN = 8;
const CALM = 120; // milliseconds without a key

/** What is typed: its kind, and its words. */
function understand(text) {
  const [, kind, rest] = /^\s*(>|(?:db|id):)?\s*(.*?)\s*$/is.exec(text);
  return { kind: kind?.toLowerCase().replace(':', '') ?? '', rest, words: rest.toLowerCase().split(/\s+/).filter(Boolean) };
}

// Whoever may not list databases is not asked for another password here.
const QUIETLY = { quiet: true, isLogin: true };
const isFault = error => error.name !== 'AbortError' && ![401, 403, 404].includes(error.status);

/** Opens the palette over the page. */
export async function openPalette(frame) {
  await sheet('palette.css');
  if (document.querySelector('dialog[open]')) return;
  const { db } = read(location.hash);
  const before = document.activeElement;
  const control = new AbortController();
  const input = h('input', {
    class: 'bare', role: 'combobox', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', placeholder: t.main.searchOrRun,
    'aria-label': t.main.searchOrRun, 'aria-expanded': 'true', 'aria-controls': 'palette-list', 'aria-autocomplete': 'list',
    on: { input: changed, keydown: press },
  });
  const list = h('div', { id: 'palette-list', class: 'menu', role: 'listbox', 'aria-label': t.palette.results });
  const notes = h('div', { class: 'told' });
  const count = h('span', { class: 'sr', role: 'status' });
  const hint = (key, text) => h('span', { class: 'row' }, h('kbd', {}, key), ' ', text);
  const outside = event => { if (event.target === element) element.close(); };
  const element = h('dialog', { class: 'commands', 'aria-label': t.main.searchOrRun, on: { close: closed, click: outside } },
    h('div', { class: 'row find-in' }, input), list, notes, count,
    h('div', { class: 'ft small muted', 'aria-hidden': 'true' }, hint(t.palette.upAndDown, t.palette.move), hint(t.palette.enter, t.palette.open),
      hint(`${t.keys.ctrl} ${t.palette.enter}`, t.palette.newTab), h('span', { class: 'end' }, t.palette.kinds)));
  const found = { names: undefined, hasMore: false, more: [], ids: [], fault: null };
  let entries = [];
  let [active, timer, turn] = [0, 0, 0];
  let chosen = null;

  // What there is to choose.

  const go = (href, text, attributes) => ({ href, text, keys: letterOf(href) && ['G', letterOf(href).toUpperCase()], ...attributes });
  const goAndPress = (href, text, key) => ({ text, isCommand: true, leaves: true, run: () => {
    location.hash = href;
    whenShown(href, () => frame.keys().find(one => one.key === key && !one.ctrl)?.run());
  } });
  const closing = entry => ({ isCommand: true, ...entry });
  const staying = (text, run) => ({ text, isCommand: true, stays: true, run });

  function groups() {
    const pageKeys = frame.keys().filter(({ key }) => !/^[\dc]$/.test(key));
    return [
      { title: t.palette.goTo, entries: frame.places().map(place => go(place.href, place.text, { icon: place.icon })) },
      db !== undefined && { title: t.palette.inDatabase(db), entries: [
        go(link([db, 'doc']), t.palette.newDocument, { isCommand: true, keys: null }),
        go(link([db, 'settle']), t.palette.settleMany, { isCommand: true }),
        session.isAdmin && staying(t.palette.compact, compact),
      ] },
      { title: t.keys.onThisPage, entries: pageKeys.map(key => closing({ text: key.text, run: key.run, keys: signsOf(key) })) },
      { title: t.palette.commands, entries: [
        session.isAdmin && goAndPress('#/', t.palette.newDatabase, 'c'),
        session.isAdmin && goAndPress('#/replications', t.palette.newReplication, 'c'),
        ...frame.doings().map(closing),
        frame.same() && staying(t.palette.copyCurl, () => copy(line => line.startsWith('curl '))),
        frame.same()?.settle && staying(t.palette.copySettle, () => copy(line => line.startsWith('settle '))),
        closing({ text: t.keys.keys, keys: ['?'], run: help }),
        session.name ? closing({ text: t.main.logOut, run: logOut }) : closing({ text: t.common.logIn, run: frame.logIn }),
      ] },
    ];
  }

  function databases({ kind, rest, words }) {
    if (rest === '' && kind !== 'db') return [];
    const isFitting = name => words.every(word => name.includes(word));
    const names = [...new Set([...(found.names ?? []).filter(isFitting), ...found.more])];
    // A name that is typed in full is offered, too, where nobody may list them.
    const isTyped = (kind === 'db' || found.names === null) && /^[a-z_][a-z0-9_$()+/-]*$/.test(rest) && !names.includes(rest);
    return [...names.slice(0, MOST_SHOWN).map(name => go(link([name, 'docs']), bdi(name), { keys: null, icon: 'database' })),
      ...(isTyped ? [go(link([rest, 'docs']), t.palette.openDatabase(rest), { keys: null })] : [])];
  }

  function documents({ kind, rest }) {
    if (db === undefined || rest === '') return [];
    const known = found.ids.filter(id => id !== rest).map(id => go(link([db, 'doc', id]), bdi(id), { icon: 'doc' }));
    return kind === 'id' ? [go(link([db, 'doc', rest]), t.palette.openDocument(rest)), ...known] : known;
  }

  /** The groups that fit what is typed. */
  function fitting(asked) {
    const { kind, words } = asked;
    const isFitting = entry => (kind !== '>' || entry.isCommand) && words.every(word => String(entry.text).toLowerCase().includes(word));
    const fixed = (kind === '' || kind === '>' ? groups() : []).filter(Boolean)
      .map(group => ({ ...group, entries: group.entries.filter(entry => entry && isFitting(entry)) }));
    const named = kind === '' || kind === 'db' ? [{ title: t.common.databases, entries: databases(asked) }] : [];
    const documented = kind === '' || kind === 'id' ? [{ title: t.common.documents, entries: documents(asked) }] : [];
    return [...fixed, ...named, ...documented].filter(group => group.entries.length);
  }

  // What is read from the server.

  async function readDatabases() {
    try {
      Object.assign(found, await readNames({ signal: control.signal, ...QUIETLY }), { fault: null });
      draw(true);
    } catch (error) {
      // Not everybody may list them; a name can be typed.
      Object.assign(found, { names: null, fault: isFault(error) ? error : null });
      if (!element.open) return;
      draw(true);
      showFault(found.fault, readDatabases);
    }
  }

  async function readMore() {
    const mine = ++turn;
    const { kind, rest } = understand(input.value);
    const wanted = db !== undefined && rest && (kind === '' || kind === 'id');
    const options = { signal: control.signal, ...QUIETLY };
    const query = { ...beginningWith(rest), limit: MOST_SHOWN };
    let fault = null;
    const none = error => { if (isFault(error)) fault = error; return []; };
    const [ids, more] = await Promise.all([
      wanted ? ask(path`${db}/_all_docs`, { ...options, query }).then(({ json }) => json.rows.map(row => row.id)).catch(none) : [],
      found.hasMore && rest ? readNames({ ...options, prefix: rest, limit: MOST_SHOWN }).then(({ names }) => names).catch(none) : [],
    ]);
    if (mine !== turn || !element.open) return;
    Object.assign(found, { ids, more });
    draw(true);
    if (fault) showFault(fault, readMore); else showFault(found.fault, readDatabases);
  }

  /** Shows why something could not be read, if it could not. */
  function showFault(fault, read) {
    if (!fault) return;
    delete notes.dataset.empty;
    replace(notes, errorBox(fault, () => { input.focus(); read(); }));
  }

  // The list.

  function changed() {
    Object.assign(found, { ids: [], more: [] });
    replace(notes);
    turn += 1;
    clearTimeout(timer);
    timer = setTimeout(readMore, CALM);
    draw();
  }

  /** Draws the list; what is chosen stays chosen if more has come. */
  function draw(isMore = false) {
    const asked = understand(input.value);
    const all = fitting(asked);
    if (!isMore) active = 0;
    entries = all.flatMap(group => group.entries);
    let place = 0;
    replace(list, all.map(group => h('div', { role: 'group', 'aria-label': group.title },
      h('div', { class: 'cap', 'aria-hidden': 'true' }, group.title), group.entries.map(entry => option(entry, place++)))));
    count.textContent = t.palette.resultsCount(entries.length);
    const isNowhere = asked.kind === 'id' && db === undefined;
    if (entries.length === 0) replace(notes, h('p', { class: 'muted' }, isNowhere ? t.palette.noDatabaseIsOpen : t.palette.nothing(asked.rest)));
    else if (notes.dataset.empty) replace(notes);
    if (entries.length === 0) notes.dataset.empty = 'yes'; else delete notes.dataset.empty;
    mark();
  }

  function option(entry, place) {
    const click = event => {
      if (entry.href && (event.ctrlKey || event.metaKey || event.shiftKey)) return;
      event.preventDefault();
      choose(entry);
    };
    return h(entry.href ? 'a' : 'div', {
      role: 'option', id: `palette-${place}`, href: entry.href, tabindex: '-1', class: 'option', 'aria-selected': 'false',
      on: { mousedown: event => event.preventDefault(), click },
    }, entry.icon && icon(entry.icon), h('span', { class: 'grow cut' }, entry.text), entry.keys?.map(key => h('kbd', {}, key)));
  }

  function mark() {
    active = Math.max(0, Math.min(active, entries.length - 1));
    for (const one of list.querySelectorAll('[role=option]')) {
      const isActive = one.id === `palette-${active}`;
      one.setAttribute('aria-selected', String(isActive));
      if (isActive) one.scrollIntoView({ block: 'nearest' });
    }
    if (entries.length) input.setAttribute('aria-activedescendant', `palette-${active}`); else input.removeAttribute('aria-activedescendant');
  }

  function press(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const ctrl = event.ctrlKey || event.metaKey;
    if (step) active = (active + step + entries.length) % Math.max(entries.length, 1);
    else if (event.key === 'Enter' && !event.isComposing) { if (entries[active]) choose(entries[active], ctrl); }
    else if (ctrl && event.key.toLowerCase() === 'k') element.close();
    else return;
    event.preventDefault();
    mark();
  }

  function choose(entry, inTab = false) {
    if (entry.stays) { entry.run(); return; }
    if (inTab && entry.href) { window.open(entry.href, '_blank'); return; }
    chosen = entry;
    element.close();
  }

  /** The focus goes back, or to the page that is opened. */
  function closed() {
    control.abort();
    clearTimeout(timer);
    element.remove();
    // Chromium gives the focus back itself, but to a field without its caret.
    document.activeElement.blur();
    (!chosen?.href && !chosen?.leaves && before?.isConnected ? before : document.getElementById('main')).focus({ preventScroll: true });
    if (chosen?.href) location.hash = chosen.href;
    else chosen?.run();
  }

  // Commands that say here what they did.

  function tell(...content) { replace(notes, h('p', { role: 'status' }, content)); }

  async function compact() {
    try {
      await ask(path`${db}/_compact`, { method: 'POST', json: {} });
      tell(t.palette.compacting(db));
    } catch (error) { replace(notes, errorBox(error)); }
  }

  async function copy(isWanted) {
    const text = commands(frame.same()).find(isWanted);
    try {
      await navigator.clipboard.writeText(text);
      tell(t.palette.copied);
    } catch { // A browser has no clipboard for a server without TLS.
      const line = h('input', { readOnly: true, value: text, 'aria-label': t.palette.copyIt });
      replace(notes, h('label', { class: 'field' }, t.palette.copyIt, line));
      line.select();
    }
  }

  document.body.append(element);
  element.showModal();
  draw();
  readDatabases();
}

/** Runs something as soon as a page is shown, unless another one is opened. */
function whenShown(href, run) {
  const main = document.getElementById('main');
  const isShown = () => main.dataset.shown === href && !main.hasAttribute('aria-busy');
  if (isShown()) { run(); return; }
  const observer = new MutationObserver(() => {
    if (location.hash !== href) observer.disconnect();
    else if (isShown()) { observer.disconnect(); run(); }
  });
  observer.observe(main, { attributes: true });
}
