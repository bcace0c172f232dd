/** One side of a replication as fields: a database of this server or an address, and who logs in there. */
import { address, path, root } from '../api.js';
import { session } from '../session.js';
import { h, field } from '../parts/dom.js';
import { t } from '../words.js';

/** What a document says of a side: its address without name and password, and these. */
function read(side) {
  if (side === undefined) return { members: new Map(), url: '', user: '', password: '' };
  const members = side instanceof Map ? side : new Map([['url', side]]);
  const basic = members.get('auth')?.get('basic');
  let [url, user, password] = [members.get('url') ?? '', basic?.get('username') ?? '', basic?.get('password') ?? ''];
  try {
    const parsed = new URL(url);
    if (parsed.username) {
      if (!basic) [user, password] = [decodeURIComponent(parsed.username), decodeURIComponent(parsed.password)];
      parsed.username = parsed.password = '';
      url = parsed.href;
    }
  } catch { /* It is shown as it is. */ }
  return { members, url, user, password };
}

/** The name of the database if an address is one of this server. */
export function nameHere(url) {
  if (!url?.startsWith(root.href)) return null;
  try { return decodeURIComponent(url.slice(root.href.length).replace(/[/]$/, '')); } catch { return null; }
}

const originOf = url => { try { return new URL(url).origin; } catch { return null; } };

/**
 * The fields of a side; `value()` is what the document has of it. A password is never shown. It stays with its name and server
 * unless another one is typed.
 *
 * @param names the id of a list of this server's databases
 */
export function sideFields(legend, side, names) {
  const stored = read(side);
  const here = side === undefined ? '' : nameHere(stored.url);
  const kind = h('select', { on: { change: draw } },
    h('option', { value: 'here' }, t.replicate.thisServer), h('option', { value: 'there' }, t.replicate.anAddress));
  const where = h('input', { required: true, autocapitalize: 'off', spellcheck: 'false', value: here ?? stored.url });
  const user = h('input', { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', value: stored.user });
  const password = h('input', { type: 'password', autocomplete: 'new-password' });
  const label = h('span');
  kind.value = here === null ? 'there' : 'here';
  draw();
  if (side === undefined) user.value = session.name ?? '';

  function draw() {
    const isHere = kind.value === 'here';
    label.textContent = isHere ? t.replicate.database : t.replicate.address;
    where.placeholder = isHere ? '' : t.replicate.addressHint;
    if (isHere) where.setAttribute('list', names); else where.removeAttribute('list');
    if (side === undefined) user.value = isHere ? session.name ?? '' : '';
  }

  function value() {
    let url = kind.value === 'here' ? address(path`${where.value.trim()}`).href : where.value.trim();
    let [name, secret] = [user.value, password.value];
    const members = new Map(stored.members);
    const typed = originOf(url) && new URL(url);
    if (typed?.username || typed?.password) {
      // Whatever is typed into the address goes where only administrators see it.
      name ||= decodeURIComponent(typed.username);
      secret ||= decodeURIComponent(typed.password);
      typed.username = typed.password = '';
      url = typed.href;
    }
    members.set('url', url);
    const auth = new Map(members.get('auth') ?? []);
    auth.delete('basic');
    if (name) {
      if (!secret) {
        const isStored = stored.password && name === stored.user && originOf(url) === originOf(stored.url);
        if (!isStored) throw new Error(t.replicate.typeThePassword(legend));
        secret = stored.password;
      }
      auth.set('basic', new Map([['username', name], ['password', secret]]));
    }
    if (auth.size) members.set('auth', auth); else members.delete('auth');
    return members;
  }

  return {
    element: h('fieldset', { class: 'stack' }, h('legend', {}, legend), field(t.replicate.where, kind), h('label', { class: 'field' }, label, where),
      field(t.replicate.user, user), field(t.common.password, password, stored.password && t.replicate.staysUnless)),
    value,
    get isHere() { return kind.value === 'here'; },
    get url() { return where.value.trim(); },
  };
}
