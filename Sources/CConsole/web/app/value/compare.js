/** What differs between documents, by members. Values are those of json.js. */
import { equal } from './json.js';

const escaped = name => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** The value at a JSON pointer; `undefined` if there is none. */
export function at(value, pointer) {
  if (pointer === '') return value;
  return pointer.slice(1).split('/').reduce((inner, part) => {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (inner instanceof Map) return inner.get(name);
    return Array.isArray(inner) ? inner[Number(name)] : undefined;
  }, value);
}

/** The members that differ: path, kind, before and after. Members of objects on both sides are compared by themselves. */
export function differences(before, after, path = '') {
  const found = [];
  const names = new Set([...after.keys(), ...before.keys()]);
  for (const name of names) {
    if (path === '' && (name === '_id' || name === '_rev' || name === '_revisions' || name === '$clocks')) continue;
    const place = `${path}/${escaped(name)}`;
    const [old, now] = [before.get(name), after.get(name)];
    if (old === undefined) found.push({ path: place, kind: 'added', after: now });
    else if (now === undefined) found.push({ path: place, kind: 'removed', before: old });
    else if (old instanceof Map && now instanceof Map) found.push(...differences(old, now, place));
    else if (!equal(old, now)) found.push({ path: place, kind: 'changed', before: old, after: now });
  }
  return found;
}

/** The values of sides that differ from the base and are in no member of the result: they are given up. */
export function givenUp(base, sides, result) {
  return sides.flatMap(({ rev, label, doc }) => differences(base, doc)
    .filter(({ path, kind, after }) => kind !== 'removed' && !equal(at(result, path), after))
    .map(({ path, after }) => ({ rev, label, path, value: after })));
}
