/** The people who may log in. */
import { ask } from '../api.js';
import { h, bdi, tableHead, button, field } from '../parts/dom.js';
import { panel } from '../parts/panel.js';
import { dialog, confirmByTyping } from '../parts/dialog.js';
import { deleteDocument, saveDocument } from '../documents/writing.js';

const PREFIX = 'org.couchdb.user:';

export default function page({ signal, setTitle, setSame }) {
  setTitle('Users');
  setSame({ url: '_users/_all_docs?include_docs=true' });
  const list = panel(async () => (await ask('_users/_all_docs', {
    query: { include_docs: true, startkey: JSON.stringify(PREFIX), endkey: JSON.stringify(`${PREFIX}\ufff0`), limit: 500 }, signal,
  })).json.rows.map(row => row.doc), show, { label: 'Reading the users' });

  function show(users) {
    if (users.length === 0) return h('p', { class: 'muted' }, 'There is no user yet; administrators are set by settle serve --admin.');
    return h('table', { class: 'cards' }, tableHead(['Name', 'Roles', '']),
      h('tbody', {}, users.map(user => h('tr', {}, h('th', { scope: 'row' }, bdi(user.name)), h('td', { 'data-label': 'roles' }, bdi((user.roles ?? []).join(', '))),
        h('td', {}, button('Change…', () => edit(user), { class: 'button small', 'aria-label': `Change ${user.name}…` }), ' ',
          button('Remove…', () => remove(user), { class: 'button small', 'aria-label': `Remove ${user.name}…` }))))));
  }

  async function edit(user) {
    const name = h('input', { required: true, value: user?.name ?? '', readOnly: Boolean(user) });
    const roles = h('input', { value: (user?.roles ?? []).join(', ') });
    const password = h('input', { type: 'password', autocomplete: 'new-password', required: !user });
    const done = await dialog({
      title: user ? `Change ${user.name}` : 'A new user',
      body: h('div', { class: 'stack' }, field('Name', name), field('Roles', roles, 'separated by commas'), field('Password', password, user ? 'empty: the old one stays' : '')),
      actions: [{ label: 'Save', kind: 'primary', run: async () => {
        const id = PREFIX + name.value;
        const doc = { ...user, name: name.value, type: 'user', roles: roles.value.split(',').map(role => role.trim()).filter(Boolean) };
        if (password.value) doc.password = password.value;
        await saveDocument('_users', id, JSON.stringify(doc));
        return true;
      } }],
    });
    if (done) list.reload();
  }

  async function remove(user) {
    const gone = await confirmByTyping({
      title: `Remove ${user.name}`, text: 'The user can’t log in any more; running sessions end.', word: user.name, action: 'Remove',
      run: () => deleteDocument('_users', user._id, user._rev),
    });
    if (gone) list.reload();
  }

  list.reload();
  return { element: h('div', {}, h('h1', {}, 'Users'), h('div', { class: 'toolbar' }, button('+ New', () => edit())), list.element) };
}
