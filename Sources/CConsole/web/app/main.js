/** The shell: top bar, path, tabs, and the page that the address names. */
import { address, isExact, root, onAnswer } from './api.js';
import { link, read } from './router.js';
import { session, onSession, refresh, logOut, loginDialog } from './session.js';
import { h, bdi, button, replace } from './parts/dom.js';
import { errorBox } from './parts/panel.js';
import { dialog } from './parts/dialog.js';

const TABS = [['docs', 'Documents'], ['conflicts', 'Conflicts'], ['changes', 'Changes'], ['query', 'Query'], ['design', 'Design'], ['rights', 'Rights'], ['journal', 'Journal']];
const PLACES = [['#/', 'Databases'], ['#/replications', 'Replications'], ['#/users', 'Users'], ['#/activity', 'Activity'], ['#/server', 'Server']];

const outlet = h('main', { id: 'main', tabindex: '-1' });
const path = h('nav', { class: 'path', 'aria-label': 'Path' });
const status = h('p', { class: 'status', role: 'status' });
const user = h('span', { class: 'user' });
const theme = h('select', { 'aria-label': 'Colours', on: { change: () => setTheme(theme.value) } },
  ['system', 'light', 'dark'].map(name => h('option', { value: name }, name)));
const same = h('details', { class: 'same' });
let leave = null;

function setTheme(name) {
  localStorage.setItem('theme', name);
  theme.value = name;
  if (name === 'system') delete document.documentElement.dataset.theme; else document.documentElement.dataset.theme = name;
}

// Single keys. They can be switched off, and never count while somebody types.

let shown = [];
const areOn = () => localStorage.getItem('keys') !== 'off';

/** Sets the keys of a page: `key`, `text`, `run`. With `ctrl` they count in fields, too. */
function setKeys(keys) { shown = keys; }

document.addEventListener('keydown', event => {
  if (document.querySelector('dialog[open]')) return;
  const isTyping = event.target.closest?.('input, textarea, select, [contenteditable]');
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
    title: 'Keys',
    body: h('div', { class: 'stack' },
      h('dl', { class: 'keys' }, [...shown, { key: '?', text: 'show the keys' }].map(key => [
        h('dt', {}, h('kbd', {}, `${key.ctrl ? 'Ctrl ' : ''}${key.key}`)), h('dd', {}, key.text)])),
      h('label', {}, box, ' Single keys are on')),
    actions: [{ label: 'Close', run: () => true }],
  });
}

/** Shows what does the same as the page: an address, and commands. */
function setSame({ url, curl, settle }) {
  // The path of a document “.” would be that of its database.
  const href = isExact(url) ? address(url).href : null;
  replace(same, h('summary', {}, 'The same elsewhere'),
    h('pre', {}, [href, href && (curl ?? `curl -u NAME '${href}'`), settle].filter(Boolean).join('\n')));
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
  const control = new AbortController();
  let inner = null;
  leave = () => {
    if (inner?.() === false) return false;
    control.abort();
    return true;
  };
  setKeys([]);
  replace(same);
  drawPath(where);
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
    replace(outlet, h('h1', {}, 'This page can’t be shown'), errorBox(error, show));
  }
  outlet.dataset.shown = location.hash;
  if (document.activeElement === document.body) outlet.focus({ preventScroll: true });
}

let last = location.hash;
window.addEventListener('hashchange', () => {
  if (leave && leave() === false) { history.replaceState(null, '', last || '#/'); return; }
  leave = null;
  last = location.hash;
  show();
});

onSession(() => replace(user, session.name
  ? [bdi(session.name), ' ', button('Log out', logOut, { class: 'button small' })]
  : button('Log in', async () => { if (await loginDialog()) show(); }, { class: 'button small' })));
onAnswer(({ method, where, status: code }) => { status.textContent = `${method} /${where.replace(/^\//, '').split('?')[0]} → ${code}`; });
setTheme(localStorage.getItem('theme') ?? 'system');
replace(document.getElementById('app'),
  h('a', { class: 'skip', href: '#main', on: { click: event => { event.preventDefault(); outlet.focus(); } } }, 'To the page'),
  h('header', { class: 'top' },
    h('a', { class: 'brand', href: '#/' }, 'Settle'),
    h('nav', { 'aria-label': 'Server' }, h('ul', { class: 'places' }, PLACES.map(([href, label]) => h('li', {}, h('a', { href }, label))))),
    user, theme, button('?', help, { class: 'button small', 'aria-label': 'Keys' })),
  path, outlet, h('footer', { class: 'bottom' }, status, same));
await refresh().catch(() => {});
show();
