/** My own password. */
import { session, logInAs, loginDialog } from '../session.js';
import { h, field } from '../parts/dom.js';
import { dialog } from '../parts/panel.js';
import { readDocument } from '../documents/reading.js';
import { saveDocument } from '../documents/writing.js';
import { parse, stringify } from '../value/json.js';
import { t } from '../words.js';

const tell = (title, text) => dialog({ title, body: h('p', {}, text), actions: [{ label: t.keys.close, run: () => true }] });

/** Asks for a new password, and logs in with it, since the server ends all sessions of the user. */
export async function changePassword() {
  const { name } = session;
  if (session.isAdmin) { await tell(t.password.title, t.password.ofAdministrators); return; }
  const id = `org.couchdb.user:${name}`;
  // By default the server lets only administrators use `_users`.
  const { text } = await readDocument('_users', id).catch(() => ({ text: null }));
  if (text === null) { await tell(t.password.title, t.password.ofOthers); return; }
  const [first, second] = [1, 2].map(() => h('input', { type: 'password', autocomplete: 'new-password', required: true }));
  let isIn = true;
  const isDone = await dialog({
    title: t.password.title,
    body: h('div', { class: 'stack' }, field(t.password.newOne, first), field(t.password.again, second),
      h('p', { class: 'muted' }, t.password.otherSessionsEnd)),
    actions: [{ label: t.common.save, kind: 'primary', run: async () => {
      if (first.value !== second.value) throw new Error(t.password.areNotTheSame);
      await saveDocument('_users', id, stringify(parse(text).set('password', first.value)));
      // A user with codes has to type one.
      await logInAs(name, first.value).catch(() => { isIn = false; });
      return true;
    } }],
  });
  if (!isDone) return;
  await tell(t.password.isChanged, isIn ? t.password.stillLoggedIn : t.password.logInAgain);
  if (!isIn) await loginDialog();
}
