/** A plot of numbers with names, drawn at its real width: bars of few, a line of many. */
import { h, svg, replace, visible } from './dom.js';
import { number, t } from '../words.js';

const BARS = 60;
const [HEIGHT, LEFT, TOP, FOOT] = [200, 64, 10, 22];
const LETTER = 7; // pixels

/** Numbers at lines across the plot, from below the least to above the greatest. */
export function ticks(least, greatest) {
  const rough = (greatest - least) / 4 || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find(factor => factor * power >= rough) ?? 10);
  const first = Math.floor(least / step);
  const last = Math.max(Math.ceil(greatest / step), first + 1);
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

/**
 * A plot.
 *
 * @param points have a `name` and a `value`
 * @param onOpen hears of the point of a bar that somebody clicks
 */
export function plot({ label, points, onOpen, signal }) {
  const values = points.map(point => point.value);
  const [least, greatest] = [Math.min(0, ...values), Math.max(0, ...values)];
  const lines = ticks(least, greatest);
  const range = t.plot.range(number(Math.min(...values)), number(Math.max(...values)));
  const drawing = svg('svg', { class: 'chart', height: HEIGHT, role: 'img', 'aria-label': `${label}: ${range}` });
  const text = (words, x, y, end) => svg('text', { x, y, 'text-anchor': end }, words);
  const y = value => TOP + (HEIGHT - TOP - FOOT) * (lines.at(-1) - value) / (lines.at(-1) - lines[0]);

  function draw(width) {
    const step = (width - LEFT) / points.length;
    const middle = index => LEFT + step * (index + 0.5);
    const longest = Math.max(...points.map(point => visible(point.name).length));
    const every = Math.max(1, Math.ceil((Math.min(longest, 16) + 1) * LETTER / step));
    const title = point => svg('title', {}, `${visible(point.name)}: ${number(point.value)}`);
    drawing.setAttribute('viewBox', `0 0 ${width} ${HEIGHT}`);
    replace(drawing,
      lines.map(value => [svg('line', { class: value === 0 ? 'zero' : null, x1: LEFT, x2: width, y1: y(value), y2: y(value) }),
        text(number(value), LEFT - 8, y(value) + 4, 'end')]),
      points.length > BARS
        ? svg('polyline', { points: points.map((point, index) => `${middle(index)},${y(point.value)}`).join(' ') })
        : points.map((point, index) => svg('rect', {
          x: middle(index) - step * 0.36, width: Math.max(1, step * 0.72), y: Math.min(y(0), y(point.value)),
          height: Math.max(1, Math.abs(y(point.value) - y(0))), on: { click: () => onOpen(point) },
        }, title(point))),
      points.map((point, index) => index % every === 0 && text(visible(point.name).slice(0, 16), middle(index), HEIGHT - 5, 'middle')));
  }

  const element = h('div', {}, drawing);
  const watch = new ResizeObserver(() => { if (element.clientWidth > LEFT) draw(element.clientWidth); });
  watch.observe(element);
  signal.addEventListener('abort', () => watch.disconnect(), { once: true });
  return element;
}
