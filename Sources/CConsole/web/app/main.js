/** The shell: top bar, path, tabs, and the page that the address names. */
import { beginPage, root, onAnswer } from './api.js';
import { link, linkOf, read } from './router.js';
import { session, onSession, refresh, logOut, loginDialog } from './session.js';
import { h, bdi, button, replace } from './parts/dom.js';
import { errorBox, dialog } from './parts/panel.js';
import { t } from './words.js';

const TABS = [['docs', t.common.documents], ['conflicts', t.common.conflicts], ['changes', t.common.changes], ['query', t.common.query], ['design', t.main.design], ['rights', t.common.rights], ['journal', t.common.journal]];
const PLACES = [['#/', t.common.databases], ['#/replications', t.common.replications], ['#/users', t.common.users], ['#/activity', t.common.activity], ['#/server', t.common.server]];

const outlet = h('main', { id: 'main', tabindex: '-1' });
const path = h('nav', { class: 'path', 'aria-label': t.main.path });
const status = h('p', { class: 'status', role: 'status' });
const user = h('span', { class: 'user' });
const theme = h('select', { 'aria-label': t.main.colours, on: { change: () => setTheme(theme.value) } },
  Object.entries(t.themes).map(([name, text]) => h('option', { value: name }, text)));
const lines = h('pre');
const same = h('details', { class: 'same', hidden: true, on: { toggle: () => { if (same.open) writeSame(); } } }, h('summary', {}, t.main.theSameElsewhere), lines);
let leave = null;

function setTheme(name) {
  localStorage.setItem('theme', name);
  theme.value = name;
  if (name === 'system') delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name;
}

// Single keys. They can be switched off, and never count while somebody types: on a radio button or a check box nobody does.

const TYPED = 'input:not([type=radio],[type=checkbox]),textarea,select,[contenteditable]';
const PRESSED = 'input,button,summary'; // a space presses them
let shown = [];
const areOn = () => localStorage.getItem('keys') !== 'off';

/** Sets the keys of a page: `key`, `text`, `run`. With `ctrl` they count in fields, too. */
function setKeys(keys) { shown = keys; }

document.addEventListener('keydown', event => {
  if (document.querySelector('dialog[open]')) return;
  const isTyping = event.target.closest?.(TYPED) || event.key === ' ' && event.target.closest?.(PRESSED);
  const ctrl = event.ctrlKey || event.metaKey;
  const found = shown.find(key => key.key === event.key && Boolean(key.ctrl) === ctrl);
  if (event.altKey || !found && event.key !== '?') return;
  if (!ctrl && (isTyping || !areOn())) return;
  event.preventDefault();
  if (found) found.run(); else help();
});

/** Shows the keys of the page. */
function help() {
  const box = h('input', { type: 'checkbox', checked: areOn(), on: { change: () => localStorage.setItem('keys', box.checked ? 'on' : 'off') } });
  dialog({
    title: t.main.keys,
    body: h('div', { class: 'stack' },
      h('dl', { class: 'keys' }, [...shown, { key: '?', text: t.main.showTheKeys }].map(key => [
        h('dt', {}, h('kbd', {}, `${key.ctrl ? t.main.ctrl : ''}${key.key}`)), h('dd', {}, key.text)])),
      h('label', {}, box, t.main.singleKeys)),
    actions: [{ label: t.main.close, run: () => true }],
  });
}

let sameAs = null;

/** Says what does the same as the page: `commands` of parts/command.js, which are written when somebody looks. */
function setSame(doing) {
  sameAs = doing;
  same.hidden = false;
  if (same.open) writeSame();
}

async function writeSame() {
  const { commands } = await import('./parts/command.js');
  replace(lines, commands(sameAs).join('\n'));
}

function drawPath(where) {
  const parts = [h('a', { href: '#/' }, root.host)];
  if (where.db !== undefined) parts.push(h('a', { href: link([where.db, 'docs']) }, bdi(where.db)));
  if (where.id !== undefined) parts.push(bdi(where.id));
  replace(path, parts.map((part, index) => [index > 0 && h('span', { 'aria-hidden': 'true' }, ' ▸ '), part]),
    where.db !== undefined && h('ul', { class: 'tabs' }, TABS.map(([page, label]) => h('li', {},
      h('a', { href: link([where.db, page]), 'aria-current': page === where.page ? 'page' : null }, label)))));
}

async function show() {
  if (leave && leave() === false) return;
  const where = read(location.hash);
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
  same.hidden = true;
  replace(lines);
  status.textContent = '';
  drawPath(where);
  // What was there belongs to another path.
  replace(outlet);
  outlet.setAttribute('aria-busy', 'true');
  const loading = setTimeout(() => replace(outlet, h('p', { class: 'muted' }, t.panel.loading)), 150);
  const context = {
    ...where, signal: control.signal, setSame, setKeys,
    setTitle: text => { document.title = `${text} · Settle`; },
  };
  try {
    const module = await import(`./pages/${where.page}.js`);
    if (control.signal.aborted) return;
    const page = await module.default(context);
    if (control.signal.aborted) return;
    inner = page.leave;
    replace(outlet, page.element);
  } catch (error) {
    if (control.signal.aborted) return;
    replace(outlet, h('h1', {}, t.main.thisPageCantBeShown), errorBox(error, show));
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
  if (leave && leave() === false) {
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

onSession(() => replace(user, session.name
  ? [bdi(session.name), ' ', button(t.main.logOut, logOut, { class: 'button small' })]
  : button(t.common.logIn, async () => { if (await loginDialog()) show(); }, { class: 'button small' })));
onAnswer(({ method, where, status: code }) => { status.textContent = `${method} /${where.replace(/^\//, '').split('?')[0]} → ${code}`; });
setTheme(localStorage.getItem('theme') ?? 'system');
replace(document.getElementById('app'),
  h('a', { class: 'skip', href: '#main', on: { click: event => { event.preventDefault(); outlet.focus(); } } }, t.main.toThePage),
  h('header', { class: 'top' },
    h('a', { class: 'brand', href: '#/' }, 'Settle'),
    h('nav', { 'aria-label': t.common.server }, h('ul', { class: 'places' }, PLACES.map(([href, label]) => h('li', {}, h('a', { href }, label))))),
    user, theme, button('?', help, { class: 'button small', 'aria-label': t.main.keys })),
  path, outlet, h('footer', { class: 'bottom' }, status, same));
await refresh().catch(() => {});
show();
