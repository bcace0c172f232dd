/** The databases of the demonstration as cards: a device with a form, and the server. */
import { link } from '../router.js';
import { h, bdi, button, field, replace } from '../parts/dom.js';
import { revTree } from '../parts/rev-tree.js';
import { short, t } from '../words.js';
import { DOCUMENT } from './databases.js';

const EMPTY = { name: '', count: 0, bought: false, note: '' };

/** What a database has of the document. */
function facts({ db, doc, told, tree }) {
  if (!doc) return h('p', { class: 'muted' }, t.play.nothingHere);
  return [
    h('p', {}, h('span', { class: 'rev', title: doc._rev }, short(doc._rev)), ' ',
      told?.get('conflict') && h('a', { class: 'warn', href: link([db, 'conflict', DOCUMENT]) }, t.play.inConflict(told.get('leaves').length))),
    tree && revTree(tree, doc._rev),
  ];
}

function card(title, db, ...content) {
  return h('section', { class: 'card stack', 'aria-label': title }, h('h2', {}, title), h('p', {}, h('a', { href: link([db, 'docs']) }, bdi(db))), content);
}

/** The card of a place without a form. */
export function serverCard(db) {
  const place = h('div');
  return {
    element: card(t.common.server, db, place),
    show(state) {
      const { doc } = state;
      replace(place, doc && h('p', {}, bdi(t.play.item(doc.name, doc.count, doc.bought, doc.note))), facts(state));
    },
  };
}

/**
 * The card of a device. What is typed and not saved stays when the document has come anew; it is saved on that.
 *
 * @param run does something while the page is busy
 */
export function deviceCard({ title, db, run, onSave, onSync }) {
  let stored = EMPTY;
  const inputs = {
    name: h('input', { autocomplete: 'off' }), count: h('input', { type: 'number', step: 1 }),
    bought: h('input', { type: 'checkbox' }), note: h('input', { autocomplete: 'off' }),
  };
  const online = h('input', { type: 'checkbox', role: 'switch', checked: true, on: { change: mark } });
  const [state, place] = [h('span'), h('div')];
  const save = h('button', { class: 'button' }, t.common.save);
  const sync = button(t.play.sync, () => run(onSync));
  const form = h('form', { class: 'stack', on: { submit: event => { event.preventDefault(); run(() => onSave(typed())); } } },
    field(t.common.name, inputs.name), field(t.play.count, inputs.count), h('label', {}, inputs.bought, ' ', t.play.bought), field(t.play.note, inputs.note),
    h('div', { class: 'toolbar' }, save, sync));
  const controls = h('fieldset', { class: 'stack' }, h('legend', { class: 'sr' }, title), h('label', {}, online, ' ', state), form);

  const valueOf = name => ({ count: Number(inputs.count.value), bought: inputs.bought.checked }[name] ?? inputs[name].value);
  const isTyped = name => valueOf(name) !== stored[name];
  function typed() { return Object.fromEntries(Object.keys(EMPTY).map(name => [name, valueOf(name)])); }

  function put(name, value) {
    if (name === 'bought') inputs.bought.checked = value === true; else inputs[name].value = value;
  }

  function mark() {
    state.textContent = online.checked ? t.play.online : t.play.offline;
    sync.disabled = !online.checked;
    sync.title = online.checked ? '' : t.play.offlineKeeps;
  }

  mark();
  return {
    element: card(title, db, controls, place),
    /** Shows what the database has. What was typed stays, unless it was `saved`. */
    show(now, saved = null) {
      const next = { ...EMPTY, ...now.doc };
      for (const name of Object.keys(EMPTY)) if (!isTyped(name) || valueOf(name) === saved?.[name]) put(name, next[name]);
      stored = Object.fromEntries(Object.keys(EMPTY).map(name => [name, next[name]]));
      replace(place, facts(now));
    },
    /** While the steps are shown one after the other, they do what the controls do. */
    lock(isLocked) { controls.disabled = isLocked; },
    focus() { inputs.name.focus({ preventScroll: true }); },
    switchOn(value) { online.checked = value; mark(); },
    get isOnline() { return online.checked; },
    isChanged: () => Object.keys(EMPTY).some(isTyped),
  };
}
