/** The security object of a database: its lists of names and roles, and what they say. */
import { t } from '../words.js';

export const GROUPS = ['members', 'admins'];
export const LISTS = ['names', 'roles'];

const isOpen = ({ names, roles }) => names.length + roles.length === 0;

/** The member that has a group; `readers` is what members were called once. */
const memberOf = (value, group) => group === 'members' && !value.has('members') && value.has('readers') ? 'readers' : group;

/** The lists of a security object; fails for one that the server would not take. */
export function listsOf(value) {
  if (!(value instanceof Map)) throw new Error(t.rights.anObjectWithLists);
  return Object.fromEntries(GROUPS.map(group => {
    const found = value.get(memberOf(value, group)) ?? new Map();
    return [group, Object.fromEntries(LISTS.map(list => {
      const items = found instanceof Map ? found.get(list) ?? [] : null;
      if (!Array.isArray(items) || items.some(item => typeof item !== 'string')) throw new Error(t.rights.anObjectWithLists);
      return [list, [...items]];
    }))];
  }));
}

/** A security object with other lists; its other members stay. */
export function withLists(value, lists) {
  const made = new Map(value);
  for (const group of GROUPS) {
    const member = memberOf(value, group);
    const [before, now] = [value.get(member) ?? new Map(), lists[group]];
    if (!value.has(member) && isOpen(now)) continue;
    made.set(member, new Map([...before, ...LISTS.filter(list => before.has(list) || now[list].length).map(list => [list, now[list]])]));
  }
  return made;
}

/** What lists have that others had not, and the reverse: group, list, item, and whether it is new. */
export function differences(before, now) {
  const beyond = (one, other, isNew) => GROUPS.flatMap(group => LISTS.flatMap(list =>
    one[group][list].filter(item => !other[group][list].includes(item)).map(item => ({ group, list, item, isNew }))));
  return [...beyond(now, before, true), ...beyond(before, now, false)];
}

/** Who belongs to a group, in words; the server's administrators always do. */
function people({ names, roles }) {
  return [...names, ...roles.filter(role => role !== '_admin').map(t.rights.everyoneWithRole), t.rights.serversAdministrators];
}

/** One sentence of who may do what, and whether the database is open to all. */
export function sentence({ members, admins }) {
  const list = items => new Intl.ListFormat(t.formats.numbers).format(items);
  // Administrators of the database read and write, too.
  const readers = { names: [...new Set([...members.names, ...admins.names])], roles: [...new Set([...members.roles, ...admins.roles])] };
  return { isOpen: isOpen(members), text: t.rights.whoMayDoWhat(isOpen(members) ? t.rights.everyone : list(people(readers)), list(people(admins))) };
}
