/** The shell: the places beside the page, the line above it, the foot, and the page that the address names. */
import { ask, beginPage, mayAskAgain, path, root, onAnswer, onReach } from './api.js';
import { loadFrame, loadPassword, pageNamed } from './areas.js';
import { link, linkOf, read } from './router.js';
import { session, onSession, refresh, logOut, loginDialog } from './session.js';
import { h, bdi, button, icon, patch, replace } from './parts/dom.js';
import { help, listen, openPalette } from './parts/keys.js';
import { bones, errorBox } from './parts/panel.js';
import { number, bytes, t } from './words.js';

const TABS = [['docs', t.common.documents], ['conflicts', t.common.conflicts], ['changes', t.common.changes], ['query', t.common.query],
  ['design', t.common.designDocuments], ['rights', t.common.permissions], ['upkeep', t.common.upkeep], ['files', t.common.files],
  ['journal', t.common.journal]];
const PLACES = [['#/', t.common.databases], ['#/replications', t.common.replications], ['#/users', t.common.users], ['#/activity', t.common.activity], ['#/log', t.common.log], ['#/server', t.common.server]];
/** The pages that stand below another one of the same database or of the server. */
const PARENTS = { doc: 'docs', conflict: 'conflicts', settle: 'conflicts' };
const ICONS = {
  docs: 'doc', conflicts: 'conflict', changes: 'changes', query: 'query', views: 'view', design: 'code', rights: 'lock',
  upkeep: 'refresh', files: 'download', journal: 'journal',
  '#/': 'database', '#/replications': 'replicate', '#/users': 'users', '#/activity': 'activity', '#/log': 'terminal', '#/server': 'server', '#/play': 'conflict',
};
/** The places in the bar of a telephone. */
const BAR = ['docs', 'conflicts', 'changes', 'query', '#/', '#/replications', '#/activity', '#/server'];
const RECENT = 8;
const EVERY = 30_000; // milliseconds between two readings of the counts

const outlet = h('main', { id: 'main', tabindex: '-1' });
const crumbs = h('nav', { class: 'path', 'aria-label': t.main.path });
const places = h('div', { class: 'nav' });
const bar = h('nav', { class: 'bar', 'aria-label': t.main.places });
const back = h('a', { class: 'button quiet icon phone', 'aria-label': t.main.back }, icon('back'));
const status = h('p', { class: 'status cut mono grow', role: 'status' });
const live = h('span', { class: 'row good' });
const version = h('span');
const user = h('span', { class: 'user' });
let leave = null;
let here = {}; // what the address means

// Theme and density are the person's own, on this device.

const theme = button(icon('theme'), () => setTheme(THEMES[(THEMES.indexOf(themeNow()) + 1) % THEMES.length]), { class: 'button quiet icon desk' });
const THEMES = Object.keys(t.themes);
const themeNow = () => localStorage.getItem('theme') ?? 'system';
const densityNow = () => localStorage.getItem('density') ?? 'comfortable';

function setTheme(name) {
  localStorage.setItem('theme', name);
  theme.setAttribute('aria-label', t.main.themeIs(t.themes[name]));
  theme.title = t.main.themeIs(t.themes[name]);
  if (name === 'system') delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name;
  drawUser();
}

function setDensity(name) {
  localStorage.setItem('density', name);
  document.documentElement.dataset.density = name;
  drawUser();
}

/** A choice of some, one of them pressed. */
function choice(words, now, set) {
  return h('div', { class: 'seg' }, Object.entries(words).map(([name, text]) => button(text, () => set(name), { 'aria-pressed': String(name === now) })));
}

function drawUser() {
  if (!session.name) {
    patch(user, button(t.common.logIn, logIn));
    return;
  }
  patch(user,
    h('button', { type: 'button', class: 'button quiet icon', popovertarget: 'user-menu', 'aria-haspopup': 'dialog' }, h('span', { class: 'avatar', 'aria-hidden': 'true' }, session.name.slice(0, 2).toUpperCase()), h('span', { class: 'sr' }, t.main.userMenu, bdi(session.name))),
    h('div', { id: 'user-menu', popover: 'auto', class: 'pop menu', role: 'dialog', 'aria-label': t.main.userMenu }, h('strong', {}, bdi(session.name)),
      h('div', { class: 'stack' }, h('span', { class: 'small muted' }, t.main.theme), choice(t.themes, themeNow(), setTheme)),
      h('div', { class: 'stack' }, h('span', { class: 'small muted' }, t.main.density), choice(t.densities, densityNow(), setDensity)),
      h('div', { class: 'toolbar' }, button([t.keys.keys, h('kbd', {}, '?')], help),
        button(t.main.password, async () => (await loadPassword()).changePassword()), button(t.main.logOut, logOut))));
}

let shown = [];
/** Sets the keys of a page: `key`, `text`, `run`. With `ctrl` they count in fields, too. */
function setKeys(keys) { shown = keys; }

// Keys and the palette ask the frame for what there is.

/** All places, for keys and the palette: those of the open database, and those of the server. */
function allPlaces() {
  const [inside, outside] = [here.db === undefined ? [] : TABS, [...serverPlaces(), ...(session.isAdmin || !session.name ? [['#/play', t.play.play]] : [])]];
  return [...inside.map(([page, text]) => ({ href: link([here.db, page]), text, icon: ICONS[page] })), ...outside.map(([href, text]) => ({ href, text, icon: ICONS[href] }))];
}

async function logIn() { if (await loginDialog()) show(); }

/** What the frame can do by itself. */
function doings() {
  return [...Object.entries(t.themes).map(([name, text]) => ({ text: t.main.themeIs(text), run: () => setTheme(name) })),
    ...Object.entries(t.densities).map(([name, text]) => ({ text: t.palette.density(text), run: () => setDensity(name) }))];
}

// What does the same as the page, on the command line.

const lines = h('div', { class: 'pop stack' });
const same = h('details', { class: 'same', hidden: true, on: { toggle: () => { if (same.open) writeSame(); } } },
  h('summary', { class: 'button quiet small' }, icon('terminal'), t.main.commandLine), lines);
let sameAs = null;

/** Says what does the same as the page: `commands` of parts/command.js, which are written when somebody looks. */
function setSame(doing) {
  sameAs = doing;
  same.hidden = false;
  if (same.open) writeSame(); else replace(lines);
}

async function writeSame() {
  const { commandPanel } = await loadFrame();
  commandPanel(lines, sameAs);
}

// The places: of the server, and of the open database with what it counts.

const counts = {};
let countTurn = 0;

function placeLink(key, href, label, isCurrent) {
  return h('a', { href, 'aria-current': isCurrent ? 'page' : null, title: label }, icon(ICONS[key]), h('span', { class: 'lbl' }, label));
}

const isHere = key => key.startsWith('#') ? here.db === undefined && (key === '#/' ? here.page === 'databases' : key.startsWith(`#/${here.page}`)) : key === (PARENTS[here.page] ?? here.page);
/** What only administrators see is left out for others; who is not logged in may be one. */
const serverPlaces = () => PLACES.filter(([href]) => href === '#/' || session.isAdmin || !session.name);
const linkTo = ([key, label]) => placeLink(key, key.startsWith('#') ? key : link([here.db, key]), label, isHere(key));
function countOf(key) {
  const isConflict = key === 'conflicts';
  return counts[key] > 0 && h('span', { class: isConflict ? 'n pill warn' : 'n' }, number(counts[key]));
}

function drawPlaces() {
  const list = entries => h('ul', {}, entries.map(entry => h('li', { 'data-key': entry[0] }, linkTo(entry), countOf(entry[0]))));
  patch(places,
    h('nav', { 'data-key': 'server', 'aria-label': t.common.server }, h('a', { class: 'brand', href: '#/', 'aria-label': t.main.home }, icon('word', 'word')), h('h2', {}, t.common.server), list(serverPlaces())),
    here.db !== undefined && h('nav', { 'data-key': 'database', 'aria-label': t.common.database }, h('h2', {}, t.common.database),
      h('button', { type: 'button', class: 'pick-db', 'aria-haspopup': 'dialog', title: t.main.otherDatabase, on: { click: otherDatabase } }, icon('database'),
        h('div', { class: 'grow' }, h('b', { class: 'cut' }, bdi(here.db)), h('span', { class: 'small muted' }, counts.size === undefined ? '…' : t.main.sizeOfDatabase(bytes(counts.size), counts.docs))), icon('down')),
      list(TABS)));
  const shown = (here.db === undefined ? serverPlaces() : TABS).filter(([key]) => BAR.includes(key));
  patch(bar, shown.map(entry => h('span', { 'data-key': entry[0] }, linkTo(entry))), h('button', { type: 'button', 'aria-haspopup': 'dialog', on: { click: more } }, icon('menu'), h('span', {}, t.common.more)));
}

/** Notes that a database was open, for the list of them. */
function noteRecent(db) {
  const names = JSON.parse(localStorage.getItem('recent') ?? '[]').filter(name => name !== db);
  localStorage.setItem('recent', JSON.stringify([db, ...names].slice(0, RECENT)));
}

async function otherDatabase() {
  const { chooseDatabase } = await loadFrame();
  if (!document.querySelector('dialog.palette[open]')) chooseDatabase();
}

async function more() {
  const { placeSheet } = await loadFrame();
  if (document.querySelector('dialog[open]')) return;
  const rest = entries => entries.filter(entry => here.db === undefined || entry[0].startsWith('#') || !BAR.includes(entry[0])).map(linkTo);
  placeSheet([...(here.db === undefined ? [] : [{ title: here.db, links: rest(TABS) }]), { title: root.host, links: rest(serverPlaces()) }],
    [here.db !== undefined && button(t.main.otherDatabase, otherDatabase), choice(t.themes, themeNow(), name => { setTheme(name); document.querySelector('dialog[open]').close(); }), session.name && button(t.main.logOut, logOut)]);
}

/** Reads what the places count; what may not be read has no number. It never asks for a login. */
async function readCounts() {
  const { db } = here;
  const mine = ++countTurn;
  places.setAttribute('aria-busy', 'true');
  const quiet = { quiet: true, isLogin: true };
  const told = async where => { try { return (await ask(where, quiet)).json; } catch { return null; } };
  if (db !== undefined) {
    const [info, conflicts] = [await told(path`${db}`), await told(`${path`${db}/_conflicts`}?kind=all&limit=0`)];
    if (mine !== countTurn) return;
    Object.assign(counts, { docs: info?.doc_count, size: info?.sizes?.file, conflicts: conflicts?.total_rows });
  }
  const replications = session.isAdmin ? (await told('_scheduler/docs?limit=1'))?.total_rows : undefined;
  if (mine !== countTurn) return;
  counts['#/replications'] = replications;
  places.removeAttribute('aria-busy');
  drawPlaces();
}
setInterval(() => { if (!document.hidden && mayAskAgain() && session.name && !places.hasAttribute('aria-busy')) readCounts(); }, EVERY);

function drawPath() {
  const { db, page, id } = here;
  const at = PARENTS[page] ?? page;
  const name = (db === undefined ? PLACES.find(([href]) => isHere(href)) : TABS.find(([key]) => key === at))?.[1];
  const parts = [['#/', root.host], db !== undefined && [link([db, 'docs']), bdi(db)], name && [db === undefined ? `#/${page === 'databases' ? '' : page}` : link([db, at]), name], id !== undefined && [null, bdi(id)]].filter(Boolean);
  replace(crumbs, h('ol', { class: 'crumbs' }, parts.map(([href, text], index) => h('li', { class: 'cut' },
    index < parts.length - 1 ? h('a', { class: 'cut', href }, text) : h('span', { class: 'cut', 'aria-current': 'page' }, text)))));
  back.hidden = parts.length < 2;
  back.href = parts.at(-2)?.[0] ?? '#/';
}

async function show() {
  if (leave && leave() === false) return;
  const where = read(location.hash);
  if (where.db !== here.db) for (const key of ['docs', 'size', 'conflicts']) delete counts[key];
  here = where;
  if (where.db !== undefined) noteRecent(where.db);
  if (where.db !== undefined && !location.hash.startsWith('#/db/')) history.replaceState(history.state, '', linkOf(where));
  const control = new AbortController();
  let inner = null;
  leave = () => {
    if (inner?.() === false) return false;
    control.abort();
    clearTimeout(loading);
    return true;
  };
  beginPage();
  setKeys([]);
  sameAs = null;
  same.hidden = true;
  same.open = false;
  replace(lines);
  status.textContent = '';
  drawPath();
  drawPlaces();
  // What was asked for the page before is forgotten.
  countTurn += 1;
  places.removeAttribute('aria-busy');
  if (session.name) readCounts();
  // What was there belongs to another path.
  replace(outlet);
  outlet.setAttribute('aria-busy', 'true');
  const loading = setTimeout(() => replace(outlet, h('div', {}, bones())), 150);
  // A page that was left says nothing any more.
  const said = set => value => { if (!control.signal.aborted) set(value); };
  const context = {
    ...where, signal: control.signal, setSame: said(setSame), setKeys: said(setKeys),
    setTitle: said(text => { document.title = `${text} · Settle`; }),
  };
  try {
    const make = await pageNamed(where.page);
    if (control.signal.aborted) return;
    const page = await make(context);
    if (control.signal.aborted) return;
    inner = page.leave;
    replace(outlet, page.element);
  } catch (error) {
    if (control.signal.aborted) return;
    replace(outlet, h('div', {}, h('h1', {}, t.main.thisPageCantBeShown), errorBox(error, show)));
  } finally {
    clearTimeout(loading);
  }
  outlet.removeAttribute('aria-busy');
  outlet.dataset.shown = location.hash;
  if (document.activeElement === document.body) outlet.focus({ preventScroll: true });
}

/** A file that falls beside the place for files opens in no browser's tab, which would lose what is typed. */
for (const name of ['dragover', 'drop']) {
  document.addEventListener(name, event => { if (event.dataTransfer?.types.includes('Files') && event.target.type !== 'file') event.preventDefault(); });
}

let place = history.state?.place ?? 0; // of the shown page in the history
let isReturning = false;
window.addEventListener('hashchange', () => {
  if (isReturning) { isReturning = false; return; }
  const step = (history.state?.place ?? place + 1) - place;
  // What was sent is waited for, as when its dialog is left; nothing more is sent.
  const sent = document.querySelector('dialog[aria-busy=true]');
  sent?.dispatchEvent(new Event('cancel', { cancelable: true }));
  if (sent || leave && leave() === false) {
    // Both entries of the history stay.
    isReturning = true;
    history.go(-step);
    return;
  }
  leave = null;
  document.querySelector('dialog[open]')?.close();
  place += step;
  history.replaceState({ place }, '');
  show();
});

onSession(() => { drawUser(); drawPlaces(); });
onAnswer(({ method, where, status: code, took }) => {
  replace(status, `${method} /${where.replace(/^\//, '').split('?')[0]} `, h('span', { class: code < 400 ? 'good' : 'bad' }, code), t.main.took(Math.round(took)));
});

// Whether the server is reached; if not, since when.

let lost = null;
function drawLive() {
  live.className = `row ${lost ? 'warn' : 'good'}`;
  patch(live, h('span', { class: 'dot' }), h('span', { class: lost ? 'warn' : 'muted' }, lost ? t.main.stale(Math.round((Date.now() - lost) / 1000)) : t.main.live));
}
onReach(isThere => {
  if (isThere === !lost) return;
  lost = isThere ? null : Date.now();
  drawLive();
});
setInterval(() => { if (lost) drawLive(); }, 1000);

setTheme(themeNow());
setDensity(densityNow());
drawLive();
const app = document.getElementById('app');
app.className = 'app';
replace(app,
  h('a', { class: 'skip', href: '#main', on: { click: event => { event.preventDefault(); outlet.focus(); } } }, t.main.toThePage),
  places,
  h('header', { class: 'top' }, back, crumbs,
    h('button', { type: 'button', id: 'palette', class: 'find', title: t.main.searchOrRun, 'aria-haspopup': 'dialog', on: { click: openPalette } }, icon('search'), h('span', {}, t.main.searchOrRun), h('kbd', {}, t.main.paletteKey)),
    theme, user),
  outlet, h('footer', { class: 'foot' }, live, status, same, version), bar);
await refresh().catch(() => {});
listen({ keys: () => shown, places: allPlaces, doings, logIn, same: () => sameAs });
show();
ask('', { quiet: true, isLogin: true }).then(answer => { version.textContent = answer.headers.get('server')?.match(/Settle\/[\w.-]+/)?.[0].replace('/', ' ') ?? ''; }, () => {});
