/** Who is logged in. */
import { ask, onUnauthorized } from './api.js';
import { h, field } from './parts/dom.js';
import { dialog } from './parts/panel.js';
import { t } from './words.js';

export const session = { name: null, roles: [], get isAdmin() { return this.roles.includes('_admin'); } };
const changed = new EventTarget();

/** Calls a function now and whenever somebody else is logged in, until a signal. */
export function onSession(listener, signal) {
  changed.addEventListener('session', listener, { signal });
  listener();
}

/** Asks the server who is logged in. */
export async function refresh() {
  const before = JSON.stringify(session);
  try {
    const { userCtx } = (await ask('_session', { quiet: true, isLogin: true })).json;
    Object.assign(session, { name: userCtx.name, roles: userCtx.roles });
  } catch (error) {
    if (error.status !== 401) throw error;
    Object.assign(session, { name: null, roles: [] });
  }
  if (JSON.stringify(session) !== before) changed.dispatchEvent(new Event('session'));
}

/** Ends the session, and forgets what the page has in memory. */
export async function logOut() {
  await ask('_session', { method: 'DELETE', whole: true, quiet: true, isLogin: true });
  location.hash = '#/';
  location.reload();
}

/** Begins a session, with a code if the user needs one. */
export async function logInAs(name, password, token) {
  await ask('_session', { method: 'POST', quiet: true, isLogin: true, json: { name, password, ...(token && { token }) } });
  await refresh();
}

/** The fields of a login. */
export function loginFields() {
  const name = h('input', { autocomplete: 'username', required: true, autocapitalize: 'off', spellcheck: 'false' });
  const password = h('input', { type: 'password', autocomplete: 'current-password', required: true });
  const code = h('input', { inputmode: 'numeric', autocomplete: 'one-time-code' });
  return {
    element: h('div', { class: 'stack' }, field(t.common.name, name), field(t.common.password, password),
      h('details', {}, h('summary', { class: 'small' }, t.session.ifYouHaveOne), field(t.session.code, code))),
    first: name,
    send: () => logInAs(name.value, password.value, code.value.trim()),
  };
}

let asking = null;
/** Asks for name and password over the page, once at a time; whether somebody logged in. */
export function loginDialog() {
  asking ??= (async () => {
    const fields = loginFields();
    return await dialog({
      title: t.common.logIn, body: fields.element,
      actions: [{ label: t.common.logIn, kind: 'primary', run: async () => { await fields.send(); return true; } }],
    }) === true;
  })().finally(() => { asking = null; });
  return asking;
}

onUnauthorized(async () => {
  await refresh();
  // Whoever is logged in still lacks the right, and a password would not help.
  return session.name ? false : loginDialog();
});
