/** What differs between documents, by members. Values are those of json.js. */
import { equal } from './json.js';

const escaped = name => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** The names of a JSON pointer. */
export function namesOf(pointer) {
  return pointer === '' ? [] : pointer.slice(1).split('/').map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The value at a JSON pointer; `undefined` if there is none. */
export function at(value, pointer) {
  return namesOf(pointer).reduce((inner, name) => {
    if (inner instanceof Map) return inner.get(name);
    return Array.isArray(inner) && /^(0|[1-9][0-9]*)$/.test(name) ? inner[Number(name)] : undefined;
  }, value);
}

/** The pointer of what stands for a column or a field: a name, names with slashes, or a JSON pointer. */
export function pointerOf(text) { return text.startsWith('/') ? text : `/${text}`; }

/** Sets the value at a JSON pointer; what stands in the place of its objects is replaced. Removes it for `undefined`, where it is there. */
export function put(document, path, value) {
  const names = namesOf(path);
  const last = names.pop();
  let inner = document;
  for (const name of names) {
    if (!(inner.get(name) instanceof Map)) {
      if (value === undefined) return;
      inner.set(name, new Map());
    }
    inner = inner.get(name);
  }
  if (value === undefined) inner.delete(last); else inner.set(last, value);
}

const SILENT = new Set(['_id', '_rev', '_revisions', '$clocks']);

/** The members that differ: path, kind, before and after. Members of objects on both sides are compared by themselves. */
export function differences(before, after) {
  const found = [];
  const work = [{ path: '', old: before, now: after }];
  while (work.length) {
    const { path, old, now } = work.pop();
    if (old instanceof Map && now instanceof Map) {
      const names = [...new Set([...now.keys(), ...old.keys()])].filter(name => path !== '' || !SILENT.has(name));
      for (const name of names.reverse()) work.push({ path: `${path}/${escaped(name)}`, old: old.get(name), now: now.get(name) });
    } else if (old === undefined) found.push({ path, kind: 'added', after: now });
    else if (now === undefined) found.push({ path, kind: 'removed', before: old });
    else if (!equal(old, now)) found.push({ path, kind: 'changed', before: old, after: now });
  }
  return found;
}
