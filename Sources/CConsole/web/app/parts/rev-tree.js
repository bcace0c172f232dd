/**
 * A revision tree as a drawing, and as a list for screen readers.
 *
 *     ◎ 1-c3            ring: base           ● body kept   ○ body gone
 *     ├─⬤ 2-b0          bold: winner         ✕ tombstone
 *     └─● 2-aa          dashed: from a closing tombstone to the survivor
 */
import { h, svg } from './dom.js';
import { short, t } from '../words.js';

const [ROW, LEFT] = [26, 14];
/** All lanes together are no wider than this. */
const WIDEST = 160;

/** Rows in the order in which they are drawn, each with its lane: the winner's lane is the leftmost. */
export function layout(revisions, winner) {
  const keyOf = row => row.rev ?? row.to;
  const byKey = new Map(revisions.map(row => [keyOf(row), row]));
  const childrenOf = new Map();
  const roots = [];
  for (const row of revisions) {
    if (row.parent && byKey.has(row.parent)) childrenOf.set(row.parent, [...(childrenOf.get(row.parent) ?? []), row]);
    else roots.push(row);
  }
  const onWay = new Set();
  for (let row = byKey.get(winner); row; row = byKey.get(row.parent)) onWay.add(keyOf(row));
  const first = rows => [...rows].sort((left, right) => onWay.has(keyOf(right)) - onWay.has(keyOf(left)));
  const drawn = [];
  let lanes = 0;
  const open = first(roots).reverse().map(row => ({ row, lane: null, parent: null }));
  while (open.length) {
    const { row, lane, parent } = open.pop();
    const mine = lane ?? lanes++;
    const place = drawn.push({ ...row, key: keyOf(row), lane: mine, parentPlace: parent, place: drawn.length }) - 1;
    const children = first(childrenOf.get(keyOf(row)) ?? []);
    children.slice(1).reverse().forEach(child => open.push({ row: child, lane: null, parent: place }));
    if (children.length) open.push({ row: children[0], lane: mine, parent: place });
  }
  return { rows: drawn, lanes };
}

/** The drawing of a tree as `_conflicts/{id}` tells it. */
export function revTree(tree, winner) {
  const { rows, lanes } = layout(tree.revisions, winner);
  const lane = Math.min(18, WIDEST / lanes);
  const width = LEFT * 2 + lanes * lane + 200;
  const x = row => LEFT + row.lane * lane;
  const y = row => ROW / 2 + row.place * ROW;
  const places = new Map(rows.map(row => [row.key, row]));
  const edges = rows.filter(row => row.parentPlace !== null).map(row => {
    const parent = rows[row.parentPlace];
    return svg('path', { class: 'edge', d: `M${x(parent)} ${y(parent)}V${y(row) - (x(row) === x(parent) ? 0 : 6)}${x(row) === x(parent) ? '' : `Q${x(parent)} ${y(row)} ${x(parent) + 6} ${y(row)}H${x(row)}`}` });
  });
  const closings = rows.filter(row => row.closed_for && places.has(row.closed_for)).map(row => {
    const survivor = places.get(row.closed_for);
    const end = LEFT + lanes * lane + 4;
    return svg('path', { class: 'closing', d: `M${x(row) + 6} ${y(row)}H${end}V${y(survivor)}H${x(survivor) + 8}` });
  });
  const drawing = svg('svg', { width, height: rows.length * ROW, 'aria-hidden': 'true', focusable: 'false' },
    edges, closings, rows.map(row => mark(row, x(row), y(row), row.rev === winner)),
    rows.map(row => svg('text', { x: LEFT * 2 + lanes * lane, y: y(row) + 4, class: row.rev === winner ? 'bold' : null }, label(row, winner))));
  const list = h('ul', { class: 'sr', role: 'tree', 'aria-label': t.common.revisions },
    rows.map(row => h('li', { role: 'treeitem', 'aria-level': String(row.lane + 1), 'aria-selected': row.rev === winner ? 'true' : 'false' }, label(row, winner))));
  return h('div', { class: 'tree', tabindex: '0', role: 'group', 'aria-label': t.revTree.revisionTree }, drawing, list);
}

function label(row, winner) {
  if (row.folded) return t.revTree.revisions(row.folded);
  const words = [short(row.rev)];
  if (row.base) words.push(t.common.baseLabel);
  if (row.rev === winner) words.push(t.common.winner);
  if (row.closed_for) words.push(t.revTree.closed(short(row.closed_for)));
  else if (row.deleted) words.push(t.common.deleted);
  else if (!row.stored) words.push(t.revTree.bodyGone);
  return words.join(' ');
}

function mark(row, x, y, isWinner) {
  if (row.folded) return svg('text', { x: x - 3, y: y + 4 }, '┊');
  if (row.deleted) return svg('path', { class: 'cross', d: `M${x - 5} ${y - 5}l10 10M${x + 5} ${y - 5}l-10 10` });
  return [
    svg('circle', { cx: x, cy: y, r: isWinner ? 6 : 4.5, class: isWinner ? 'winner' : row.stored ? 'kept' : 'gone' }),
    row.base && svg('circle', { cx: x, cy: y, r: 8.5, class: 'ring' }),
  ].filter(Boolean).reduce((group, part) => { group.append(part); return group; }, svg('g', {}));
}
