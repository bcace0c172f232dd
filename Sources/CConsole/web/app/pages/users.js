/** The people who may log in. */
import { ask } from '../api.js';
import { beginningWith } from '../names.js';
import { setQuery } from '../router.js';
import { h, bdi, tableHead, button, field, head, icon, prefixInput, searchBox } from '../parts/dom.js';
import { panel, dialog, confirmByTyping, stateBox } from '../parts/panel.js';
import { deleteDocument, saveDocument } from '../documents/writing.js';
import { administrators } from '../users/administrators.js';
import { parse, stringify } from '../value/json.js';
import { t } from '../words.js';

const PREFIX = 'org.couchdb.user:';
const PAGE = 100;

const rolesOf = user => (user?.get('roles') ?? []).join(', ');

export default function page({ query, signal, setTitle, setSame, setKeys }) {
  setTitle(t.common.users);
  setSame({ url: '_users/_all_docs', query: { include_docs: true }, settle: ['users', ['list', {}]] });
  let [prefix, limit, isFirst] = [query.prefix ?? '', PAGE, true];
  const server = administrators(signal);
  const search = prefixInput(t.common.namesThatBegin, prefix, filter);
  const list = panel(load, show, { label: t.users.readingTheUsers, isKept: true });

  function filter(begin) {
    [prefix, limit] = [begin, PAGE];
    setQuery({ prefix });
    list.reload();
  }

  async function load() {
    const bounds = beginningWith(PREFIX + prefix);
    const rows = parse((await ask('_users/_all_docs', { query: { include_docs: true, ...bounds, limit: limit + 1 }, signal })).text).get('rows');
    if (isFirst) server.reload();
    isFirst = false;
    return { users: rows.slice(0, limit).map(row => row.get('doc')), hasMore: rows.length > limit };
  }

  function show({ users, hasMore }) {
    if (users.length === 0) return stateBox({ title: prefix ? t.users.noNameBeginsSo(prefix) : t.users.thereIsNoUserYet });
    return [h('p', { class: 'muted' }, hasMore ? t.users.theFirst(users.length) : t.users.usersCount(users.length)), h('div', { class: 'scroll' }, h('table', { class: 'cards' }, tableHead([t.common.name, t.users.roles, '']),
      h('tbody', {}, users.map(user => h('tr', { 'data-key': user.get('_id') }, h('th', { scope: 'row' }, bdi(user.get('name'))), h('td', { 'data-label': t.users.rolesLabel }, bdi(rolesOf(user))),
        h('td', { class: 'act' }, button(t.users.change, () => edit(user), { class: 'button small', 'aria-label': t.users.changeOfName(user.get('name')) }), ' ',
          button(t.common.removeButton, () => remove(user), { class: 'button small', 'aria-label': t.common.removeNamed(user.get('name')) }))))))),
    hasMore && button(t.common.more, () => { limit += PAGE; list.reload(); })];
  }

  async function edit(user) {
    const name = h('input', { required: true, value: user?.get('name') ?? '', readOnly: Boolean(user) });
    const roles = h('input', { value: rolesOf(user) });
    const shown = roles.value;
    const password = h('input', { type: 'password', autocomplete: 'new-password', required: !user });
    const done = await dialog({
      title: user ? t.users.changeHeading(user.get('name')) : t.users.aNewUser,
      body: h('div', { class: 'stack' }, field(t.common.name, name), field(t.users.roles, roles, t.users.separatedByCommas), field(t.common.password, password, user ? t.users.emptyTheOldOneStays : '')),
      actions: [{ label: t.common.save, kind: 'primary', run: async () => {
        // A user with the name of an administrator could never log in.
        if (!user && (await server.names().catch(() => [])).includes(name.value)) throw new Error(t.users.isAnAdministrator(name.value));
        const doc = new Map(user ?? [['name', name.value], ['type', 'user']]);
        // A role may have a comma, so only roles that were typed are split.
        if (!doc.get('roles') || roles.value !== shown) doc.set('roles', roles.value.split(',').map(role => role.trim()).filter(Boolean));
        if (password.value) doc.set('password', password.value);
        await saveDocument('_users', user?.get('_id') ?? PREFIX + name.value, stringify(doc));
        return true;
      } }],
    });
    if (done) list.reload();
  }

  async function remove(user) {
    const gone = await confirmByTyping({
      title: t.common.removeOfName(user.get('name')), text: t.users.theUserCantLog, word: user.get('name'), action: t.common.remove,
      run: () => deleteDocument('_users', user.get('_id'), user.get('_rev')),
    });
    if (gone) list.reload();
  }

  setKeys([{ key: '/', text: t.common.search, run: () => search.focus() }, { key: 'r', text: t.common.readAgain, run: list.reload }]);
  list.reload();
  const add = button([icon('plus'), t.users.new], () => edit(), { class: 'button primary' });
  return { element: h('div', {}, head(t.common.users, add), h('div', { class: 'toolbar' }, searchBox(search)), list.element, server.element) };
}
