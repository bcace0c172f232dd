/** My own password. */
import { ask, path } from '../api.js';
import { session, logInAs, loginDialog } from '../session.js';
import { h, field } from '../parts/dom.js';
import { dialog } from '../parts/panel.js';
import { readDocument } from '../documents/reading.js';
import { saveDocument } from '../documents/writing.js';
import { parse, stringify } from '../value/json.js';
import { t } from '../words.js';

const tell = (title, text) => dialog({ title, body: h('p', {}, text), actions: [{ label: t.keys.close, run: () => true }] });

/** What saves the password of a user; `null` where the server lets only administrators use `_users`, as by default. */
async function savingUser(name) {
  const id = `org.couchdb.user:${name}`;
  const { text } = await readDocument('_users', id).catch(() => ({ text: null }));
  return text && (password => saveDocument('_users', id, stringify(parse(text).set('password', password))));
}

/** What saves the password of an administrator; `null` where the server does not take it. */
async function savingAdministrator(name) {
  const where = path`_node/_local/_config/admins/${name}`;
  return ask(where, { quiet: true, isLogin: true }).then(() => password => ask(where, { method: 'PUT', json: password }), () => null);
}

/** Asks for a new password, and logs in with it, since the server ends all sessions of the user. */
export async function changePassword() {
  const { name } = session;
  const save = await (session.isAdmin ? savingAdministrator(name) : savingUser(name));
  if (!save) { await tell(t.password.title, session.isAdmin ? t.password.ofAdministrators : t.password.ofOthers); return; }
  const [first, second] = [1, 2].map(() => h('input', { type: 'password', autocomplete: 'new-password', required: true }));
  let isIn = true;
  const isDone = await dialog({
    title: t.password.title,
    body: h('div', { class: 'stack' }, field(t.password.newOne, first), field(t.password.again, second),
      h('p', { class: 'muted' }, t.password.otherSessionsEnd)),
    actions: [{ label: t.common.save, kind: 'primary', run: async () => {
      if (first.value !== second.value) throw new Error(t.password.areNotTheSame);
      await save(first.value);
      // A user with codes has to type one.
      await logInAs(name, first.value).catch(() => { isIn = false; });
      return true;
    } }],
  });
  if (!isDone) return;
  await tell(t.password.isChanged, isIn ? t.password.stillLoggedIn : t.password.logInAgain);
  if (!isIn) await loginDialog();
}
