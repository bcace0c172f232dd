/** Who may use a database: a form, or the security object itself. */
import { ask, path } from '../api.js';
import { setQuery } from '../router.js';
import { h, bdi, button, field, head, pre, replace } from '../parts/dom.js';
import { toast } from '../parts/toast.js';
import { panel, dialog, errorBox, unsaved } from '../parts/panel.js';
import { codeArea } from '../parts/code-area.js';
import { GROUPS, LISTS, differences, listsOf, sentence, withLists } from '../documents/permissions.js';
import { parse, stringify } from '../value/json.js';
import { format } from '../value/json-text.js';
import { t } from '../words.js';

const KNOWN = 1000; // users whose names and roles are offered
const CALM = 200; // milliseconds without a change before a user is judged
const LABELS = { members: t.rights.members, admins: t.rights.administrators, names: t.rights.names, roles: t.rights.roles };
/** Why the server says that a user has a right. */
const REASONS = {
  name: () => t.rights.byName, role: t.rights.byRole, open: () => t.rights.openToAll, server_admin: () => t.rights.anAdministrator, admin: () => t.rights.ofTheDatabase,
};
const HINTS = { members: t.rights.readAndWrite, admins: t.rights.alsoDesign };

export default function page({ db, query, signal, setTitle, setSame }) {
  setTitle(t.rights.rightsTitle(db));
  setSame({ url: path`${db}/_security`, settle: ['security', [{ db }]] });
  const [problems, told, chips, check, changes] = [h('div'), h('div', { role: 'status' }), {}, h('div', { role: 'status' }), h('ul')];
  const area = codeArea({ text: '{}', label: t.rights.theSecurityObject });
  const offered = Object.fromEntries(LISTS.map(list => [list, h('datalist', { id: `known-${list}` })]));
  let [value, lists, stored] = [new Map(), listsOf(new Map()), '{}'];
  let read = ''; // the object as the server last told it
  let isForm = query.as !== 'json';
  let [turn, timer] = [0, 0]; // of judging a user

  const typed = {};
  const groups = GROUPS.map(group => h('section', { class: 'card stack' }, h('h2', {}, LABELS[group]),
    h('p', { class: 'muted' }, HINTS[group]), LISTS.map(list => {
    const name = `${group} ${list}`;
    chips[name] = h('span', { class: 'toolbar' });
    typed[name] = h('input', { list: offered[list].id, autocapitalize: 'off', spellcheck: 'false' });
    const add = event => { event.preventDefault(); take(group, list); draw(); };
    return h('form', { class: 'toolbar', on: { submit: add } }, field(`${LABELS[group]}: ${LABELS[list]}`, typed[name]),
      h('button', { class: 'button' }, t.rights.add), chips[name]);
  })));
  const asked = h('input', { list: offered.names.id, autocapitalize: 'off', spellcheck: 'false', on: { input: () => drawCheck() } });
  const form = h('div', { class: 'two' }, h('div', {}, groups, Object.values(offered)), h('aside', {},
    h('section', { class: 'card stack' }, h('h2', {}, t.rights.checkAUser), field(t.common.name, asked), check),
    h('section', { class: 'card' }, h('h2', {}, t.rights.notSavedYet), changes)));
  const modes = [[true, t.rights.asForm], [false, t.rights.asJson]].map(([mode, label]) => button(label, () => show(mode)));
  const ofServer = async () => format((await ask(path`${db}/_security`, { signal })).text.trim());
  // The object must be there before it can be replaced.
  const acts = [button(t.rights.discard, () => load(stored), { disabled: true }), button(t.common.save, save, { class: 'button primary', disabled: true })];
  const main = panel(ofServer, found => {
    read = found;
    load(found);
    for (const one of acts) one.disabled = false;
    return [h('div', { class: 'seg' }, modes), told, form, area.element];
  }, { label: t.rights.readingTheRights });

  /** Takes what was typed into a list. */
  function take(group, list) {
    const input = typed[`${group} ${list}`];
    const item = input.value.trim();
    if (item && !lists[group][list].includes(item)) lists[group][list].push(item);
    input.value = '';
  }

  const takeAll = () => GROUPS.forEach(group => LISTS.forEach(list => take(group, list)));
  const pending = () => Object.values(typed).some(input => input.value.trim());
  /** The object as it would be saved. */
  const text = () => isForm ? format(stringify(withLists(value, lists))) : area.text;

  function load(from) {
    value = parse(from);
    stored = area.text = format(from.trim());
    try { lists = listsOf(value); } catch { isForm = false; }
    if (isForm) stored = text();
    show(isForm);
  }

  /** Shows the form or the text, with what was changed in the other one. */
  function show(mode) {
    replace(problems);
    if (mode !== isForm) {
      if (mode) {
        try { value = parse(area.text); lists = listsOf(value); } catch (error) {
          if (error.line) area.showError(error); else replace(problems, errorBox(error));
          return;
        }
      } else {
        takeAll();
        area.text = text();
      }
      isForm = mode;
      setQuery({ as: isForm ? undefined : 'json' });
    }
    modes.forEach((one, index) => one.setAttribute('aria-pressed', String((index === 0) === isForm)));
    form.hidden = !isForm;
    area.element.hidden = isForm;
    draw();
  }

  function draw() {
    const { isOpen, text: words } = sentence(lists);
    replace(told, isForm && h('p', { class: isOpen ? 'warn' : null }, words));
    for (const group of GROUPS) {
      for (const list of LISTS) {
        replace(chips[`${group} ${list}`], lists[group][list].map(item => button([bdi(item), ' ×'], () => {
          lists[group][list] = lists[group][list].filter(one => one !== item);
          draw();
          typed[`${group} ${list}`].focus();
        }, { class: 'button small', 'aria-label': t.rights.take(item, LABELS[group]) })));
      }
    }
    const found = differences(listsOf(parse(stored)), lists);
    replace(changes, found.length === 0 && h('li', { class: 'muted' }, t.rights.nothing), found.map(({ group, list, item, isNew }) =>
      h('li', { class: isNew ? 'diff-new' : 'diff-gone' }, (isNew ? t.rights.added : t.rights.removed)(LABELS[list], item, LABELS[group]))));
    drawCheck();
  }

  /** Lets the server judge a user by the object as it would be saved, when nothing has changed for a moment. */
  function drawCheck() {
    turn += 1;
    clearTimeout(timer);
    if (asked.value.trim() && isForm) timer = setTimeout(judge, CALM); else replace(check);
  }

  async function judge() {
    const mine = turn;
    const question = `{"user":${JSON.stringify(asked.value.trim())},"security":${text()}}`;
    try {
      const { json } = await ask(path`${db}/_access`, { method: 'POST', text: question, signal, quiet: true, isLogin: true });
      if (mine === turn) replace(check, verdict(json));
    } catch (error) { if (mine === turn && error.name !== 'AbortError') replace(check, errorBox(error)); }
  }

  function verdict({ known, roles, member, admin, reasons }) {
    const why = right => reasons.filter(one => one.right === right).map(one => REASONS[one.by](one.value)).join(', ');
    const line = (label, may, right) => h('li', { class: may ? 'good' : 'bad' }, may ? '✓ ' : '✕ ', label, may && `: ${why(right)}`);
    return [h('ul', { class: 'plain' }, line(t.rights.readAndWrite, member, 'member'), line(t.rights.changeDesign, admin, 'admin')),
      h('p', { class: 'muted' }, known ? t.rights.rolesOf(roles.join(', ')) : t.rights.isUnknown)];
  }

  let last = Promise.resolve(); // saves follow each other, since the object has no revision
  let [isStoring, handled] = [false, null];

  /** Saves once for two presses between which nothing was changed. */
  function save() {
    const isSecond = isStoring;
    last = last.then(async () => {
      if (isSecond && text() === handled && !pending()) return;
      isStoring = true;
      await store();
      [isStoring, handled] = [false, text()];
    });
  }

  async function store() {
    replace(problems);
    if (isForm) { takeAll(); draw(); }
    const sent = text();
    try { listsOf(parse(sent)); } catch (error) {
      if (error.line) area.showError(error); else replace(problems, errorBox(error));
      return;
    }
    try {
      // The object has no revision that would tell of a change by somebody else.
      const now = await ofServer();
      if (now !== read && !await dialog({
        title: t.rights.changedMeanwhile, body: pre(now, t.rights.theSecurityObject), actions: [{ label: t.rights.overwrite, kind: 'danger', run: () => true }],
      })) return;
      await ask(path`${db}/_security`, { method: 'PUT', text: sent });
      read = await ofServer();
      // What was typed meanwhile stays, and is not saved yet.
      if (text() === sent && !pending()) load(sent); else { stored = sent; draw(); }
      toast(t.rights.areSaved);
    } catch (error) { replace(problems, errorBox(error)); }
  }

  main.reload();
  // Only administrators of the server may read users; others type names.
  const some = { include_docs: true, limit: KNOWN, startkey: '"org.couchdb.user:"' };
  ask('_users/_all_docs', { query: some, signal, quiet: true, isLogin: true }).then(({ json }) => {
    const users = json.rows.map(row => row.doc).filter(doc => doc?.name);
    const known = { names: users.map(doc => doc.name), roles: [...new Set(users.flatMap(doc => doc.roles ?? []))].sort() };
    for (const list of LISTS) replace(offered[list], known[list].map(one => h('option', { value: one })));
  }, () => {});
  const title = head(t.common.permissions, acts);
  return { element: h('div', {}, title, problems, main.element), leave: unsaved(() => text() !== stored || pending(), signal) };
}
