/** A line of the last numbers, drawn and told in words. */
import { h, svg, patch } from './dom.js';
import { number } from '../words.js';

const KEPT = 120;

/** A line; `push` adds a number. */
export function sparkLine({ label, shown = number }) {
  const values = [];
  const line = svg('polyline', {});
  const words = h('span');
  const element = h('figure', {}, h('figcaption', {}, label, ' ', words),
    svg('svg', { class: 'plot', viewBox: '0 0 120 30', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, line));
  return {
    element,
    push(value) {
      values.push(value);
      if (values.length > KEPT) values.shift();
      const top = Math.max(...values, 1e-9);
      line.setAttribute('points', values.map((entry, index) => `${KEPT - values.length + index},${29 - (entry / top) * 28}`).join(' '));
      patch(words, h('strong', {}, shown(value)));
    },
  };
}
