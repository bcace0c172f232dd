/** The administrators of the server, who are changed here where its configuration lets them. */
import { ask, path } from '../api.js';
import { session, logInAs } from '../session.js';
import { h, bdi, button, field, icon, tableHead } from '../parts/dom.js';
import { panel, dialog, confirmByTyping } from '../parts/panel.js';
import { t } from '../words.js';

/** The part of a page about administrators, what reads it, and what reads their names alone. */
export function administrators(signal) {
  /** The names, if they can be changed; empty if the user is not an administrator of the server. */
  async function read() {
    try {
      return Object.keys((await ask('_node/_local/_config/admins', { signal, quiet: true, isLogin: !session.isAdmin })).json);
    } catch (error) {
      if (error.status === 401 || error.status === 403) return [];
      throw error;
    }
  }

  const list = panel(read, show, { isKept: true });

  function show(names) {
    const title = h('h2', {}, t.users.administrators);
    if (names.length === 0) return [title, h('p', { class: 'muted' }, t.users.areSetWhere)];
    const rows = names.map(name => h('tr', { 'data-key': name }, h('th', { scope: 'row' }, bdi(name)), h('td', { class: 'act' },
      button(t.users.change, () => edit(name), { class: 'button small', 'aria-label': t.users.changeOfName(name) }), ' ',
      button(t.common.removeButton, () => remove(name), { class: 'button small', 'aria-label': t.common.removeNamed(name) }))));
    return [title, h('div', { class: 'scroll' }, h('table', { class: 'cards' }, tableHead([t.common.name, '']), h('tbody', {}, rows))),
      h('p', { class: 'toolbar' }, button([icon('plus'), t.users.newAdministrator], () => edit())), h('p', { class: 'muted' }, t.users.someAreSetElsewhere)];
  }

  const placeOf = name => path`_node/_local/_config/admins/${name}`;

  async function edit(known) {
    const name = h('input', { required: true, value: known ?? '', readOnly: known !== undefined, autocapitalize: 'off', spellcheck: 'false' });
    const password = h('input', { type: 'password', autocomplete: 'new-password', required: true });
    const isDone = await dialog({
      title: known === undefined ? t.users.newAdministrator : t.users.changeHeading(known),
      body: h('div', { class: 'stack' }, field(t.common.name, name), field(t.common.password, password), h('p', { class: 'muted' }, t.users.mayDoEverything)),
      actions: [{ label: t.common.save, kind: 'primary', run: async () => {
        if (known === undefined && (await read()).includes(name.value)) throw new Error(t.users.isThere(name.value));
        await ask(placeOf(name.value), { method: 'PUT', json: password.value });
        // The own session has ended with the old password.
        if (name.value === session.name) await logInAs(name.value, password.value).catch(() => {});
        return true;
      } }],
    });
    if (isDone) list.reload();
  }

  async function remove(name) {
    const gone = await confirmByTyping({
      title: t.common.removeOfName(name), text: t.users.theAdministratorLoses, word: name, action: t.common.remove,
      run: () => ask(placeOf(name), { method: 'DELETE', whole: true }),
    });
    if (gone) list.reload();
  }

  return { ...list, names: read };
}
