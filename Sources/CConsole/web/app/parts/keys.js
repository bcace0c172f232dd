/** Keys: those of the page, `G` and a letter for places, `?` for their list, Ctrl K or ⌘K for the palette. */
import { loadFrame } from '../areas.js';
import { read } from '../router.js';
import { h } from './dom.js';
import { dialog, tellFailed } from './panel.js';
import { offered } from './toast.js';
import { t } from '../words.js';

/** The letters after `G`, by the names of pages. */
const LETTERS = {
  databases: 'b', replications: 'r', users: 'u', activity: 'a', log: 'l', server: 'e', play: 'y',
  docs: 'd', conflicts: 'c', changes: 'h', query: 'q', views: 'v', design: 's', rights: 'p', journal: 'j',
};
const WAIT = 2000; // milliseconds for the letter after `G`

// Single keys never count while somebody types: on a radio button or a check box nobody does.
const TYPED = 'input:not([type=radio],[type=checkbox]),textarea,select,[contenteditable]';
const PRESSED = 'input,button,summary'; // a space presses them

let frame = null;
let isGoing = false;
let isOpening = false; // the palette; letters that are typed meanwhile are no keys of the page
let timer = 0;

const areOn = () => localStorage.getItem('keys') !== 'off';
const isOn = key => areOn() && !off().includes(key);

/** The single keys that are switched off. */
function off() {
  try { return JSON.parse(localStorage.getItem('keys-off')) ?? []; } catch { return []; }
}

function setOn(key, value) { localStorage.setItem('keys-off', JSON.stringify([...off().filter(one => one !== key), ...(value ? [] : [key])])); }

/** The letter after `G` that leads to an address, if it has one. */
export function letterOf(href) {
  return LETTERS[read(href).page];
}

/** The signs on the keys of a key of a page. */
export function signsOf({ key, ctrl }) { return [...(ctrl ? [t.keys.ctrl] : []), key === ' ' ? t.keys.space : key]; }

/** Listens for keys. The frame has the `keys` of the page, its `places` with addresses, and what the palette needs. */
export function listen(given) {
  frame = given;
  document.addEventListener('keydown', press);
}

function press(event) {
  if (document.querySelector('dialog[open]') || event.altKey) return;
  const ctrl = event.ctrlKey || event.metaKey;
  if (isOpening && !event.target.closest?.(TYPED)) {
    if (event.key.length === 1) event.preventDefault();
    return;
  }
  const run = ctrl ? withCtrl(event) : single(event);
  if (!run) return;
  event.preventDefault();
  run();
}

function withCtrl(event) {
  if (event.key.toLowerCase() === 'k') return openPalette;
  return frame.keys().find(key => key.ctrl && key.key === event.key)?.run;
}

function single(event) {
  if (event.target.closest?.(TYPED) || event.key === ' ' && event.target.closest?.(PRESSED)) return null;
  if (isGoing) {
    stopGoing();
    const place = frame.places().find(({ href }) => letterOf(href) === event.key);
    if (place) return () => { location.hash = place.href; };
  }
  if (!isOn(event.key)) return null;
  const found = frame.keys().find(key => !key.ctrl && key.key === event.key);
  if (found) return found.run;
  if (event.key === '?') return help;
  if (event.key === 'z') return offered();
  return event.key === 'g' ? beginGoing : null;
}

function beginGoing() {
  isGoing = true;
  timer = setTimeout(stopGoing, WAIT);
}

function stopGoing() {
  isGoing = false;
  clearTimeout(timer);
}

/** Opens the palette, which is loaded then. */
export async function openPalette() {
  if (isOpening) return;
  isOpening = true;
  try {
    const { openPalette: open } = await loadFrame();
    open(frame);
  } catch {
    // A browser does not say why it could not load a module.
    if (!document.querySelector('dialog[open]')) tellFailed(t.main.searchOrRun, new Error(t.api.theServerDoesNotAnswer));
  } finally { isOpening = false; }
}

/** Shows the keys; each single one can be switched off, and all of them. */
export function help() {
  const boxes = [];
  const row = (key, keys, text) => {
    const box = key && h('input', {
      type: 'checkbox', checked: isOn(key), disabled: !areOn(), 'aria-label': t.keys.isOn(key), on: { change: () => setOn(key, box.checked) },
    });
    if (box) boxes.push([key, box]);
    return [h('dt', {}, box, ' ', keys.map(one => [h('kbd', {}, one), ' '])), h('dd', {}, text)];
  };
  const list = (title, rows) => rows.length > 0 && [h('h3', {}, title), h('dl', { class: 'keys' }, rows)];
  const all = h('input', { type: 'checkbox', checked: areOn(), on: { change: () => {
    localStorage.setItem('keys', all.checked ? 'on' : 'off');
    for (const [key, box] of boxes) [box.disabled, box.checked] = [!all.checked, isOn(key)];
  } } });
  return dialog({
    title: t.keys.keys,
    body: h('div', { class: 'stack' }, h('label', {}, all, ' ', t.keys.singleKeys),
      list(t.keys.onThisPage, frame.keys().map(key => row(key.ctrl ? null : key.key, signsOf(key), key.text))),
      list(t.keys.everywhere, [
        row(null, [t.keys.ctrl, 'K'], t.keys.palette), row('?', ['?'], t.keys.showTheKeys),
        row('z', ['Z'], t.keys.takeBack), row(null, [t.keys.esc], t.keys.closes), row('g', ['G'], t.keys.andALetter),
      ]),
      list(t.keys.goTo, frame.places().filter(({ href }) => letterOf(href)).map(({ href, text }) => row(null, ['G', letterOf(href).toUpperCase()], text)))),
    actions: [{ label: t.keys.close, run: () => true }],
  });
}
