/** A line of the last numbers, drawn and told in words. */
import { h, svg, patch } from './dom.js';
import { number } from '../words.js';

const KEPT = 120;

/** A line; `push` adds a number, and `pushTotal` by how much a total has grown a second since it was last known. */
export function sparkLine({ label, shown = number }) {
  const values = [];
  let before = null;
  const line = svg('polyline', {});
  const words = h('span');
  const element = h('figure', {}, h('figcaption', {}, label, ' ', words),
    svg('svg', { class: 'plot', viewBox: '0 0 120 30', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, line));

  function push(value) {
    values.push(value);
    if (values.length > KEPT) values.shift();
    const top = Math.max(...values, 1e-9);
    line.setAttribute('points', values.map((entry, index) => `${KEPT - values.length + index},${29 - (entry / top) * 28}`).join(' '));
    patch(words, h('strong', {}, shown(value)));
  }

  function pushTotal(total) {
    const now = performance.now();
    // Of two answers at once, no time has passed by the browser's clock.
    if (total === undefined || now <= before?.now) return;
    if (before) push(Math.max(0, total - before.total) * 1000 / (now - before.now));
    before = { total, now };
  }

  return { element, push, pushTotal };
}
