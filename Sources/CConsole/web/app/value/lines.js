/** What differs between texts, by lines. */

/** Above this number of pairs of lines the middle is not compared line by line: all old lines go, and all new ones come. */
const MOST_PAIRS = 4_000_000;

/** The lines of both texts in order: `same`, `removed` or `added`. Equal beginnings and ends cost no comparison. */
export function lineChanges(before, after) {
  const [old, now] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const as = kind => text => ({ kind, text });
  return [
    ...old.slice(0, start).map(as('same')),
    ...middle(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map(as('same')),
  ];
}

/**
 * The longest common subsequence, from the end: `table[i][j]` is the number of lines that `old` from `i` on and `now` from `j` on
 * have in common, in order.
 */
function middle(old, now) {
  if (old.length * now.length > MOST_PAIRS) return [...old.map(text => ({ kind: 'removed', text })), ...now.map(text => ({ kind: 'added', text }))];
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) table[i][j] = old[i] === now[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
  }
  const found = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) { found.push({ kind: 'same', text: old[i] }); i += 1; j += 1; }
    else if (j === now.length || i < old.length && table[i + 1][j] >= table[i][j + 1]) { found.push({ kind: 'removed', text: old[i] }); i += 1; }
    else { found.push({ kind: 'added', text: now[j] }); j += 1; }
  }
  return found;
}
